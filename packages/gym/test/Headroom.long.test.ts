import { Baselines, Critic, type Workflow } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as LexicalPolicy from "@divisi/policy-lexical/LexicalPolicy"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Gym from "../src/Gym.ts"
import * as GymGrader from "../src/GymGrader.ts"
import * as GymPool from "../src/GymPool.ts"
import * as OraclePolicy from "../src/OraclePolicy.ts"

const pool = GymPool.make({ latencyMillis: 0 })
const ids = WorkerPool.ids(pool)
const ordinal = (id: string) => ids.indexOf(id)
const retry = { maxAttempts: 5, baseDelayMillis: 0, maxDelayMillis: 0 }

const accuracy = Effect.fnUntraced(function* (
  policy: Policy.Policy,
  tasks: ReadonlyArray<Task>,
  options: Partial<Conductor.Options> = {}
) {
  const conductor = Conductor.make({ policy, pool, retry, seed: 0, ...options })
  const verdicts = yield* Effect.forEach(tasks, (task) =>
    Effect.map(conductor.run(task), ({ answer }) => GymGrader.isCorrect(answer ?? "", task.reference!))
  )
  return verdicts.filter((correct) => correct).length / verdicts.length
})

/** Every worker is asked the question; what most of them say counts. */
const everyone = Policy.fixed(
  "everyone",
  (pool) => ({ steps: pool.workers.map((_, worker) => ({ worker, subtask: "", access: [] })), answer: "majority" }),
  { maxSteps: WorkerPool.size(pool) }
)

const tasks = Gym.tasks({ split: "test", count: 200 })

describe("Headroom", () => {
  it.live(
    "choosing and decomposing pay: no worker, and no vote of all of them, comes near the oracle",
    () =>
      Effect.gen(function* () {
        const singles = yield* Effect.forEach(ids, (id) => accuracy(Baselines.single(id), tasks))
        const best = Math.max(...singles)
        const [lexical, oracle, vote] = yield* Effect.all([
          accuracy(LexicalPolicy.make(), tasks),
          accuracy(OraclePolicy.make(), tasks),
          accuracy(everyone, tasks)
        ])
        assert.isTrue(best > 0.55 && best < 0.75, `best single worker: ${best}`)
        assert.isAtLeast(oracle, 0.97)
        assert.isBelow(vote, oracle - 0.15)
        assert.isTrue(lexical > best && lexical < oracle, `lexical: ${lexical}`)
      }),
    // Every worker answers every task.
    60_000
  )

  it.live("checking pays: two attempts of the error-prone logician and a check beat one", () =>
    Effect.gen(function* () {
      const puzzles = Gym.tasks({ split: "test", count: 150, families: ["logic"] })
      const attempt = (number: number) => ({ worker: ordinal("logician"), subtask: `Attempt ${number}.`, access: [] })
      const checked: Workflow.Workflow = {
        steps: [
          attempt(1),
          attempt(2),
          { worker: ordinal("proofreader"), subtask: "Check the answers above.", access: "all" }
        ]
      }
      const once = yield* accuracy(Baselines.single("logician"), puzzles)
      const twice = yield* accuracy(
        Policy.fixed("checked", () => checked),
        puzzles
      )
      assert.isBelow(once, 0.95)
      assert.isAbove(twice, once + 0.04)
    })
  )

  it.live("recursion pays: what was wrong in one round is often right in the next", () =>
    Effect.gen(function* () {
      const equations = Gym.tasks({ split: "test", count: 150, families: ["algebra"] })
      const critic = Critic.fromGrader(GymGrader.grader)
      const once = yield* accuracy(Baselines.single("gambler"), equations)
      const again = yield* accuracy(Baselines.single("gambler"), equations, { critic, recursion: 2 })
      assert.isBelow(once, 0.88)
      assert.isAbove(again, once + 0.1)
    })
  )

  it.live("a question that one call answers gets one step, a part that needs an answer sees it and no more", () =>
    Effect.gen(function* () {
      const policy = OraclePolicy.make()
      const conductor = Conductor.make({ policy, pool, retry, seed: 0 })
      for (const task of tasks.slice(0, 60)) {
        const { parts } = Gym.metadata(task)!
        const { rounds } = yield* conductor.run(task)
        const { steps } = rounds[0]!.workflow
        if (parts.some(({ family }) => family === "logic" || family === "algebra")) continue
        assert.strictEqual(steps.length, parts.length)
        assert.deepStrictEqual(
          steps.map(({ access }) => access),
          parts.map(({ needs }) => needs)
        )
      }
    })
  )

  it.live("any part of the pool is a pool that the oracle plans for", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 12; seed++) {
        const some = Result.getOrThrow(WorkerPool.sample(pool, { count: 1 + (seed % 5), seed }))
        const conductor = Conductor.make({ policy: OraclePolicy.make(), pool: some, retry, seed })
        for (const task of tasks.slice(0, 10)) {
          const { ending } = yield* conductor.run(task)
          // The only worker that there is may decline.
          assert.include(["answered", "refused"], ending)
        }
      }
    })
  )

  it.live("the oracle says why it has no plan", () =>
    Effect.gen(function* () {
      const conductor = Conductor.make({ policy: OraclePolicy.make(), pool, retry })
      const { detail, ending } = yield* conductor.run("What is 6 times 7?")
      assert.strictEqual(ending, "failed")
      assert.match(detail ?? "", /not generated by the gym/)
    })
  )
})
