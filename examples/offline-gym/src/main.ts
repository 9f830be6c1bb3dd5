/**
 * Does a team beat its best member, and does it matter who is given a tool? Measured on tasks of the gym, whose answers
 * are known: no key, no network.
 */
import assert from "node:assert/strict"
import { Baselines } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type * as Policy from "@divisi/core/Policy"
import type { RunSettings } from "@divisi/core/RunSettings"
import type { Task } from "@divisi/core/Task"
import { GymGrader, GymTools, OraclePolicy } from "@divisi/gym"
import * as Gym from "@divisi/gym/Gym"
import * as GymPool from "@divisi/gym/GymPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"

const pool = GymPool.make({ latencyMillis: 0, storekeeper: true })
const usual = Gym.tasks({ split: "test", count: 60 })
const withTool = Gym.tasks({ split: "test", count: 60, having: "stock" })

/** The share of the tasks that a policy gets right, and what it costs for each. */
const measure = Effect.fnUntraced(function* (
  title: string,
  policy: Policy.Policy,
  tasks: ReadonlyArray<Task>,
  run: RunSettings = {}
) {
  // Overloaded workers of the gym have recovered by the next call, so there is no need to wait.
  const conductor = Conductor.make({ policy, pool, retry: { baseDelayMillis: 0 }, seed: 0, ...run })
  const runs = yield* Effect.forEach(tasks, (task) => conductor.run(task), { concurrency: 10 })
  const grades = yield* Effect.forEach(runs, ({ answer }, index) => GymGrader.grader.grade(tasks[index]!, answer ?? ""))
  const accuracy = grades.filter((grade) => grade.correct).length / tasks.length
  const cost = runs.reduce((sum, run) => sum + run.spend.costUsd, 0) / tasks.length
  console.log(`${title.padEnd(26)} ${(100 * accuracy).toFixed(0).padStart(3)} %   $${cost.toFixed(5)} a task`)
  return accuracy
})

const compare = Effect.gen(function* () {
  const alone = yield* measure("professor", Baselines.single("professor"), usual)
  const team = yield* measure("lexical", LexicalPolicy.make(), usual)
  const oracle = yield* measure("oracle", OraclePolicy.make(), usual)
  assert(alone < team, "a team planned by the words of the question beats the strongest worker alone")
  assert(team <= oracle, "and the oracle, which knows who is good at what, is not beaten")

  const equipped = { tools: GymTools.all, unsupported: "omit" } as const
  const toolless = yield* measure("lexical, no tool", LexicalPolicy.make(), withTool)
  const last = yield* measure("lexical, tool at the end", LexicalPolicy.make(), withTool, equipped)
  const everyStep = { ...equipped, toolAccess: "every-step" } as const
  const every = yield* measure("lexical, tool everywhere", LexicalPolicy.make(), withTool, everyStep)
  assert(toolless === 0, "nobody knows what only the tool tells")
  assert(toolless < last && last < every, "and who needs it is not always the last one")
})

await Effect.runPromise(compare)
