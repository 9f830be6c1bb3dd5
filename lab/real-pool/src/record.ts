/**
 * Records the pool's answers: `node src/record.ts MODELS OUT [--seen]`. MODELS is a folder with the GGUF files listed
 * in `Ways.ts`, or the URL of a llama-server that has one of them, which `--model ID` names.
 *
 * Records are appended to OUT as JSON Lines, in the order of `Plan.ts`. Calls that were already recorded are skipped.
 * The policies must be fixed before the unseen kinds are recorded; `--seen` omits these kinds. A server gets calls of
 * several questions at once (`--at-once`, 16 by default), so that it can evaluate them in one batch. Calls whose prompts
 * contain answers that are not recorded yet are left for a later run.
 */

import fs from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import { conduct, single } from "@divisi/core/promise"
import { llamacpp } from "@divisi/policy-llamacpp"
import { openaiCompatible, presets } from "@divisi/providers-openai"
import * as Effect from "effect/Effect"
import * as Combined from "./Combined.ts"
import * as Grading from "./Grading.ts"
import * as Options from "./Options.ts"
import * as Plan from "./Plan.ts"
import { nameOf, samples } from "./Policies.ts"
import * as Questions from "./Questions.ts"
import { keyOf, type Recorded, readLines } from "./Records.ts"
import { limitOf, type ModelId, models, prompt, type Way, ways } from "./Ways.ts"

type Question = Questions.Question

const {
  positionals: [source, out],
  values: given
} = parseArgs({
  allowPositionals: true,
  options: {
    seen: { type: "boolean", default: false },
    model: { type: "string" },
    "at-once": { type: "string", default: "16" }
  }
})
if (source === undefined || out === undefined || source.startsWith("http") !== (given.model !== undefined)) {
  throw new Error("Usage: record.ts FOLDER OUT [--seen], or record.ts URL OUT --model ID [--seen] [--at-once N]")
}

const done = new Map<string, Recorded>()

for (const record of fs.existsSync(out) ? readLines(fs.readFileSync(out, "utf8")) : []) done.set(keyOf(record), record)

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

const workerOf = ({ at, maxOutputTokens }: Call) => {
  const temperature = at.sample === 0 ? 0 : sampleTemperature
  if (given.model !== undefined) {
    const model = fileOf.get(at.model)!
    return openaiCompatible({ ...presets.llamaServer, baseURL: source, model, temperature, maxOutputTokens })
  }
  return llamacpp(path.join(source, fileOf.get(at.model)!), {
    id: at.model,
    gpu: "none",
    threads: 1,
    sequences: samples,
    contextTokens: 2048,
    temperature,
    maxOutputTokens
  })
}

const record = async (call: Call): Promise<void> => {
  const { at, grade, output, prompt } = call
  if (done.has(keyOf(at))) return
  const started = performance.now()
  const worker = workerOf(call)
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

/** Grades an answer to a question whose options were moved; the extracted letter is that of the question itself. */
const inOrder = async (question: Question, shift: number, text: string) => {
  const graded: Pick<Recorded, "correct" | "extracted"> = await Effect.runPromise(
    Grading.grade(Options.shifted(question, shift), "direct", text)
  )
  const { extracted } = graded
  return extracted === undefined ? graded : { ...graded, extracted: Options.original(extracted, shift) }
}

const combined = (question: Question, way: Combined.CombinedWay): Call => {
  const { model } = Combined
  const given = Combined.before[way].map((name) => {
    const [model, way] = name.split("/") as [ModelId, Way]
    return done.get(keyOf({ question: question.id, model, way, sample: 0 }))!.answer
  })
  const gradeOf = (answer: string) => {
    if (way === "combine") return Effect.runPromise(Grading.grade(question, "steps", answer))
    if (way === "choose" || way === "choose-or-answer") return deciding(question, answer)
    return inOrder(question, Combined.shiftOf(way), answer)
  }
  return {
    at: { question: question.id, model, way, sample: 0 },
    question,
    prompt: Combined.promptOf(question, way, given),
    maxOutputTokens: Combined.limitOf(question, way),
    output: Combined.shapeOf(way),
    grade: gradeOf
  }
}

const isPlain = (way: Recorded["way"]): way is Way => ways.some((one) => one === way)

const callOf = ({ model, question, sample, way }: Plan.Call): Call =>
  isPlain(way) ? plain(question, model, way, sample) : combined(question, way)

const wanted = given.seen
  ? Plan.all().map((group) => group.filter(({ question }) => Questions.isSeen(question.kind)))
  : Plan.all()

/** Whether all answers that the prompt of a call contains are recorded. */
const isReady = ({ question, way }: Plan.Call): boolean =>
  isPlain(way) ||
  Combined.before[way].every((name) => {
    const [model, way] = name.split("/") as [ModelId, Way]
    return done.has(keyOf({ question: question.id, model, way, sample: 0 }))
  })

if (given.model === undefined) {
  for (const group of wanted) await Promise.all(group.map((call) => record(callOf(call))))
} else {
  const calls = wanted
    .flat()
    .filter((call) => call.model === given.model)
    .values()
  const recordNext = async () => {
    for (const call of calls) if (isReady(call)) await record(callOf(call))
  }
  await Promise.all(Array.from({ length: Number(given["at-once"]) }, recordNext))
}
