/** Parsers of benchmark records: for the named benchmarks and for user files. */
import fs from "node:fs"
import path from "node:path"
import { Benchmarks, Dataset, UserBenchmark } from "@divisi/evals"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

/** The fields of a record that are not texts. */
const lists: Readonly<Record<string, (text: string) => unknown>> = {
  choices: (text) => [text, text, text, "d"],
  options: (text) => [text, text, text, "d"],
  answer: (text) => (text.length % 2 === 0 ? text : 0),
  prompt: (text) => [{ role: "user", content: text }],
  reward_model: (text) => ({ ground_truth: text }),
  extra_info: (text) => ({ index: 1, category: text })
}

/** A record with every field, each with a text or with a value of the field's type. */
const recordOf = (text: string, isPlain: boolean): Dataset.Record =>
  new Proxy({} as Dataset.Record, {
    has: () => true,
    get: (_, name) => (isPlain ? text : (lists[String(name)]?.(text) ?? text))
  })

/** An invalid record is refused with an error. */
const attempt = (read: () => unknown): void => {
  try {
    read()
  } catch (error) {
    if (!(error instanceof Error) || error.constructor.name !== "RowError") throw error
  }
}

const named = Benchmarks.names.map((name) => Benchmarks.named(name)!)

const recorded = (text: string) => {
  for (const { oddityOf, toTask } of named) {
    for (const isPlain of [true, false]) {
      attempt(() => toTask(recordOf(text, isPlain), 0))
      attempt(() => oddityOf?.(recordOf(text, isPlain)))
    }
  }
}

/** A line of a user's own benchmark, as a file. */
const ownIn = (folder: string) => (text: string) => {
  const file = path.join(folder, "own.jsonl")
  const row = { id: text, question: text, answer: text, subject: text, system: text }
  fs.writeFileSync(file, `${JSON.stringify(row)}\n`)
  const { toTask } = UserBenchmark.make({ file })
  const read = Stream.runForEach(Dataset.records(file), (record) => Effect.sync(() => attempt(() => toTask(record, 0))))
  return Effect.runPromise(Effect.result(read))
}

/** A file of them that is no JSON. */
const fileIn = (folder: string) => (text: string) => {
  const file = path.join(folder, "benchmark.jsonl")
  fs.writeFileSync(file, text)
  return Effect.runPromise(Effect.result(Stream.runDrain(Dataset.records(file))))
}

/** All of them; files are made in `folder`. */
export const all = (folder: string) => [
  { name: "record of a benchmark", read: recorded },
  { name: "line of a benchmark", read: ownIn(folder) },
  { name: "file of a benchmark", read: fileIn(folder) }
]
