/**
 * Queues whose slots are shared with other processes. A process holds several slots at a time and reuses them for its
 * own calls, so that a call normally does not access the store.
 */
import { Elapsed, type Resilience } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Line from "./line.ts"

/** Interval at which a share is renewed, and at which a process with waiting calls asks for slots, in milliseconds. */
const renewMillis = 1_000
const waitMillis = 200

/** Maximum time to wait for the store, in milliseconds. */
const patienceMillis = 2_000

interface Share {
  readonly name: string
  readonly limit: number
  readonly line: Line.Line
  slots: number
  /** The time until which the share is valid, on the monotonic clock. */
  until: number
  isContended: boolean
  /** Whether the process has received fewer slots than it requested. */
  isFull: boolean
  /** Whether the store is unreachable. The limit then applies to this process only. */
  isAlone: boolean
}

/** Returns a function that creates queues. Their shares are renewed until the scope closes. */
export const make = Effect.fnUntraced(function* (
  shared: Resilience.SharedSlots
): Effect.fn.Return<(name: string, limit: number) => Line.Line, never, Scope.Scope> {
  const member = yield* shared.join
  const clock = yield* Effect.clockWith(Effect.succeed)
  const now = () => Elapsed.ticks(clock)
  const shares: Array<Share> = []
  let isDue = false
  let wake = () => {}
  const due = () => {
    isDue = true
    wake()
  }
  const called = Effect.callback<void>((resume) => {
    wake = () => resume(Effect.void)
    if (isDue) wake()
    return Effect.sync(() => {
      wake = () => {}
    })
  })

  const renew = (share: Share): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { limit, line, name } = share
      const used = line.used()
      const wanted = used + line.waiting.size
      if (wanted === 0 && share.slots === 0) return Effect.void
      const since = now()
      return member.share(name, { limit, used, wanted }).pipe(
        Effect.timeoutOrElse({
          duration: patienceMillis,
          orElse: () => Effect.fail({ message: `No response within ${patienceMillis / 1_000} seconds.` })
        }),
        Effect.map((renewed) => {
          share.slots = renewed.slots
          share.until = since + renewed.leaseMillis
          share.isContended = renewed.isContended
          share.isFull = renewed.slots < wanted
          share.isAlone = false
          return line.serve()
        }),
        Effect.catch(({ message }) => {
          const isKnown = share.isAlone
          share.isAlone = true
          line.serve()
          return isKnown
            ? Effect.void
            : Effect.logWarning(
                `Cannot share the concurrent calls of ${name} with other processes, so their limit applies to this process alone: ${message}`
              )
        })
      )
    })

  const pause = Effect.suspend(() => {
    if (shares.some(({ line }) => line.waiting.size > 0)) return Effect.timeoutOption(called, waitMillis)
    const isIdle = shares.every(({ line, slots }) => slots === 0 && line.used() === 0)
    return isIdle ? called : Effect.timeoutOption(called, renewMillis)
  })
  const renewed = Effect.suspend(() => {
    isDue = false
    return Effect.forEach(shares, renew, { concurrency: "unbounded", discard: true })
  })
  // Calls that start in the same moment share a request.
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(pause, Effect.andThen(Effect.sleep(1), renewed))))

  return (name, limit) => {
    const line = Line.make({
      capacity: () => (share.isAlone ? limit : now() < share.until ? share.slots : 0),
      onWait: () => {
        if (!share.isFull || now() >= share.until) due()
      },
      onLeave: () => {
        if (share.isContended) due()
      }
    })
    const share: Share = { name, limit, line, slots: 0, until: 0, isContended: false, isFull: false, isAlone: false }
    shares.push(share)
    return line
  }
})
