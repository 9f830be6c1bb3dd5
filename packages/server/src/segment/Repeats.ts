/**
 * Detects retries without an `Idempotency-Key`. The journal is searched for a run that has answered or is answering the
 * same request, on any server, so that nothing is charged twice.
 */
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type { ApiError } from "../wire/ApiError.ts"
import * as Failure from "./Failure.ts"

/** Maximum time since a run's last change, in milliseconds: for runs whose process died, and for finished runs. */
const limits = { stoppedMillis: 3_600_000, endedMillis: 60_000 }

/** Interval for checking whether the run's owner is still alive, in milliseconds. */
const againMillis = 250

/** Identifies the request to search for. */
export interface Asked {
  readonly request: string
  readonly owner: string
  /** Whether the client marked the request as a retry. If not, only runs whose process died are considered. */
  readonly isRepeated: boolean
}

/** Returns the run that belongs to an earlier copy of the request, or `undefined` if a new run is needed. */
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
