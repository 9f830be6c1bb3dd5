/**
 * The packages of the workspace, read from its manifests using only Node, because set-up runs before anything is
 * installed.
 */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

/** Root folder of the workspace. */
export const root = path.resolve(fileURLToPath(new URL("../..", import.meta.url)))

/** Folder in which set-up and checks store data between calls. Ignored by git. */
export const stateFolder = path.join(root, ".divisi")

/** Path of the TypeScript 7 compiler, which exists after dependencies were installed. */
export const compiler = path.join(root, "node_modules/typescript-7/bin/tsc")

/** @param {string} folder relative to the root */
const foldersIn = (folder) => {
  const at = path.join(root, folder)
  if (!fs.existsSync(at)) return []
  return fs
    .readdirSync(at)
    .map((name) => path.join(at, name))
    .filter((child) => fs.existsSync(path.join(child, "package.json")))
    .sort()
}

/**
 * @typedef {object} Manifest
 * @property {string} name
 * @property {string} [version]
 * @property {boolean} [private]
 * @property {Record<string, string>} [scripts]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, { optional?: boolean }>} [peerDependenciesMeta]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [devDependencies]
 * @property {Record<string, unknown>} [exports]
 */

/**
 * @typedef {object} Member
 * @property {string} folder absolute
 * @property {Manifest} manifest
 */

/**
 * @param {string} folder
 * @returns {Member}
 */
const member = (folder) => ({
  folder,
  manifest: JSON.parse(fs.readFileSync(path.join(folder, "package.json"), "utf8"))
})

/** Returns the published packages. */
export const packages = () => foldersIn("packages").map(member)

/** Returns the example apps. A published example is not part of this workspace. */
export const examples = () =>
  foldersIn("examples")
    .map(member)
    .filter(({ manifest }) => manifest.private === true)

/** Returns every folder with a manifest: the root, `packages/*`, `examples/*`, `verify/*` and `lab/*`. */
export const members = () => [
  member(root),
  ...packages(),
  ...examples(),
  ...foldersIn("verify").map(member),
  ...foldersIn("lab").map(member)
]

/**
 * Returns a package and all packages in this workspace that it requires at run time or can optionally use.
 *
 * @param {string} name
 * @param {{ withOptional?: boolean }} [options] false: only what it needs
 * @returns {ReadonlyArray<Member>}
 */
export const closure = (name, { withOptional = true } = {}) => {
  const byName = new Map(packages().map((entry) => [entry.manifest.name, entry]))
  /** @type {Map<string, Member>} */
  const found = new Map()
  const visit = (/** @type {string} */ current) => {
    const entry = byName.get(current)
    if (entry === undefined || found.has(current)) return
    found.set(current, entry)
    const { dependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry.manifest
    const isWanted = (/** @type {string} */ peer) => withOptional || peerDependenciesMeta[peer]?.optional !== true
    const needed = Object.keys(peerDependencies).filter(isWanted)
    for (const dependency of [...Object.keys(dependencies), ...needed]) visit(dependency)
  }
  visit(name)
  return [...found.values()]
}
