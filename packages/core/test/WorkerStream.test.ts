import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Conductor from "../src/run/Conductor.ts"
import { type Worker, WorkerError, type WorkerPart, type WorkerParts } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import * as WorkerStream from "../src/task/WorkerStream.ts"

const parts: ReadonlyArray<WorkerPart> = [
  { type: "text", text: "42" },
  { type: "finish", reason: "stop", usage: { inputTokens: 3, outputTokens: 2 } }
]

const request = { messages: [{ role: "user" as const, content: "Why?" }] }

describe("a worker may answer", () => {
  const ways: ReadonlyArray<[string, WorkerParts]> = [
    ["in pieces", Stream.fromIterable(parts)],
    ["whole", Effect.succeed(parts)],
    ["in pieces that it has to wait for", Effect.as(Effect.yieldNow, Stream.fromIterable(parts))]
  ]

  it.effect.each(ways)("%s: it is a stream for who calls it, and an answer of a run", ([, given]) =>
    Effect.gen(function* () {
      const worker: Worker = { id: "a", generate: () => given }
      assert.deepStrictEqual(yield* Stream.runCollect(WorkerStream.generate(worker, request)), parts)
      const conductor = Conductor.make({ policy: Baselines.single(0), pool: WorkerPool.makeUnsafe([worker]) })
      const { answer, spend } = yield* conductor.run("Why?")
      assert.strictEqual(answer, "42")
      assert.deepStrictEqual(spend.usage, { inputTokens: 3, outputTokens: 2 })
    })
  )
})

describe("a call that sends nothing", () => {
  /** A worker that hangs at its first calls, then answers in pieces with a pause before each. */
  const hanging = (hangs: number, pauseMillis: number) => {
    const calls: Array<number> = []
    const worker: Worker = {
      id: "a",
      generate: () => {
        calls.push(calls.length)
        return calls.length <= hangs
          ? Stream.never
          : Stream.fromIterable(parts).pipe(Stream.mapEffect((part) => Effect.as(Effect.sleep(pauseMillis), part)))
      }
    }
    return { calls, worker }
  }
  const run = (worker: Worker, settings: Omit<Conductor.Options, "pool" | "policy">) =>
    Conductor.make({
      policy: Baselines.single(0),
      pool: WorkerPool.makeUnsafe([worker]),
      retry: { baseDelayMillis: 0, jitter: false },
      ...settings
    }).run("Why?")

  for (const [name, settings, afterMillis] of [
    ["a third of the run's time", { budget: { durationMillis: 60_000 } }, 20_000],
    ["the time that is set", { budget: { durationMillis: 60_000 }, worker: { silenceMillis: 5_000 } }, 5_000]
  ] as const) {
    it.effect(`is tried again after ${name}, and leaves time for that`, () =>
      Effect.gen(function* () {
        const { calls, worker } = hanging(1, 1_000)
        const running = yield* Effect.forkChild(run(worker, settings))
        yield* TestClock.adjust(afterMillis - 1)
        assert.lengthOf(calls, 1)
        yield* TestClock.adjust(1)
        yield* TestClock.adjust(5_000)
        assert.lengthOf(calls, 2)
        const { answer, ending } = yield* Fiber.join(running)
        assert.deepStrictEqual([ending, answer], ["answered", "42"])
      })
    )
  }

  it.live("is named with a rounded duration", () =>
    Effect.gen(function* () {
      const { detail } = yield* run(hanging(9, 0).worker, { worker: { silenceMillis: 10 / 3 } })
      assert.include(detail, "no data for 0.003 s")
    })
  )

  it.effect("does not apply to a stream that keeps sending, however long that takes, or if it is turned off", () =>
    Effect.gen(function* () {
      for (const settings of [{ worker: { silenceMillis: 5_000 } }, { worker: { silenceMillis: 0 } }]) {
        const { calls, worker } = hanging(0, 4_000)
        const running = yield* Effect.forkChild(run(worker, settings))
        for (let time = 0; time < 10; time += 1) yield* TestClock.adjust(2_000)
        assert.strictEqual((yield* Fiber.join(running)).answer, "42")
        assert.lengthOf(calls, 1)
      }
      const { calls, worker } = hanging(1, 0)
      const running = yield* Effect.forkChild(
        run(worker, { budget: { durationMillis: 60_000 }, worker: { silenceMillis: 0 } })
      )
      yield* TestClock.adjust(60_000)
      yield* Fiber.join(running)
      assert.lengthOf(calls, 1)
    })
  )

  it.effect("is reported with the time limit that ends a call", () =>
    Effect.gen(function* () {
      const silence = (worker: Worker) =>
        Effect.gen(function* () {
          const settings = { worker: { timeoutMillis: 5_000 }, retry: { maxAttempts: 1 } }
          const running = yield* Effect.forkChild(run(worker, settings))
          for (let second = 0; second < 5; second += 1) yield* TestClock.adjust(1_000)
          const { error } = yield* Fiber.join(running)
          return (error as { readonly cause: { readonly reason: { readonly silentMillis?: number } } }).cause.reason
            .silentMillis
        })
      assert.strictEqual(yield* silence(hanging(1, 0).worker), 5_000)
      assert.strictEqual(yield* silence(hanging(0, 4_000).worker), 1_000)
    })
  )

  it.effect("names the limit and its setting if the call fails", () =>
    Effect.gen(function* () {
      const { worker } = hanging(1, 0)
      const running = yield* Effect.forkChild(
        run(worker, { worker: { silenceMillis: 5_000 }, retry: { maxAttempts: 1 } })
      )
      yield* TestClock.adjust(5_000)
      const { detail } = yield* Fiber.join(running)
      assert.match(detail ?? "", /no data for 5 s. Raise worker.silenceMillis/)
    })
  )
})

describe("a worker whose answers come whole", () => {
  const runOf = (generate: Worker["generate"], timeoutMillis?: number) => {
    const pool = WorkerPool.makeUnsafe([{ id: "a", generate }])
    return Conductor.make({ policy: Baselines.single(0), pool, worker: { timeoutMillis } }).run("Why?")
  }

  it.effect("is asked again where that can help", () =>
    Effect.gen(function* () {
      let calls = 0
      const overloaded = new WorkerError({ worker: "a", reason: { _tag: "Overloaded" } })
      const generate = () => Effect.suspend(() => (calls++ === 0 ? Effect.fail(overloaded) : Effect.succeed(parts)))
      const fiber = yield* Effect.forkChild(runOf(generate))
      yield* TestClock.adjust("1 minute")
      const { answer, spend } = yield* Fiber.join(fiber)
      assert.deepStrictEqual({ answer, calls, paid: spend.calls }, { answer: "42", calls: 2, paid: 2 })
    })
  )

  it.effect("is stopped when it is out of time", () =>
    Effect.gen(function* () {
      let stopped = 0
      const stop = Effect.sync(() => {
        stopped += 1
      })
      const generate = () => Effect.onInterrupt(Effect.never, () => stop)
      const fiber = yield* Effect.forkChild(runOf(generate, 1000))
      yield* TestClock.adjust("1 minute")
      const { detail, ending } = yield* Fiber.join(fiber)
      assert.strictEqual(ending, "failed")
      assert.include(detail, "no answer after 1 s")
      assert.strictEqual(stopped, 3)
    })
  )
})
