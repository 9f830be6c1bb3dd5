/**
 * Retries without an `Idempotency-Key`: the run that answered the request before, or still does, is found in the
 * journal by the request, on whichever server that was. Nothing is paid for twice.
 */
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type { ApiError } from "../wire/ApiError.ts"
import * as Failure from "./Failure.ts"

/** How long ago a run may have been changed: one whose process ended, and one that has ended itself. */
const limits = { stoppedMillis: 3_600_000, endedMillis: 60_000 }

/** How often it is looked again whether an owner lives that may have ended with the database. */
const againMillis = 250

/** The known facts about the request. */
export interface Asked {
  readonly request: string
  readonly owner: string
  /** Whether the client says that it has sent it before. If it does not, only a run whose process has ended is its own. */
  readonly isRepeated: boolean
}

/** Finds the run of a request that was sent before; `undefined` if it needs a new one. */
export const find = (
  journal: Journal.Journal,
  { isRepeated, owner, request }: Asked
): Effect.Effect<string | undefined, ApiError> => {
  const newest = Effect.catch(journal.list({ request, caller: owner, limit: 1 }), (error) =>
    Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.succeed([])
  )
  return Effect.flatMap(newest, ([known]) => {
    if (known === undefined) return Effect.undefined
    const { ageMillis, isOwnerUnconfirmed, run } = known
    if (isOwnerUnconfirmed === true) {
      return Effect.andThen(Effect.sleep(againMillis), find(journal, { isRepeated, owner, request }))
    }
    const state = Journal.stateOf(known)
    if (state === "damaged") return Effect.undefined
    if (state === "stopped") return Effect.succeed(ageMillis < limits.stoppedMillis ? run : undefined)
    const isIts = isRepeated && (state === "running" || ageMillis < limits.endedMillis)
    return Effect.succeed(isIts ? run : undefined)
  })
}
