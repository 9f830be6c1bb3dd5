/** What up to two more rounds give where workers are careless, and whether they let stand what is right. */
import type { Task } from "@tutti/core/Task"
import * as WorkerPool from "@tutti/core/WorkerPool"
import type { FamilyName } from "@tutti/gym/Family"
import * as Gym from "@tutti/gym/Gym"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Markdown from "./Markdown.ts"
import type { Context, Found } from "./Part.ts"
import * as Sample from "./Sample.ts"

const extraRounds = 2

/** Everyone in this pool is wrong now and then in all of these families: its exact workers do others. */
const flaky = {
  workers: ["engineer", "student", "intern", "algebraist", "logician", "gambler", "courier", "proofreader"],
  families: ["algebra", "logic", "statistics", "calendar"]
} as const

const easyFamilies: ReadonlyArray<FamilyName> = ["arithmetic", "units"]

const tasksOf = (families: ReadonlyArray<FamilyName>, count: number) =>
  Gym.tasks({ split: "test", count, seed: 100, families, composites: 0 })

const compare = Effect.fnUntraced(function* (
  { say, tiny }: Context,
  name: string,
  pool: WorkerPool.WorkerPool,
  tasks: ReadonlyArray<Task>
) {
  say(name)
  const setup = { policy: tiny.policy, pool, tasks }
  const once = yield* Sample.measure(setup)
  const again = yield* Sample.measure({ ...setup, recursion: extraRounds })
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

/** Measures with one round and with more, on the same tasks. */
export const run = Effect.fnUntraced(function* (context: Context): Effect.fn.Return<Found> {
  const { count, pool } = context
  const careless = Result.getOrThrow(WorkerPool.subset(pool, flaky.workers))
  const records = [
    yield* compare(context, "careless workers", careless, tasksOf(flaky.families, count)),
    yield* compare(context, "easy, whole pool", pool, tasksOf(easyFamilies, count))
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
