/**
 * Supports `Idempotency-Key`. The run id is derived from the key, so that the journal can return the answer for 24
 * hours, even after a restart or on another server with the same journal. Keys are scoped to their owner.
 */

import { Journal } from "@divisi/core"
import type * as Conductor from "@divisi/core/Conductor"
import * as Effect from "effect/Effect"
import type { ApiError } from "../wire/ApiError.ts"
import type { Headers } from "../wire/Choice.ts"
import * as CallId from "./CallId.ts"
import * as Failure from "./Failure.ts"

/** How long a request with the same key returns the stored answer, in milliseconds. */
const keptMillis = 86_400_000

/** Polling interval for a run executed by another process, in milliseconds. */
const againMillis = 250

/** Returns the run id for a request with an idempotency key, or `undefined` without a key. */
export const runOf = (owner: string, headers: Headers): string | undefined => {
  const key = headers["idempotency-key"]
  return key === undefined || key === "" ? undefined : CallId.of(JSON.stringify([owner, key]))
}

/** Rejects a key that was used for a different request, and deletes the run of an expired key. */
export const check = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  run: string,
  request: string
): Effect.fn.Return<void, ApiError> {
  const orUnreachable = (error: Journal.JournalError) =>
    Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.succeed(undefined)
  const known = yield* Effect.catch(journal.find(run), orUnreachable)
  if (known === undefined) return
  if (known.ageMillis > keptMillis) {
    yield* Effect.catch(journal.remove([run]), orUnreachable)
    return
  }
  const entries = (yield* Effect.catch(journal.read(run), orUnreachable)) ?? []
  const [first] = Journal.eventsOf(entries)
  if (first?.type !== "run-started" || first.task.metadata?.request === request) return
  return yield* Failure.usedKey
})

/** Waits until another process finishes the run or releases it. */
export const waitingForOthers = (run: Effect.Effect<Conductor.RunResult>): Effect.Effect<Conductor.RunResult> =>
  Effect.flatMap(run, (result) => {
    const { error } = result
    const isHeld = error instanceof Journal.JournalError && error.reason._tag === "Held"
    return isHeld ? Effect.andThen(Effect.sleep(againMillis), waitingForOthers(run)) : Effect.succeed(result)
  })
