/** A run's requests, events and charges agree, however it ends. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Result from "effect/Result"
import * as Scheduler from "effect/Scheduler"
import { TestClock } from "effect/testing"
import * as Transcript from "../src/events/Transcript.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import { Gate, noRetry } from "../src/run/Resilience.ts"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type * as Critic from "../src/task/Critic.ts"
import * as Usage from "../src/task/Usage.ts"
import { type Worker, WorkerError } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import { costBound } from "../src/task/WorstCase.ts"
import type { Access } from "../src/workflow/Workflow.ts"

// A virtual clock does not wait for modules that load on first use.
beforeAll(() => Effect.runPromise(Conductor.preload))

const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 }

/** A worker that counts its calls, whether or not its answer is awaited. */
const worker = (id: string, replies: ScriptedWorker.Options["replies"] = [`answer of ${id}`], latencyMillis = 0) => {
  const scripted = ScriptedWorker.make({ id, pricing, replies, latencyMillis })
  let asked = 0
  const generate: Worker["generate"] = (request) => {
    asked += 1
    return scripted.generate(request)
  }
  return { ...scripted, generate, asked: () => asked }
}

const step = (worker: number, access: Access = []) => ({ worker, subtask: "Do it.", access })

const fixed = (...steps: ReadonlyArray<ReturnType<typeof step>>) =>
  Policy.fixed("fixed", () => ({ steps }), { maxSteps: 9 })

/** Has fibers yield at any operation, one in sixteen by a seed. */
const restlessly = <A, E, R>(seed: number, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Scheduler.Scheduler, (scheduler) => {
    let state = seed
    return Effect.provideService(effect, Scheduler.Scheduler, {
      executionMode: scheduler.executionMode,
      makeDispatcher: () => scheduler.makeDispatcher(),
      shouldYield: () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        return state < 2 ** 28
      }
    })
  })

const assertTold = (result: Conductor.RunResult, transcript: Transcript.Transcript, asked: number) => {
  const { spend: _, ...unfinished } = transcript
  const told = Transcript.spendSoFar(unfinished)
  assert.deepStrictEqual([told.calls, told.costUsd], [result.spend.calls, result.spend.costUsd])
  assert.strictEqual(result.spend.calls, asked)
}

const run = Effect.fnUntraced(function* (options: Conductor.Options, runOptions: Conductor.RunOptions = {}) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ retry: noRetry, ...options })
  const fiber = yield* Effect.forkChild(conductor.run("Why?", { listener: recorder.listener, ...runOptions }))
  // A restless fiber may begin to wait after the clock was moved.
  for (let turn = 0; turn < 100 && fiber.pollUnsafe() === undefined; turn++) yield* TestClock.adjust("1 minute")
  const result = yield* Fiber.join(fiber)
  return { result, transcript: recorder.transcript()! }
})

describe("an answer that was paid for is in the transcript", () => {
  it.effect("when another step fails in the same instant and ends the run", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 40; seed++) {
        const workers = [worker("a"), worker("b", [{ fail: { _tag: "Quota" } }]), worker("c")]
        const running = run({
          policy: fixed(step(0), step(1), step(2), step(0, "all")),
          pool: WorkerPool.makeUnsafe(workers),
          reassign: "never",
          onStepFailure: "end"
        })
        const { result, transcript } = yield* restlessly(seed, running)
        assert.strictEqual(result.ending, "failed")
        assertTold(
          result,
          transcript,
          workers.reduce((sum, { asked }) => sum + asked(), 0)
        )
        for (const { paid, state } of transcript.rounds[0]!.steps) {
          assert.strictEqual(paid !== undefined, state === "answered")
        }
      }
    })
  )

  it.effect("when the run is interrupted or out of time at any instant, with a slow store of answers", () =>
    Effect.gen(function* () {
      const store: ResponseCache.Store = {
        get: () => Effect.as(Effect.sleep(3), undefined),
        set: () => Effect.sleep(50)
      }
      for (let seed = 0; seed < 80; seed++) {
        const workers = [worker("a", ["x"], 5), worker("b", [{ fail: { _tag: "Overloaded" } }, "y"], 7), worker("c")]
        const ledger = Budget.make({ costUsd: 2 })
        const payer = { account: Budget.make() }
        const recorder = Transcript.recorder()
        const conductor = Conductor.make({
          policy: fixed(step(0), step(1), step(2), step(0, "all")),
          pool: WorkerPool.makeUnsafe(workers),
          retry: { jitter: false, baseDelayMillis: 4 },
          budget: seed % 2 === 0 ? { durationMillis: seed / 2 } : {}
        })
        const running = conductor.run("Why?", { listener: recorder.listener, ledger, payer, seed: 1 })
        const cached = Effect.provideService(running, ResponseCache.ResponseCache, ResponseCache.make(store))
        const fiber = yield* Effect.forkChild(restlessly(seed, cached), { startImmediately: true })
        while (recorder.transcript() === undefined) yield* Effect.yieldNow
        yield* TestClock.adjust(Math.floor(seed / 2))
        for (let turn = 0; turn < seed % 13; turn++) yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        const asked = workers.reduce((sum, one) => sum + one.asked(), 0)
        const { spend, ...unfinished } = recorder.transcript()!
        const told = Transcript.spendSoFar(unfinished)
        assert.strictEqual(spend?.calls, asked)
        assert.strictEqual(told.calls, asked)
        assert.strictEqual(payer.account.spent().calls, asked)
        // Nothing stays reserved.
        yield* ledger.reserve({ costUsd: 2 - ledger.spent().costUsd, tokens: 0 })
      }
    })
  )

  it.effect("when it was given to a critic, who then fails", () =>
    Effect.gen(function* () {
      const judge = worker("judge", ["fine", { fail: { _tag: "Quota" } }])
      const critic: Critic.Critic = {
        name: "asks twice",
        score: ({ ask }) => {
          const asked = ask(judge, { messages: [{ role: "user", content: "Good?" }] })
          return Effect.as(Effect.andThen(asked, asked), { correct: true, score: 1 })
        }
      }
      const { result, transcript } = yield* run({
        policy: Baselines.single(0),
        pool: WorkerPool.makeUnsafe([worker("a")]),
        critic
      })
      assert.deepStrictEqual([result.ending, result.answer], ["answered", "answer of a"])
      assertTold(result, transcript, 3)
      const [round] = transcript.rounds
      assert.deepStrictEqual(
        [round?.criticAnswers?.map(({ worker }) => worker), round?.lost.map(({ worker }) => worker), round?.grade],
        [["judge"], ["judge"], undefined]
      )
    })
  )

  it.effect("when a policy asks twice under one number, and when it cannot read what it got", () =>
    Effect.gen(function* () {
      const model = worker("model")
      const complete = (context: Policy.Context, attempt: number) =>
        context.complete({
          model,
          request: { messages: [{ role: "user", content: "Plan." }] },
          attempt,
          read: (): Result.Result<never, Error> => {
            throw new Error("cannot read")
          }
        })
      const policy: Policy.Policy = {
        name: "twice",
        propose: (context) => {
          const once = Effect.exit(complete(context, 0))
          return Effect.as(Effect.all([once, once], { concurrency: 2 }), { workflow: { steps: [step(0)] } })
        }
      }
      const { result, transcript } = yield* run({ policy, pool: WorkerPool.makeUnsafe([worker("a")]) })
      assert.strictEqual(result.answer, "answer of a")
      assertTold(result, transcript, 3)
      assert.deepStrictEqual(
        transcript.rounds[0]?.completions.map(({ error, text }) => [error, text]),
        [
          ["cannot read", "answer of model"],
          ["cannot read", "answer of model"]
        ]
      )
    })
  )
})

describe("a call that its provider's gate refuses", () => {
  const closed: Gate = {
    enter: (worker) => Effect.fail(new WorkerError({ worker: worker.id, reason: { _tag: "Overloaded" } }))
  }

  it.effect("is reported as not sent, is not counted and releases its reservation", () =>
    Effect.gen(function* () {
      const asked = worker("a")
      const ledger = Budget.make({ tokens: 12_000 })
      const { result, transcript } = yield* run(
        {
          policy: fixed(step(0), step(0), step(0), step(0, "all")),
          pool: WorkerPool.makeUnsafe([asked]),
          retry: { maxAttempts: 2 }
        },
        { ledger }
      ).pipe(Effect.provideService(Gate, closed))
      assert.strictEqual(result.ending, "failed")
      assertTold(result, transcript, 0)
      const lost = transcript.rounds[0]!.steps.flatMap((one) => one.lost)
      assert.deepStrictEqual([lost.length, lost.every(({ unasked }) => unasked)], [8, true])
      yield* ledger.reserve({ costUsd: 0, tokens: 12_000 })
    })
  )

  it.effect("leaves nothing reserved when the gate itself throws", () =>
    Effect.gen(function* () {
      const broken: Gate = {
        enter: () => {
          throw new Error("no gate")
        }
      }
      const ledger = Budget.make({ tokens: 12_000 })
      const { result } = yield* run(
        { policy: Baselines.single(0), pool: WorkerPool.makeUnsafe([worker("a")]) },
        { ledger }
      ).pipe(Effect.provideService(Gate, broken))
      assert.include(result.detail ?? "", "no gate")
      yield* ledger.reserve({ costUsd: 0, tokens: 12_000 })
    })
  )
})

describe("runs with room for one call at a time", () => {
  const outcomes: Readonly<Record<string, ScriptedWorker.Reply>> = {
    "answers at once": "42",
    "fails at once": { fail: { _tag: "Quota" } },
    "fails at once and may be asked again": { fail: { _tag: "Overloaded" } }
  }
  for (const [name, reply] of Object.entries(outcomes)) {
    it.effect(`end, and keep nothing reserved: the worker ${name}`, () =>
      Effect.gen(function* () {
        for (let seed = 0; seed < 25; seed++) {
          const asked = worker("a", [reply])
          const ledger = Budget.make({ tokens: 12_000 })
          const running = run(
            {
              policy: fixed(step(0), step(0), step(0), step(0, "all")),
              pool: WorkerPool.makeUnsafe([asked]),
              retry: { maxAttempts: 2, jitter: false }
            },
            { ledger }
          )
          const { result, transcript } = yield* restlessly(seed, running)
          assert.include(["answered", "failed"], result.ending)
          assertTold(result, transcript, asked.asked())
          const { inputTokens, outputTokens } = ledger.spent().usage
          yield* ledger.reserve({ costUsd: 0, tokens: 12_000 - inputTokens - outputTokens })
        }
      })
    )
  }
})

describe("the length of time that something took", () => {
  it.effect("does not depend on the wall clock, which may be set meanwhile", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      for (const jump of [-3_600_000, 3_600_000]) {
        let offset = 0
        const jumping: Clock.Clock = {
          ...clock,
          currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + offset
        }
        const asked = worker("a", () => {
          offset += jump
          return "42"
        })
        const { result, transcript } = yield* run({
          policy: Baselines.single(0),
          pool: WorkerPool.makeUnsafe([asked])
        }).pipe(Effect.provideService(Clock.Clock, jumping))
        const [round] = transcript.rounds
        const lengths = [result.durationMillis, round?.planningMillis, round?.steps[0]?.durationMillis]
        assert.deepStrictEqual(lengths, [0, 0, 0])
        assert.strictEqual(round!.endedAt! - round!.startedAt, jump)
      }
    })
  )
})

describe("the reservation of a call", () => {
  const usages: ReadonlyArray<Usage.Usage> = [
    { inputTokens: 900, outputTokens: 100 },
    { inputTokens: 1_000, cachedInputTokens: 1_000, outputTokens: 100 },
    { inputTokens: 2_000, cacheWriteTokens: 2_000, outputTokens: 100 },
    { inputTokens: 2_000, cachedInputTokens: 500, cacheWriteTokens: 500, outputTokens: 100 }
  ]
  const prices: Readonly<Record<string, Usage.Pricing>> = {
    "cheap long prompts": {
      inputPerMillion: 9,
      outputPerMillion: 90,
      longPrompts: { aboveTokens: 1_000, inputPerMillion: 1, outputPerMillion: 2 }
    },
    "expensive cached input": { inputPerMillion: 1, outputPerMillion: 1, cachedInputPerMillion: 9 },
    "expensive writes to the cache": { inputPerMillion: 1, outputPerMillion: 1, cacheWritePerMillion: 9 }
  }
  for (const [name, pricing] of Object.entries(prices)) {
    it(`covers any usage within its tokens: ${name}`, () => {
      const bound = costBound({ pricing }, 2_000, 100)!
      for (const usage of usages) assert.isAtMost(Usage.cost(pricing, usage)!, bound)
    })
  }
})

describe("prices of long prompts", () => {
  it.effect("are reserved before the call", () =>
    Effect.gen(function* () {
      const longPrompts = { aboveTokens: 1_000, inputPerMillion: 1_000, outputPerMillion: 0 }
      const asked = ScriptedWorker.make({
        id: "a",
        replies: ["yes"],
        pricing: { inputPerMillion: 0, outputPerMillion: 0, longPrompts }
      })
      const conductor = Conductor.make({
        pool: WorkerPool.makeUnsafe([asked]),
        policy: fixed(step(0)),
        budget: { costUsd: 0.5 }
      })
      assert.strictEqual((yield* conductor.run("short")).ending, "answered")
      const { detail, ending, spend } = yield* conductor.run("long ".repeat(400))
      assert.strictEqual(ending, "budget")
      assert.match(detail!, /needs up to 2\.\d+ USD/)
      assert.strictEqual(spend.costUsd, 0)
    })
  )
})
