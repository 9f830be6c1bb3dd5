/**
 * The queue of training requests for one model: numbered, in order, and each executed exactly once.
 *
 * **Details**
 *
 * A request gets its queue position when it is made, is prepared while earlier ones are sent, and is sent once the
 * server has accepted the previous one. The queue does not wait for results. A number is used up when the server has
 * accepted its request. Without an answer, it is unknown whether the server accepted the last request. Then only the
 * same request may follow, under the same number, so that it is carried out once in either case.
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Errors from "../TinkerError.ts"

/** A request without its sequence number. */
export interface Prepared<A> {
  /** Returns a value that is equal for requests with the same content. */
  readonly fingerprint: () => string
  readonly send: (sequence: number) => Effect.Effect<A, Errors.TinkerError>
}

/** A queue of requests. */
export interface Submissions {
  /**
   * Prepares and sends a request in its turn. An interruption ends only the waiting: a request that already has a
   * number is sent nevertheless.
   */
  readonly submit: <A>(call: string, prepare: () => Prepared<A>) => Effect.Effect<A, Errors.TinkerError>
}

/** Creates a queue whose requests run in the scope. Numbers start at 1. */
export const make = (scope: Scope.Scope): Submissions => {
  let next = 1
  let uncertain: (() => string) | undefined
  let last = Deferred.makeUnsafe<void>()
  Deferred.doneUnsafe(last, Effect.void)

  const turn = <A>(call: string, { fingerprint, send }: Prepared<A>): Effect.Effect<A, Errors.TinkerError> =>
    Effect.suspend(() => {
      if (uncertain !== undefined && uncertain() !== fingerprint()) {
        const detail =
          "the response to the last request was lost, so its outcome is unknown: load the last saved state."
        return Effect.fail(Errors.make(call, { _tag: "Expired", detail }))
      }
      return send(next).pipe(
        Effect.tap(() =>
          Effect.sync(() => {
            uncertain = undefined
            next += 1
          })
        ),
        Effect.tapError((error) =>
          Effect.sync(() => {
            uncertain = error.isUncertain ? fingerprint : undefined
          })
        )
      )
    })

  return {
    submit: (call, prepare) =>
      Effect.suspend(() => {
        const before = last
        const mine = Deferred.makeUnsafe<void>()
        last = mine
        const prepared = prepare()
        const work = Deferred.await(before).pipe(
          Effect.andThen(turn(call, prepared)),
          Effect.ensuring(Deferred.succeed(mine, undefined))
        )
        return Effect.flatMap(Effect.forkIn(work, scope), Fiber.join)
      })
  }
}
