/**
 * Calls whose prompts contain more than the question (descriptions of the workers, their recorded answers, or passages
 * from the documentation), or the question's options in a different order. All are made by the largest model.
 */

import * as Options from "./Options.ts"
import * as Passages from "./Passages.ts"
import type { Question } from "./Questions.ts"
import { models, prompt, steps, type Way, ways } from "./Ways.ts"

/** The ways of asking for an answer with the options in another order: each begins with the next option. */
export const orders = ["order-2", "order-3", "order-4"] as const

/**
 * `choose` and `choose-or-answer` are decisions of a prompted Conductor, `combine` is the last call of
 * Mixture-of-Agents, and `read` answers with the passages of the retriever.
 */
export const combinedWays = ["choose", "choose-or-answer", "combine", "read", ...orders] as const
export type CombinedWay = (typeof combinedWays)[number]

/** The number of positions by which a way moves the options; 0 for all other ways. */
export const shiftOf = (way: CombinedWay): number => (orders as ReadonlyArray<CombinedWay>).indexOf(way) + 1

/** The model that is called. */
export const model = models[2].id

/** The names of the records that a prompt contains. */
export const before: Readonly<Record<CombinedWay, ReadonlyArray<string>>> = {
  choose: [],
  "choose-or-answer": [],
  combine: models.map(({ id }) => `${id}/direct`),
  read: [],
  "order-2": [],
  "order-3": [],
  "order-4": []
}

/** The maximum number of tokens of each call. */
export const limitOf = ({ kind }: Question, way: CombinedWay): number =>
  way === "choose" ? 16 : way === "combine" ? 400 : kind === "programs" ? 256 : way === "choose-or-answer" ? 64 : 48

const acts: Readonly<Record<Way, string>> = {
  direct: "answers at once, in a few words",
  steps: "thinks step by step before it answers",
  program: "writes a Python program, which an interpreter runs: exact calculations"
}

/** The workers with their descriptions, in the order of their numbers. */
export const described: ReadonlyArray<{
  readonly worker: string
  readonly weights: number
  readonly description: string
}> = models.flatMap(({ id, weights }) =>
  ways.map((way) => ({
    worker: `${id}/${way}`,
    weights,
    description: `A language model with ${weights / 1e9} billion weights that ${acts[way]}.`
  }))
)

const workers = described.map(({ description }, at) => `${at}: ${description}`).join("\n")

/** The number of the Conductor itself, if it may answer. */
const self = described.length

const choose = ({ text }: Question): string =>
  `Choose the worker that should answer a question. Larger models cost more.\n\n${workers}\n\nThe question:\n${text}\n\nReply with JSON: {"worker": number}.`

const chooseOrAnswer = (question: Question): string =>
  `Choose the worker that should answer a question, or answer it yourself. Larger models cost more.\n\n${workers}\n${self}: You answer.\n\nThe question:\n${prompt(question, "direct")}\n\nReply with JSON: {"worker": number, "answer": text}. The answer is empty unless the worker is ${self}.`

const combine = (question: Question, answers: ReadonlyArray<string>): string => {
  const how = question.kind === "programs" ? "Reply with the function only, in one code block." : steps(question)
  const given = answers.map((answer, at) => `Answer ${at + 1}:\n${answer.trim()}`).join("\n\n")
  return `${question.text}\n\nThree models gave these answers; each may be wrong.\n\n${given}\n\n${how}`
}

/** The passages follow the question, so that its evaluated tokens are reused. */
const read = (question: Question): string => {
  const passages = Passages.all().get(question.id)!.passages
  const text = `${question.text}\n\nPassages of the documentation:\n\n${passages.join("\n\n")}`
  return prompt({ ...question, text }, "direct")
}

/** The prompt of a call; `answers` are those of {@link before}. */
export const promptOf = (question: Question, way: CombinedWay, answers: ReadonlyArray<string>): string => {
  if (way === "choose") return choose(question)
  if (way === "choose-or-answer") return chooseOrAnswer(question)
  if (way === "combine") return combine(question, answers)
  return way === "read" ? read(question) : prompt(Options.shifted(question, shiftOf(way)), "direct")
}

/** The shape of a decision, enforced by a grammar; `undefined` for a free text. */
export const shapeOf = (way: CombinedWay) => {
  if (way !== "choose" && way !== "choose-or-answer") return undefined
  const numbers = Array.from({ length: self + (way === "choose" ? 0 : 1) }, (_, at) => at)
  const worker = { enum: numbers }
  const properties = way === "choose" ? { worker } : { worker, answer: { type: "string" } }
  const schema = { type: "object", properties, required: Object.keys(properties), additionalProperties: false }
  return { type: "json-schema" as const, name: "decision", schema }
}

/** A decision: the worker, or the Conductor's own answer. */
export interface Decision {
  readonly chosen?: string
  readonly answer: string
}

/** Reads a decision. A text that the token limit cut off is an own answer that is wrong. */
export const decisionOf = (text: string): Decision => {
  try {
    const { answer = "", worker }: { readonly worker: number; readonly answer?: string } = JSON.parse(text)
    const chosen = described[worker]?.worker
    return chosen === undefined ? { answer } : { chosen, answer }
  } catch {
    return { answer: "" }
  }
}
