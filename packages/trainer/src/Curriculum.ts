/**
 * Curricula decide which question, worker pool and number of rounds each group of rollouts gets.
 *
 * The choice depends only on the seed and the position within the phase, so a resumed run continues as if it had never
 * stopped.
 */

import { Callback, Seed } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import { type Worker, WorkerError } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { TaskSource } from "./TaskSource.ts"
import type { GrpoConfig, PoolConfig, RecursionConfig } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Question for a group of rollouts, with its worker pool and number of rounds. */
export interface Question {
  /** Position of the task in its source. */
  readonly index: number
  readonly task: Task
  readonly kind: string
  readonly pool: WorkerPool.WorkerPool
  /** Number of rounds after the first. */
  readonly extraRounds: number
  /** Seed for this question. */
  readonly seed: number
}

/**
 * Inputs for creating questions.
 *
 * @internal
 */
export interface Parts {
  readonly tasks: TaskSource
  readonly pool: WorkerPool.WorkerPool
  /**
   * Returns whether a subset of the pool is reserved for tests and must not be used for training. Receives the worker
   * ids in alphabetical order.
   */
  readonly isHeldOut?: ((ids: ReadonlyArray<string>) => boolean) | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised when no subset of the pool can be sampled. */
export class CurriculumError extends Data.TaggedError("CurriculumError")<{ readonly detail: string }> {
  override get message(): string {
    return `No question could be generated: ${this.detail}.`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Pools
// -------------------------------------------------------------------------------------------------------------------

const maxDraws = 1000

const nameOf = (ids: ReadonlyArray<string>) => [...ids].sort().join("\n")

/**
 * Returns the subset of the pool to use for a question.
 *
 * **Details**
 *
 * With `"random"`, the number of workers is sampled uniformly from `min` to `max` (capped at the pool size), then the
 * workers and their order. If the subset is held out, sampling is repeated.
 *
 * **Example**
 *
 * ```ts
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { Curriculum } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe(["a", "b", "c"].map(ScriptedWorker.echo))
 * const heldOut = [["a", "b"], ["b", "c"]]
 * const drawn = Effect.runSync(Curriculum.drawPool(pool, { type: "random", min: 2, max: 2, heldOut }, 7))
 * WorkerPool.ids(drawn).toSorted() // => ["a", "c"]
 * ```
 */
export const drawPool = (
  pool: WorkerPool.WorkerPool,
  config: PoolConfig,
  seed: number,
  isHeldOut: (ids: ReadonlyArray<string>) => boolean = () => false
): Effect.Effect<WorkerPool.WorkerPool, CurriculumError> => {
  if (config.type === "fixed") return Effect.succeed(pool)
  const size = WorkerPool.size(pool)
  const { max, min } = config.type === "random" ? config : { min: size, max: size }
  const most = Math.min(max, size)
  if (!(min >= 1 && min <= most)) {
    return Effect.fail(new CurriculumError({ detail: `cannot sample ${min} to ${max} of ${size} workers` }))
  }
  const heldOut = new Set(config.type === "random" ? (config.heldOut ?? []).map(nameOf) : [])
  for (let attempt = 0; attempt < maxDraws; attempt++) {
    const count = min + Math.floor(Seed.draw(Seed.spread(seed, "count", attempt))() * (most - min + 1))
    const drawn = Seed.shuffled(Seed.draw(Seed.spread(seed, "workers", attempt)), pool.workers).slice(0, count)
    const ids = drawn.map(({ id }) => id).sort()
    if (!heldOut.has(nameOf(ids)) && !isHeldOut(ids)) return Effect.succeed(WorkerPool.makeUnsafe(drawn))
  }
  return Effect.fail(
    new CurriculumError({ detail: `${maxDraws} subsets of the pool were sampled, but all of them are held out` })
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Questions
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns how many recursive rounds the question at a position has. In any range of consecutive positions, the number
 * of questions with recursive rounds matches `share` to within one.
 *
 * **Example**
 *
 * ```ts
 * import { Curriculum } from "@divisi/trainer"
 *
 * const half = { share: 0.5, rounds: 2 }
 * const places = [0, 1, 2, 3]
 * places.map((place) => Curriculum.extraRounds(half, place)) // => [0, 2, 0, 2]
 * ```
 */
export const extraRounds = ({ rounds, share }: RecursionConfig, index: number): number =>
  Math.floor((index + 1) * share + 1e-9) > Math.floor(index * share + 1e-9) ? rounds : 0

/** Returns a worker that is listed in the pool but fails every call as unreachable. */
const outOfReach = (worker: Worker): Worker => ({
  ...worker,
  generate: () =>
    Stream.fail(
      new WorkerError({ worker: worker.id, reason: { _tag: "Overloaded", detail: "not available for this question" } })
    )
})

/** Returns the pool with a random share of its workers made unreachable. */
const withOutages = ({ workers }: WorkerPool.WorkerPool, share: number, seed: number): WorkerPool.WorkerPool => {
  const draw = Seed.draw(seed)
  return WorkerPool.makeUnsafe(workers.map((worker) => (draw() < share ? outOfReach(worker) : worker)))
}

/** Samples the pool for a question. `isHeldOut` is a user callback and must return synchronously. */
const poolOf = ({ isHeldOut, pool }: Parts, config: PoolConfig, seed: number) =>
  Callback.called(
    "isHeldOut",
    () => drawPool(pool, config, seed, isHeldOut && ((ids) => Callback.atOnce("isHeldOut", () => isHeldOut(ids)))),
    (error) => error instanceof CurriculumError
  )

/**
 * Returns the question at a position within a phase.
 *
 * @internal
 */
export const question = Effect.fnUntraced(function* (
  parts: Parts,
  config: Pick<GrpoConfig, "pool" | "recursion">,
  phaseSeed: number,
  index: number
): Effect.fn.Return<Question, CurriculumError | Callback.CallbackError> {
  const { tasks } = parts
  const seed = Seed.spread(phaseSeed, "question", index)
  const task = yield* Callback.called(`task of the source ${tasks.name}`, () => tasks.task(phaseSeed, index))
  const own = yield* Callback.called(`pool of the source ${tasks.name}`, () => tasks.pool?.(task))
  const kind = yield* Callback.called(`kind of the source ${tasks.name}`, () => tasks.kind(task))
  const drawn = own ?? (yield* poolOf(parts, config.pool, Seed.spread(seed, "pool")))
  const rounds = extraRounds(config.recursion, index)
  const outages = rounds === 0 ? 0 : (config.recursion.outages ?? 0)
  const pool = outages === 0 ? drawn : withOutages(drawn, outages, Seed.spread(seed, "outages"))
  return { index, task, kind, pool, extraRounds: rounds, seed }
})
