/** The accounts that a run's calls are charged to: their limits, and the amounts and names of charges. */
import * as Effect from "effect/Effect"
import { placeOf as placeOfStep } from "../events/items.ts"
import type { Amount, Ledger, Occurrence, Payer, Reservation } from "../run/Budget.ts"
import { reserveUnsafe } from "../run/MemoryLedger.ts"
import type { Checks } from "../task/Check.ts"
import type { Critic } from "../task/Critic.ts"
import {
  type Bounds,
  BudgetExceeded,
  checked,
  cost,
  estimateUsage,
  isFree,
  noUsage,
  type Paid,
  type Usage
} from "../task/Usage.ts"
import type { Worker, WorkerError } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import {
  type Asked,
  inputBound,
  inputCount,
  jsonBound,
  mostOutput,
  outputBound,
  tokenBound,
  usualOutputTokens,
  worstCase
} from "../task/WorstCase.ts"
import type { StepCheck } from "../workflow/Workflow.ts"
import type { Ask, At, CallRun } from "./call.ts"
import type { Plan } from "./plan.ts"
import type { Received } from "./receive.ts"

/** The accounts that a run's calls are charged to. */
export interface Accounts {
  readonly ledger: Ledger
  readonly payer: Payer | undefined
}

/** Whether any account has a limit, so that calls must reserve their worst case. */
export const isLimited = ({ ledger, payer }: Accounts): boolean => ledger.isLimited || payer?.account.isLimited === true

const unpriced = ({ account, allowed, limit, spent }: BudgetExceeded, worker: string): BudgetExceeded =>
  new BudgetExceeded({ limit, allowed, spent, needed: undefined, account, worker })

/**
 * Returns the error for calls that would be rejected because an account limits the cost but a worker has no known
 * price. Limits known only to another process are detected when the call is reserved.
 */
export const refusalOf = ({ ledger, payer }: Accounts, workers: Iterable<Worker>): BudgetExceeded | undefined => {
  if (ledger.costLimit === undefined && payer?.account.costLimit === undefined) return undefined
  const worker = firstUnpriced(workers)
  if (worker === undefined) return undefined
  const refused = (account: Ledger, name?: "payer") =>
    account.costLimit === undefined
      ? undefined
      : new BudgetExceeded({
          limit: "costUsd",
          allowed: account.costLimit,
          spent: account.spent().costUsd,
          needed: undefined,
          worker: worker.id,
          account: name
        })
  return refused(ledger) ?? (payer && refused(payer.account, "payer"))
}

const isUnpriced = ({ pricing }: Worker): boolean => cost(pricing, noUsage) === undefined

const firstUnpriced = (workers: Iterable<Worker>): Worker | undefined => {
  for (const worker of workers) if (isUnpriced(worker)) return worker
  return undefined
}

/**
 * Yields the workers that every run requires: those of the critic and, if no worker in the pool has a known price, one
 * from the pool.
 */
export function* neededOf(pool: ReadonlyArray<Worker>, critic: Critic | undefined): Generator<Worker> {
  if (pool.every(isUnpriced)) yield* pool.slice(0, 1)
  yield* critic?.workers ?? []
}

const nothing: Amount = { costUsd: 0, tokens: 0 }

/** Returns the amount to reserve for a call on an account. */
export const boundOn = ({ isLimited }: Ledger, ask: Asked): Amount => (isLimited ? worstCase(ask) : nothing)

/**
 * Reserves an attempt on an account, possibly when this function is called. The refusal of a call without a price names
 * its worker.
 */
export const reserve = (ledger: Ledger, ask: Ask, at: At): Effect.Effect<Reservation, BudgetExceeded> => {
  const reserved = reserveUnsafe(ledger, boundOn(ledger, ask), attemptName(at), occurrenceOf(at))
  // An account without limits refuses nothing.
  if (!ledger.isLimited) return reserved
  return Effect.mapError(reserved, (error) => (error.needed === undefined ? unpriced(error, ask.worker.id) : error))
}

/** Returns the workers that a check calls. */
const checkersOf = ({ by }: StepCheck, checks: Checks, pool: WorkerPool): ReadonlyArray<Worker> => {
  const check = typeof by === "string" ? checks[by] : pool.workers[by]
  if (check === undefined || typeof check === "function") return []
  if ("generate" in check) return [check]
  return "score" in check ? (check.workers ?? []) : []
}

/** Yields the workers of the steps to run, and the workers that check them. */
export function* workersOf({
  checks,
  pool,
  wanted,
  workflow
}: Pick<Plan, "checks" | "pool" | "workflow" | "wanted">): Generator<Worker> {
  for (const [step, { check, worker }] of workflow.steps.entries()) {
    if (wanted?.has(step) === false) continue
    const own = pool.workers[worker]
    if (own !== undefined) yield own
    if (check !== undefined) yield* checkersOf(check, checks, pool)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Amounts
// -------------------------------------------------------------------------------------------------------------------

/** Assumed maximum for input and output tokens if no account limits the call. No vendor accepts more. */
const mostTokens = 10_000_000

/**
 * Returns bounds on a call's plausible usage. With a limit, usage is bounded by the reserved amount. Without one, a
 * worker may have read more than it was sent (agents do), but cannot have written more than requested.
 */
export const boundsOf = (asked: Asked, isLimited: boolean, text: string): Bounds => {
  const output = mostOutput(asked)
  const most = isLimited
    ? { inputTokens: inputBound(asked), outputTokens: outputBound(asked) }
    : { inputTokens: mostTokens, outputTokens: output ?? mostTokens }
  const worst = () => ({
    inputTokens: inputBound(asked),
    outputTokens: output ?? Math.max(outputBound(asked), isLimited ? 0 : tokenBound(text))
  })
  return { most, worst, isSome: text !== "" && !isFree(asked.worker.pricing) }
}

/**
 * Returns the number of tokens that the vendor is expected to count against a tokens-per-minute limit: the estimated
 * input plus the requested output.
 */
export const likelyTokens = (asked: Asked): number =>
  (inputCount(asked) ?? estimateUsage(asked.request.messages, "").inputTokens) +
  (asked.request.maxOutputTokens ?? asked.worker.maxOutputTokens ?? Math.min(outputBound(asked), usualOutputTokens))

/** Estimates the usage of a complete answer, capped at the reserved amount. */
export const estimateOf = (asked: Asked, text: string): Usage => {
  const { inputTokens, outputTokens } = estimateUsage(asked.request.messages, text)
  return {
    inputTokens: Math.min(inputTokens, inputBound(asked)),
    outputTokens: Math.min(outputTokens, mostOutput(asked) ?? outputTokens),
    estimated: true
  }
}

/** Failures that occur before the vendor starts to generate an answer, so that nothing is billed. */
const unbilled = /^(?:RateLimited|Overloaded|Network|InvalidRequest|Authentication|Quota|ContextTooLong)$/

/** Returns the usage of a failed call. If the vendor did not report it, returns an upper bound. */
export const usageOf = (
  error: WorkerError | undefined,
  asked: Asked,
  received: Pick<Received, "text" | "reasoning" | "toolCalls" | "finish">,
  isLimited: boolean
): Usage => {
  const written = tokenBound(received.text) + tokenBound(received.reasoning) + jsonBound(received.toolCalls)
  const bound = (): Usage => ({
    inputTokens: inputBound(asked),
    outputTokens: Math.min(written, mostOutput(asked) ?? written),
    estimated: true
  })
  if (error?.usage !== undefined) return checked(error.usage, bound, boundsOf(asked, isLimited, received.text))
  if (received.finish !== undefined) return received.finish.usage
  return written === 0 && error !== undefined && unbilled.test(error.reason._tag) ? noUsage : bound()
}

/** Payment for a call that cost nothing. */
export const unpaid: Paid = { usage: noUsage, costUsd: 0 }

/** Returns the usage of an attempt without an answer, or `undefined` if the worker was not called. */
export const paidOf = (
  { isLimited }: CallRun,
  ask: Ask,
  { received }: At,
  error: WorkerError | undefined
): Paid | undefined => {
  if (!received.isSent) return undefined
  const { worker } = ask
  const usage = usageOf(error, ask, received, isLimited())
  return { usage, costUsd: cost(worker.pricing, usage) }
}

// -------------------------------------------------------------------------------------------------------------------
// Names
// -------------------------------------------------------------------------------------------------------------------

/** Returns the name under which an attempt is charged to accounts. */
export const attemptName = ({ attempt, name }: Pick<At, "attempt" | "name">): string | undefined =>
  name === undefined ? undefined : `${name}/${attempt}`

/** Formats the caller for use in a call's address. */
export const placeName = ({ by, item, step }: Pick<Ask, "by" | "item" | "step">): string => {
  const who = step === undefined ? by : placeOfStep(step, item)
  return by === "check" ? `${who} check` : who
}

/** Names a call in a run without a journal, using the same scheme as journals. */
export const numbered = (runId: string, counts: Map<string, number>, ask: Ask): string => {
  const place = `${runId}/${ask.round}/${placeName(ask)}`
  const count = counts.get(place) ?? 0
  counts.set(place, count + 1)
  return `${place}/${count}`
}

/** Returns whether an attempt is new, replayed or resumed, from the perspective of an account. */
export const occurrenceOf = ({ handle, slot }: At): Occurrence => {
  if (slot === undefined) return "new"
  return handle === undefined ? "resumed" : "replayed"
}
