/**
 * One metered call of a worker: the only place where a worker's `generate` is run.
 *
 * Response cache, retries, budget, provider gate and time limit stand here, in this order from the outside in, so that
 * steps, policies and critics are all counted, limited and retried alike.
 */
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Stream from "effect/Stream"
import type { Listener, Paid } from "../record/RunEvent.ts"
import * as Seed from "../Seed.ts"
import type { Allowance } from "../task/Allowance.ts"
import {
  cost,
  estimateUsage,
  noUsage,
  type Usage,
  type Worker,
  WorkerError,
  type WorkerPart,
  type WorkerRequest
} from "../task/Worker.ts"
import type { Amount, BudgetExceeded, Ledger, Reservation } from "./Budget.ts"
import { delay, type Gate, type Retry } from "./Resilience.ts"
import * as ResponseCache from "./ResponseCache.ts"

/** What the calls of one run share. */
export interface CallContext {
  readonly runId: string
  readonly ledger: Ledger
  readonly clock: Clock.Clock
  readonly emit: Listener | undefined
  readonly retry: Retry
  /** Spreads the retries of runs that have no seed. */
  readonly salt: string
  readonly gate: Gate | undefined
  readonly cache: ResponseCache.ResponseCache | undefined
  readonly timeoutMillis: number | undefined
}

/** One call. `sample` tells calls apart that ask the same twice on purpose, the same in every run with the same seed. */
export interface Call {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  readonly step?: number
  readonly onDelta?: ((kind: "text" | "reasoning", text: string) => void) | undefined
}

/** A whole answer, and what it took. */
export interface Answered extends ResponseCache.Answer, Paid {
  readonly cached: boolean
}

/** The output limit that a budget reckons with when neither the request nor the worker has one (that of the paper). */
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

/** The dearest way in which these tokens can be billed. */
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
  // Vendors count the output that is asked for; what a model could write at most is many times what it does.
  (request.maxOutputTokens ?? Math.min(outputBound(worker, request), assumedOutputTokens))

/** Takes what a vendor says is left of its limits. */
type Report = (allowance: Allowance) => void

const unheard: Report = () => {}

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
    ...(usage === undefined ? {} : { usage })
  })

const receive = (call: Call, received: Received, report: Report): Effect.Effect<ResponseCache.Answer, WorkerError> => {
  const { onDelta, request, worker } = call
  let late = false
  const take = (part: WorkerPart) => {
    if (part.type === "allowance") return report(part)
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

/** Failures before which a vendor has not begun to answer, and so bills nothing. */
const unbilled: ReadonlySet<string> = new Set([
  "RateLimited",
  "Overloaded",
  "Network",
  "InvalidRequest",
  "Authentication",
  "Quota",
  "ContextTooLong"
])

/** What a call used. Where the vendor did not say, the most it can have been. */
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

/** Calls the worker once: reserves the worst case, waits at the gate, receives the answer, settles. */
const attempt = (
  context: CallContext,
  call: Call,
  settled: (exit: Exit.Exit<unknown, WorkerError>, paid: Paid) => void
): Effect.Effect<ResponseCache.Answer, WorkerError | BudgetExceeded> => {
  const { gate, ledger } = context
  const { request, worker } = call
  const bound = ledger.isLimited
    ? worstCase(worker, inputBound(worker, request), outputBound(worker, request))
    : nothing

  const use = (reservation: Reservation) => {
    const received: Received = { text: "", reasoning: "", finish: undefined }
    let started = false
    const open = (report: Report) =>
      limitTime(
        Effect.suspend(() => {
          started = true
          return receive(call, received, report)
        }),
        worker,
        context.timeoutMillis
      )
    const entered = gate === undefined ? open(unheard) : gate.enter(worker, likelyTokens(worker, request), open)
    return Effect.onExit(entered, (exit) =>
      Effect.sync(() => {
        if (!started) return ledger.release(reservation)
        const usage = usageOf(exit, call, received)
        const paid = { usage, costUsd: cost(worker.pricing, usage) }
        ledger.settle(reservation, paid)
        settled(exit, paid)
      })
    )
  }
  return Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(ledger.reserve(bound)), (reservation) => restore(use(reservation)))
  )
}

const unseeded = ({ seed: _, ...request }: WorkerRequest): WorkerRequest => request

/**
 * A call as its worker can take it: without a seed where it has none, and under a budget with an output limit, as a worst
 * case is only one if the worker is held to it.
 */
const fitted = (call: Call, isLimited: boolean): Call => {
  const { request, worker } = call
  const taken = worker.takesSeed === false ? unseeded(request) : request
  if (isLimited) return { ...call, request: { ...taken, maxOutputTokens: outputBound(worker, request) } }
  return taken === request ? call : { ...call, request: taken }
}

/**
 * Calls a worker until it answers or no retry can help. Every attempt that is paid for is told in exactly one event:
 * `call-failed`, `call-interrupted`, or the one that the caller makes of the answer.
 */
export const call = (context: CallContext, asked: Call): Effect.Effect<Answered, WorkerError | BudgetExceeded> => {
  const { cache, emit } = context
  const call = fitted(asked, context.ledger.isLimited)
  const base = () => ({
    runId: context.runId,
    at: context.clock.currentTimeMillisUnsafe(),
    round: call.round,
    ...(call.step === undefined ? {} : { step: call.step }),
    worker: call.worker.id
  })

  const tryFrom = (number: number): Effect.Effect<Answered, WorkerError | BudgetExceeded> => {
    let paid = unpaid
    const settled = (exit: Exit.Exit<unknown, WorkerError>, settlement: Paid) => {
      paid = settlement
      if (Exit.hasInterrupts(exit)) emit?.({ type: "call-interrupted", ...base(), ...paid })
    }
    return Effect.matchEffect(attempt(context, call, settled), {
      onSuccess: (answer) => Effect.succeed({ ...answer, ...paid, cached: false }),
      onFailure: (error) => {
        if (error._tag !== "WorkerError") return Effect.fail(error)
        const { reason } = error
        const retryInMillis = delay(context.retry, {
          attempt: number,
          reason,
          seed: Seed.derive(call.sample, context.salt)
        })
        emit?.({
          type: "call-failed",
          ...base(),
          attempt: number,
          reason,
          message: error.message,
          ...(retryInMillis === undefined ? {} : { retryInMillis }),
          ...paid
        })
        return retryInMillis === undefined
          ? Effect.fail(error)
          : Effect.andThen(Effect.sleep(retryInMillis), tryFrom(number + 1))
      }
    })
  }

  if (cache === undefined) return tryFrom(0)
  let made = unpaid
  const compute = Effect.map(tryFrom(0), ({ cached: _, costUsd, ...answer }): ResponseCache.Answer => {
    made = { usage: answer.usage, costUsd }
    return answer
  })
  const key = ResponseCache.key(call.worker, call.request, call.sample)
  return Effect.map(cache.lookup(key, compute), ({ cached, value }): Answered => {
    if (!cached) return { ...value, ...made, cached }
    if (value.reasoning !== undefined) call.onDelta?.("reasoning", value.reasoning)
    call.onDelta?.("text", value.text)
    return { ...value, ...unpaid, cached }
  })
}
