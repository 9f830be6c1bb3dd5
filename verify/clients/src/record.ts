/**
 * Records sessions: coding agents fix a small library through a server with three rule-based workers, and again with a
 * single worker. `node --conditions=@divisi/source verify/clients/src/record.ts FOLDER [agent...]` writes two journals
 * for `divisi runs report`: `team.sqlite` and `alone.sqlite`. The agents are those installed by `pnpm clients`.
 */
import fs from "node:fs"
import path from "node:path"
import { Baselines } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import { DiskJournal } from "@divisi/files"
import * as Effect from "effect/Effect"
import * as Agents from "./Agents.ts"
import * as Serving from "./Serving.ts"

/** Functions of a library: what each should do, its mistake, and what its test checks. */
const library = [
  { name: "add", wrong: "a - b", right: "a + b", given: "20, 22", wanted: "42" },
  { name: "double", wrong: "a + 2", right: "a * 2", given: "21", wanted: "42" },
  { name: "larger", wrong: "a < b ? a : b", right: "a < b ? b : a", given: "7, 42", wanted: "42" },
  { name: "isEven", wrong: "a % 2 === 1", right: "a % 2 === 0", given: "42", wanted: "true" },
  { name: "last", wrong: "a[0]", right: "a[a.length - 1]", given: "[1, 2, 42]", wanted: "42" },
  { name: "count", wrong: "a.length - 1", right: "a.length", given: '"four"', wanted: "4" }
]

type Piece = (typeof library)[number]

const filesOf = ({ given, name, wanted, wrong }: Piece) => ({
  [`${name}.mjs`]: `export const ${name} = (a, b) => ${wrong}\n`,
  [`${name}.test.mjs`]: `import { ${name} } from "./${name}.mjs"
if (${name}(${given}) !== ${wanted}) throw new Error("${name} is wrong")
console.log("The test of ${name} has passed.")
`
})

const ordersOf =
  ({ name, right, wrong }: Piece) =>
  (folder: string) => {
    const file = path.join(folder, `${name}.mjs`)
    const test = `run \`node ${folder}/${name}.test.mjs\``
    return `Mend ${name}: read \`${file}\`, then read \`${folder}/${name}.test.mjs\`, then replace \`${wrong}\` by \`${right}\` in \`${file}\`, then ${test}.`
  }

/** Play money: a large model that answers, and two small ones that advise. */
const prices = {
  reader: { inputPerMillion: 0.2, outputPerMillion: 1.6, isPlay: true },
  checker: { inputPerMillion: 0.5, outputPerMillion: 4, isPlay: true },
  writer: { inputPerMillion: 2, outputPerMillion: 16, isPlay: true }
}

const record = (file: string, policy: Policy | undefined, names: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const journal = yield* DiskJournal.make({ file })
      const { url } = yield* Serving.make({ journal, policy, prices })
      let mended = 0
      for (const name of names) {
        for (const piece of library) {
          const isMended = yield* Effect.promise(() =>
            Agents.work(name, url, filesOf(piece), ordersOf(piece), ({ finished, work }) => {
              const text = fs.readFileSync(path.join(work, `${piece.name}.mjs`), "utf8")
              return text.includes(piece.right) && finished.output.includes(`The test of ${piece.name} has passed.`)
            })
          )
          mended += isMended ? 1 : 0
          process.stdout.write(`${path.basename(file)} ${name} ${piece.name}: ${isMended ? "mended" : "NOT MENDED"}\n`)
        }
      }
      process.stdout.write(`${path.basename(file)}: ${mended} of ${names.length * library.length} mended\n`)
    })
  )

const [folder, ...named] = process.argv.slice(2)
if (folder === undefined) throw new Error("Name a folder for the journals.")
const names = named.length === 0 ? Agents.names : named
fs.mkdirSync(folder, { recursive: true })
await Effect.runPromise(record(path.join(folder, "team.sqlite"), undefined, names))
await Effect.runPromise(record(path.join(folder, "alone.sqlite"), Baselines.single("writer"), names))
