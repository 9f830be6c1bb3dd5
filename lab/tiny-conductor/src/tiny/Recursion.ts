/**
 * Measures the effect of up to two additional rounds if workers fail or make errors, and whether correct answers are
 * left unchanged.
 */
import type { Task } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import type { Family } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { heldOutPools } from "../../../../packages/recipes/src/gym/HeldOutPools.ts"
import * as Markdown from "./Markdown.ts"
import type { Context, Found } from "./Part.ts"
import * as Pools from "./Pools.ts"
import * as Sample from "./Sample.ts"

const extraRounds = 2

/**
 * Every worker of this pool sometimes gives wrong answers in all of these families; its exact workers do other
 * families.
 */
const flaky = {
  workers: ["engineer", "student", "intern", "algebraist", "logician", "gambler", "courier", "proofreader"],
  families: ["algebra", "logic", "statistics", "calendar"]
} as const

const easyFamilies: ReadonlyArray<Family.FamilyName> = ["arithmetic", "units"]

/** Pools outside its training that rarely have a worker for every family: the first ones by increasing size. */
const smallPools = heldOutPools.filter((ids) => ids.length <= 6)

/** The share of questions for which a worker is unavailable, drawn for each worker. */
const outages = 0.25

/** Tasks, and the workers that are available for them. */
interface Case {
  readonly pool: WorkerPool.WorkerPool
  readonly tasks: ReadonlyArray<Task>
}

const tasksOf = (families: ReadonlyArray<Family.FamilyName>, count: number) =>
  Gym.tasks({ split: "test", count, seed: 100, families, composites: 0 })

const compare = Effect.fnUntraced(function* ({ say, tiny }: Context, name: string, cases: ReadonlyArray<Case>) {
  say(name)
  const measure = (recursion: number) =>
    Effect.map(
      Effect.forEach(cases, (one) => Sample.measure({ policy: tiny.policy, ...one, recursion })),
      (samples) => samples.flat()
    )
  const once = yield* measure(0)
  const again = yield* measure(extraRounds)
  const passed = again.map(({ isPassed, rounds }) => (isPassed && rounds === 2 ? 1 : 0))
  const passedWhere = (right: number) => Sample.estimate(passed.filter((_, index) => once[index]!.right === right))
  return {
    tasks: name,
    oneRound: Sample.summary(once),
    moreRounds: Sample.summary(again),
    gain: Sample.difference(again, once),
    callsRatio: Sample.ratio(again.map(({ calls }, index) => [calls, once[index]!.calls])),
    rounds: Sample.estimate(again.map(({ rounds }) => rounds)),
    passed: Sample.estimate(passed),
    passedWhenRight: passedWhere(1),
    passedWhenWrong: passedWhere(0)
  }
})

/** Measures one round and several rounds on the same tasks. */
export const run = Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Found> {
  const { count, pool } = context
  const subset = (ids: ReadonlyArray<string>) => Result.getOrThrow(WorkerPool.subset(pool, ids))
  const unseen = Pools.unseen(pool, Math.ceil(count / smallPools.length), smallPools)
  const records = [
    yield* compare(context, "workers out of reach", [
      { pool: GymPool.make({ latencyMillis: 0, outages }), tasks: Gym.tasks({ split: "test", count, seed: 100 }) }
    ]),
    yield* compare(context, "careless workers", [
      { pool: subset(flaky.workers), tasks: tasksOf(flaky.families, count) }
    ]),
    yield* compare(context, "pools of 3 to 6, never seen", unseen),
    yield* compare(context, "easy, whole pool", [{ pool, tasks: tasksOf(easyFamilies, count) }])
  ]
  const rows = records.map((record) => [
    record.tasks,
    Markdown.percent(record.oneRound.right),
    Markdown.percent(record.moreRounds.right),
    Markdown.percent(record.gain, true),
    Markdown.number(record.callsRatio),
    Markdown.percent(record.passed),
    Markdown.percent(record.passedWhenRight),
    Markdown.percent(record.passedWhenWrong)
  ])
  const columns = [
    "tasks",
    "right in one round, %",
    "right in up to three, %",
    "gain, points",
    "calls, times those of one round",
    "first answer let stand, %",
    "of right ones, %",
    "of wrong ones, %"
  ]
  return { records, markdown: Markdown.table(columns, rows) }
})
