import type { Critic, RunEvent } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import type * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import * as GymPool from "@divisi/gym/GymPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { knownWorkers } from "../src/knownWorkers.ts"
import * as TinyConductor from "../src/TinyConductor.ts"
import { tiny } from "../src/tiny.ts"
import * as StandIn from "./standIn.ts"

const gym = GymPool.make({ latencyMillis: 0 })

const few = Result.getOrThrow(WorkerPool.subset(gym, ["abacus", "converter"]))

const question = "How many minutes are there in 3 days and 4 hours?"

/** The first plan of a run. */
const planOf = (policy: Policy.Policy, pool: WorkerPool.WorkerPool, options: Partial<Conductor.Options> = {}) =>
  Effect.gen(function* () {
    const events: Array<RunEvent.RunEvent> = []
    const listener = (event: RunEvent.RunEvent) => void events.push(event)
    yield* Conductor.make({ seed: 1, maxSteps: 2, ...options, policy, pool }).run(question, { listener })
    const plans = events.filter((event) => event.type === "workflow-proposed")
    assert.isNotEmpty(plans)
    return { plan: plans[0]!, last: plans.at(-1)!, events }
  })

const standIn = (options: TinyConductor.Options = {}) =>
  TinyConductor.policy({ file: StandIn.file, maxOutputTokens: 32, ...options })

const scripted = (id: string, description?: string) => ScriptedWorker.make({ id, replies: ["4560"], description })

describe("TinyConductor", () => {
  it.live("plans for workers of the gym: the same plan for the same question", () =>
    Effect.gen(function* () {
      const policy = yield* standIn()
      const first = yield* planOf(policy, few)
      const second = yield* planOf(policy, few, { seed: 2 })
      assert.deepInclude(first.plan, { policy: "divisi-tiny", notes: [] })
      assert.deepStrictEqual(second.plan.workflow, first.plan.workflow)
      assert.isTrue(first.events.some(({ type }) => type === "completion-finished"))
    }).pipe(Effect.scoped)
  )

  it.live("does not seat itself", () =>
    Effect.gen(function* () {
      const policy = yield* standIn({ temperature: 1 })
      const one = Result.getOrThrow(WorkerPool.subset(gym, ["abacus"]))
      for (const seed of [1, 2]) {
        const { plan } = yield* planOf(policy, one, { self: { maxDepth: 1 }, seed })
        assert.isTrue(plan.workflow.steps.every(({ worker }) => worker === 0))
      }
    }).pipe(Effect.scoped)
  )

  it.live("leaves to the fallback, and says, what it does not know", () =>
    Effect.gen(function* () {
      const policy = yield* standIn({ name: "conductor" })
      const strangers: ReadonlyArray<readonly [WorkerPool.WorkerPool, RegExp]> = [
        [
          WorkerPool.makeUnsafe([scripted("nameless"), scripted("gpt", "A large model that knows it all.")]),
          /^Using the fallback policy lexical\. conductor was trained only with .+ and the pool has none of them\.$/
        ],
        [
          WorkerPool.makeUnsafe(Array.from({ length: 17 }, (_, at) => scripted(`w${at}`, knownWorkers[at % 16]!))),
          /pools of at most 16 workers/
        ],
        // The stand-in has bytes for tokens: all 16 descriptions are more than its context holds.
        [gym, /^Using the fallback policy lexical\. .*(too long|context)/i]
      ]
      for (const [pool, note] of strangers) {
        const { plan } = yield* planOf(policy, pool)
        assert.strictEqual(plan.policy, "lexical")
        assert.match(plan.notes[0]!, note)
      }
    }).pipe(Effect.scoped)
  )

  it.live("plans for the workers that it knows where a pool has others, too", () =>
    Effect.gen(function* () {
      const policy = yield* standIn()
      const poet = scripted("poet", "Writes poems, stories and slogans.")
      const alone = yield* planOf(policy, few)
      const mixed = yield* planOf(policy, WorkerPool.makeUnsafe([poet, ...few.workers]))
      assert.deepInclude(mixed.plan, { policy: "divisi-tiny", notes: [] })
      // The same plan, with all ordinals shifted by the new worker.
      assert.deepStrictEqual(
        mixed.plan.workflow.steps,
        alone.plan.workflow.steps.map((step) => ({ ...step, worker: step.worker + 1 }))
      )
    }).pipe(Effect.scoped)
  )

  it.live("leaves to the fallback what it plans for a worker that the model does not know", () =>
    Effect.gen(function* () {
      const policy = yield* standIn()
      const clock = scripted("clock", "Time: minutes, hours and days.")
      const { plan } = yield* planOf(policy, WorkerPool.makeUnsafe([few.workers[0], clock]))
      assert.strictEqual(plan.policy, "lexical")
      assert.deepStrictEqual(plan.notes, [
        "The plan of the lexical policy uses clock, which divisi-tiny was not trained with."
      ])
      assert.isTrue(plan.workflow.steps.some(({ worker }) => worker === 1))
    }).pipe(Effect.scoped)
  )

  it.live("leaves a later round to the fallback if the last plan called an unknown worker", () =>
    Effect.gen(function* () {
      const failing = ScriptedWorker.make({
        id: "clock",
        description: "Time: minutes, hours and days.",
        replies: [{ fail: { _tag: "Authentication" } }]
      })
      const pool = WorkerPool.makeUnsafe([few.workers[0], failing])
      const { last } = yield* planOf(yield* standIn(), pool, { recursion: 1 })
      assert.strictEqual(last.policy, "lexical")
      assert.match(last.notes[0]!, /does not support the last plan, which uses clock\.$/)
    }).pipe(Effect.scoped)
  )

  it.live("leaves a critic's objection to the fallback", () =>
    Effect.gen(function* () {
      const critic: Critic.Critic = {
        name: "never content",
        score: () => Effect.succeed({ correct: false, score: 0, explanation: "Think again." })
      }
      const { last, plan } = yield* planOf(yield* standIn(), few, { recursion: 1, critic })
      assert.strictEqual(plan.policy, "divisi-tiny")
      assert.strictEqual(last.policy, "lexical")
      assert.match(last.notes[0]!, /does not support feedback from critics/)
    }).pipe(Effect.scoped)
  )

  it.live("reads its model with its first plan", () =>
    Effect.gen(function* () {
      const policy = tiny({ file: StandIn.file, maxOutputTokens: 32 })
      const { plan } = yield* planOf(policy, few)
      assert.strictEqual(plan.policy, "divisi-tiny")
    })
  )

  it.live("ends a run whose model cannot be read, and names it, so that it is never replaced silently", () =>
    Effect.gen(function* () {
      const conductor = Conductor.make({ policy: tiny({ file: "nowhere.gguf" }), pool: few })
      const result = yield* conductor.run(question)
      assert.strictEqual(result.ending, "failed")
      assert.match(JSON.stringify(result), /nowhere\.gguf: There is no such file/)
    })
  )

  it.effect("says which file it cannot load", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(TinyConductor.policy({ file: "nowhere.gguf" }))
      assert.match(error.message, /nowhere\.gguf: There is no such file/)
    }).pipe(Effect.scoped)
  )

  it("knows the workers of the gym as they are today", () => {
    assert.sameMembers(
      [...knownWorkers],
      gym.workers.map(({ description }) => description!)
    )
  })
})
