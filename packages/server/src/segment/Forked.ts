/** Forks a run owned by the caller. */
import { Journal, Transcript } from "@divisi/core"
import type * as Conductor from "@divisi/core/Conductor"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import type { Team } from "../Models.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import type { Fork } from "../wire/Wire.ts"
import * as Failure from "./Failure.ts"

/** A fork that is ready to run. Its pool contains the original run's workers in the same order, plus the new worker. */
export interface Forked {
  readonly of: Conductor.Fork
  readonly pool: WorkerPool.WorkerPool
}

const unreadable = (error: Journal.JournalError, id: string) =>
  Failure.isUnreachable(error) ? Failure.unreachable : invalid("id", `Run "${id}" cannot be read.`)

const poolOf = ({ pool }: Pick<Team, "pool">, ids: ReadonlyArray<string>, runId: string) => {
  const workers = ids.flatMap((id) => pool.workers.find((worker) => worker.id === id) ?? [])
  if (workers.length === ids.length) return Effect.orDie(Effect.fromResult(WorkerPool.make(workers)))
  const missing = ids.filter((id) => workers.every((worker) => worker.id !== id))
  const known = WorkerPool.ids(pool).join(", ")
  return Effect.fail(
    invalid("worker", `A fork of run "${runId}" needs ${missing.join(", ")}. Workers of this request: ${known}.`)
  )
}

/**
 * Loads the original run and prepares the fork. The fork stores the new request's `metadata`, so it belongs to the
 * caller.
 */
export const read = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  team: Team,
  { runId, ...cut }: Fork,
  metadata: { readonly owner: string; readonly request: string }
): Effect.fn.Return<Forked, ApiError> {
  const entries = yield* Effect.mapError(journal.read(runId), (error) => unreadable(error, runId))
  const transcript = Transcript.fromEvents(Journal.eventsOf(entries))
  if (transcript === undefined) return yield* invalid("id", `Run "${runId}" has no recorded start.`)
  const { worker } = cut.change ?? {}
  const ids = new Set([...transcript.pool.map(({ id }) => id), ...(typeof worker === "string" ? [worker] : [])])
  const task = { ...transcript.task, metadata: { ...transcript.task.metadata, ...metadata } }
  return { of: { ...cut, transcript: { ...transcript, task } }, pool: yield* poolOf(team, [...ids], runId) }
})
