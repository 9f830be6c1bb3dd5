/** Does a team beat its best member? Measured on tasks of the gym, whose answers are known: no key, no network. */
import assert from "node:assert/strict"
import * as Baselines from "@divisi/core/Baselines"
import * as Conductor from "@divisi/core/Conductor"
import type * as Policy from "@divisi/core/Policy"
import * as Gym from "@divisi/gym/Gym"
import * as GymGrader from "@divisi/gym/GymGrader"
import * as GymPool from "@divisi/gym/GymPool"
import * as OraclePolicy from "@divisi/gym/OraclePolicy"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import * as Effect from "effect/Effect"

const pool = GymPool.make({ latencyMillis: 0 })
const tasks = Gym.tasks({ split: "test", count: 60 })

/** The share of the tasks that a policy gets right, and what it costs for each. */
const measure = Effect.fnUntraced(function* (policy: Policy.Policy) {
  // Overloaded workers of the gym have recovered by the next call, so there is no need to wait.
  const conductor = Conductor.make({ policy, pool, retry: { baseDelayMillis: 0 }, seed: 0 })
  const runs = yield* Effect.forEach(tasks, (task) => conductor.run(task), { concurrency: 10 })
  const grades = yield* Effect.forEach(runs, ({ answer }, index) => GymGrader.grader.grade(tasks[index]!, answer ?? ""))
  const accuracy = grades.filter((grade) => grade.correct).length / tasks.length
  const cost = runs.reduce((sum, run) => sum + run.spend.costUsd, 0) / tasks.length
  console.log(`${policy.name.padEnd(18)} ${(100 * accuracy).toFixed(0).padStart(3)} %   $${cost.toFixed(5)} a task`)
  return accuracy
})

const compare = Effect.gen(function* () {
  const alone = yield* measure(Baselines.single("professor"))
  const team = yield* measure(LexicalPolicy.make())
  const oracle = yield* measure(OraclePolicy.make())
  assert(alone < team, "a team planned by the words of the question beats the strongest worker alone")
  assert(team <= oracle, "and the oracle, which knows who is good at what, is not beaten")
})

await Effect.runPromise(compare)
