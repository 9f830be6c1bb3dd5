/**
 * Retries without an `Idempotency-Key`: the run that has answered or is answering the request is found in the journal,
 * regardless of the server that executes it. Nothing is paid for twice.
 */
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type { ApiError } from "../wire/ApiError.ts"
import * as Failure from "./Failure.ts"

/** The maximum age of a run's last change: for a run whose process ended, and for a run that has ended. */
const limits = { stoppedMillis: 3_600_000, endedMillis: 60_000 }

/** The interval for checking whether an owner that may have ended with the database is alive. */
const againMillis = 250

/** The known facts about the request. */
export interface Asked {
  readonly request: string
  readonly owner: string
  /** Whether the client marked the request as a retry. If not, it matches only a run whose process has ended. */
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
