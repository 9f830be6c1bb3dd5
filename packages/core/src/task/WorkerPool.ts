/**
 * A pool: the ordered list of workers that a run may use.
 *
 * Policies refer to workers by their index in the pool, so the order matters. A pool is never empty, and its worker ids
 * are unique; any non-empty subset of a pool is a pool.
 */
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Seed from "../Seed.ts"
import type { Worker } from "./Worker.ts"

/** The ordered, non-empty workers of a run, with unique ids. */
export interface WorkerPool {
  readonly workers: Arr.NonEmptyReadonlyArray<Worker>
}

/** The error for an invalid pool. */
export class WorkerPoolError extends Data.TaggedError("WorkerPoolError")<{
  readonly reason:
    | { readonly _tag: "Empty" }
    | { readonly _tag: "DuplicateId"; readonly id: string }
    | { readonly _tag: "UnknownId"; readonly id: string; readonly known: ReadonlyArray<string> }
    | { readonly _tag: "SampleSize"; readonly count: number; readonly size: number }
}> {
  override get message(): string {
    const { reason } = this
    switch (reason._tag) {
      case "Empty":
        return "A pool needs at least one worker."
      case "DuplicateId":
        return `Two workers in the pool have the id "${reason.id}". Worker ids must be unique.`
      case "UnknownId":
        return `Worker "${reason.id}" is not in the pool. Workers: ${reason.known.join(", ")}.`
      case "SampleSize":
        return `Cannot choose ${reason.count} of ${reason.size} workers. Choose 1 to ${reason.size}.`
    }
  }
}

/** Makes a pool of workers in the given order. Fails if there are no workers or if two have the same id. */
export const make = (workers: Iterable<Worker>): Result.Result<WorkerPool, WorkerPoolError> => {
  const list = Array.from(workers)
  const seen = new Set<string>()
  for (const { id } of list) {
    if (seen.has(id)) return Result.fail(new WorkerPoolError({ reason: { _tag: "DuplicateId", id } }))
    seen.add(id)
  }
  return Arr.isArrayNonEmpty(list)
    ? Result.succeed({ workers: list })
    : Result.fail(new WorkerPoolError({ reason: { _tag: "Empty" } }))
}

/**
 * Like {@link make}, but throws the `WorkerPoolError`.
 *
 * **Example**
 *
 * ```ts
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.echo("a"), ScriptedWorker.echo("b")])
 * WorkerPool.ids(pool) // => ["a", "b"]
 * ```
 */
export const makeUnsafe = (workers: Iterable<Worker>): WorkerPool => Result.getOrThrow(make(workers))

/** Returns the number of workers in the pool. */
export const size = (pool: WorkerPool): number => pool.workers.length

/** Whether the prices of all its workers are play money. */
export const isPlay = ({ workers }: WorkerPool): boolean => workers.every(({ pricing }) => pricing?.isPlay === true)

/** Returns the ids of the workers, by index. */
export const ids = (pool: WorkerPool): ReadonlyArray<string> => pool.workers.map((worker) => worker.id)

/** Returns the worker at an index, or `undefined` if the index is out of range. */
export const get = (pool: WorkerPool, ordinal: number): Worker | undefined => pool.workers[ordinal]

const unknown = (pool: WorkerPool, id: string) =>
  Result.fail(new WorkerPoolError({ reason: { _tag: "UnknownId", id, known: ids(pool) } }))

/** Returns a pool of the named workers, in the order of the names. */
export const subset = (pool: WorkerPool, names: Iterable<string>): Result.Result<WorkerPool, WorkerPoolError> => {
  const chosen: Array<Worker> = []
  for (const id of names) {
    const worker = pool.workers.find((worker) => worker.id === id)
    if (worker === undefined) return unknown(pool, id)
    chosen.push(worker)
  }
  return make(chosen)
}

/** Returns the pool without the named workers, in the same order. */
export const without = (pool: WorkerPool, names: Iterable<string>): Result.Result<WorkerPool, WorkerPoolError> => {
  const excluded = new Set(names)
  const known = new Set(ids(pool))
  for (const id of excluded) if (!known.has(id)) return unknown(pool, id)
  return make(pool.workers.filter((worker) => !excluded.has(worker.id)))
}

/**
 * Returns a random sample of `count` workers in random order; equal seeds give equal samples. A Conductor is fine-tuned
 * on such pools so that it adapts to any subset (paper, section 2, "Adaptive pools").
 */
export const sample = (
  pool: WorkerPool,
  options: { readonly count: number; readonly seed: number }
): Result.Result<WorkerPool, WorkerPoolError> => {
  const { count, seed } = options
  if (!Number.isInteger(count) || count < 1 || count > size(pool)) {
    return Result.fail(new WorkerPoolError({ reason: { _tag: "SampleSize", count, size: size(pool) } }))
  }
  return make(Seed.shuffle(pool.workers, seed).slice(0, count))
}
