import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { OptionsError } from "../src/Options.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Task from "../src/task/Task.ts"
import { BudgetExceeded } from "../src/task/Usage.ts"
import { WorkerError } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import * as Topology from "../src/workflow/Topology.ts"
import * as Workflow from "../src/workflow/Workflow.ts"

const pool = (size: number) =>
  WorkerPool.makeUnsafe(Array.from({ length: size }, (_, index) => ScriptedWorker.echo(`w${index}`)))

const context = (changes: Partial<Policy.Context> = {}): Policy.Context => ({
  task: Task.make("Why?"),
  pool: pool(3),
  maxSteps: 5,
  self: false,
  round: 0,
  seed: 1,
  price: () => assert.fail(),
  complete: () => Effect.die("a fixed policy asks no model"),
  ...changes
})

const propose = (policy: Policy.Policy, changes: Partial<Policy.Context> = {}) =>
  Effect.map(policy.propose(context(changes)), (proposal) => proposal.workflow)

const workers = (workflow: Workflow.Workflow) => workflow.steps.map((step) => step.worker)

const baselines = [
  Baselines.single(0),
  Baselines.single("w0"),
  Baselines.randomRouter({ seed: 3 }),
  Baselines.bestOf(),
  Baselines.bestOf({ n: 8, workers: [0], judge: "w0" }),
  Baselines.selfConsistency(),
  Baselines.selfConsistency({ n: 9, worker: 0 }),
  Baselines.selfReflection(),
  Baselines.selfReflection({ rounds: 1, worker: "w0" }),
  Baselines.mixtureOfAgents(),
  Baselines.mixtureOfAgents({ layers: 3, proposers: [0, 0], aggregator: 0 })
]

describe("every fixed policy", () => {
  for (const policy of baselines) {
    it.effect(`${policy.name} writes valid workflows for pools of 1 to 12, within the steps it announces`, () =>
      Effect.gen(function* () {
        for (let size = 1; size <= 12; size++) {
          const workflow = yield* propose(policy, { pool: pool(size) })
          const checked = Workflow.check(workflow, { poolSize: size, maxSteps: policy.maxSteps ?? 5 })
          assert.isTrue(Result.isSuccess(checked), Result.isFailure(checked) ? checked.failure.message : "")
          assert.strictEqual(Workflow.needed(workflow).size, workflow.steps.length, "a step is paid for in vain")
        }
      })
    )
  }

  it.effect("confirms the previous answer, unless a critic objected", () =>
    Effect.gen(function* () {
      const policy = Baselines.single(1)
      const answer = { type: "answered" as const, text: "so" }
      const previous = { workflow: yield* propose(policy), answer, failed: [] }
      assert.deepStrictEqual(yield* propose(policy, { round: 1, previous }), { steps: [] })
      const again = yield* propose(policy, { round: 1, previous: { ...previous, feedback: "no" } })
      assert.deepStrictEqual(workers(again), [1])
    })
  )

  it.effect("is tried again if there is no answer to confirm", () =>
    Effect.gen(function* () {
      const policy = Baselines.single(1)
      const answer = { type: "failed" as const, message: "overloaded" }
      const previous = { workflow: yield* propose(policy), answer, failed: [1] }
      assert.deepStrictEqual(workers(yield* propose(policy, { round: 1, previous })), [1])
    })
  )
})

describe("fixed", () => {
  it.effect("is given the pool, the task and the context", () =>
    Effect.gen(function* () {
      const policy = Policy.fixed("last", (pool, task, { maxSteps }) => ({
        steps: [{ worker: pool.workers.length - 1, subtask: `${Task.question(task)} ${maxSteps}`, access: [] }]
      }))
      assert.deepStrictEqual(yield* propose(policy), { steps: [{ worker: 2, subtask: "Why? 5", access: [] }] })
    })
  )
})

describe("baselines", () => {
  it.effect("single asks the bare question of the named worker", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* propose(Baselines.single("w2")), {
        steps: [{ worker: 2, subtask: "", access: [] }]
      })
    })
  )

  it.effect("a worker that is not there is an error that says which are", () =>
    Effect.gen(function* () {
      const byId = yield* Effect.flip(propose(Baselines.single("w9")))
      assert.strictEqual(
        byId.message,
        'Policy "single:w9" produced no valid plan: worker "w9" is not in the pool: w0, w1, w2.'
      )
      const byOrdinal = yield* Effect.flip(propose(Baselines.bestOf({ judge: 3 })))
      assert.include(byOrdinal.message, "worker 3 does not exist; the pool has 3 workers, numbered from 0.")
      const none = yield* Effect.flip(propose(Baselines.mixtureOfAgents({ proposers: [] })))
      assert.include(none.message, "the list of workers is empty.")
    })
  )

  it("counts below 1 are refused where they are written", () => {
    assert.throws(() => Baselines.bestOf({ n: 0 }), 'bestOf: "n" must be a whole number of at least 1, not 0.')
    assert.throws(() => Baselines.selfReflection({ rounds: 1.5 }), OptionsError)
  })

  it.effect("best-of-n goes through the workers in turn and ends in the judge", () =>
    Effect.gen(function* () {
      const workflow = yield* propose(Baselines.bestOf({ n: 4, judge: 1, workers: [2, 0] }))
      assert.deepStrictEqual(workers(workflow), [2, 0, 2, 0, 1])
      assert.strictEqual(Topology.shape(Topology.make(workflow)), "best-of-n")
    })
  )

  it.effect("self-consistency samples one worker and takes the majority", () =>
    Effect.gen(function* () {
      const workflow = yield* propose(Baselines.selfConsistency({ n: 3, worker: 1 }))
      assert.deepStrictEqual(workers(workflow), [1, 1, 1])
      assert.strictEqual(workflow.answer, "majority")
      assert.strictEqual(Topology.depth(Topology.make(workflow)), 1)
    })
  )

  it.effect("self-reflection is a chain of one worker", () =>
    Effect.gen(function* () {
      const workflow = yield* propose(Baselines.selfReflection({ rounds: 2, worker: 1 }))
      assert.deepStrictEqual(workers(workflow), [1, 1, 1])
      assert.strictEqual(Topology.shape(Topology.make(workflow)), "chain")
    })
  )

  it.effect("a mixture's layers see the layer before them alone", () =>
    Effect.gen(function* () {
      const workflow = yield* propose(Baselines.mixtureOfAgents({ layers: 2, proposers: [0, 2], aggregator: 1 }))
      assert.deepStrictEqual(workers(workflow), [0, 2, 0, 2, 1])
      assert.deepStrictEqual(
        workflow.steps.map((step) => step.access),
        [[], [], [0, 1], [0, 1], [2, 3]]
      )
      const eight = yield* propose(Baselines.mixtureOfAgents(), { pool: pool(7) })
      assert.strictEqual(eight.steps.length, 8)
    })
  )

  it.effect("the random router is the same for the same seed and task, and spreads over the pool", () =>
    Effect.gen(function* () {
      const tasks = Array.from({ length: 300 }, (_, index) => Task.make(`Question ${index}`))
      const route = (seed: number) =>
        Effect.forEach(tasks, (task) =>
          Effect.map(propose(Baselines.randomRouter({ seed }), { task }), (one) => workers(one)[0]!)
        )
      const first = yield* route(1)
      assert.deepStrictEqual(yield* route(1), first)
      assert.notDeepEqual(yield* route(2), first)
      for (const worker of [0, 1, 2]) assert.isAbove(first.filter((one) => one === worker).length, 60)
    })
  )

  it.effect("without a seed of its own the random router follows the run's", () =>
    Effect.gen(function* () {
      const drawn = yield* Effect.forEach(Array.from({ length: 40 }), (_, seed) =>
        Effect.map(propose(Baselines.randomRouter(), { seed }), (workflow) => workers(workflow)[0]!)
      )
      assert.strictEqual(new Set(drawn).size, 3)
    })
  )
})

describe("withFallback", () => {
  const failing = (error: Policy.PolicyError | WorkerError | BudgetExceeded): Policy.Policy => ({
    name: "failing",
    maxSteps: 3,
    propose: () => Effect.fail(error)
  })
  const workerError = (_tag: "Overloaded" | "Authentication") => new WorkerError({ worker: "model", reason: { _tag } })

  it.effect("calls the fallback when the policy fails, and gives the reason before the fallback's notes", () =>
    Effect.gen(function* () {
      const noted: Policy.Policy = {
        ...Baselines.single(1),
        propose: (context) =>
          Effect.map(Baselines.single(1).propose(context), (proposal) => ({
            ...proposal,
            notes: ["It is the second."]
          }))
      }
      const policyError = new Policy.PolicyError({ policy: "failing", detail: "it is tired." })
      for (const error of [policyError, workerError("Overloaded")]) {
        const policy = Policy.withFallback(failing(error), noted)
        assert.deepStrictEqual([policy.name, policy.maxSteps], ["failing", 3])
        const { notes, policy: name, workflow } = yield* policy.propose(context())
        assert.strictEqual(name, "single:1")
        assert.deepStrictEqual(workers(workflow), [1])
        assert.deepStrictEqual(notes, [`Using the fallback policy single:1. ${error.message}`, "It is the second."])
      }
    })
  )

  it.effect("does not when the budget ends, or the model is set up wrongly", () =>
    Effect.gen(function* () {
      const exceeded = new BudgetExceeded({ limit: "calls", allowed: 1, spent: 1, needed: 1 })
      for (const error of [exceeded, workerError("Authentication")]) {
        const policy = Policy.withFallback(failing(error), Baselines.single(1))
        assert.strictEqual(yield* Effect.flip(policy.propose(context())), error)
      }
    })
  )

  it.effect("leaves to the fallback what the policy declines, and nothing else", () =>
    Effect.gen(function* () {
      const policy = Policy.withFallback(Baselines.single(0), Baselines.bestOf(), {
        declines: ({ round }) => (round > 0 ? "It plans first rounds." : undefined)
      })
      assert.strictEqual(policy.maxSteps, 4)
      assert.deepStrictEqual(yield* policy.propose(context()), { workflow: yield* propose(Baselines.single(0)) })
      const later = yield* policy.propose(context({ round: 1 }))
      assert.deepStrictEqual(later.notes, ["Using the fallback policy best-of-3. It plans first rounds."])
    })
  )
})
