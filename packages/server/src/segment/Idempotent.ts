/**
 * Requests with an `Idempotency-Key`: the key names the run, so that the journal has its answer for 24 hours, after a
 * restart and on every server that shares the journal. Keys of different owners are separate.
 */

import { Journal } from "@divisi/core"
import type * as Conductor from "@divisi/core/Conductor"
import * as Effect from "effect/Effect"
import type { ApiError } from "../wire/ApiError.ts"
import type { Headers } from "../wire/Choice.ts"
import * as CallId from "./CallId.ts"
import * as Failure from "./Failure.ts"

/** How long the answer for a key is returned again. */
const keptMillis = 86_400_000

/** The interval at which a run of another process is polled. */
const againMillis = 250

/** The run of a request that has a key; `undefined` without one. */
export const runOf = (owner: string, headers: Headers): string | undefined => {
  const key = headers["idempotency-key"]
  return key === undefined || key === "" ? undefined : CallId.of(JSON.stringify([owner, key]))
}

/** Refuses a key that another request has used, and removes the run of one that has expired. */
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

/** Waits until another process has finished its run, or has itself ended. */
export const waitingForOthers = (run: Effect.Effect<Conductor.RunResult>): Effect.Effect<Conductor.RunResult> =>
  Effect.flatMap(run, (result) => {
    const { error } = result
    const isHeld = error instanceof Journal.JournalError && error.reason._tag === "Held"
    return isHeld ? Effect.andThen(Effect.sleep(againMillis), waitingForOthers(run)) : Effect.succeed(result)
  })
