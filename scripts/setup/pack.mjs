/**
 * Packs packages of this clone as they would be published, for projects outside of it that need them before they are:
 * `node scripts/setup/pack.mjs FOLDER @divisi/core …`. Prints the files by the packages' names as JSON. `divisi provider
 * new` and `divisi init` call it.
 */
import { run, SetUpError, stage } from "./progress.mjs"
import { buildMissing, pnpm, setUp } from "./set-up.mjs"
import { closure } from "./workspace.mjs"

/**
 * Packs some packages, and what they need of this clone, into a folder; the names of the files by the packages' names.
 *
 * @param {ReadonlyArray<string>} names
 * @param {string} to
 */
const pack = async (names, to) => {
  const needed = names.flatMap((name) => closure(name, { withOptional: false }))
  const members = [...new Map(needed.map((member) => [member.folder, member])).values()]
  await buildMissing(members)
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

// Whoever asked may have been killed: then nobody hears it.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.exit(1))

const [to = "", ...names] = process.argv.slice(2)
try {
  if (await setUp([])) process.stdout.write(`${JSON.stringify(await pack(names, to))}\n`)
} catch (error) {
  if (!(error instanceof SetUpError)) throw error
  process.stderr.write(`\n${error.message}\n`)
  process.exitCode = 1
}
