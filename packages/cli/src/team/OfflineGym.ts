/** Makes the gym available on the command line: its default pool, its tasks and its best worker. */

import { Baselines, Nearest, type Resilience } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type { RunSettings } from "@divisi/core/RunSettings"
import type { Task } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { Family, GymGrader, GymQuestion, GymTools, OraclePolicy } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Config } from "../config.ts"
import { type Failure, failed, usage } from "../invocation/Failure.ts"

/** The families accepted by `--family`. */
export const families: ReadonlyArray<string> = [...Family.names, ...Family.toolNames, "composite"]

const meantBy = (family: string): string => Nearest.didYouMean(Nearest.nearest(family, families))

/** Returns the family selected by `--family`. Fails if it does not exist. */
export const familyOf = (named: Option.Option<string>): Effect.Effect<string | undefined, Failure> => {
  const family = Option.getOrUndefined(named)
  return family === undefined || families.includes(family)
    ? Effect.succeed(family)
    : Effect.fail(usage(`Unknown family "${family}".${meantBy(family)} Available: ${families.join(", ")}.`))
}

/** Returns the family with the given name, if its questions need a tool. */
const toolFamily = (family: string | undefined) => Family.toolNames.find((name) => name === family)

/** Whether a family's questions require a tool. */
export const needsTool = (family: string | undefined): boolean => toolFamily(family) !== undefined

/** Returns settings for runs whose questions require a tool. Workers that cannot call tools run without it. */
const withTools = ({ tools = [], unsupported = "omit" }: Pick<RunSettings, "tools" | "unsupported">) => ({
  unsupported,
  tools: [...GymTools.all, ...tools]
})

/** The pool for demonstrations: its workers simulate delays and make no mistakes. */
export const pool = (): WorkerPool.WorkerPool => GymPool.make({ mistakes: false })

/** The oracle policy, which has access to the gym's answers and the properties of its workers. */
export const oracle = OraclePolicy.make()

/**
 * The same pool for evaluations: its workers respond immediately. The storekeeper is included for tasks that need a
 * tool.
 */
export const fastPool = (storekeeper = false): WorkerPool.WorkerPool => GymPool.make({ latencyMillis: 0, storekeeper })

/** Returns a config for the tasks of a family, including the tool they may need. */
export const configFor = (config: Config, family: string | undefined): Config =>
  needsTool(family) ? { ...config, ...withTools(config) } : config

/**
 * Returns a config for a question that the gym's default team answers. If the question requires a tool, the tool is
 * available in every step and the pool includes a worker that can use it.
 */
export const configOf = (config: Config, question: string): Config =>
  GymQuestion.needsTool(question)
    ? {
        toolAccess: "every-step",
        ...config,
        ...withTools(config),
        pool: GymPool.make({ storekeeper: true, mistakes: false })
      }
    : config

/** Selects the tasks to generate. */
export interface TaskOptions {
  readonly split: Gym.Split
  readonly count: number
  readonly seed: number
  readonly family?: string | undefined
}

/** Number of tasks that are generated before signals and timers are handled. */
const tasksAtOnce = 64

/** Generates gym tasks and passes each to a function. Fails if there are fewer tasks than requested. */
export const eachTask = Effect.fnUntraced(function* (
  { count, family, seed, split }: TaskOptions,
  use: (task: Task) => void
): Effect.fn.Return<void, Failure> {
  const stream = Gym.stream({
    split,
    seed,
    having: toolFamily(family),
    composites: family === "composite" ? 1 : undefined,
    families: Family.names.some((name) => name === family) ? Family.names.filter((name) => name === family) : undefined
  })
  for (let made = 0; made < count; made++) {
    const { done, value } = stream.next()
    if (done === true) {
      return yield* usage(`The ${split} split has only ${made} such tasks, but ${count} were requested.`)
    }
    use(value)
    if (made % tasksAtOnce === 0) yield* Effect.yieldNow
  }
})

/** Generates gym tasks. Fails if there are fewer tasks than requested. */
export const tasks = (options: TaskOptions): Effect.Effect<ReadonlyArray<Task>, Failure> =>
  Effect.suspend(() => {
    const made: Array<Task> = []
    return Effect.as(
      eachTask(options, (task) => void made.push(task)),
      made
    )
  })

/** Grades answers to gym tasks. */
export const { grader } = GymGrader

/** Retries without delay, because an overloaded gym worker has recovered by the next call. */
export const atOnce: Resilience.Retry = { baseDelayMillis: 0, jitter: false }

/** Returns the number of tasks that a worker answers correctly on its own. */
const scoreOf = (pool: WorkerPool.WorkerPool, run: RunSettings, worker: string, trials: ReadonlyArray<Task>) => {
  const conductor = Conductor.make({
    ...run,
    policy: Baselines.single(worker),
    pool,
    retry: atOnce,
    reassign: "never",
    seed: 0
  })
  const isCorrect = (task: Task) =>
    Effect.gen(function* () {
      const { answer } = yield* conductor.run(task)
      return answer !== undefined && (yield* grader.grade(task, answer)).correct
    })
  return Effect.map(Effect.forEach(trials, isCorrect), (verdicts) => verdicts.filter((correct) => correct).length)
}

/** Returns the `count` workers with the highest scores. */
const top = (scores: ReadonlyMap<string, number>, count: number): ReadonlyArray<string> =>
  [...scores.keys()].sort((left, right) => scores.get(right)! - scores.get(left)!).slice(0, count)

const findBest = (ids: ReadonlyArray<string>): Effect.Effect<string | undefined, Failure> =>
  Effect.gen(function* () {
    // The storekeeper is included only in pools for tasks that need a tool.
    const isEquipped = ids.includes("storekeeper")
    const pool = WorkerPool.subset(fastPool(isEquipped), ids)
    if (Result.isFailure(pool)) return undefined
    const scores = new Map(ids.map((id) => [id, 0]))
    const run = isEquipped ? withTools({}) : {}
    const trials = yield* tasks({ split: "validation", count: 200, seed: 0, family: isEquipped ? "stock" : undefined })
    const tryAll = (some: ReadonlyArray<string>, trials: ReadonlyArray<Task>) =>
      Effect.forEach(some, (id) =>
        Effect.map(scoreOf(pool.success, run, id, trials), (score) => scores.set(id, scores.get(id)! + score))
      )
    yield* tryAll(ids, trials.slice(0, 40))
    yield* tryAll(top(scores, 4), trials.slice(40))
    return top(scores, 1)[0]
  }).pipe(Effect.mapError((error) => (error._tag === "GraderError" ? failed(error.message) : error)))

/** Results by the ids of the pool's workers, because several policies need the same one. */
const found = new Map<string, string | undefined>()

/**
 * Returns the worker with the highest accuracy on validation tasks. Returns `undefined` if the pool contains other
 * workers than the gym's, because calling them would cost the user money. All workers are tried on a few tasks, and the
 * best of them on more.
 */
export const bestSingle = (pool: WorkerPool.WorkerPool): Effect.Effect<string | undefined, Failure> =>
  Effect.suspend(() => {
    const ids = WorkerPool.ids(pool)
    const key = ids.join()
    return found.has(key)
      ? Effect.succeed(found.get(key))
      : Effect.tap(findBest(ids), (best) => Effect.sync(() => found.set(key, best)))
  })
