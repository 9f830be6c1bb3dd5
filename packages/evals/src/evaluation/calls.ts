/**
 * The calls of an evaluation: each answer is kept as it arrives and paid once, whoever asks for it again.
 *
 * A call that is found is played again through the run's own budget, with the usage and the failures that it had, so
 * a policy costs the same whether its calls were made for it, for another policy before, or before the process was
 * killed. What is really paid is in an account of its own.
 *
 * Core's cache alone cannot do this: what it finds is free. So {@link Run.cache} names the call in the fiber that makes
 * it, and the worker, which is wrapped, looks there whether to play it again.
 */
import type * as Budget from "@divisi/core/Budget"
import type { Critic } from "@divisi/core/Critic"
import type { Policy } from "@divisi/core/Policy"
import type { Gate } from "@divisi/core/Resilience"
import type * as ResponseCache from "@divisi/core/ResponseCache"
import {
  addUsage,
  cost,
  estimateUsage,
  noUsage,
  type Usage,
  type Worker,
  WorkerError,
  type WorkerPart,
  type WorkerRequest
} from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { unrecorded } from "./unrecorded.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The calls of one answer that failed before it. */
export interface Failures {
  readonly calls: number
  readonly usage: Usage
  /** Over the calls whose price is known. */
  readonly costUsd: number
}

/** An answer as it is kept: with what it took to get it. */
export interface Kept extends ResponseCache.Answer {
  readonly durationMillis?: number
  readonly failures?: Failures
}

/** An answer with its key. */
export interface Answered {
  readonly key: string
  readonly kept: Kept
}

/** A call that was found: what has to be added to the figures that its run measured. */
export interface Recalled {
  readonly worker: string
  readonly text: string
  /** How much longer it took when it was made. */
  readonly addedMillis: number
  readonly failedCalls: number
}

/** The calls of one run. */
export interface Run {
  /** For the run's fiber. */
  readonly cache: ResponseCache.ResponseCache
  readonly recalled: ReadonlyArray<Recalled>
  /** Failures of calls that were found, all together. */
  readonly recalledFailures: () => number
  /** Whether a call was refused as it did not fit what may be paid: the run is then worth nothing. */
  readonly isRefused: () => boolean
  /** The call that no recording has an answer to, where there was one: the run is then not the recorded one. */
  readonly unrecorded: () => WorkerError | undefined
}

/** The calls of all runs. */
export interface Calls {
  readonly pool: (pool: WorkerPool.WorkerPool) => WorkerPool.WorkerPool
  readonly policy: (policy: Policy) => Policy
  readonly critic: (critic: Critic) => Critic
  /** Lets calls that are found pass by the gate. */
  readonly gate: (gate: Gate | undefined) => Gate | undefined
  /** `ledger` is the run's budget. */
  readonly run: (ledger: Budget.Ledger) => Run
}

/** What calls are kept in and paid from. */
export interface Options {
  readonly store: ResponseCache.Store
  /** The account of what is really paid. */
  readonly money: Budget.Ledger
  /** Is told of every call that was paid for, with its answer if it has one, before anybody gets it. */
  readonly onPaid: (paid: Budget.Used, answer?: Answered) => void
  /** Is told of a call that did not fit. */
  readonly onRefused: (error: Budget.BudgetExceeded) => void
  /** Whether nothing is called: only what the store has is answered. */
  readonly isOffline?: boolean
}

/** The call that a fiber makes now. */
interface Slot {
  readonly key: string
  /** When it was asked for. */
  readonly since: number
  readonly kept: Kept | undefined
  readonly run: { refused: boolean; unrecorded: WorkerError | undefined }
  /** Of the calls that were really made. */
  failures: Failures
}

const Current: Context.Reference<Slot | undefined> = Context.Reference("@divisi/evals/calls/Current", {
  defaultValue: (): Slot | undefined => undefined
})

const noFailures: Failures = { calls: 0, usage: noUsage, costUsd: 0 }

// -------------------------------------------------------------------------------------------------------------------
// One call
// -------------------------------------------------------------------------------------------------------------------

const replay = ({ finishReason, reasoning, text, usage }: Kept): Stream.Stream<WorkerPart> =>
  Stream.fromArray<WorkerPart>([
    ...(reasoning === undefined ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    { type: "text", text },
    { type: "finish", reason: finishReason, usage }
  ])

const encoder = new TextEncoder()

/** The most that a call can cost; the output limit is the one that the run's budget has set. */
const worstCase = (worker: Worker, { maxOutputTokens = 4096, messages }: WorkerRequest): Budget.Amount => {
  const inputTokens =
    worker.countInputTokens?.(messages) ??
    messages.reduce((sum, { content }) => sum + encoder.encode(content).length + 8, 8)
  const usage = { inputTokens, outputTokens: maxOutputTokens }
  const costs = [usage, { ...usage, cacheWriteTokens: inputTokens }].map((one) => cost(worker.pricing, one))
  return {
    costUsd: costs[0] === undefined ? undefined : Math.max(...costs.map((one) => one ?? 0)),
    tokens: inputTokens + maxOutputTokens
  }
}

/** What has arrived of an answer. */
interface Received {
  text: string
  reasoning: string
  finish: Extract<WorkerPart, { readonly type: "finish" }> | undefined
  /** Whether parts came behind its end, which core takes for a failure. */
  isLate: boolean
}

const take = (received: Received, part: WorkerPart): void => {
  if (part.type === "allowance") return
  received.isLate ||= received.finish !== undefined
  if (part.type === "finish") received.finish = part
  else received[part.type] += part.text
}

/** What a call used that did not end well: what its vendor said, else what was seen of it. */
const usageOf = (exit: Exit.Exit<unknown, unknown>, request: WorkerRequest, received: Received): Usage => {
  if (received.finish !== undefined) return received.finish.usage
  const error = Exit.isFailure(exit) ? exit.cause.reasons.find((reason) => reason._tag === "Fail")?.error : undefined
  if (error instanceof WorkerError && error.usage !== undefined) return error.usage
  return error !== undefined && received.text === "" ? noUsage : estimateUsage(request.messages, received.text)
}

/** The answer of a call, where it is one that core takes. */
const answerOf = (exit: Exit.Exit<unknown, unknown>, received: Received): ResponseCache.Answer | undefined => {
  const { finish, isLate, reasoning, text } = received
  if (Exit.isFailure(exit) || finish === undefined || isLate || text.trim() === "") return undefined
  return { text, ...(reasoning === "" ? {} : { reasoning }), finishReason: finish.reason, usage: finish.usage }
}

/** Pays for a call that has ended, and keeps its answer: in one piece, so that no kill comes between the two. */
const settle = (options: Options, worker: Worker, request: WorkerRequest, slot: Slot, received: Received) => {
  const { money, onPaid, store } = options
  return (reservation: Budget.Reservation, exit: Exit.Exit<unknown, unknown>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const usage = usageOf(exit, request, received)
      const paid = { usage, costUsd: cost(worker.pricing, usage) }
      const answer = answerOf(exit, received)
      money.settle(reservation, paid)
      if (answer === undefined) {
        onPaid(paid)
        slot.failures = failed(slot.failures, paid)
        return Effect.void
      }
      const { failures, key, since } = slot
      const kept: Kept = { ...answer, durationMillis: now - since, ...(failures.calls === 0 ? {} : { failures }) }
      onPaid(paid, { key, kept })
      return store.set(key, kept)
    })
}

/** Makes a call, with its cost set aside and paid for, whatever becomes of it. */
const live = (
  options: Options,
  worker: Worker,
  request: WorkerRequest,
  slot: Slot
): Stream.Stream<WorkerPart, WorkerError> => {
  const received: Received = { text: "", reasoning: "", finish: undefined, isLate: false }
  const refuse = (error: Budget.BudgetExceeded) => {
    slot.run.refused = true
    options.onRefused(error)
    return new WorkerError({ worker: worker.id, reason: { _tag: "Quota", detail: error.message } })
  }
  const reserved = Effect.suspend(() =>
    slot.run.refused
      ? Effect.fail(new WorkerError({ worker: worker.id, reason: { _tag: "Quota" } }))
      : Effect.mapError(options.money.reserve(worstCase(worker, request)), refuse)
  )
  const release = settle(options, worker, request, slot, received)
  return Stream.unwrap(
    Effect.map(Effect.acquireRelease(reserved, release, { interruptible: true }), () =>
      Stream.tap(worker.generate(request), (part) => Effect.sync(() => take(received, part)))
    )
  )
}

/** A call that is not made. */
const unanswered = (worker: Worker, { messages }: WorkerRequest, slot: Slot): Stream.Stream<never, WorkerError> => {
  const error = unrecorded(worker.id, messages)
  slot.run.unrecorded ??= error
  return Stream.fail(error)
}

const failed = ({ calls, costUsd, usage }: Failures, paid: Budget.Used): Failures => ({
  calls: calls + 1,
  usage: addUsage(usage, paid.usage),
  costUsd: costUsd + (paid.costUsd ?? 0)
})

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** The failures of a call that was found, on the run's account: one entry, as the ledger counts calls by entries. */
const charge = (ledger: Budget.Ledger, { calls, costUsd, usage }: Failures) =>
  Effect.gen(function* () {
    for (let call = 0; call < calls; call++) {
      const reservation = yield* ledger.reserve({ costUsd: 0, tokens: 0 })
      ledger.settle(reservation, call === 0 ? { usage, costUsd } : { usage: noUsage, costUsd: 0 })
    }
  }).pipe(Effect.ignore)

/** One caller of a key at a time; a key that nobody calls is forgotten. */
const makeLocks = () => {
  const locks = new Map<string, { readonly semaphore: Semaphore.Semaphore; users: number }>()
  return <A, E, R>(key: string, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const lock = locks.get(key) ?? { semaphore: Semaphore.makeUnsafe(1), users: 0 }
      locks.set(key, lock)
      lock.users += 1
      const leave = Effect.sync(() => {
        lock.users -= 1
        if (lock.users === 0) locks.delete(key)
      })
      return Effect.ensuring(lock.semaphore.withPermit(effect), leave)
    })
}

/** Whose call a key is: it begins with the worker, or with its id and settings. */
const workerOf = (key: string): string => {
  const [who] = JSON.parse(key) as ReadonlyArray<string | { readonly id: string }>
  return typeof who === "string" ? who : (who?.id ?? "")
}

/** The calls of an evaluation. */
export const make = (options: Options): Calls => {
  const exclusive = makeLocks()

  const wrap = (worker: Worker): Worker => ({
    ...worker,
    generate: (request) =>
      Stream.unwrap(
        Effect.map(Current, (slot) => {
          if (slot === undefined) return worker.generate(request)
          if (slot.kept !== undefined) return replay(slot.kept)
          return options.isOffline === true ? unanswered(worker, request, slot) : live(options, worker, request, slot)
        })
      )
  })

  const run = (ledger: Budget.Ledger): Run => {
    const recalled: Array<Recalled> = []
    const state: Slot["run"] = { refused: false, unrecorded: undefined }

    const again = <E, R>(key: string, kept: Kept, since: number, compute: Effect.Effect<ResponseCache.Answer, E, R>) =>
      Effect.gen(function* () {
        const { durationMillis = 0, failures = noFailures } = kept
        yield* charge(ledger, failures)
        const slot: Slot = { key, since, kept, run: state, failures }
        const value = yield* Effect.provideService(compute, Current, slot)
        const elapsed = (yield* Clock.currentTimeMillis) - since
        recalled.push({
          worker: workerOf(key),
          text: value.text,
          addedMillis: durationMillis - elapsed,
          failedCalls: failures.calls
        })
        return value
      })

    const anew = <E, R>(key: string, since: number, compute: Effect.Effect<ResponseCache.Answer, E, R>) => {
      const slot: Slot = { key, since, kept: undefined, run: state, failures: noFailures }
      return Effect.provideService(compute, Current, slot)
    }

    return {
      cache: {
        lookup: (key, compute) =>
          Effect.gen(function* () {
            const since = yield* Clock.currentTimeMillis
            const value = yield* exclusive(
              key,
              Effect.flatMap(options.store.get(key), (kept) =>
                kept === undefined ? anew(key, since, compute) : again(key, kept, since, compute)
              )
            )
            // The budget has been charged for it already, so to the run it is a call like any other.
            return { value, cached: false }
          })
      },
      recalled,
      recalledFailures: () => recalled.reduce((sum, { failedCalls }) => sum + failedCalls, 0),
      isRefused: () => state.refused,
      unrecorded: () => state.unrecorded
    }
  }

  return {
    pool: (pool) => WorkerPool.makeUnsafe(pool.workers.map(wrap)),
    policy: (policy) => ({
      ...policy,
      propose: (context) =>
        policy.propose({
          ...context,
          complete: (options) => context.complete({ ...options, model: wrap(options.model) })
        })
    }),
    critic: (critic) => ({
      ...critic,
      judge: (context) => critic.judge({ ...context, ask: (worker, request) => context.ask(wrap(worker), request) })
    }),
    gate: (gate) =>
      gate && {
        enter: (worker, tokens, call) =>
          Effect.flatMap(Current, (slot) =>
            slot?.kept === undefined ? gate.enter(worker, tokens, call) : call(() => {})
          )
      },
    run
  }
}
