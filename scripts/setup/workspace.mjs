/**
 * What the workspace consists of, read from its manifests with nothing but Node: set-up runs before there is anything
 * else.
 */
import fs from "node:fs"
import path from "node:path"
import { fileURLToPath } from "node:url"

/** The root folder of the workspace. */
export const root = path.resolve(fileURLToPath(new URL("../..", import.meta.url)))

/** Where set-up and checks keep what they know between calls; git ignores it. */
export const stateFolder = path.join(root, ".divisi")

/** The file that runs TypeScript 7, once dependencies are installed. */
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

/** The published packages. */
export const packages = () => foldersIn("packages").map(member)

/** The example apps; an example that is published is no part of this workspace. */
export const examples = () =>
  foldersIn("examples")
    .map(member)
    .filter(({ manifest }) => manifest.private === true)

/** Every folder with a manifest, the root included: the root, `packages/*`, `examples/*`, `verify/*`, `lab/*`. */
export const members = () => [
  member(root),
  ...packages(),
  ...examples(),
  ...foldersIn("verify").map(member),
  ...foldersIn("lab").map(member)
]

/**
 * A package and all packages of this workspace that it needs at run time, or that it can use when they are there.
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
