/**
 * Trains routing heads in the gym and measures them. Prints a JSON line for each seed, then a Markdown table.
 *
 *   pnpm --filter @divisi/tiny-conductor head [--seeds 1,2,3] [--graded 1000] [--tasks 500] [--validation 200] [--test 500]
 *     [--generations 40] [--runs 16] [--population 18] [--sigma 0.05] [--price 0] [--all] [--gguf FILE]
 *
 * All counts apply per seed. `--seeds date` derives five seeds from today's date. `--price` is the score that
 * corresponds to one USD of play money. With `--all`, all weights are evolved instead of only those for situations.
 * With `--gguf`, the input of the head is the hidden state of that model's last token, computed by llama.cpp, instead
 * of hashed words.
 */
import { parseArgs } from "node:util"
import { Embedder } from "@divisi/core"
import * as Statistics from "@divisi/evals/Statistics"
import * as Effect from "effect/Effect"
import * as Markdown from "../tiny/Markdown.ts"
import { seedsOfDate } from "../tiny/seedsOfDate.ts"
import * as HeadRuns from "./HeadRuns.ts"

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1,2,3" },
    graded: { type: "string", default: "1000" },
    tasks: { type: "string", default: "500" },
    validation: { type: "string", default: "200" },
    test: { type: "string", default: "500" },
    generations: { type: "string", default: "40" },
    runs: { type: "string", default: "16" },
    population: { type: "string" },
    all: { type: "boolean", default: false },
    sigma: { type: "string", default: "0.05" },
    price: { type: "string", default: "0" },
    gguf: { type: "string" }
  }
})

const seeds = values.seeds === "date" ? seedsOfDate() : values.seeds.split(",").map(Number)

const embedderOf = Effect.fnUntraced(function* (source: string | undefined) {
  if (source === undefined) return Embedder.hashed()
  const { LlamaCppEmbeddings } = yield* Effect.promise(() => import("@divisi/policy-llamacpp"))
  const embed = yield* LlamaCppEmbeddings.load({ source, gpu: "none", threads: 1 })
  return Embedder.fromPromise(source, embed)
})

const percent = (values: ReadonlyArray<number>): string =>
  `${(100 * Statistics.mean(values)).toFixed(1)} ± ${(100 * Statistics.standardError(values)).toFixed(1)}`

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!

/** All seeds together; differences are paired, question by question. */
const tableOf = (found: ReadonlyArray<HeadRuns.Found>): string => {
  const runsOf = (at: number) => found.flatMap(({ measured }) => measured[at]!.runs)
  const [best, table] = [runsOf(0), runsOf(1)]
  const rows = found[0]!.measured.map(({ policy }, at) => {
    const runs = runsOf(at)
    const against = (others: ReadonlyArray<HeadRuns.Run>) =>
      percent(runs.map(({ right }, index) => right - others[index]!.right))
    return [
      policy,
      percent(runs.map(({ right }) => right)),
      at === 0 ? "" : against(best),
      at === 1 ? "" : against(table),
      (1000 * Statistics.mean(runs.map(({ costUsd }) => costUsd))).toFixed(3),
      Statistics.mean(runs.map(({ calls }) => calls)).toFixed(2),
      median(runs.map(({ millis }) => millis)).toFixed(2)
    ]
  })
  const columns = ["policy", "right, %", "to the best single", "to the table", "USD per 1,000", "calls", "median ms"]
  return Markdown.table(columns, rows)
}

const program = Effect.gen(function* () {
  const embedder = yield* embedderOf(values.gguf)
  const found: Array<HeadRuns.Found> = []
  for (const seed of seeds) {
    const startedAt = performance.now()
    const one = yield* HeadRuns.measure({
      seed,
      graded: Number(values.graded),
      tasks: Number(values.tasks),
      validation: Number(values.validation),
      test: Number(values.test),
      generations: Number(values.generations),
      weights: values.all ? "all" : "situations",
      sigma: Number(values.sigma),
      runs: Number(values.runs),
      population: values.population === undefined ? undefined : Number(values.population),
      scorePerUsd: Number(values.price),
      embedder,
      say: (text) => void process.stderr.write(`${text}\n`)
    })
    found.push(one)
    const { head: _, ...evolved } = one.evolved
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    console.log(JSON.stringify({ seed, seconds, training: one.training, evolved }))
  }
  console.log(tableOf(found))
}).pipe(Effect.scoped)

await Effect.runPromise(program)
