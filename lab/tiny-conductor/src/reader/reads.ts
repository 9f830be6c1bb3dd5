/**
 * Measures the accuracy of readers independently of questions: how well they extract what is said about kinds, in words
 * and phrases excluded from training, and in the gym's held-out sentences. Prints a JSON line for each reader and set
 * of texts.
 *
 *   pnpm --filter @divisi/tiny-conductor reads --reader FILE,FILE [--teams 150]
 */
import { parseArgs } from "node:util"
import { Reader } from "@divisi/gguf"
import type { Example } from "@divisi/trainer-jax/ReaderTrainer"
import * as Effect from "effect/Effect"
import { givenFile } from "../givenFile.ts"
import * as Teams from "../world/Teams.ts"
import * as Breadth from "./Breadth.ts"

const { values } = parseArgs({ options: { reader: { type: "string" }, teams: { type: "string", default: "150" } } })
if (values.reader === undefined) throw new Error("Give --reader FILE.")

const held: ReadonlyArray<Example> = Teams.draw({
  split: "validation",
  seed: 1,
  count: Number(values.teams),
  heldOutShapes: true
}).flatMap(({ members }) => members.map(({ pieces }) => Breadth.labelled(pieces)))

const sets = {
  development: Breadth.draw(1, { descriptions: 1500, sequels: 500 }, "development"),
  "held-out sentences": held
}

const greatest = (shares: ReadonlyArray<number>): number => shares.indexOf(Math.max(...shares))

/** A share of all that is read as the word for it. */
const shares: Readonly<Record<string, string>> = { "%high": "0.9", "%middling": "0.5", "%low": "0.1" }

const textOf = (words: ReadonlyArray<string>): string => words.map((word) => shares[word] ?? word).join(" ")

/**
 * Of the words for kinds with each mark, of the texts with each flag, and of the parts that refer to others: the number
 * that is read correctly, and the total.
 */
const counts = (weights: Reader.Weights, examples: ReadonlyArray<Example>) => {
  const found: Record<string, { right: number; all: number; wrongly: number }> = {}
  const add = (name: string, holds: boolean, isRead: boolean) => {
    const own = found[name] ?? { right: 0, all: 0, wrongly: 0 }
    found[name] = own
    if (holds) own.all += 1
    if (holds && isRead) own.right += 1
    if (!holds && isRead) own.wrongly += 1
  }
  for (const { flags, refers, said = [], words } of examples) {
    const reading = Reader.read(weights, textOf(words))
    if (refers !== undefined) add("refers", refers, reading.refers > 0.5)
    // A few punctuation marks form different words when they are adjacent.
    if (words.slice(0, reading.words.length).some((word, place) => word !== reading.words[place])) continue
    for (const [index, holds] of flags?.entries() ?? []) add(Reader.flags[index]!, holds, reading.flags[index]! > 0.5)
    for (const [place, label] of said.slice(0, reading.words.length).entries()) {
      if (label === undefined || label.mark === 0 || label.subjects.length === 0) continue
      add("kinds", true, label.subjects.includes(greatest(reading.subjects[place]!)))
      const mark = greatest(reading.marks[place]!)
      for (const name of ["good", "weak", "check"] as const) {
        const own = Reader.marks.indexOf(name)
        add(name, label.mark === own, mark === own)
      }
    }
  }
  return Object.fromEntries(
    Object.entries(found).map(([name, { all, right, wrongly }]) => [name, `${right}/${all} (${wrongly})`])
  )
}

for (const file of values.reader.split(",")) {
  const { readers } = await Effect.runPromise(Reader.load(givenFile(file)))
  for (const [reader, weights] of readers.entries()) {
    for (const [texts, examples] of Object.entries(sets)) {
      console.log(JSON.stringify({ file, reader, texts, ...counts(weights, examples) }))
    }
  }
}
