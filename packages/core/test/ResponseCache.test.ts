import { assert, describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { TestClock } from "effect/testing"
import * as ResponseCache from "../src/run/ResponseCache.ts"
import type { WorkerRequest } from "../src/task/Worker.ts"
import { pausingAt } from "./pausing.ts"

const answer = (text: string): ResponseCache.Answer => ({
  text,
  finishReason: "stop",
  usage: { inputTokens: 1, outputTokens: 1 }
})

const request: WorkerRequest = { messages: [{ role: "user", content: "Hello" }] }

/** Counts what is computed, and how much of it at once. */
const counter = () => {
  const state = { calls: 0, running: 0, most: 0 }
  const compute = <E = never>(result: Effect.Effect<string, E> = Effect.succeed("one")) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        state.calls += 1
        state.running += 1
        state.most = Math.max(state.most, state.running)
      }),
      () => Effect.map(result, answer),
      () => Effect.sync(() => (state.running -= 1))
    )
  return { state, compute }
}

/** Lets all fibers run as far as they can. */
const settle = Effect.yieldNow.pipe(Effect.repeat({ times: 60 }))

describe("key", () => {
  it("does not depend on the order of properties, at any depth", () => {
    const left: WorkerRequest = {
      messages: [{ role: "user", content: "Hello" }],
      temperature: 0,
      reasoning: { type: "effort", effort: "low" }
    }
    const right: WorkerRequest = {
      reasoning: { effort: "low", type: "effort" },
      temperature: 0,
      messages: [{ content: "Hello", role: "user" }]
    }
    expect(ResponseCache.key("a", left)).toBe(ResponseCache.key("a", right))
  })

  it("differs with everything that can change the answer", () => {
    const variants: ReadonlyArray<WorkerRequest> = [
      request,
      { messages: [{ role: "system", content: "Hello" }] },
      { messages: [{ role: "user", content: "Hello " }] },
      { messages: [...request.messages, ...request.messages] },
      { ...request, temperature: 0 },
      { ...request, temperature: 0.5 },
      { ...request, seed: 1 },
      { ...request, seed: 2 },
      { ...request, maxOutputTokens: 5 },
      { ...request, stopSequences: ["a", "b"] },
      { ...request, stopSequences: ["b", "a"] },
      { ...request, reasoning: { type: "off" } },
      { ...request, format: { type: "workflow", poolSize: 2, maxSteps: 5, access: "binary", allowEmpty: false } }
    ]
    const keys = ["a", "b"].flatMap((worker) => variants.map((variant) => ResponseCache.key(worker, variant)))
    expect(new Set(keys).size).toBe(2 * variants.length)
  })

  it("differs with a worker's own settings, in any order", () => {
    const keys = [
      undefined,
      { temperature: 0.2 },
      { temperature: 0.7 },
      { temperature: 0.2, baseURL: "http://a" },
      { baseURL: "http://a", temperature: 0.2 }
    ].map((settings) => ResponseCache.key({ id: "a", settings }, request))
    expect(keys[0]).toBe(ResponseCache.key("a", request))
    expect(keys[3]).toBe(keys[4])
    expect(new Set(keys).size).toBe(4)
  })

  it("keeps the samples of a request apart unless it has only one answer", () => {
    const keys = (request: WorkerRequest) => [0, 1, 0].map((sample) => ResponseCache.key("a", request, sample))
    const [first, second, again] = keys({ ...request, temperature: 1 })
    expect(first).not.toBe(second)
    expect(first).toBe(again)
    expect(new Set(keys({ ...request, temperature: 0 })).size).toBe(1)
    expect(new Set(keys({ ...request, temperature: 1, seed: 7 })).size).toBe(1)
  })
})

describe("lookup", () => {
  it.effect("computes once and finds it again", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 10 })
      const { compute, state } = counter()
      expect(yield* cache.lookup("k", compute())).toEqual({ value: answer("one"), cached: false })
      expect(yield* cache.lookup("k", compute())).toEqual({ value: answer("one"), cached: true })
      expect((yield* cache.lookup("other", compute())).cached).toBe(false)
      expect(state.calls).toBe(2)
    })
  )

  it.effect("makes equal calls that run at once only once", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 10 })
      const { compute, state } = counter()
      const fiber = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 50 }),
          () => cache.lookup("k", compute(Effect.as(Effect.sleep(100), "one"))),
          { concurrency: "unbounded" }
        )
      )
      yield* TestClock.adjust(100)
      const found = yield* Fiber.join(fiber)
      expect(state.calls).toBe(1)
      expect(found.filter((one) => !one.cached).length).toBe(1)
      expect(found.every((one) => one.value.text === "one")).toBe(true)
    })
  )

  it.effect("shares an answer even when the store keeps none", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 0 })
      const { compute, state } = counter()
      const slow = cache.lookup("k", compute(Effect.as(Effect.sleep(100), "one")))
      const fiber = yield* Effect.forkChild(Effect.all([slow, slow], { concurrency: 2 }))
      yield* TestClock.adjust(100)
      expect((yield* Fiber.join(fiber)).map((one) => one.cached)).toEqual([false, true])
      expect((yield* cache.lookup("k", compute())).cached).toBe(false)
      expect(state.calls).toBe(2)
    })
  )

  it.effect("keeps no failure: the next one in the queue computes, and each caller sees only its own error", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 10 })
      const { compute, state } = counter()
      const outcomes = ["fail", "fail", "two", "three"]
      const fibers = yield* Effect.forEach(outcomes, (outcome, index) =>
        Effect.forkChild(
          Effect.result(
            cache.lookup(
              "k",
              compute(
                Effect.andThen(Effect.sleep(100), outcome === "fail" ? Effect.fail(index) : Effect.succeed(outcome))
              )
            )
          ),
          { startImmediately: true }
        )
      )
      yield* TestClock.adjust(300)
      const results = yield* Effect.forEach(fibers, Fiber.join)
      assert.deepStrictEqual(
        results.map((result) => (result._tag === "Success" ? result.success.value.text : result.failure)),
        [0, 1, "two", "two"]
      )
      expect(state).toEqual({ calls: 3, running: 0, most: 1 })
    })
  )

  it.effect("lets another one take over when the computing caller is interrupted", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 10 })
      const { compute, state } = counter()
      const slow = (text: string) =>
        Effect.forkChild(cache.lookup("k", compute(Effect.as(Effect.sleep(100), text))), { startImmediately: true })
      const first = yield* slow("first")
      const second = yield* slow("second")
      const third = yield* slow("third")
      yield* TestClock.adjust(50)
      yield* Fiber.interrupt(first)
      yield* settle
      expect(state).toEqual({ calls: 2, running: 1, most: 1 })
      yield* TestClock.adjust(100)
      expect(yield* Fiber.join(second)).toEqual({ value: answer("second"), cached: false })
      expect(yield* Fiber.join(third)).toEqual({ value: answer("second"), cached: true })
    })
  )

  it.effect("is not disturbed by a waiting caller that is interrupted", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 10 })
      const { compute, state } = counter()
      const slow = Effect.forkChild(cache.lookup("k", compute(Effect.as(Effect.sleep(100), "one"))), {
        startImmediately: true
      })
      const first = yield* slow
      const second = yield* slow
      const third = yield* slow
      yield* Fiber.interrupt(second)
      yield* TestClock.adjust(100)
      expect((yield* Fiber.join(first)).cached).toBe(false)
      expect((yield* Fiber.join(third)).cached).toBe(true)
      expect(Exit.isFailure(yield* Fiber.await(second))).toBe(true)
      expect(state.calls).toBe(1)
    })
  )

  it.effect("passes the turn on when it reaches a caller in the instant of its interruption", () =>
    Effect.gen(function* () {
      // Fibers yield after every operation, so that one can be interrupted between its wake-up and its next step.
      for (let instant = 0; instant < 40; instant++) {
        const cache = ResponseCache.makeMemory({ maxEntries: 10 })
        const { compute } = counter()
        const broken = yield* Deferred.make<string, string>()
        const fork = (result: Effect.Effect<string, string>) =>
          cache
            .lookup("k", compute(result))
            .pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, 3), Effect.forkChild)
        yield* fork(Deferred.await(broken))
        yield* settle
        const second = yield* fork(Effect.never)
        yield* settle
        const third = yield* fork(Effect.succeed("third"))
        yield* settle
        Deferred.doneUnsafe(broken, Effect.fail("broken"))
        for (let count = 0; count < instant; count++) yield* Effect.yieldNow
        second.interruptUnsafe()
        yield* settle
        yield* settle
        assert.deepStrictEqual(third.pollUnsafe(), Exit.succeed({ value: answer("third"), cached: false }))
      }
    })
  )

  it.effect("answers a caller that begins to wait in the instant in which the answer comes", () =>
    Effect.gen(function* () {
      const scheduler = yield* Scheduler.Scheduler
      // Yields once at an operation, which lets the answer come between the look and the wait.
      for (let operation = 0; operation < 40; operation++) {
        for (const fails of [false, true]) {
          const pausing = pausingAt(scheduler, operation)
          const cache = ResponseCache.makeMemory({ maxEntries: 10 })
          const gate = yield* Deferred.make<string, string>()
          const { compute } = counter()
          const first = yield* Effect.forkChild(Effect.exit(cache.lookup("key", compute(Deferred.await(gate)))), {
            startImmediately: true
          })
          const second = Effect.provideService(cache.lookup("key", compute()), Scheduler.Scheduler, pausing)
          const fiber = yield* Effect.forkChild(second, { startImmediately: true })
          yield* fails ? Deferred.fail(gate, "no") : Deferred.succeed(gate, "one")
          yield* Fiber.join(first)
          assert.strictEqual((yield* Fiber.join(fiber)).value.text, "one")
        }
      }
    })
  )

  it.effect("answers every caller that is not interrupted, whichever callers fail or leave", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 60; seed++) {
        const cache = ResponseCache.makeMemory({ maxEntries: 2 })
        const counters = [counter(), counter(), counter()]
        yield* Effect.gen(function* () {
          const fibers = []
          for (let index = 0; index < 40; index++) {
            const key = yield* Random.nextIntBetween(0, 3, { halfOpen: true })
            const wait = yield* Random.nextIntBetween(0, 30)
            const fails = (yield* Random.next) < 0.4
            const work = Effect.andThen(Effect.sleep(wait), fails ? Effect.fail("no") : Effect.succeed("yes"))
            const fiber = yield* Effect.forkChild(Effect.result(cache.lookup(`k${key}`, counters[key]!.compute(work))))
            if ((yield* Random.next) < 0.4) {
              const at = yield* Random.nextIntBetween(0, 60)
              yield* Effect.forkChild(Effect.andThen(Effect.sleep(at), Fiber.interrupt(fiber)))
            }
            fibers.push(fiber)
            if ((yield* Random.next) < 0.2) yield* TestClock.adjust(5)
          }
          yield* TestClock.adjust(5_000)
          for (const fiber of fibers) assert.isDefined(fiber.pollUnsafe(), `seed ${seed}: a caller hangs`)
          for (const { state } of counters) expect([state.running, state.most]).toEqual([0, 1])
        }).pipe(Random.withSeed(String(seed)))
      }
    })
  )

  it.effect("finds what a store of another kind keeps", () =>
    Effect.gen(function* () {
      const kept = new Map([["k", answer("kept")]])
      const cache = ResponseCache.make({
        get: (key) =>
          Effect.delay(
            Effect.sync(() => kept.get(key)),
            10
          ),
        set: (key, value) =>
          Effect.delay(
            Effect.sync(() => void kept.set(key, value)),
            10
          )
      })
      const { compute, state } = counter()
      const fiber = yield* Effect.forkChild(
        Effect.all([cache.lookup("k", compute()), cache.lookup("new", compute()), cache.lookup("new", compute())], {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust(20)
      expect((yield* Fiber.join(fiber)).map((one) => [one.value.text, one.cached])).toEqual([
        ["kept", true],
        ["one", false],
        ["one", true]
      ])
      expect(state.calls).toBe(1)
      expect(kept.get("new")).toEqual(answer("one"))
    })
  )
})

describe("layerMemory", () => {
  const isKept = Effect.fnUntraced(function* (cache: ResponseCache.ResponseCache, key: string) {
    return Exit.isSuccess(yield* Effect.exit(cache.lookup(key, Effect.fail("not kept"))))
  })
  const keep = (cache: ResponseCache.ResponseCache, key: string, text = key) =>
    cache.lookup(key, Effect.succeed(answer(text)))

  it.effect("lets the answer go that was not used for longest", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 2 })
      yield* keep(cache, "a")
      yield* keep(cache, "b")
      yield* keep(cache, "a")
      yield* keep(cache, "c")
      expect(yield* isKept(cache, "b")).toBe(false)
      expect(yield* isKept(cache, "a")).toBe(true)
      expect(yield* isKept(cache, "c")).toBe(true)
    })
  )

  it.effect("stays under its bytes, and keeps nothing that is larger than them", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 100, maxBytes: 100 })
      yield* keep(cache, "a", "x".repeat(20))
      yield* keep(cache, "b", "x".repeat(20))
      yield* keep(cache, "huge", "x".repeat(50))
      expect(yield* isKept(cache, "huge")).toBe(false)
      expect([yield* isKept(cache, "a"), yield* isKept(cache, "b")]).toEqual([true, true])
      yield* keep(cache, "c", "x".repeat(20))
      expect([yield* isKept(cache, "a"), yield* isKept(cache, "b"), yield* isKept(cache, "c")]).toEqual([
        false,
        true,
        true
      ])
    })
  )

  it.effect("forgets answers after their time, and the room they took", () =>
    Effect.gen(function* () {
      const cache = ResponseCache.makeMemory({ maxEntries: 10, maxBytes: 50, timeToLive: "1 minute" })
      yield* keep(cache, "a", "x".repeat(20))
      yield* TestClock.adjust("59 seconds")
      expect(yield* isKept(cache, "a")).toBe(true)
      yield* TestClock.adjust("1 second")
      expect(yield* isKept(cache, "a")).toBe(false)
      yield* keep(cache, "b", "x".repeat(20))
      expect(yield* isKept(cache, "b")).toBe(true)
    })
  )

  it.effect("is what the reference holds once it is provided", () =>
    Effect.gen(function* () {
      expect(yield* ResponseCache.ResponseCache).toBeUndefined()
      const cache = yield* Effect.provide(
        Effect.service(ResponseCache.ResponseCache),
        ResponseCache.layerMemory({ maxEntries: 1 })
      )
      expect(cache).toBeDefined()
    })
  )
})
