/**
 * Packs packages of this clone as they would be published, for projects outside of it that need them before they are.
 * `divisi provider new` calls it.
 */
import fs from "node:fs"
import path from "node:path"
import { run, stage } from "./progress.mjs"
import { buildWhole, pnpm, setUp } from "./set-up.mjs"
import { newestInput } from "./state.mjs"
import { closure } from "./workspace.mjs"

/** @typedef {import("./workspace.mjs").Member} Member */

/**
 * Whether a package is built with its declarations, which set-up leaves out, and since its last edit.
 *
 * @param {Member} member
 */
const isWhole = ({ folder }) => {
  const built = fs.statSync(path.join(folder, "dist/index.d.ts"), { throwIfNoEntry: false })
  return built !== undefined && built.mtimeMs > newestInput(folder)
}

/**
 * Packs some packages, and what they need of this clone, into a folder; the names of the files by the packages' names.
 * Throws what to tell where that fails.
 *
 * @param {ReadonlyArray<string>} names
 * @param {string} to
 * @returns {Promise<Readonly<Record<string, string>>>}
 */
export const pack = async (names, to) => {
  if (!(await setUp([]))) throw new Error("what it needs could not be installed in the clone (see above)")
  const members = [...new Map(names.flatMap(closure).map((member) => [member.folder, member])).values()]
  const partial = members.filter((member) => !isWhole(member))
  if (partial.length > 0) await stage("building with declarations (a minute, once)", () => buildWhole(partial))
  await stage("packing", async () => {
    for (const { folder } of members) await run([...pnpm(), "pack", "--pack-destination", to], folder)
  })
  return Object.fromEntries(
    members.map(({ manifest: { name, version } }) => [
      name,
      `${name.replace("@", "").replace("/", "-")}-${version}.tgz`
    ])
  )
}
