/**
 * Stores the results of the last set-up, so that nothing is repeated: a small JSON file that is replaced atomically.
 */
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
 * Returns all files below the given files and folders, in order. Missing ones are skipped.
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

/** Returns a fingerprint of everything that determines the dependencies: lock file, manifests and platform. */
export const dependenciesFingerprint = () => {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} `)
  const manifests = members().map(({ folder }) => path.join(folder, "package.json"))
  for (const name of [...filesIn(root, ["pnpm-lock.yaml", "pnpm-workspace.yaml"]), ...manifests]) {
    hash.update(`${path.relative(root, name)}\n`).update(fs.readFileSync(name))
  }
  return hash.digest("hex")
}

/** Whether all dependency folders still exist. */
export const dependenciesExist = () =>
  members().every(
    ({ folder, manifest }) =>
      Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).length === 0 ||
      fs.existsSync(path.join(folder, "node_modules"))
  )

/**
 * Returns the source files for a package's build.
 *
 * @param {string} folder
 */
const inputs = (folder) => [
  ...filesIn(folder, ["src", "tsup.config.ts", "tsconfig.json"]),
  ...filesIn(root, ["tsup.base.ts"])
]

/**
 * Returns the time of the last edit to a package's source files, in milliseconds since 1970.
 *
 * @param {string} folder
 */
export const newestInput = (folder) => Math.max(...inputs(folder).map((name) => fs.statSync(name).mtimeMs))

/**
 * Returns a fingerprint of a package's source files. It uses sizes and times instead of contents, because these change
 * with each edit and can be read within milliseconds.
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
 * Returns the files written by a build, relative to the package.
 *
 * @param {string} folder
 */
export const outputs = (folder) =>
  filesIn(folder, ["dist"])
    .filter((name) => name.endsWith(".js"))
    .map((name) => path.relative(folder, name))
