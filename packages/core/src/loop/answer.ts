/** Derives the answer of a round from the answers of its steps, or the reason why there is no answer. */

import { Refusal } from "../task/Worker.ts"
import type { StepAnswer } from "../workflow/StepMessages.ts"
import { voteOf } from "../workflow/vote.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import { type Results, StepFailed } from "./scheduler.ts"

const majority = (texts: ReadonlyArray<string>): string | undefined => {
  const votes = new Map<string, { readonly text: string; count: number }>()
  for (const text of texts) {
    const key = voteOf(text)
    const vote = votes.get(key)
    if (vote === undefined) votes.set(key, { text, count: 1 })
    else vote.count += 1
  }
  let winner: { readonly text: string; readonly count: number } | undefined
  for (const vote of votes.values()) if (winner === undefined || vote.count > winner.count) winner = vote
  return winner?.text
}

const textsOf = (answers: ReadonlyArray<StepAnswer | undefined>): ReadonlyArray<string> =>
  answers.flatMap((answer) => (answer?.type === "answered" ? [answer.text] : []))

/** Returns the answer of a completed workflow: the last step's answer, or the majority's. */
export const answerOf = (workflow: Workflow, results: Results): string | undefined => {
  if (workflow.answer === "majority") return majority(textsOf(results.answers))
  const last = results.answers[workflow.steps.length - 1]
  return last?.type === "answered" ? last.text : undefined
}

/** Returns the ordinals of the workers whose steps have no answer of this kind. */
export const workersOf = (
  { steps }: Workflow,
  { answers }: Results,
  type: "failed" | "refused"
): ReadonlyArray<number> => steps.filter((_, step) => answers[step]?.type === type).map(({ worker }) => worker)

/** Returns why a completed workflow has no answer. */
export const failureOf = (workflow: Workflow, { answers }: Results): StepFailed | Refusal => {
  const last = workflow.steps.length - 1
  const deciding = workflow.answer === "majority" ? answers : [answers[last]]
  const refusal = deciding.findLast((answer) => answer?.type === "refused")
  if (refusal !== undefined) return new Refusal({ worker: refusal.worker, text: refusal.text })
  const failure = answers[last]
  return failure?.type === "failed"
    ? new StepFailed({ step: last, detail: failure.message, cause: failure.cause })
    : new StepFailed({ step: last, detail: "no step answered" })
}

/**
 * Returns the step at the end of the longest chain of answered steps (the last one on a tie), or `undefined` if no step
 * was answered.
 */
export const furthestOf = ({ steps }: Workflow, answers: ReadonlyArray<StepAnswer | undefined>): number | undefined => {
  const lengths: Array<number> = []
  let furthest: number | undefined
  for (const [step, { access }] of steps.entries()) {
    const seen = access === "all" ? lengths : access.map((index) => lengths[index]!)
    const isAnswered = answers[step]?.type === "answered"
    const length = isAnswered ? 1 + seen.reduce((most, one) => Math.max(most, one), 0) : 0
    lengths.push(length)
    if (isAnswered && (furthest === undefined || length >= lengths[furthest]!)) furthest = step
  }
  return furthest
}

/**
 * Returns the answer of a workflow that was cut short: its own, or that of the last step that was asked the question
 * itself. An answer to a subtask is not an answer to the question.
 */
export const bestSoFar = (workflow: Workflow, results: Results): string | undefined =>
  answerOf(workflow, results) ??
  textsOf(results.answers.filter((_, step) => workflow.steps[step]!.subtask === "")).at(-1)
