/**
 * Compares the published tiny Conductor with the lexical rule and the best single worker, on teams other than the
 * gym's: subsets of it, reworded descriptions, new workers, swapped descriptions.
 */

import { Seed } from "@divisi/core"
import * as Policy from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type { Worker } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { GymWorker } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Markdown from "./Markdown.ts"
import type { Contender } from "./Part.ts"
import * as Sample from "./Sample.ts"
import { newcomers, otherWords, sameWords } from "./teamTexts.ts"

/** A team, which may differ for every task. */
interface Team {
  readonly name: string
  readonly pool: (task: number, seed: number) => WorkerPool.WorkerPool
}

const gym = GymPool.make({ latencyMillis: 0 })

const strangers = newcomers.map((profile) => GymWorker.make(profile, { latencyMillis: 0 }))

const fixed = (name: string, workers: ReadonlyArray<Worker>): Team => {
  const pool = WorkerPool.makeUnsafe(workers)
  return { name, pool: () => pool }
}

const described = (texts: Readonly<Record<string, string>>): ReadonlyArray<Worker> =>
  gym.workers.map((worker) => ({ ...worker, description: texts[worker.id] ?? worker.description }))

const textOf = (id: string): string => GymPool.profiles.find((profile) => profile.id === id)!.description

/** The pool with the descriptions of these pairs swapped. */
const swapped = (pairs: ReadonlyArray<readonly [string, string]>): ReadonlyArray<Worker> =>
  described(Object.fromEntries(pairs.flatMap(([a, b]) => [[a, textOf(b)] as const, [b, textOf(a)] as const])))

const sampled = (count: number): Team => ({
  name: `${count} of the 16, sampled for each task`,
  pool: (task, seed) => Result.getOrThrow(WorkerPool.sample(gym, { count, seed: Seed.derive(seed, "teams", task) }))
})

/** The teams, in the order of the table. */
export const teams: ReadonlyArray<Team> = [
  fixed("the whole pool", gym.workers),
  sampled(12),
  sampled(4),
  sampled(2),
  fixed("the same words in other sentences", described(sameWords)),
  fixed("other words", described(otherWords)),
  fixed("a new worker, seventeenth", [...gym.workers, strangers[0]!]),
  fixed(
    "a new worker instead of almanac",
    gym.workers.map((worker) => (worker.id === "almanac" ? strangers[0]! : worker))
  ),
  fixed("8 more new workers", [...gym.workers, ...strangers]),
  fixed(
    "two pairs with swapped descriptions",
    swapped([
      ["professor", "intern"],
      ["converter", "almanac"]
    ])
  )
]

/** Finds the worker of a team that is most often right on validation questions, and asks only this worker. */
const findBestSingle = Effect.gen(function* () {
  const workers = [...gym.workers, ...strangers]
  const tasks = Gym.tasks({ split: "validation", count: 200 })
  const means = yield* Effect.forEach(workers, ({ id }, index) => {
    const pool = WorkerPool.makeUnsafe([workers[index]!])
    const policy = Policy.fixed(id, () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
    return Effect.map(
      Sample.measure({ policy, pool, tasks }),
      (samples) => [id, Sample.summary(samples).right.mean] as const
    )
  })
  const meanOf = new Map(means)
  return Policy.fixed("best single", ({ workers }) => {
    const best = workers.reduce(
      (found, { id }, at) => (meanOf.get(id)! > meanOf.get(workers[found]!.id)! ? at : found),
      0
    )
    return { steps: [{ worker: best, subtask: "", access: [] }] }
  })
})

/** Computed once per process. */
const bestSingle = Effect.runSync(Effect.cached(findBestSingle))

/** Several draws of tasks as one list, each task with its seed. */
const drawn = (seeds: ReadonlyArray<number>, count: number) =>
  seeds.flatMap((seed) =>
    Gym.tasks({ split: "test", count, seed }).map((task): readonly [number, Task] => [seed, task])
  )

/**
 * Measures every team with the same number of tasks for each seed.
 *
 * **Details**
 *
 * The best single worker is the one that was most often right on 200 validation questions, for each team.
 */
export const run = Effect.fnUntraced(function* (options: {
  readonly tiny: Contender
  readonly seeds: ReadonlyArray<number>
  readonly count: number
  /** Rounds after the first. Default: 0. */
  readonly recursion?: number | undefined
  /** Returns whether a team is measured. Default: all teams. */
  readonly isWanted?: ((team: string) => boolean) | undefined
  readonly say: (text: string) => void
}) {
  const { count, isWanted = () => true, recursion, say, seeds, tiny } = options
  const wanted = teams.filter(({ name }) => isWanted(name))
  if (wanted.length === 0) return { records: [], markdown: "" }
  const tasks = drawn(seeds, count)
  const policies = [tiny.policy, LexicalPolicy.make(), yield* bestSingle]
  const records = yield* Effect.forEach(
    wanted,
    Effect.fnUntraced(function* ({ name, pool }) {
      say(name)
      const [own, rule, single] = yield* Effect.forEach(policies, (policy) =>
        Sample.measure({
          policy,
          pool: (index) => pool(index, tasks[index]![0]),
          recursion,
          tasks: tasks.map(([, task]) => task)
        })
      )
      return {
        team: name,
        seeds,
        tasks: tasks.length,
        tiny: Sample.summary(own!),
        lexical: Sample.summary(rule!),
        bestSingle: Sample.summary(single!),
        aheadOfLexical: Sample.difference(own!, rule!),
        aheadOfSingle: Sample.difference(own!, single!)
      }
    })
  )
  const rows = records.map(({ aheadOfLexical, aheadOfSingle, bestSingle, lexical, team, tiny }) => [
    team,
    Markdown.percent(tiny.right),
    Markdown.percent(lexical.right),
    Markdown.percent(bestSingle.right),
    Markdown.percent(aheadOfLexical, true),
    Markdown.percent(aheadOfSingle, true),
    Markdown.plain(tiny.usdPerThousand, 3),
    Markdown.plain(lexical.usdPerThousand, 3),
    Markdown.percent(tiny.parallel)
  ])
  const columns = [
    "team",
    `${tiny.name}, right, %`,
    "lexical, %",
    "best single, %",
    "ahead of lexical, points",
    "ahead of the best single, points",
    `${tiny.name}, USD per 1,000 tasks`,
    "lexical, USD",
    `${tiny.name}: plans that run steps at once, %`
  ]
  return { records, markdown: Markdown.table(columns, rows) }
})
