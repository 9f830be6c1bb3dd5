/**
 * Writes `publicRecords.ts` of `@divisi/core`: how often models were right in public records, counted from files of outcomes.
 *
 * `node --conditions=@divisi/source packages/policy-router/scripts/publicRecords.ts FOLDER > packages/core/src/policy/publicRecords.ts`
 */
import path from "node:path"
import * as Effect from "effect/Effect"
import * as Outcomes from "../src/Outcomes.ts"

/** The date on which the records were read. */
const date = "2026-11-24"

const sources = [
  { file: "zeroeval.jsonl.gz", name: "ZeroEval", repository: "WildEval/ZeroEval@8c1485e", licence: "Apache-2.0" },
  {
    file: "mixed-31.jsonl.gz",
    name: "ParetoBandit",
    repository: "ParetoBandit/ParetoBandit@72ccbef",
    licence: "Apache-2.0"
  },
  { file: "llmrouter-14.jsonl.gz", name: "LLMRouter", repository: "ulab-uiuc/LLMRouter@4e7a796", licence: "MIT" },
  {
    file: "mmlu-pro-14.jsonl.gz",
    name: "MMLU-Pro",
    repository: "TIGER-AI-Lab/MMLU-Pro@f418b11",
    licence: "Apache-2.0"
  },
  {
    file: "reasoning-gym-hard.jsonl.gz",
    name: "reasoning-gym, hard",
    repository: "open-thought/reasoning-gym-eval@5f09fec",
    licence: "Apache-2.0"
  }
]

const folder = process.argv[2]
if (folder === undefined) throw new Error("Name the folder of the files.")

const round = (value: number) => Math.round(10 * value) / 10

const countsOf = ({ file, ...source }: (typeof sources)[number]) =>
  Effect.map(Outcomes.read(path.join(folder, file)), (read) => {
    const workers = [...new Set(read.flatMap(({ scores }) => [...scores.keys()]))].sort()
    // Those that all answered: what is compared is the same questions.
    const all = read.filter(({ scores }) => workers.every((worker) => scores.has(worker)))
    const right = workers.map((worker) => round(all.reduce((sum, { scores }) => sum + scores.get(worker)!, 0)))
    return { ...source, date, workers, questions: all.length, right }
  })

const counted = await Effect.runPromise(Effect.forEach(sources, countsOf))

process.stdout.write(`/**
 * How often models were right in public records: counts alone, without a question or an answer. Written by
 * \`scripts/publicRecords.ts\` of \`@divisi/policy-router\`.
 */

/** One record of several workers on the same questions. */
export interface PublicRecord {
  readonly name: string
  /** The repository on GitHub, and its commit. */
  readonly repository: string
  readonly licence: string
  /** When it was read. */
  readonly date: string
  readonly workers: ReadonlyArray<string>
  readonly questions: number
  /** Sums of scores, in the order of the workers. */
  readonly right: ReadonlyArray<number>
}

export const publicRecords: ReadonlyArray<PublicRecord> = ${JSON.stringify(counted, null, 2)}
`)
