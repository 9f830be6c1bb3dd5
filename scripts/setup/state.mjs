/** What set-up did last time, so that it does nothing twice: a small JSON file, replaced in one move. */
import { createHash } from "node:crypto"
import fs from "node:fs"
import path from "node:path"
import { members, root, stateFolder } from "./workspace.mjs"

const file = path.join(stateFolder, "set-up.json")

/**
 * @typedef {object} State
 * @property {string} [dependencies] fingerprint of what the installed dependencies were made from
 * @property {Record<string, { inputs: string, outputs: ReadonlyArray<string> }>} builds by package name
 */

/** @returns {State} */
export const read = () => {
  try {
    return { builds: {}, ...JSON.parse(fs.readFileSync(file, "utf8")) }
  } catch {
    return { builds: {} }
  }
}

/** @param {State} state */
export const write = (state) => {
  fs.mkdirSync(stateFolder, { recursive: true })
  const temporary = `${file}.${process.pid}`
  fs.writeFileSync(temporary, JSON.stringify(state))
  fs.renameSync(temporary, file)
}

/**
 * Every file below some files and folders, in order; what does not exist is left out.
 *
 * @param {string} folder
 * @param {ReadonlyArray<string>} names
 * @returns {ReadonlyArray<string>} absolute paths
 */
const filesIn = (folder, names) =>
  names.flatMap((name) => {
    const at = path.join(folder, name)
    const stat = fs.statSync(at, { throwIfNoEntry: false })
    if (stat === undefined) return []
    return stat.isDirectory() ? filesIn(at, fs.readdirSync(at).sort()) : [at]
  })

/** A fingerprint of what dependencies are installed from: the lock file, the manifests, the platform. */
export const dependenciesFingerprint = () => {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} `)
  const manifests = members().map(({ folder }) => path.join(folder, "package.json"))
  for (const name of [...filesIn(root, ["pnpm-lock.yaml", "pnpm-workspace.yaml"]), ...manifests]) {
    hash.update(`${path.relative(root, name)}\n`).update(fs.readFileSync(name))
  }
  return hash.digest("hex")
}

/** Whether every folder of dependencies is still there. */
export const dependenciesExist = () =>
  members().every(
    ({ folder, manifest }) =>
      Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length === 0 ||
      fs.existsSync(path.join(folder, "node_modules"))
  )

/**
 * The files that a package is built from.
 *
 * @param {string} folder
 */
const inputs = (folder) => [
  ...filesIn(folder, ["src", "tsup.config.ts", "tsconfig.json"]),
  ...filesIn(root, ["tsup.base.ts"])
]

/**
 * When what a package is built from was edited last, in milliseconds since 1970.
 *
 * @param {string} folder
 */
export const newestInput = (folder) => Math.max(...inputs(folder).map((name) => fs.statSync(name).mtimeMs))

/**
 * A fingerprint of what a package is built from. Sizes and times of the
 * files stand for their content: an edit changes them, and looking at them takes milliseconds.
 *
 * @param {string} folder
 * @param {string} dependencies fingerprint of the installed dependencies
 */
export const buildFingerprint = (folder, dependencies) => {
  const hash = createHash("sha256").update(dependencies)
  for (const name of inputs(folder)) {
    const { mtimeMs, size } = fs.statSync(name)
    hash.update(`${path.relative(root, name)} ${size} ${mtimeMs}\n`)
  }
  return hash.digest("hex")
}

/**
 * What a build wrote, relative to the package.
 *
 * @param {string} folder
 */
export const outputs = (folder) =>
  filesIn(folder, ["dist"])
    .filter((name) => name.endsWith(".js"))
    .map((name) => path.relative(folder, name))
