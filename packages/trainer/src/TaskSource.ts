/**
 * Sources of training tasks: endless, numbered sequences that depend only on a seed.
 *
 * Since a position in a source is a number, a resumed run continues with the next task.
 */

import { Seed } from "@divisi/core"
import type { Task } from "@divisi/core/Task"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Endless, numbered sequence of tasks. */
export interface TaskSource {
  /** Name of the source, used in the run's records. */
  readonly name: string
  /** Returns the task at a position (from 0). The same seed and index always give the same task. */
  readonly task: (seed: number, index: number) => Effect.Effect<Task>
  /** Returns the kind of a task, by which metrics are grouped. */
  readonly kind: (task: Task) => string
  /** Returns the worker pool for a task, if it needs a specific one. Defaults to the pool of the training run. */
  readonly pool?: ((task: Task) => WorkerPool | undefined) | undefined
}

/** Source with its share of the questions in an iteration. */
export interface Share {
  readonly source: TaskSource
  /** Weight of this source relative to the other shares. */
  readonly share: number
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Returns the `family` or `kind` from the task's metadata, or `task` if it has neither. */
const kindOf = ({ metadata }: Task): string => String(metadata?.family ?? metadata?.kind ?? "task")

/**
 * Creates a source from a function of seed and position.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 * import { TaskSource } from "@divisi/trainer"
 * import * as Effect from "effect/Effect"
 *
 * const sums = TaskSource.make("sums", (seed, index) =>
 *   Task.make({ question: `What is ${seed % 10} plus ${index}?`, reference: String((seed % 10) + index) })
 * )
 * Effect.runSync(sums.task(3, 4)).reference // => "7"
 * ```
 */
export const make = (
  name: string,
  task: (seed: number, index: number) => Task | Effect.Effect<Task>,
  kind: (task: Task) => string = kindOf
): TaskSource => ({
  name,
  task: (seed, index) =>
    Effect.suspend(() => {
      const made = task(seed, index)
      return Effect.isEffect(made) ? made : Effect.succeed(made)
    }),
  kind
})

/**
 * Creates a source from a list. The list is repeated endlessly, in a new random order each time.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 * import { TaskSource } from "@divisi/trainer"
 *
 * const source = TaskSource.fromTasks("two", [Task.make("One?"), Task.make("Two?")])
 * source.name // => "two"
 * ```
 */
export const fromTasks = (
  name: string,
  tasks: ReadonlyArray<Task>,
  kind: (task: Task) => string = kindOf
): TaskSource => {
  if (tasks.length === 0) throw new RangeError(`Source ${name} has no tasks. Add at least one.`)
  return make(
    name,
    (seed, index) => {
      const pass = Math.floor(index / tasks.length)
      return Seed.shuffled(Seed.draw(Seed.spread(seed, "pass", pass)), tasks)[index % tasks.length]!
    },
    kind
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Combinators
// -------------------------------------------------------------------------------------------------------------------

/**
 * Combines sources. At each position, a source is chosen at random with probability proportional to its share.
 *
 * **Example**
 *
 * ```ts
 * import * as Task from "@divisi/core/Task"
 * import { TaskSource } from "@divisi/trainer"
 *
 * const easy = TaskSource.make("easy", (_, index) => Task.make(`Easy ${index}?`))
 * const hard = TaskSource.make("hard", (_, index) => Task.make(`Hard ${index}?`))
 * const source = TaskSource.mix([{ source: easy, share: 1 }, { source: hard, share: 3 }])
 * source.name // => "easy + hard"
 * ```
 */
export const mix = (shares: ReadonlyArray<Share>): TaskSource => {
  const total = shares.reduce((sum, { share }) => sum + share, 0)
  const drawn = (seed: number, index: number): TaskSource => {
    let left = Seed.draw(Seed.spread(seed, "mix", index))() * total
    for (const { share, source } of shares) {
      left -= share
      if (left < 0) return source
    }
    return shares.at(-1)!.source
  }
  const sources = new WeakMap<Task, TaskSource>()
  return {
    name: shares.map(({ source }) => source.name).join(" + "),
    task: (seed, index) => {
      const source = drawn(seed, index)
      return Effect.tap(source.task(Seed.spread(seed, source.name), index), (task) =>
        Effect.sync(() => sources.set(task, source))
      )
    },
    kind: (task) => (sources.get(task)?.kind ?? kindOf)(task),
    pool: (task) => sources.get(task)?.pool?.(task)
  }
}

/**
 * Filters tasks, for example by difficulty. At each position, tasks are sampled until one is accepted.
 *
 * **Gotchas**
 *
 * After `maxDraws` attempts (default: 100), the last task is used even if it was rejected, so that a filter that
 * rejects everything cannot block a run.
 */
export const filter = (source: TaskSource, isWanted: (task: Task) => boolean, maxDraws = 100): TaskSource => ({
  ...source,
  task: (seed, index) => {
    const from = (attempt: number): Effect.Effect<Task> =>
      Effect.flatMap(source.task(attempt === 0 ? seed : Seed.spread(seed, "filter", attempt), index), (task) =>
        isWanted(task) || attempt + 1 >= maxDraws ? Effect.succeed(task) : from(attempt + 1)
      )
    return from(0)
  }
})
