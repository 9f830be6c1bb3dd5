/** Payments of a run: every call in its transcript with its purpose, and the totals. */
import type { Paid, Spend } from "../task/Usage.ts"
import { addUsage, noSpend } from "../task/Usage.ts"
import type { EarlierStep } from "../workflow/Workflow.ts"
import { isWithoutCall } from "./RunEvent.ts"
import type {
  CheckAnswer,
  CompletionRecord,
  CriticAnswer,
  LostCall,
  RoundRecord,
  StepRecord,
  Transcript,
  TurnRecord
} from "./Transcript.ts"

/**
 * The purpose of a call: writing a plan, answering an intermediate step, answering the step that provides the run's
 * answer (the first one if several vote), or judging an answer for a check or critic.
 */
export type Purpose = "plan" | "step" | "answer" | "judgement"

/** A call made by a run, or a worker's answer for which no call was made. */
export interface Payment {
  /** Id of the worker. For a completion, the name of the policy. */
  readonly worker: string
  readonly purpose: Purpose
  readonly paid: Paid
  /** 0 for answers without a call and for calls rejected by the provider's gate, 1 otherwise. */
  readonly calls: number
  /** Whether the call failed or was interrupted. */
  readonly isLost: boolean
}

const answerPayment = (
  worker: string,
  purpose: Purpose,
  record: CompletionRecord | StepRecord | TurnRecord
): ReadonlyArray<Payment> => {
  const { origin, paid } = record
  if (paid === undefined || origin === "caller") return []
  return [{ worker, purpose, paid, calls: isWithoutCall(record) ? 0 : 1, isLost: false }]
}

/**
 * Returns the payments for failed calls. Calls made by checks and critics count as judgments; all others have the
 * purpose of their step or plan.
 */
const lostPayments = (lost: ReadonlyArray<LostCall>, purpose: Purpose): ReadonlyArray<Payment> =>
  lost.map((paid) => ({
    worker: paid.worker,
    purpose: paid.by === undefined ? purpose : "judgement",
    paid,
    calls: paid.unasked === true ? 0 : 1,
    isLost: true
  }))

const judgePayments = (answers: ReadonlyArray<CriticAnswer | CheckAnswer> = []): ReadonlyArray<Payment> =>
  answers.map((paid) => ({
    worker: paid.worker,
    purpose: "judgement",
    paid,
    calls: isWithoutCall(paid) ? 0 : 1,
    isLost: false
  }))

/** Whether a step's answer comes from its nested run, rather than from a worker that took over. */
export const isNested = ({ nested, reassigned }: StepRecord): boolean => nested !== undefined && reassigned.length === 0

/** Returns the payments of a nested run, with the purpose of the enclosing step. */
const within = (nested: Transcript, purpose: Purpose): ReadonlyArray<Payment> =>
  payments(nested).map((payment) => (payment.purpose === "answer" ? { ...payment, purpose } : payment))

/**
 * Returns the payments of a step. Payments of a nested run are taken from its own record, so the step's answer does not
 * count them again.
 */
const stepPayments = (step: StepRecord, purpose: Purpose): ReadonlyArray<Payment> => [
  ...(step.turns ?? []).flatMap((turn) => answerPayment(turn.worker, purpose, turn)),
  ...(isNested(step) ? [] : answerPayment(step.worker, purpose, step)),
  ...(step.nested === undefined ? [] : within(step.nested, purpose)),
  ...judgePayments(step.checkAnswers),
  ...lostPayments(step.lost, purpose),
  ...(step.items ?? []).flatMap((item) => stepPayments(item, purpose))
]

/**
 * Returns the total usage of the worker that answered a step: the call that returned the answer, and earlier turns in
 * which the worker called tools. Returns `undefined` if there is no answer. `costUsd` is `undefined` if the cost of any
 * call is unknown.
 */
export const paidForAnswer = ({ paid, turns = [], worker }: StepRecord): Paid | undefined => {
  if (paid === undefined) return undefined
  const own = turns.filter((turn) => turn.worker === worker)
  return own.reduce<Paid>(
    (sum, { paid }) => ({
      usage: addUsage(sum.usage, paid.usage),
      costUsd: sum.costUsd === undefined || paid.costUsd === undefined ? undefined : sum.costUsd + paid.costUsd
    }),
    paid
  )
}

/**
 * Returns the step that currently provides the run's answer: the last step of its round (the first one if several
 * vote), or the step whose answer was confirmed. The round is the current one if it is in progress, or else the last
 * one, or the one with the best score if a critic is used.
 */
const answering = ({ rounds }: Transcript): EarlierStep | undefined => {
  const planned = rounds.filter(({ steps }) => steps.length > 0)
  const last = planned.at(-1)
  const stands = last?.revisions?.at(-1)?.answer
  if (last === undefined || stands !== undefined) return stands
  const score = ({ answer, grade }: RoundRecord) =>
    answer === undefined ? Number.NEGATIVE_INFINITY : (grade?.grade.score ?? 0)
  const best = planned.reduce((best, round) => (score(round) >= score(best) ? round : best))
  const { round, steps, workflow } = last.endedAt === undefined ? last : best
  return { round, step: workflow?.answer === "majority" ? 0 : steps.length - 1 }
}

/**
 * Returns every call of a run with its purpose, including those of nested runs. Their sum equals {@link spendSoFar}.
 */
export const payments = (transcript: Transcript): ReadonlyArray<Payment> => {
  const { policy, rounds } = transcript
  const answer = answering(transcript)
  return rounds.flatMap(({ completions, criticAnswers, lost, round, steps }) => {
    const purposeOf = (step: number) => (round === answer?.round && step === answer.step ? "answer" : "step")
    return [
      ...completions.flatMap((completion) => answerPayment(policy, "plan", completion)),
      ...steps.flatMap((step, index) => stepPayments(step, purposeOf(index))),
      ...lostPayments(lost, "plan"),
      ...judgePayments(criticAnswers)
    ]
  })
}

/** Whether a pool is not empty and all of its workers are priced in play money. */
export const isAllPlay = (pool: ReadonlyArray<{ readonly isPlay?: boolean | undefined }>): boolean =>
  pool.length > 0 && pool.every(({ isPlay }) => isPlay === true)

/** Adds a payment to a spending total. */
export const withPayment = (spend: Spend, { calls, paid }: Payment): Spend => ({
  usage: addUsage(spend.usage, paid.usage),
  costUsd: spend.costUsd + (paid.costUsd ?? 0),
  calls: spend.calls + calls,
  unpricedCalls: spend.unpricedCalls + (paid.costUsd === undefined ? calls : 0)
})

/** Returns what a run has spent, including nested runs. For a finished run, this equals `spend`. */
export const spendSoFar = (transcript: Transcript): Spend =>
  transcript.spend ?? payments(transcript).reduce(withPayment, noSpend)

/**
 * Returns what a run has spent on each worker, keyed by worker id. The sum equals {@link spendSoFar}.
 *
 * **Details**
 *
 * Includes calls that failed or were interrupted, and calls of nested runs. Completions of a language policy are listed
 * under the policy's name, which defaults to the id of its model.
 *
 * **Example**
 *
 * ```ts
 * import { bestOf, conduct, spendByWorker, worker } from "@divisi/core/promise"
 *
 * const pool = ["a", "b"].map((id) => worker({ id, answer: () => "42" }))
 * const { transcript } = await conduct({ question: "What is 6 times 7?", pool, policy: bestOf({ n: 2 }) })
 * const spend = spendByWorker(transcript)
 * spend.a?.calls // => 2
 * spend.b?.calls // => 1
 * ```
 */
export const spendByWorker = (transcript: Transcript): Readonly<Record<string, Spend>> => {
  const spend = new Map<string, Spend>()
  for (const payment of payments(transcript)) {
    spend.set(payment.worker, withPayment(spend.get(payment.worker) ?? noSpend, payment))
  }
  return Object.fromEntries(spend)
}
