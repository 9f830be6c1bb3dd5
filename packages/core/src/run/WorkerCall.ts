/**
 * One metered call of a worker: the only place where a worker's `generate` is run.
 *
 * Response cache, retries, accounts, provider gate and time limit stand here, in this order from the outside in, so
 * that steps, policies and critics are counted, limited and retried alike. A call is charged to the run's own budget
 * and, if there is a payer, to the payer's account: the worst case is reserved on both before the call starts.
 */

import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import { defined } from "../Fields.ts"
import type { Emit } from "../record/RunEvent.ts"
import * as Seed from "../Seed.ts"
import type { Allowance } from "../task/Allowance.ts"
import type { Paid } from "../task/Usage.ts"
import { BudgetExceeded, cost, estimateUsage, noUsage, type Usage } from "../task/Usage.ts"
import { type FinishReason, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "../task/Worker.ts"
import type { Amount, Ledger, Payer, Reservation } from "./Budget.ts"
import { delay, type Gate, type Retry } from "./Resilience.ts"
import type { Failure } from "./ResponseCache.ts"
import * as ResponseCache from "./ResponseCache.ts"

/** What the calls of one run share. */
export interface CallContext {
  /** The run's own budget. */
  readonly ledger: Ledger
  /** The account that pays for calls that are made, if it is not the run's own. */
  readonly payer: Payer | undefined
  /** Whether an answer from the cache costs the run nothing, or what it cost when it was made. */
  readonly found: "free" | "as-made"
  readonly clock: Clock.Clock
  readonly emit: Emit | undefined
  readonly retry: Retry
  /** Spreads the retries of runs that have no seed. */
  readonly salt: string
  readonly gate: Gate | undefined
  readonly cache: ResponseCache.ResponseCache | undefined
  readonly timeoutMillis: number | undefined
}

/**
 * One call. `sample` distinguishes calls that repeat a request on purpose; it is the same in every run with one seed.
 */
export interface Call {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  readonly step?: number | undefined
  readonly onDelta?: ((kind: "text" | "reasoning", text: string) => void) | undefined
}

/** A whole answer, and what the run was charged for it. */
export interface Answered extends Paid {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly finishReason: FinishReason
  /** Whether it was found and cost nothing. */
  readonly cached: boolean
  /** The extra time of a cached answer that is charged as made; 0 otherwise. */
  readonly addedMillis: number
}

/** The output limit that a budget assumes when neither the request nor the worker has one (the paper's). */
const assumedOutputTokens = 4096

const encoder = new TextEncoder()

/** An upper bound of a text's tokens: no tokenizer makes more than one token of a byte. */
const tokenBound = (text: string): number => encoder.encode(text).length

const inputBound = (worker: Worker, request: WorkerRequest): number =>
  worker.countInputTokens?.(request.messages) ??
  // Chat templates wrap each message in a few tokens of their own.
  request.messages.reduce((sum, message) => sum + tokenBound(message.content) + 8, 8)

const outputBound = (worker: Worker, request: WorkerRequest): number =>
  request.maxOutputTokens ?? worker.limits?.maxOutputTokens ?? assumedOutputTokens

/** The most that these tokens can be billed at. */
const worstCase = (worker: Worker, inputTokens: number, outputTokens: number): Amount => {
  const written = { inputTokens, outputTokens, cacheWriteTokens: inputTokens }
  const plain = cost(worker.pricing, { inputTokens, outputTokens })
  const costUsd = plain === undefined ? undefined : Math.max(plain, cost(worker.pricing, written) ?? 0)
  return { costUsd, tokens: inputTokens + outputTokens }
}

const nothing: Amount = { costUsd: 0, tokens: 0 }

const unpaid: Paid = { usage: noUsage, costUsd: 0 }

/** What a vendor will count against a limit of tokens per minute: the likely input, and all the output it may write. */
const likelyTokens = (worker: Worker, request: WorkerRequest): number =>
  (worker.countInputTokens?.(request.messages) ?? estimateUsage(request.messages, "").inputTokens) +
  // Vendors count the output that is asked for; a model's own maximum is many times what it usually writes.
  (request.maxOutputTokens ?? Math.min(outputBound(worker, request), assumedOutputTokens))

/** Takes what a vendor says is left of its limits. */
type AllowanceListener = (allowance: Allowance) => void

const ignoreAllowance: AllowanceListener = () => {}

/** What has arrived of an answer. */
interface Received {
  text: string
  reasoning: string
  finish: Extract<WorkerPart, { readonly type: "finish" }> | undefined
}

const malformed = (worker: Worker, detail: string, usage?: Usage) =>
  new WorkerError({
    worker: worker.id,
    reason: { _tag: "Malformed", detail },
    usage
  })

const receive = (
  call: Call,
  received: Received,
  onAllowance: AllowanceListener
): Effect.Effect<ResponseCache.Answer, WorkerError> => {
  const { onDelta, request, worker } = call
  let late = false
  const take = (part: WorkerPart) => {
    if (part.type === "allowance") return onAllowance(part)
    late ||= received.finish !== undefined
    if (part.type === "finish") received.finish = part
    else {
      received[part.type] += part.text
      onDelta?.(part.type, part.text)
    }
  }
  const whole = Effect.suspend((): Effect.Effect<ResponseCache.Answer, WorkerError> => {
    const { finish, reasoning, text } = received
    if (finish === undefined) return Effect.fail(malformed(worker, "the stream ended before the answer was finished"))
    if (late) return Effect.fail(malformed(worker, "parts came after the end of the answer", finish.usage))
    if (text.trim() === "") return Effect.fail(malformed(worker, "the answer is empty", finish.usage))
    const answer = { text, finishReason: finish.reason, usage: finish.usage }
    return Effect.succeed(reasoning === "" ? answer : { ...answer, reasoning })
  })
  const parts = Stream.runForEachArray(worker.generate(request), (parts) => Effect.sync(() => parts.forEach(take)))
  return Effect.andThen(parts, whole)
}

/** Failures that happen before a vendor begins to answer, and so are not billed. */
const unbilled: ReadonlySet<string> = new Set([
  "RateLimited",
  "Overloaded",
  "Network",
  "InvalidRequest",
  "Authentication",
  "Quota",
  "ContextTooLong"
])

/** What a call used; if the vendor did not report it, the most it can have been. */
const usageOf = (
  exit: Exit.Exit<ResponseCache.Answer, WorkerError>,
  { request, worker }: Call,
  received: Received
): Usage => {
  if (Exit.isSuccess(exit)) return exit.value.usage
  const error = exit.cause.reasons.find(Cause.isFailReason)?.error
  if (error?.usage !== undefined) return error.usage
  if (received.finish !== undefined) return received.finish.usage
  const written = tokenBound(received.text) + tokenBound(received.reasoning)
  if (written === 0 && error !== undefined && unbilled.has(error.reason._tag)) return noUsage
  return {
    inputTokens: inputBound(worker, request),
    outputTokens: Math.min(written, outputBound(worker, request)),
    estimated: true
  }
}

const limitTime = <A>(
  effect: Effect.Effect<A, WorkerError>,
  worker: Worker,
  timeoutMillis: number | undefined
): Effect.Effect<A, WorkerError> =>
  timeoutMillis === undefined
    ? effect
    : Effect.timeoutOrElse(effect, {
        duration: timeoutMillis,
        orElse: () =>
          Effect.fail(
            new WorkerError({
              worker: worker.id,
              reason: {
                _tag: "Timeout",
                afterMillis: timeoutMillis,
                detail: `no answer after ${timeoutMillis / 1000} s`
              }
            })
          )
      })

// -------------------------------------------------------------------------------------------------------------------
// Accounts
// -------------------------------------------------------------------------------------------------------------------

const boundOn = ({ isLimited }: Ledger, { request, worker }: Call): Amount =>
  isLimited ? worstCase(worker, inputBound(worker, request), outputBound(worker, request)) : nothing

const paidFor = ({ worker }: Call, usage: Usage): Paid => ({ usage, costUsd: cost(worker.pricing, usage) })

/** Reserves the worst case of a call on the payer's account. */
const reserveAtPayer = (payer: Payer, call: Call): Effect.Effect<Reservation, BudgetExceeded> =>
  Effect.mapError(payer.account.reserve(boundOn(payer.account, call)), ({ allowed, limit, needed, spent }) => {
    const error = new BudgetExceeded({ limit, allowed, spent, needed, account: "payer" })
    payer.onRefused?.({ error, worker: call.worker.id, request: call.request })
    return error
  })

// -------------------------------------------------------------------------------------------------------------------
// Calls that are made
// -------------------------------------------------------------------------------------------------------------------

/** Calls the worker once: reserves the worst case, waits at the gate, receives the answer, settles. */
const attempt = (
  context: CallContext,
  call: Call,
  settled: (exit: Exit.Exit<ResponseCache.Answer, WorkerError>, paid: Paid) => void
): Effect.Effect<ResponseCache.Answer, WorkerError | BudgetExceeded> => {
  const { gate, ledger, payer } = context
  const { request, worker } = call
  return Effect.uninterruptibleMask((restore) => {
    const use = (own: Reservation, payers?: Reservation) => {
      const received: Received = { text: "", reasoning: "", finish: undefined }
      let started = false
      const open = (onAllowance: AllowanceListener) =>
        limitTime(
          Effect.suspend(() => {
            started = true
            return receive(call, received, onAllowance)
          }),
          worker,
          context.timeoutMillis
        )
      const entered =
        gate === undefined ? open(ignoreAllowance) : gate.enter(worker, likelyTokens(worker, request), open)
      return Effect.onExit(restore(entered), (exit) =>
        Effect.sync(() => {
          if (!started) {
            ledger.release(own)
            if (payers !== undefined) payer?.account.release(payers)
            return
          }
          const paid = paidFor(call, usageOf(exit, call, received))
          ledger.settle(own, paid)
          if (payers !== undefined) payer?.account.settle(payers, paid)
          settled(exit, paid)
        })
      )
    }
    return Effect.flatMap(restore(ledger.reserve(boundOn(ledger, call))), (own) => {
      if (payer === undefined) return use(own)
      // Waiting here cannot deadlock: it waits only for calls under way, which hold all that they need.
      const reserved = Effect.onError(restore(reserveAtPayer(payer, call)), () =>
        Effect.sync(() => ledger.release(own))
      )
      return Effect.flatMap(reserved, (payers) => use(own, payers))
    })
  })
}

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/**
 * Fits a call to its worker and its accounts: drops the seed if the worker takes none, and sets an output limit if an
 * account is limited, since a worst case holds only if the worker is held to it. With a payer it always sets one, so
 * that the cache key of a call does not depend on the limits.
 */
const fitted = (call: Call, { ledger, payer }: CallContext): Call => {
  const { request, worker } = call
  const taken = worker.takesSeed === false ? unseeded(request) : request
  if (ledger.isLimited || payer !== undefined) {
    return { ...call, request: { ...taken, maxOutputTokens: outputBound(worker, request) } }
  }
  return taken === request ? call : { ...call, request: taken }
}

const failed = (context: CallContext, { round, step, worker }: Call, attempt: number, failure: Failure, paid: Paid) =>
  context.emit?.({
    ...defined({
      type: "call-failed",
      round,
      step,
      worker: worker.id,
      attempt,
      reason: failure.reason,
      message: failure.message,
      retryInMillis: failure.retryInMillis
    }),
    ...paid
  })

/**
 * Calls a worker until it answers or no retry can help. The payer's `onPaid` is called for every attempt that was paid
 * for, and with the answer before anybody gets it. `hand` turns the answer into what the caller wants.
 */
const make = <A>(
  context: CallContext,
  call: Call,
  key: string | undefined,
  hand: (entry: ResponseCache.Entry, paid: Paid) => A
): Effect.Effect<A, WorkerError | BudgetExceeded> => {
  const { clock, emit, payer } = context
  const since = key === undefined ? 0 : clock.currentTimeMillisUnsafe()

  const tryFrom = (failures: ReadonlyArray<Failure>): Effect.Effect<A, WorkerError | BudgetExceeded> => {
    let paid = unpaid
    let entry: ResponseCache.Entry | undefined
    const settled = (exit: Exit.Exit<ResponseCache.Answer, WorkerError>, settlement: Paid) => {
      paid = settlement
      if (Exit.isSuccess(exit)) {
        if (key === undefined) return payer?.onPaid?.(paid)
        const durationMillis = clock.currentTimeMillisUnsafe() - since
        entry = { ...exit.value, durationMillis, failures: failures.length === 0 ? undefined : failures }
        payer?.onPaid?.({ ...paid, answered: { key, entry } })
        return
      }
      payer?.onPaid?.(paid)
      if (!Exit.hasInterrupts(exit)) return
      const { round, step, worker } = call
      emit?.({ ...defined({ type: "call-interrupted", round, step, worker: worker.id }), ...paid })
    }
    return Effect.matchEffect(attempt(context, call, settled), {
      onSuccess: (answer) => Effect.succeed(hand(entry ?? answer, paid)),
      onFailure: (error) => {
        if (error._tag !== "WorkerError") return Effect.fail(error)
        const { message, reason } = error
        const number = failures.length
        const seed = Seed.derive(call.sample, context.salt)
        const retryInMillis = delay(context.retry, { attempt: number, reason, seed })
        const failure: Failure = { reason, message, usage: paid.usage, retryInMillis }
        failed(context, call, number, failure, paid)
        return retryInMillis === undefined
          ? Effect.fail(error)
          : Effect.andThen(Effect.sleep(retryInMillis), tryFrom([...failures, failure]))
      }
    })
  }
  return tryFrom([])
}

// -------------------------------------------------------------------------------------------------------------------
// Answers that are found
// -------------------------------------------------------------------------------------------------------------------

/** Charges only the run for a cached answer and for the failures before it, as if they were made now. */
const chargeAgain = (
  context: CallContext,
  call: Call,
  { failures = [], usage }: ResponseCache.Entry
): Effect.Effect<void, BudgetExceeded> => {
  const { ledger } = context
  const bound = boundOn(ledger, call)
  const charge = (usage: Usage) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.map(restore(ledger.reserve(bound)), (reservation) => {
        const paid = paidFor(call, usage)
        ledger.settle(reservation, paid)
        return paid
      })
    )
  const again = Effect.forEach(
    failures,
    (failure, number) => Effect.map(charge(failure.usage), (paid) => failed(context, call, number, failure, paid)),
    { discard: true }
  )
  return Effect.andThen(again, Effect.asVoid(charge(usage)))
}

/** A cached answer for the run: free, or charged as made, with the time that it took added. */
const taken = (
  context: CallContext,
  call: Call,
  entry: ResponseCache.Entry,
  since: number
): Effect.Effect<Answered, BudgetExceeded> => {
  const { clock, found } = context
  const { durationMillis, reasoning, text, usage } = entry
  const show = () => {
    if (reasoning !== undefined) call.onDelta?.("reasoning", reasoning)
    call.onDelta?.("text", text)
  }
  if (found === "free") {
    return Effect.sync(() => {
      show()
      return answered({ ...entry, usage: noUsage }, 0, true, 0)
    })
  }
  return Effect.map(chargeAgain(context, call, entry), () => {
    show()
    const elapsedMillis = clock.currentTimeMillisUnsafe() - since
    const addedMillis = durationMillis === undefined ? 0 : durationMillis - elapsedMillis
    return answered(entry, paidFor(call, usage).costUsd, false, addedMillis)
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Call
// -------------------------------------------------------------------------------------------------------------------

/**
 * Gets a worker's answer: from the cache, or by calling it until it answers or no retry can help. Every attempt that is
 * charged to the run has exactly one event: `call-failed`, `call-interrupted`, or the caller's own for the answer.
 */
export const call = (context: CallContext, asked: Call): Effect.Effect<Answered, WorkerError | BudgetExceeded> => {
  const { clock, payer } = context
  const call = fitted(asked, context)
  const isKept = call.worker.isCacheable !== false
  const cache = isKept ? context.cache : undefined
  const key =
    isKept && (cache !== undefined || payer !== undefined)
      ? ResponseCache.key(call.worker, call.request, call.sample)
      : undefined
  if (cache === undefined || key === undefined) return make(context, call, key, made)
  const since = clock.currentTimeMillisUnsafe()
  const compute = Effect.suspend(() => make(context, call, key, (entry) => entry))
  return Effect.flatMap(cache.lookup(key, compute), ({ cached, value }) =>
    cached ? taken(context, call, value, since) : Effect.succeed(made(value, paidFor(call, value.usage)))
  )
}

const made = (entry: ResponseCache.Entry, { costUsd }: Paid): Answered => answered(entry, costUsd, false, 0)

const answered = (
  { finishReason, reasoning, text, usage }: ResponseCache.Entry,
  costUsd: number | undefined,
  cached: boolean,
  addedMillis: number
): Answered => ({ text, reasoning, finishReason, usage, costUsd, cached, addedMillis })
