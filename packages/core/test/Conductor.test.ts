import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import * as RunStream from "../src/run/RunStream.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Critic from "../src/task/Critic.ts"
import * as Grader from "../src/task/Grader.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import type { Workflow } from "../src/workflow/Workflow.ts"

const worker = (id: string, replies: ScriptedWorker.Options["replies"] = [`answer of ${id}`]) =>
  ScriptedWorker.make({ id, replies, pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 } })

const ask = (ordinal: number, subtask = ""): Workflow => ({ steps: [{ worker: ordinal, subtask, access: [] }] })

/** A policy that writes one workflow after the other, and keeps what it was shown. */
const sequence = (...workflows: ReadonlyArray<Workflow>) => {
  const contexts: Array<Policy.Context> = []
  const policy: Policy.Policy = {
    name: "sequence",
    propose: (context) => {
      contexts.push(context)
      const workflow = workflows[context.round]
      return workflow === undefined
        ? Effect.fail(new Policy.PolicyError({ policy: "sequence", detail: "out of workflows" }))
        : Effect.succeed({ workflow })
    }
  }
  return { policy, contexts }
}

const run = Effect.fnUntraced(function* (
  options: Omit<Conductor.Options, "pool"> & { readonly workers: ReadonlyArray<ScriptedWorker.ScriptedWorker> },
  runOptions: Conductor.RunOptions = {}
) {
  const { workers, ...rest } = options
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe(workers), ...rest })
  const fiber = yield* Effect.forkChild(
    conductor.run({ question: "Why?", id: "task" }, { runId: "run", listener: recorder.listener, ...runOptions })
  )
  yield* TestClock.adjust("1 hour")
  return { result: yield* Fiber.join(fiber), transcript: recorder.transcript()! }
})

describe("recursion", () => {
  it.effect("shows the policy its previous workflow and answer, and ends when it confirms", () =>
    Effect.gen(function* () {
      const { contexts, policy } = sequence(ask(0), ask(1, "Improve it."), { steps: [] })
      const workers = [worker("a"), worker("b")]
      const { result, transcript } = yield* run({ workers, policy, recursion: 5 })
      assert.deepStrictEqual(
        contexts.map(({ previous }) => previous?.answer),
        [undefined, { type: "answered", text: "answer of a" }, { type: "answered", text: "answer of b" }]
      )
      assert.deepStrictEqual(contexts[1]!.previous!.workflow, ask(0))
      assert.strictEqual(result.answer, "answer of b")
      assert.strictEqual(result.ending, "answered")
      assert.deepStrictEqual(
        transcript.rounds.map(({ confirmed }) => confirmed),
        [false, false, true]
      )
      assert.strictEqual(result.spend.calls, 2)
    })
  )

  it.effect("stops at its cap", () =>
    Effect.gen(function* () {
      const { contexts, policy } = sequence(ask(0), ask(0), ask(0), ask(0))
      const { result } = yield* run({ workers: [worker("a")], policy, recursion: 2 })
      assert.strictEqual(contexts.length, 3)
      assert.strictEqual(result.rounds.length, 3)
    })
  )

  it.effect("a step with access to all sees the previous answer, one without does not", () =>
    Effect.gen(function* () {
      const second: Workflow = {
        steps: [
          { worker: 1, subtask: "Alone.", access: [] },
          { worker: 2, subtask: "Judge.", access: "all" }
        ]
      }
      const workers = [worker("a"), worker("b"), worker("c")]
      yield* run({ workers, policy: sequence(ask(0), second).policy, recursion: 1 })
      const seen = (index: number) => JSON.stringify(workers[index]!.calls[0]!.messages)
      assert.notInclude(seen(1), "answer of a")
      assert.include(seen(2), "answer of a")
    })
  )

  it.effect("an empty workflow is not an answer in the first round", () =>
    Effect.gen(function* () {
      const { result } = yield* run({ workers: [worker("a")], policy: sequence({ steps: [] }).policy, recursion: 2 })
      assert.strictEqual(result.ending, "failed")
      assert.include(result.detail, "no steps")
    })
  )

  it.effect("a round whose last step failed is reported to the policy, which can call another worker", () =>
    Effect.gen(function* () {
      const { contexts, policy } = sequence(ask(0), ask(1, "Then you."), { steps: [] })
      const workers = [worker("a", [{ fail: { _tag: "Quota", detail: "none left" } }]), worker("b")]
      const { result, transcript } = yield* run({ workers, policy, recursion: 2, reassign: "never" })
      assert.strictEqual(result.ending, "answered")
      assert.strictEqual(result.answer, "answer of b")
      const [failed, answered] = contexts.slice(1).map(({ previous }) => previous!)
      assert.deepStrictEqual(failed!.workflow, ask(0))
      assert.strictEqual(failed!.answer.type, "failed")
      assert.deepStrictEqual(failed!.failed, [0])
      assert.deepStrictEqual(answered!.answer, { type: "answered", text: "answer of b" })
      assert.deepStrictEqual(answered!.failed, [0], "of any round, not of the last alone")
      assert.include(result.rounds[0]!.failure, "none left")
      assert.deepStrictEqual(
        transcript.rounds.map(({ answer, confirmed }) => [answer, confirmed]),
        [
          [undefined, false],
          ["answer of b", false],
          ["answer of b", true]
        ]
      )
    })
  )

  it.effect("a failed step in the middle is reported, too", () =>
    Effect.gen(function* () {
      const workflow: Workflow = {
        steps: [
          { worker: 0, subtask: "Begin.", access: [] },
          { worker: 1, subtask: "End.", access: "all" }
        ]
      }
      const { contexts, policy } = sequence(workflow, { steps: [] })
      const workers = [worker("a", [{ fail: { _tag: "Quota" } }]), worker("b")]
      const { result } = yield* run({ workers, policy, recursion: 1, reassign: "never" })
      assert.strictEqual(result.answer, "answer of b")
      assert.deepStrictEqual(contexts[1]!.previous!.failed, [0])
    })
  )

  it.effect("a missing answer cannot be confirmed, and ends the run after the last round", () =>
    Effect.gen(function* () {
      const broken = () => [worker("a", [{ fail: { _tag: "Quota" } }])]
      const stands = yield* run({ workers: broken(), policy: sequence(ask(0), { steps: [] }).policy, recursion: 2 })
      assert.strictEqual(stands.result.ending, "failed")
      assert.include(stands.result.detail, "no steps")
      const { contexts, policy } = sequence(ask(0), ask(0), ask(0))
      const again = yield* run({ workers: broken(), policy, recursion: 1 })
      assert.strictEqual(contexts.length, 2)
      assert.strictEqual(again.result.ending, "failed")
      assert.include(again.result.detail, "Step 0, which gives the answer, failed")
    })
  )

  it.effect("an answer survives later rounds that fail, one after the other", () =>
    Effect.gen(function* () {
      const workers = [worker("a"), worker("b", [{ fail: { _tag: "Quota" } }])]
      const { contexts, policy } = sequence(ask(0), ask(1), ask(1))
      const { result } = yield* run({ workers, policy, recursion: 2, reassign: "never" })
      assert.strictEqual(contexts.length, 3)
      assert.strictEqual(result.ending, "answered")
      assert.strictEqual(result.answer, "answer of a")
      assert.include(result.detail, "Round 2 failed, so the previous answer is used")
    })
  )

  it.effect("an answer survives a later round that fails", () =>
    Effect.gen(function* () {
      const { result } = yield* run({ workers: [worker("a")], policy: sequence(ask(0), ask(9)).policy, recursion: 2 })
      assert.strictEqual(result.ending, "answered")
      assert.strictEqual(result.answer, "answer of a")
      assert.include(result.detail, "Step 0: worker 9 does not exist")
      assert.instanceOf(result.error, Policy.PolicyError)
    })
  )
})

describe("self as a worker", () => {
  /** Gives everything to the Conductor itself as long as it may. */
  const delegating: Policy.Policy = {
    name: "delegating",
    propose: ({ pool, self }) => Effect.succeed({ workflow: ask(self ? pool.workers.length : 0, "Part one.") })
  }

  it.effect("nests down to the cap, on one account, in one stream of events", () =>
    Effect.gen(function* () {
      const workers = [worker("a")]
      const { result, transcript } = yield* run({ workers, policy: delegating, self: { maxDepth: 2 } })
      assert.strictEqual(result.answer, "answer of a")
      assert.strictEqual(result.spend.costUsd, 1)
      const child = transcript.rounds[0]!.steps[0]!.nested!
      const grandchild = child.rounds[0]!.steps[0]!.nested!
      assert.strictEqual(transcript.rounds[0]!.steps[0]!.worker, "self")
      assert.deepStrictEqual([transcript.runId, child.runId, grandchild.runId], ["run", "run/0.0", "run/0.0/0.0"])
      assert.strictEqual(grandchild.rounds[0]!.steps[0]!.worker, "a")
      assert.strictEqual(grandchild.ending, "answered")
      assert.include(JSON.stringify(workers[0]!.calls[0]!.messages), "Why?")
    })
  )

  it.effect("its budget is the run's", () =>
    Effect.gen(function* () {
      const twice: Policy.Policy = {
        name: "twice",
        propose: ({ pool, self }) =>
          Effect.succeed({
            workflow: {
              steps: [0, 1, 2].map((step) => ({
                worker: self ? pool.workers.length : 0,
                subtask: `Part ${step}.`,
                access: "all" as const
              }))
            }
          })
      }
      const workers = [worker("a")]
      const { result } = yield* run({ workers, policy: twice, self: { maxDepth: 1 }, budget: { calls: 5 } })
      assert.strictEqual(result.ending, "budget")
      assert.strictEqual(workers[0]!.calls.length, 5)
      assert.strictEqual(result.spend.calls, 5)
      assert.strictEqual(result.answer, undefined, "a part is no answer to the whole question")
    })
  )

  it.effect("interrupting the outer run stops the inner one", () =>
    Effect.gen(function* () {
      const workers = [worker("a", [{ hang: true }])]
      const { result } = yield* run({
        workers,
        policy: delegating,
        self: { maxDepth: 1 },
        budget: { durationMillis: 50 }
      })
      assert.strictEqual(result.ending, "budget")
      assert.strictEqual(workers[0]!.running(), 0)
    })
  )
})

describe("a critic", () => {
  const wants = (text: string) =>
    Critic.fromGrader({
      name: "wants",
      grade: (_, answer) =>
        Effect.succeed({ correct: answer === text, score: answer === text ? 1 : 0.2, explanation: `not ${text}` })
    })

  it.effect("refines round by round until it is content, and its words reach the policy", () =>
    Effect.gen(function* () {
      const { contexts, policy } = sequence(ask(0), ask(1), ask(2))
      const workers = [worker("a"), worker("b"), worker("c")]
      const { result, transcript } = yield* run({ workers, policy, critic: wants("answer of b") })
      assert.strictEqual(result.answer, "answer of b")
      assert.strictEqual(workers[2]!.calls.length, 0)
      assert.strictEqual(contexts[1]!.previous!.feedback, "not answer of b")
      assert.strictEqual(transcript.rounds[1]!.grade!.grade.score, 1)
    })
  )

  it.effect("stops at the cap with the best answer, not the last", () =>
    Effect.gen(function* () {
      const scores: Record<string, number> = { "answer of a": 0.3, "answer of b": 0.6, "answer of c": 0.1 }
      const critic = Critic.fromGrader({
        name: "scores",
        grade: (_, answer) => Effect.succeed({ correct: false, score: scores[answer]! })
      })
      const workers = [worker("a"), worker("b"), worker("c")]
      const { result } = yield* run({ workers, policy: sequence(ask(0), ask(1), ask(2)).policy, critic, recursion: 2 })
      assert.strictEqual(result.answer, "answer of b")
    })
  )

  it.effect("may be a worker, which is paid for; a threshold is enough", () =>
    Effect.gen(function* () {
      const judge = worker("judge", ["Not bad. Score: 3", "Good enough.\n**Score:** 8"])
      const { policy } = sequence(ask(0), ask(0), ask(0))
      const { result, transcript } = yield* run({
        workers: [worker("a")],
        policy,
        critic: Critic.fromWorker(judge),
        threshold: 0.8,
        recursion: 5
      })
      assert.strictEqual(result.rounds.length, 2)
      assert.strictEqual(result.spend.costUsd, 4)
      assert.deepStrictEqual(
        transcript.rounds.map(({ grade }) => grade?.grade.score),
        [0.3, 0.8]
      )
      assert.strictEqual(transcript.rounds[0]!.criticAnswers![0]!.costUsd, 1)
    })
  )

  it.effect("that fails does not lose the answer", () =>
    Effect.gen(function* () {
      const { result } = yield* run({
        workers: [worker("a")],
        policy: Baselines.single(0),
        critic: Critic.fromGrader(Grader.exact)
      })
      assert.strictEqual(result.ending, "answered")
      assert.strictEqual(result.answer, "answer of a")
      assert.include(result.detail, "no reference answer")
    })
  )
})

describe("what can go wrong", () => {
  it.effect("a policy in code that breaks a rule receives the name of the rule", () =>
    Effect.gen(function* () {
      const policy = Policy.fixed("bad", () => ({ steps: [{ worker: 0, subtask: "x", access: [0] }] }))
      const { result } = yield* run({ workers: [worker("a")], policy })
      assert.strictEqual(result.ending, "failed")
      assert.include(result.detail, 'Policy "bad" produced no valid plan: Step 0: access list contains step 0')
    })
  )

  it.effect("a policy or a worker that throws ends the run as failed, with its error", () =>
    Effect.gen(function* () {
      const boom = new Error("boom")
      const policy = Policy.fixed("bad", () => {
        throw boom
      })
      const { result } = yield* run({ workers: [worker("a")], policy })
      assert.strictEqual(result.ending, "failed")
      assert.strictEqual((result.error as Policy.PolicyError).cause, boom)
      assert.strictEqual(result.detail, 'Policy "bad" produced no valid plan: its propose function failed: boom')
      const throwing = worker("a", () => {
        throw boom
      })
      const thrown = yield* run({ workers: [throwing], policy: Baselines.single(0) })
      assert.strictEqual(thrown.result.ending, "failed")
      assert.strictEqual(
        thrown.result.detail,
        "Step 0, which gives the answer, failed: a has a bug: boom. Fix its code."
      )
    })
  )

  it.effect("a policy's model is paid for from the run's budget", () =>
    Effect.gen(function* () {
      const model = worker("model", ["0"])
      const policy: Policy.Policy = {
        name: "asking",
        propose: ({ complete }) =>
          Effect.map(
            complete({
              model,
              request: { messages: [{ role: "user", content: "Which?" }] },
              attempt: 0,
              read: (text) => Result.succeed(Number(text))
            }),
            ({ reading }) => ({ workflow: ask(Result.getOrThrow(reading)) })
          )
      }
      const { result, transcript } = yield* run({ workers: [worker("a")], policy })
      assert.strictEqual(result.spend.costUsd, 2)
      assert.strictEqual(transcript.rounds[0]!.completions[0]!.text, "0")
      const broke = yield* run({ workers: [worker("a")], policy, budget: { calls: 0 } })
      assert.strictEqual(broke.result.ending, "budget")
      assert.strictEqual(broke.result.answer, undefined)
    })
  )
})

describe("streams and services", () => {
  it.effect("a stream is the events of one run; leaving it stops the run", () =>
    Effect.gen(function* () {
      const workers = [worker("a")]
      const conductor = Conductor.make({ policy: Baselines.single(0), pool: WorkerPool.makeUnsafe(workers) })
      const events = yield* Stream.runCollect(RunStream.make(conductor, "Why?"))
      assert.deepStrictEqual(
        events.map(({ type }: RunEvent) => type),
        [
          "run-started",
          "round-started",
          "workflow-proposed",
          "step-started",
          "step-delta",
          "step-finished",
          "round-finished",
          "run-finished"
        ]
      )
      const hanging = [worker("a", [{ hang: true }])]
      const left = Conductor.make({ policy: Baselines.single(0), pool: WorkerPool.makeUnsafe(hanging) })
      yield* Stream.runDrain(Stream.take(RunStream.make(left, "Why?"), 4))
      assert.strictEqual(hanging[0]!.calls.length, 1)
      assert.strictEqual(hanging[0]!.running(), 0)
    })
  )

  it.effect("a Conductor is a service", () =>
    Effect.gen(function* () {
      const conductor = yield* Conductor.Conductor
      assert.strictEqual((yield* conductor.run("Why?")).answer, "answer of a")
    }).pipe(
      Effect.provide(Conductor.layer({ policy: Baselines.single(0), pool: WorkerPool.makeUnsafe([worker("a")]) }))
    )
  )

  it.effect("a cached answer is free and reported as cached", () =>
    Effect.gen(function* () {
      const workers = [worker("a")]
      const once = run({ workers, policy: Baselines.single(0), seed: 1 })
      const first = yield* once
      const second = yield* once
      assert.strictEqual(workers[0]!.calls.length, 1)
      assert.strictEqual(first.result.spend.costUsd, 1)
      assert.strictEqual(second.result.spend.costUsd, 0)
      assert.strictEqual(second.result.answer, first.result.answer)
      assert.isTrue(second.transcript.rounds[0]!.steps[0]!.cached)
    }).pipe(Effect.provide(ResponseCache.layerMemory({ maxEntries: 10 })))
  )

  it.effect("a worker without seeds is called without one, and its answers are cached by sample", () =>
    Effect.gen(function* () {
      const seeded = worker("seeded")
      const unseeded = worker("unseeded")
      const workers = [seeded, Object.assign(unseeded, { takesSeed: false })]
      const workflow: Workflow = {
        steps: [0, 1, 1].map((worker) => ({ worker, subtask: "Guess.", access: [] })),
        answer: "majority"
      }
      yield* run({ workers, policy: sequence(workflow).policy, seed: 1 })
      assert.isNumber(seeded.calls[0]!.seed)
      assert.deepStrictEqual(
        unseeded.calls.map((request) => "seed" in request),
        [false, false]
      )
    }).pipe(Effect.provide(ResponseCache.layerMemory({ maxEntries: 10 })))
  )
})
