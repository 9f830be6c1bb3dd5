/**
 * Records the pool: `node src/record.ts MODELS OUT [--all]`. MODELS is a folder with the GGUF files of `Ways.ts`.
 *
 * Records are appended to OUT, one JSON line each, and calls that are in it are not repeated. The order:
 *
 * 1. The seen kinds, five questions of each at a time: all models in all ways, and then the calls that choose a worker or
 *    combine these answers.
 * 2. With `--all`, samples of the two best ways of the best worker, on the seen kinds.
 * 3. With `--all`, the unseen kinds in the same way. The policies must be fixed before.
 */

import fs from "node:fs"
import path from "node:path"
import { conduct, single } from "@divisi/core/promise"
import { llamacpp } from "@divisi/policy-llamacpp"
import * as Effect from "effect/Effect"
import * as Combined from "./Combined.ts"
import * as Grading from "./Grading.ts"
import { nameOf, samples } from "./Policies.ts"
import * as Questions from "./Questions.ts"
import { keyOf, type Recorded, readLines } from "./Records.ts"
import { bestWays } from "./Replay.ts"
import { limitOf, type ModelId, models, prompt, type Way, ways } from "./Ways.ts"

type Question = Questions.Question

const [folder, out] = process.argv.slice(2)
if (folder === undefined || out === undefined) throw new Error("Usage: record.ts MODELS OUT [--all]")

const done = new Map<string, Recorded>()
for (const record of fs.existsSync(out) ? readLines(fs.readFileSync(out, "utf8")) : []) done.set(keyOf(record), record)

const perBlock = 5
const questions = Questions.read()
const fileOf = new Map<string, string>(models.map(({ file, id }) => [id, file]))

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** A call that is to be recorded. */
interface Call {
  readonly at: Pick<Recorded, "question" | "model" | "way" | "sample">
  readonly question: Question
  readonly prompt: string
  readonly maxOutputTokens: number
  readonly output?: ReturnType<typeof Combined.shapeOf>
  readonly grade: (answer: string) => Promise<Partial<Recorded> & Pick<Recorded, "correct">>
}

/** The temperature of samples; that of all other calls is 0. */
const sampleTemperature = 0.7

const record = async ({ at, grade, maxOutputTokens, output, prompt }: Call): Promise<void> => {
  if (done.has(keyOf(at))) return
  const started = performance.now()
  const worker = llamacpp(path.join(folder, fileOf.get(at.model)!), {
    id: at.model,
    gpu: "none",
    threads: 1,
    sequences: perBlock,
    contextTokens: 2048,
    temperature: at.sample === 0 ? 0 : sampleTemperature,
    maxOutputTokens
  })
  const run = await conduct({
    question: prompt,
    pool: [worker],
    policy: single(0),
    seed: at.sample,
    ...(output === undefined ? {} : { output })
  })
  const { ending, spend } = run
  const answer = run.transcript.answer
  if (answer === undefined) throw new Error(`No answer of ${nameOf(at)} to ${at.question}: the run is ${ending}.`)
  const { inputTokens, outputTokens } = spend.usage
  const graded = await grade(answer)
  const millis = Math.round(performance.now() - started)
  const recorded: Recorded = { ...at, answer, ...graded, inputTokens, outputTokens, millis }
  fs.appendFileSync(out, `${JSON.stringify(recorded)}\n`)
  done.set(keyOf(at), recorded)
}

const plain = (question: Question, model: ModelId, way: Way, sample: number): Call => ({
  at: { question: question.id, model, way, sample },
  question,
  prompt: prompt(question, way),
  maxOutputTokens: limitOf(question, way),
  grade: (answer) => Effect.runPromise(Grading.grade(question, way, answer))
})

const deciding = async (question: Question, text: string) => {
  const { answer, chosen } = Combined.decisionOf(text)
  if (chosen !== undefined) return { chosen, correct: false }
  return Effect.runPromise(Grading.grade(question, "direct", answer))
}

const combined = (question: Question, way: Combined.CombinedWay): Call => {
  const { model } = Combined
  const given = Combined.before[way].map((name) => {
    const [model, way] = name.split("/") as [ModelId, Way]
    return done.get(keyOf({ question: question.id, model, way, sample: 0 }))!.answer
  })
  return {
    at: { question: question.id, model, way, sample: 0 },
    question,
    prompt: Combined.promptOf(question, way, given),
    maxOutputTokens: Combined.limitOf(question, way),
    output: Combined.shapeOf(way),
    grade: (answer) =>
      way === "combine" ? Effect.runPromise(Grading.grade(question, "steps", answer)) : deciding(question, answer)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Order
// -------------------------------------------------------------------------------------------------------------------

/** Five questions of each kind, then the next five. */
const blocksOf = (kinds: ReadonlyArray<Questions.Kind>): ReadonlyArray<ReadonlyArray<ReadonlyArray<Question>>> => {
  const byKind = kinds.map((kind) => questions.filter((one) => one.kind === kind))
  const blocks = Math.max(...byKind.map(({ length }) => length)) / perBlock
  return Array.from({ length: blocks }, (_, block) =>
    byKind.map((some) => some.slice(block * perBlock, (block + 1) * perBlock))
  )
}

/** Records a call for each question, those of a kind at once. */
const recordAll = async (block: ReadonlyArray<ReadonlyArray<Question>>, of: (question: Question) => Call) => {
  for (const some of block) await Promise.all(some.map((question) => record(of(question))))
}

const greedy = async (kinds: ReadonlyArray<Questions.Kind>): Promise<void> => {
  for (const block of blocksOf(kinds)) {
    for (const way of ways) {
      for (const { id } of models) await recordAll(block, (question) => plain(question, id, way, 0))
    }
    for (const way of Combined.combinedWays) await recordAll(block, (question) => combined(question, way))
  }
}

const sampled = async (kinds: ReadonlyArray<Questions.Kind>): Promise<void> => {
  for (const block of blocksOf(kinds)) {
    for (const name of bestWays([...done.values()])) {
      const [model, way] = name.split("/") as [ModelId, Way]
      for (let sample = 1; sample <= samples; sample++) {
        await recordAll(block, (question) => plain(question, model, way, sample))
      }
    }
  }
}

await greedy(Questions.seen)
if (process.argv.includes("--all")) {
  await sampled(Questions.seen)
  await greedy(Questions.unseen)
  await sampled(Questions.unseen)
}
