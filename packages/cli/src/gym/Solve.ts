/** `divisi gym solve`: policies over tasks whose answers are known. */
import * as Conductor from "@divisi/core/Conductor"
import type { Policy } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as ConfigFile from "../conductor/ConfigFile.ts"
import * as OfflineGym from "../conductor/OfflineGym.ts"
import * as PolicyName from "../conductor/PolicyName.ts"
import * as RunOptions from "../conductor/RunOptions.ts"
import * as Services from "../conductor/Services.ts"
import type { Config } from "../config.ts"
import { type Failure, failed } from "../invocation/Failure.ts"
import * as View from "../view/View.ts"
import type { SolveInput } from "./flags.ts"
import * as Progress from "./Progress.ts"
import * as ReportText from "./ReportText.ts"
import * as Tally from "./Tally.ts"

/** The policies of `--policy all`, after every worker alone. */
const compared = ["random", "best-of:3", "self-consistency:5", "self-reflection:5", "moa", "lexical"]

interface Contender {
  readonly name: string
  readonly policy: Policy
}

const contender = (name: string, pool: WorkerPool.WorkerPool): Effect.Effect<Contender, Failure, Scope.Scope> =>
  name === "oracle"
    ? Effect.succeed({ name, policy: OfflineGym.oracle })
    : Effect.map(PolicyName.resolve(name, pool), (policy) => ({ name, policy }))

/** What is known of the gym's workers is known of no others. */
const all = (pool: WorkerPool.WorkerPool, isOurs: boolean): ReadonlyArray<string> => [
  ...WorkerPool.ids(pool).map((id) => `single:${id}`),
  ...(isOurs ? ["best-single"] : []),
  ...compared,
  ...(isOurs ? ["conductor", "oracle"] : [])
]

const contenders = (input: SolveInput, config: Config, pool: WorkerPool.WorkerPool) => {
  const named = Option.getOrElse(input.policy, () => config.policy ?? RunOptions.measuredPolicy)
  if (typeof named !== "string") return Effect.succeed([{ name: named.name, policy: named }])
  const names = named === "all" ? all(pool, config.pool === undefined) : [named]
  return Effect.forEach(names, (name) => contender(name, pool))
}

/** Runs a policy over the tasks; `onTally` is told the sums after each. */
const measure = (
  options: Conductor.Options,
  tasks: ReadonlyArray<Task>,
  concurrency: number,
  onTally: (tally: Tally.Tally) => void
): Effect.Effect<void, Failure> => {
  const conductor = Conductor.make(options)
  let tally = Tally.empty
  onTally(tally)
  const solve = (task: Task) =>
    Effect.gen(function* () {
      const result = yield* conductor.run(task)
      const { answer } = result
      const isCorrect =
        answer !== undefined &&
        (yield* Effect.mapError(OfflineGym.grader.grade(task, answer), (error) => failed(error.message))).correct
      tally = Tally.add(tally, result, isCorrect)
      onTally(tally)
    })
  return Effect.forEach(tasks, solve, { concurrency, discard: true })
}

/** What is known of each contender: filled in as it runs, so that an interruption loses nothing. */
type Standing = Map<Contender, Tally.Tally>

const print = (standing: Standing, json: boolean): void => {
  const reports = [...standing].map(([{ name }, tally]) => Tally.report(name, tally))
  const tallies = [...standing.values()]
  const lines = json
    ? reports.map((report) => JSON.stringify(report))
    : [reports.length === 1 ? ReportText.one(reports[0]!, tallies[0]!) : ReportText.several(reports)]
  if (reports.length > 0) process.stdout.write(`${lines.join("\n")}\n`)
}

/** Measures the policies one after another, and prints their figures: also those so far when it is interrupted. */
export const solve = (input: SolveInput): Effect.Effect<void, Failure> => Effect.scoped(measureAll(input))

const measureAll = Effect.fnUntraced(function* (input: SolveInput): Effect.fn.Return<void, Failure, Scope.Scope> {
  const { config } = yield* ConfigFile.resolve(Option.getOrUndefined(input.config))
  const isOurs = RunOptions.isGym(config, input)
  const pool = yield* RunOptions.resolvePool(isOurs ? { pool: OfflineGym.fastPool() } : config, input)
  const settings = { retry: isOurs ? OfflineGym.atOnce : undefined, ...RunOptions.settings(config, input) }
  const seed = Option.getOrElse(input.seed, () => 0)
  const tasks = yield* OfflineGym.tasks({ split: input.split, count: input.tasks, seed })
  const list = yield* contenders(input, config, pool)
  const progress = Progress.make(process.stderr, View.isLive(process.stderr, process.env), Date.now)
  const standing: Standing = new Map()
  const run = Effect.forEach(
    list,
    (one) =>
      measure(
        { ...settings, seed: settings.seed ?? 0, policy: one.policy, pool },
        tasks,
        input.concurrency,
        (tally) => {
          standing.set(one, tally)
          progress.show(one.name, tally, tasks.length)
        }
      ),
    { discard: true }
  )
  yield* Effect.ensuring(
    Services.provide(run, { ...Services.of(config, input), isGym: isOurs }),
    Effect.sync(() => {
      progress.close()
      print(standing, input.json)
    })
  )
})
