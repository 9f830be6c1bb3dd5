/** The response cache middleware: answers repeated requests from the cache, for free or at their original cost. */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { settle } from "../../Callback.ts"
import { millisSince, ticks } from "../../Elapsed.ts"
import { attemptName, boundOn, boundsOf, estimateOf, unpaid } from "../../loop/accounts.ts"
import {
  type Answered,
  type Ask,
  type At,
  type Call,
  type CallError,
  type CallMiddleware,
  type CallRun,
  entryOf
} from "../../loop/call.ts"
import { reportFailure, show } from "../../loop/reports.ts"
import * as ResponseCache from "../../run/ResponseCache.ts"
import { messageOf } from "../../Thrown.ts"
import { type BudgetExceeded, checked, cost, noUsage, type Paid, type Usage } from "../../task/Usage.ts"
import * as Warning from "../../Warning.ts"

/** Whether cache hits are free or charged at their original cost. */
export type CachedAnswers = "free" | "charged"

/** Delivers a cached answer to the run. `since` is the time of the lookup. */
type Give = (ask: Ask, at: At, entry: ResponseCache.Entry, since: number) => Effect.Effect<Answered, BudgetExceeded>

const free: Give = (ask, _at, entry) =>
  Effect.sync(() => {
    const answered = { ...entry, usage: noUsage, costUsd: 0, cached: true, addedMillis: 0 }
    show(ask, entry)
    ask.onAnswer(answered)
    return answered
  })

/**
 * Charges a cache hit to the run, and to no other account, as if its calls were made now, including their time and
 * failures. Each call is reported in the tick in which it is charged. The calls are named like actual calls, because a
 * transcript does not distinguish the two.
 */
const charged = (run: CallRun): Give => {
  const { clock, ledger } = run
  const charge = <A>(ask: Ask, name: string | undefined, usage: Usage, report: (paid: Paid) => A) =>
    Effect.uninterruptible(
      Effect.flatMap(ledger.reserve(boundOn(ledger, ask), name), (reservation) => {
        const paid: Paid = { usage, costUsd: cost(ask.worker.pricing, usage) }
        return Effect.map(ledger.settle(reservation, paid), () => report(paid))
      })
    )
  return (ask, { attempt, name }, entry, since) => {
    const { durationMillis, failures = [], text } = entry
    const nameOf = (number: number) => attemptName({ attempt: attempt + number, ...(name !== undefined && { name }) })
    // Usage from a cache is validated like that of a new answer, because it may be outdated or written by another
    // program.
    const bounds = boundsOf(ask, run.isLimited(), text)
    const credible = (usage: Usage) => checked(usage, () => estimateOf(ask, text), { ...bounds, isSome: false })
    const again = Effect.forEach(
      failures,
      (failure, number) => {
        const report = (paid: Paid) => reportFailure(run, ask, number, failure, paid, nameOf(number))
        return failure.unasked === true
          ? Effect.sync(() => report(unpaid))
          : charge(ask, nameOf(number), credible(failure.usage), report)
      },
      { discard: true }
    )
    const usage = credible(entry.usage)
    const answer = charge(ask, nameOf(failures.length), usage, ({ costUsd }): Answered => {
      show(ask, entry)
      const addedMillis = durationMillis === undefined ? 0 : durationMillis - millisSince(clock, since)
      const answered = { ...entry, usage, costUsd, cached: false, addedMillis }
      ask.onAnswer(answered)
      return answered
    })
    return Effect.andThen(again, answer)
  }
}

/** Looks up a call. If a user-supplied cache throws, the call is made instead. */
const lookup = <E>(
  cache: ResponseCache.ResponseCache,
  key: string,
  compute: Effect.Effect<ResponseCache.Entry, E>
): Effect.Effect<ResponseCache.Found, E> => {
  let isComputed = false
  const once = Effect.suspend(() => {
    isComputed = true
    return compute
  })
  return Effect.catchCause(
    settle<ResponseCache.Found, E>(() => cache.lookup(key, once)),
    (cause) =>
      isComputed || Cause.hasInterrupts(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(
            Warning.log(`The response cache failed, so the call is made without it: ${messageOf(Cause.squash(cause))}`),
            Effect.map(compute, (value) => ({ value, cached: false }))
          )
  )
}

/**
 * Looks up each call before it is made. Without a cache, only answers that an earlier process of the run found in a
 * cache are returned.
 */
export const cache = (
  store: ResponseCache.ResponseCache | undefined,
  run: CallRun,
  cachedAnswers: CachedAnswers
): CallMiddleware => {
  const give = cachedAnswers === "free" ? free : charged(run)
  const { clock } = run
  const look = (
    store: ResponseCache.ResponseCache,
    next: Call,
    ask: Ask,
    at: At
  ): Effect.Effect<Answered, CallError> => {
    const key = ResponseCache.key(ask.worker, ask.request, ask.sample)
    const lookedUpAt = ticks(clock)
    let made: Answered | undefined
    const compute = Effect.suspend(() =>
      Effect.map(next(ask, { ...at, key, since: ticks(clock) }), (answered) => {
        made = answered
        return entryOf(answered)
      })
    )
    return Effect.flatMap(lookup(store, key, compute), ({ cached, value }) => {
      if (!cached && made !== undefined) return Effect.succeed(made)
      at.onCached?.(at, value)
      return give(ask, at, value, lookedUpAt)
    })
  }
  return (next) => (ask, at) => {
    if (at.cached !== undefined) return give(ask, at, at.cached.entry, at.cached.since)
    return store === undefined || ask.worker.isCacheable === false ? next(ask, at) : look(store, next, ask, at)
  }
}
