/**
 * Packs packages of this clone as for publication, for projects outside of it that need them before a release: `node
 * scripts/setup/pack.mjs FOLDER @divisi/core …`. Prints the file names by package name as JSON. Used by `divisi
 * provider new` and `divisi init`.
 */
import { report, run, stage } from "./progress.mjs"
import { buildMissing, pnpm, setUp } from "./set-up.mjs"
import { closure, root } from "./workspace.mjs"

/**
 * Packs packages, and their dependencies in this clone, into a folder. Returns the file names by package name.
 *
 * @param {ReadonlyArray<string>} names
 * @param {string} to
 */
const pack = async (names, to) => {
  const needed = names.flatMap((name) => closure(name, { withOptional: false }))
  const members = [...new Map(needed.map((member) => [member.folder, member])).values()]
  await buildMissing(members)
  await stage("packing", async () => {
    const filters = members.map(({ manifest: { name } }) => `--filter=${name}`)
    await run([...pnpm(), ...filters, "pack", "--pack-destination", to], root)
  })
  return Object.fromEntries(
    members.map(({ manifest: { name, version } }) => [
      name,
      `${name.replace("@", "").replace("/", "-")}-${version}.tgz`
    ])
  )
}

// The calling process may have been killed, so errors on the output are ignored.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.exit(1))

const [to = "", ...names] = process.argv.slice(2)
try {
  if (await setUp([])) process.stdout.write(`${JSON.stringify(await pack(names, to))}\n`)
} catch (error) {
  report(error)
}
