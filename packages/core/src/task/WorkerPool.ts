/**
 * A pool is the ordered list of workers available to a run.
 *
 * Policies refer to workers by their index in the pool, so the order matters. A pool is never empty, and its worker ids
 * are unique. Any non-empty subset of a pool is a valid pool.
 */
import * as Arr from "effect/Array"
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Options from "../Options.ts"
import * as Seed from "../Seed.ts"
import type { Worker } from "./Worker.ts"

/** The workers available to a run: ordered, non-empty, and with unique ids. */
export interface WorkerPool {
  readonly workers: Arr.NonEmptyReadonlyArray<Worker>
}

/** Raised when a pool is invalid. */
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

/** Creates a pool. Fails if the list is empty or contains duplicate ids. */
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

/** Whether all workers are priced in play money. */
export const isPlay = ({ workers }: WorkerPool): boolean => workers.every(({ pricing }) => pricing?.isPlay === true)

/** Returns the worker ids, in pool order. */
export const ids = (pool: WorkerPool): ReadonlyArray<string> => pool.workers.map((worker) => worker.id)

/**
 * Returns the worker at the given index, or `undefined` if it is out of range.
 *
 * @internal
 */
export const get = (pool: WorkerPool, ordinal: number): Worker | undefined => pool.workers[ordinal]

const unknown = (pool: WorkerPool, id: string) =>
  Result.fail(new WorkerPoolError({ reason: { _tag: "UnknownId", id, known: ids(pool) } }))

/** Returns a pool with only the named workers, in the order of the names. */
export const subset = (pool: WorkerPool, names: Iterable<string>): Result.Result<WorkerPool, WorkerPoolError> => {
  const chosen: Array<Worker> = []
  for (const id of names) {
    const worker = pool.workers.find((worker) => worker.id === id)
    if (worker === undefined) return unknown(pool, id)
    chosen.push(worker)
  }
  return make(chosen)
}

/** Returns the pool without the named workers, preserving the order. */
export const without = (pool: WorkerPool, names: Iterable<string>): Result.Result<WorkerPool, WorkerPoolError> => {
  const excluded = new Set(names)
  const known = new Set(ids(pool))
  for (const id of excluded) if (!known.has(id)) return unknown(pool, id)
  return make(pool.workers.filter((worker) => !excluded.has(worker.id)))
}

// Marked as pure, so that a bundle that does not use it leaves it out.
const sampleTable = /* @__PURE__ */ (() =>
  Options.table(
    { count: Options.anything, seed: Options.number(-Number.MAX_VALUE) },
    { required: ["count", "seed"] }
  ))()

/**
 * Returns a pool of `count` randomly sampled workers in random order. The same seed yields the same sample. Fine-tuning
 * on sampled pools teaches a Conductor to adapt to any subset of workers (paper, section 2, "Adaptive pools").
 */
export const sample = (
  pool: WorkerPool,
  options: { readonly count: number; readonly seed: number }
): Result.Result<WorkerPool, WorkerPoolError> => {
  Options.check("WorkerPool.sample", options, sampleTable)
  const { count, seed } = options
  if (!Number.isInteger(count) || count < 1 || count > size(pool)) {
    return Result.fail(new WorkerPoolError({ reason: { _tag: "SampleSize", count, size: size(pool) } }))
  }
  return make(Seed.shuffle(pool.workers, seed).slice(0, count))
}
