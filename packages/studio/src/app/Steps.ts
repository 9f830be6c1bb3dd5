/** Properties of steps, shared by several components. */
import { type Transcript, Transcript as Transcripts } from "@divisi/core"
import * as Format from "../run/Format.ts"
import { type Call, sourceOf } from "../run/Waterfall.ts"

/** Returns the display name for the state of a step. */
export const stateOfStep = (record: Transcript.StepRecord): string => {
  const { lost, state } = record
  if (state === "waiting") return "pending"
  if (state === "answered") return sourceOf(record) ?? state
  if (state === "failed" && lost.at(-1)?.isInDoubt === true) return "unconfirmed"
  return state
}

/** The reasons why steps are skipped: for a chart, and as a sentence. */
const skipped: Readonly<Record<string, readonly [short: string, sentence: string]>> = {
  unseen: ["no step reads it", "No later step reads its answer, so it was not run."],
  budget: ["over the budget", "The budget did not allow it."],
  revised: ["plan revised", "The policy revised the plan before this step had an answer."],
  condition: ["condition not met", "Its condition was not met, so it was not run."],
  late: ["enough other answers", "The step that reads it had enough other answers, so it was stopped."]
}

/** Returns the reason why a step was skipped, for a chart. */
export const skipText = ({ detail = "" }: Transcript.StepRecord): string => skipped[detail]?.[0] ?? "not run"

/** Returns the reason why a step was skipped, and whether it was paid. */
export const skipSentence = ({ detail = "", lost }: Transcript.StepRecord): string =>
  `${skipped[detail]?.[1] ?? "It was not run."} ${
    lost.length === 0 ? "Nothing was paid." : "Requests that had already been sent are charged."
  }`

/** Returns the total cost of a step, including turns, failed calls and items, or `undefined` if a price is unknown. */
export const costOf = (step: Transcript.StepRecord): number | undefined => {
  const { checkAnswers = [], items = [], lost, nested, turns = [] } = step
  if (nested !== undefined) {
    const { costUsd, unpricedCalls } = nested.spend ?? Transcripts.spendSoFar(nested)
    return unpricedCalls > 0 && costUsd === 0 ? undefined : costUsd
  }
  const parts = [
    ...(step.paid ? [step.paid] : []),
    ...turns.map(({ paid }) => paid),
    ...lost,
    ...checkAnswers,
    ...items.map((item) => ({ costUsd: costOf(item) }))
  ]
  let sum = 0
  for (const { costUsd } of parts) {
    if (costUsd === undefined) return undefined
    sum += costUsd
  }
  return sum
}

/** Returns the input and output tokens of a step. */
export const tokensOf = ({
  items = [],
  lost,
  nested,
  paid,
  turns = []
}: Transcript.StepRecord): { readonly inputTokens: number; readonly outputTokens: number } => {
  if (nested !== undefined) return (nested.spend ?? Transcripts.spendSoFar(nested)).usage
  const parts: Array<{ readonly inputTokens: number; readonly outputTokens: number }> = [
    ...(paid ? [paid] : []),
    ...turns.map((turn) => turn.paid),
    ...lost
  ].map(({ usage }) => usage)
  parts.push(...items.map(tokensOf))
  return {
    inputTokens: parts.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    outputTokens: parts.reduce((sum, { outputTokens }) => sum + outputTokens, 0)
  }
}

/** Returns the display name for the outcome of a call. */
export const callWords = {
  answer: "Answered",
  turn: "Called a tool",
  cached: "Cached",
  reused: "From the forked run",
  supplied: "Supplied by the caller",
  failed: "Failed",
  interrupted: "Interrupted",
  unconfirmed: "Unconfirmed",
  running: "Running"
} as const satisfies Readonly<Record<Call["kind"], string>>

/** Formats a number of attempts. */
export const attemptsText = (count: number): string => Format.counted(count, "attempt")

/** Formats the cost of a step, without marking play money. */
export const plainMoney = (step: Transcript.StepRecord): string => {
  const cost = costOf(step)
  const source = sourceOf(step)
  if (source !== undefined && cost === 0) return source
  return cost === undefined ? "price unknown" : Format.money(cost)
}
