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
