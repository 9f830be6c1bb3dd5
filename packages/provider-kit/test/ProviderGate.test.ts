import { Resilience } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { type Worker, WorkerError, type WorkerErrorReason } from "@divisi/core/Worker"
import { assert, describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import { TestClock } from "effect/testing"
import * as ProviderGate from "../src/ProviderGate.ts"

const alpha = ScriptedWorker.make({ id: "alpha", provider: "vendor", replies: [""] })
const beta = ScriptedWorker.make({ id: "beta", provider: "vendor", replies: [""] })
const other = ScriptedWorker.make({ id: "other", replies: [""] })

const gateOf = Effect.fnUntraced(function* (options: ProviderGate.Options) {
  return yield* ProviderGate.make(options).pipe(
    Effect.provide([RateLimiter.layerStoreMemory, CircuitBreaker.layerStoreMemory()])
  )
})

/** Calls that note when they start, and how many run at once. */
const recorder = () => {
  const state = { starts: [] as Array<{ name: number; at: number }>, running: 0, most: 0 }
  const call = (name: number, millis: number) =>
    Effect.acquireUseRelease(
      Effect.map(Clock.currentTimeMillis, (at) => {
        state.starts.push({ name, at })
        state.running += 1
        state.most = Math.max(state.most, state.running)
      }),
      () => Effect.as(millis === 0 ? Effect.void : Effect.sleep(millis), name),
      () => Effect.sync(() => (state.running -= 1))
    )
  return { state, call }
}

/** Whether a bucket of this size, refilled with so much in a minute, could have served these calls. */
const fitsBucket = (
  starts: ReadonlyArray<{ at: number; amount: number }>,
  perMinute: number,
  size: number = perMinute
) => {
  let level = size
  let last = 0
  return starts.every(({ amount, at }) => {
    level = Math.min(size, level + ((at - last) * perMinute) / 60_000) - amount
    last = at
    return level > -1e-6
  })
}

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const failing = (worker: Worker, reason: WorkerErrorReason) =>
  Effect.fail(new WorkerError({ worker: worker.id, reason }))

const reasonOf = <A>(result: Result.Result<A, WorkerError>) =>
  result._tag === "Failure" ? result.failure.reason : "success"

const attempt = (gate: Resilience.Gate, call: Effect.Effect<string, WorkerError>, worker: Worker = alpha) =>
  Effect.map(Effect.result(gate.enter(worker, 1, () => call)), reasonOf)

describe("limits", () => {
  it.effect("hold over 10,000 calls of many runs, in order, none lost or doubled", () =>
    Effect.gen(function* () {
      const limits = { requestsPerMinute: 6_000, tokensPerMinute: 1_000_000, concurrency: 20 }
      const gate = yield* gateOf({ limits: { vendor: limits } })
      const { call, state } = recorder()
      const count = 10_000
      const tokens = (name: number) => 1 + ((name * 7919) % 400)
      const fibers = yield* Effect.forEach(Array.from({ length: count }), (_, name) =>
        fork(gate.enter(name % 2 === 0 ? alpha : beta, tokens(name), () => call(name, (name * 31) % 200)))
      )
      yield* TestClock.adjust("10 minutes")
      for (const [name, fiber] of fibers.entries()) assert.strictEqual(yield* Fiber.join(fiber), name)
      const startOf = new Map(state.starts.map(({ at, name }) => [name, at]))
      assert.strictEqual(state.starts.length, count)
      assert.strictEqual(startOf.size, count)
      for (let name = 1; name < count; name++) assert.isAtLeast(startOf.get(name)!, startOf.get(name - 1)!)
      expect(state.most).toBe(20)
      expect(state.running).toBe(0)
      const starts = state.starts.map(({ at, name }) => ({ at, amount: tokens(name) }))
      assert.isTrue(fitsBucket(starts, limits.tokensPerMinute))
      assert.isTrue(
        fitsBucket(
          starts.map(({ at }) => ({ at, amount: 1 })),
          limits.requestsPerMinute
        )
      )
    })
  )

  it.effect("admit a full bucket immediately and then follow its refill rate", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ limits: { vendor: { requestsPerMinute: 6 } } })
      const { call, state } = recorder()
      yield* fork(
        Effect.forEach(Array.from({ length: 9 }), (_, name) => gate.enter(alpha, 1, () => call(name, 0)), {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust("5 minutes")
      expect(state.starts.map((start) => start.at)).toEqual([0, 0, 0, 0, 0, 0, 10_000, 20_000, 30_000])
    })
  )

  it.effect("charge a call that needs more than a minute's tokens a whole minute", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ limits: { vendor: { tokensPerMinute: 1_000 } } })
      const { call, state } = recorder()
      yield* fork(gate.enter(alpha, 5_000, () => call(0, 0)))
      yield* fork(gate.enter(alpha, 5_000, () => call(1, 0)))
      yield* TestClock.adjust("5 minutes")
      expect(state.starts.map((start) => start.at)).toEqual([0, 60_000])
    })
  )

  it.effect("that would let no call through are refused at once", () =>
    Effect.gen(function* () {
      for (const value of [0, -1, 0.5, Number.NaN]) {
        const exit = yield* Effect.exit(gateOf({ limits: { vendor: { concurrency: value } } }))
        assert.isTrue(Exit.hasDies(exit))
      }
      const exit = yield* Effect.exit(gateOf({ limits: { "*": { tokensPerMinute: 0 } } }))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toEqual(
        new RangeError("ProviderGate: tokensPerMinute of * is 0; it must be at least 1.")
      )
    })
  )

  it.effect("under * hold for each other provider on its own", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ limits: { "*": { concurrency: 1 }, vendor: { concurrency: 2 } } })
      const { call, state } = recorder()
      const workers = [alpha, beta, alpha, other, other, ScriptedWorker.echo("third")]
      yield* Effect.forEach(workers, (worker, name) => fork(gate.enter(worker, 1, () => call(name, 1_000))))
      expect(state.starts.map((start) => start.name)).toEqual([0, 1, 3, 5])
      yield* TestClock.adjust("1 minute")
      expect(state.starts.length).toBe(6)
    })
  )

  it.effect("are given back what an interrupted call held or waited for", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ limits: { vendor: { concurrency: 1, requestsPerMinute: 2 } } })
      const { call, state } = recorder()
      const running = yield* fork(gate.enter(alpha, 1, () => call(0, 1_000_000)))
      const waiting = yield* Effect.forEach(Array.from({ length: 100 }), () =>
        fork(gate.enter(alpha, 1, () => call(1, 0)))
      )
      yield* Effect.forEach(waiting, Fiber.interrupt)
      yield* Fiber.interrupt(running)
      yield* gate.enter(alpha, 1, () => call(2, 0))
      expect(state.starts).toEqual([
        { name: 0, at: 0 },
        { name: 2, at: 0 }
      ])
      // The bucket is empty now: a call that goes while it waits for it leaves the next one its place.
      const third = yield* fork(gate.enter(alpha, 1, () => call(3, 0)))
      const fourth = yield* fork(gate.enter(alpha, 1, () => call(4, 0)))
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(third)
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(fourth)).toBe(4)
      expect(state.starts.at(-1)).toEqual({ name: 4, at: 30_000 })
      expect(state.running).toBe(0)
    })
  )
})

describe("limits in a store that takes time", () => {
  /** Gates of several processes on one store, which answers after 5 ms and counts its requests. */
  const shared = Effect.fnUntraced(function* (processes: number, options: ProviderGate.Options) {
    const counts = { asked: 0 }
    const memory = yield* Effect.provide(RateLimiter.RateLimiterStore, RateLimiter.layerStoreMemory)
    const store: RateLimiter.RateLimiterStore["Service"] = {
      ...memory,
      tokenBucket: (...asked) =>
        Effect.suspend(() => {
          counts.asked += 1
          return Effect.delay(memory.tokenBucket(...asked), 5)
        })
    }
    const gates = yield* Effect.forEach(Array.from({ length: processes }), () =>
      ProviderGate.make(options).pipe(
        Effect.provideService(RateLimiter.RateLimiterStore, store),
        Effect.provide(CircuitBreaker.layerStoreMemory())
      )
    )
    return { counts, gates }
  })

  it.effect("are asked once for all calls that wait", () =>
    Effect.gen(function* () {
      const { counts, gates } = yield* shared(1, {
        limits: { vendor: { requestsPerMinute: 1_000, tokensPerMinute: 100_000 } }
      })
      const { call, state } = recorder()
      const names = Array.from({ length: 200 }, (_, name) => name)
      for (const name of names) yield* fork(gates[0]!.enter(alpha, 10 + name, () => call(name, 0)))
      yield* TestClock.adjust("1 second")
      expect(state.starts.map(({ name }) => name).sort((one, other) => one - other)).toEqual(names)
      // The first call takes one request, as no call waits yet, and the tokens of all; the second takes the other requests.
      expect(counts.asked).toBe(3)
    })
  )

  it.effect("are kept by several processes, whose calls wait, are interrupted and come in bursts", () =>
    Effect.gen(function* () {
      const limits = { requestsPerMinute: 120, tokensPerMinute: 6_000 }
      const { gates } = yield* shared(3, { limits: { vendor: limits } })
      const { call, state } = recorder()
      const tokens = (name: number) => 1 + ((name * 7919) % 90)
      for (let name = 0; name < 900; name++) {
        const fiber = yield* fork(gates[name % 3]!.enter(alpha, tokens(name), () => call(name, 0)))
        if (name % 7 === 0) yield* fork(Effect.delay(Fiber.interrupt(fiber), (name * 31) % 40_000))
        if (name % 150 === 149) yield* TestClock.adjust("75 seconds")
      }
      yield* TestClock.adjust("20 minutes")
      assert.isAbove(state.starts.length, 700)
      const starts = state.starts.map(({ at, name }) => ({ at, amount: tokens(name) }))
      // Requests and tokens taken in advance are used up to a second later.
      const isKept = (amounts: typeof starts, perMinute: number) =>
        fitsBucket(amounts, perMinute, perMinute * (61 / 60))
      assert.isTrue(isKept(starts, limits.tokensPerMinute))
      assert.isTrue(
        isKept(
          starts.map(({ at }) => ({ at, amount: 1 })),
          limits.requestsPerMinute
        )
      )
      // The whole limit is used: one process alone would not have been faster.
      assert.isAtLeast(state.starts.filter(({ at }) => at < 75_000).length, 118)
    })
  )

  it.effect("are not used later for calls that waited and then had to pause", () =>
    Effect.gen(function* () {
      const { gates } = yield* shared(1, { limits: { vendor: { requestsPerMinute: 60 } } })
      const gate = gates[0]!
      const { call, state } = recorder()
      const limited = failing(alpha, { _tag: "RateLimited", retryAfterMillis: 60_000 })
      yield* fork(Effect.ignore(gate.enter(alpha, 1, () => limited)))
      yield* TestClock.adjust(10)
      for (let name = 0; name < 100; name++) yield* fork(gate.enter(alpha, 1, () => call(name, 0)))
      yield* TestClock.adjust("65 seconds")
      // The bucket has been filled again by then, and nothing comes on top of it.
      const first = state.starts[0]!.at
      assert.isAtMost(state.starts.filter(({ at }) => at < first + 1_000).length, 62)
    })
  )
})

describe("retry-after", () => {
  it.effect("holds all runs of a provider back, and no other provider", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({})
      const { call, state } = recorder()
      const limited = failing(alpha, { _tag: "RateLimited", retryAfterMillis: 20_000 })
      expect(yield* attempt(gate, limited)).toMatchObject({ _tag: "RateLimited", retryAfterMillis: 20_000 })
      yield* Effect.forEach([alpha, beta, other], (worker, name) => fork(gate.enter(worker, 1, () => call(name, 0))))
      expect(state.starts).toEqual([{ name: 2, at: 0 }])
      yield* TestClock.adjust("1 minute")
      expect(state.starts.slice(1).map((start) => start.at)).toEqual([20_000, 20_000])
    })
  )

  it.effect("is put off by a later and longer one, not shortened by a shorter one", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({})
      const { call, state } = recorder()
      const late = (millis: number, retryAfterMillis: number) =>
        fork(
          attempt(gate, Effect.andThen(Effect.sleep(millis), failing(alpha, { _tag: "RateLimited", retryAfterMillis })))
        )
      yield* late(1_000, 30_000)
      yield* late(2_000, 5_000)
      yield* late(10_000, 60_000)
      yield* TestClock.adjust("3 seconds")
      yield* fork(gate.enter(alpha, 1, () => call(0, 0)))
      yield* TestClock.adjust("3 minutes")
      expect(state.starts).toEqual([{ name: 0, at: 70_000 }])
    })
  )

  it.effect("is not waited for when it is too long", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ maxPauseMillis: 10_000 })
      const { call, state } = recorder()
      yield* attempt(gate, failing(alpha, { _tag: "RateLimited", retryAfterMillis: 60_000 }))
      yield* TestClock.adjust("1 second")
      expect(yield* attempt(gate, Effect.as(call(0, 0), ""), beta)).toMatchObject({
        _tag: "RateLimited",
        retryAfterMillis: 59_000
      })
      yield* TestClock.adjust("49 seconds")
      yield* fork(gate.enter(alpha, 1, () => call(1, 0)))
      yield* TestClock.adjust("10 seconds")
      expect(state.starts).toEqual([{ name: 1, at: 60_000 }])
    })
  )

  it.effect("of a day closes a provider for five minutes, and then a single call tries", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ maxPauseMillis: 0 })
      const { call, state } = recorder()
      const day = { _tag: "RateLimited", retryAfterMillis: 86_400_000 } as const
      yield* attempt(gate, failing(alpha, day))
      yield* TestClock.adjust("299 seconds")
      expect(yield* attempt(gate, Effect.as(call(0, 0), ""))).toMatchObject({ _tag: "RateLimited" })
      yield* TestClock.adjust("1 second")
      yield* fork(attempt(gate, Effect.as(call(1, 5_000), "")))
      yield* fork(attempt(gate, Effect.as(call(2, 0), ""), beta))
      expect(state.starts).toEqual([{ name: 1, at: 300_000 }])
      yield* TestClock.adjust("10 seconds")
      expect(state.most).toBe(1)
      expect(yield* attempt(gate, Effect.as(call(3, 0), ""))).toBe("success")
    })
  )

  it.effect("lets a waiting call be interrupted", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({})
      const { call, state } = recorder()
      yield* attempt(gate, failing(alpha, { _tag: "RateLimited", retryAfterMillis: 20_000 }))
      const first = yield* fork(gate.enter(alpha, 1, () => call(0, 0)))
      const second = yield* fork(gate.enter(alpha, 1, () => call(1, 0)))
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("20 seconds")
      expect(yield* Fiber.join(second)).toBe(1)
      expect(state.starts.length).toBe(1)
    })
  )
})

describe("circuit", () => {
  const breaker = { failures: 3, openMillis: 30_000 }
  const answered = Effect.succeed("answer")
  const down = failing(alpha, { _tag: "Network" })

  it.effect("opens after failures in a row, half-opens after its time, and closes with a success", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      const { call, state } = recorder()
      for (const reason of [{ _tag: "Network" }, { _tag: "Overloaded" }, { _tag: "Timeout" }] as const) {
        expect(yield* attempt(gate, failing(alpha, reason))).toEqual(reason)
      }
      yield* TestClock.adjust("10 seconds")
      expect(yield* attempt(gate, Effect.as(call(0, 0), ""), beta)).toMatchObject({
        _tag: "Overloaded",
        retryAfterMillis: 20_000,
        detail: "its provider failed repeatedly, so calls are paused; the last failure: Timeout"
      })
      expect(state.starts).toEqual([])
      expect(yield* attempt(gate, answered, other)).toBe("success")
      yield* TestClock.adjust("20 seconds")
      expect(yield* attempt(gate, down)).toEqual({ _tag: "Network" })
      expect(yield* attempt(gate, answered)).toMatchObject({ _tag: "Overloaded", retryAfterMillis: 30_000 })
      yield* TestClock.adjust("30 seconds")
      expect(yield* attempt(gate, answered)).toBe("success")
      expect(yield* attempt(gate, down)).toEqual({ _tag: "Network" })
      expect(yield* attempt(gate, answered)).toBe("success")
    })
  )

  it.effect("counts only what speaks of the provider's health", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      const harmless: ReadonlyArray<WorkerErrorReason> = [
        { _tag: "RateLimited" },
        { _tag: "InvalidRequest" },
        { _tag: "Authentication" },
        { _tag: "Quota" },
        { _tag: "ContentFiltered" },
        { _tag: "ContextTooLong" },
        { _tag: "Malformed" },
        { _tag: "Defect" },
        { _tag: "Timeout", afterMillis: 5_000, silentMillis: 5_000 },
        { _tag: "Timeout", afterMillis: 90_000, silentMillis: 200 }
      ]
      for (const reason of harmless) yield* attempt(gate, failing(alpha, reason))
      const hanging = yield* Effect.forEach(Array.from({ length: 5 }), () =>
        fork(gate.enter(alpha, 1, () => Effect.never))
      )
      yield* Effect.forEach(hanging, Fiber.interrupt)
      expect(yield* attempt(gate, answered)).toBe("success")
    })
  )

  it.effect("counts a caller's time limit after a long silence", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      const hung = failing(alpha, { _tag: "Timeout", afterMillis: 40_000, silentMillis: 40_000 })
      for (let count = 0; count < 3; count++) yield* attempt(gate, hung)
      expect(yield* attempt(gate, answered)).toMatchObject({ _tag: "Overloaded" })
    })
  )

  const answers = [
    "InvalidRequest",
    "Authentication",
    "Quota",
    "ContentFiltered",
    "ContextTooLong",
    "Malformed"
  ] as const
  it.effect.each(answers)("closes with a trial call that ends with %s, because the vendor answered", (_tag) =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      const { call, state } = recorder()
      for (let count = 0; count < 3; count++) yield* attempt(gate, down)
      yield* TestClock.adjust("30 seconds")
      yield* attempt(gate, failing(alpha, { _tag }))
      // All calls run at once: none of them is a trial call.
      yield* Effect.forEach([1, 2, 3], (name) => fork(attempt(gate, Effect.as(call(name, 1_000), ""))))
      yield* Effect.yieldNow
      expect(state.starts.map((start) => start.name)).toEqual([1, 2, 3])
    })
  )

  const unknown: ReadonlyArray<WorkerErrorReason> = [
    { _tag: "RateLimited" },
    { _tag: "Defect" },
    { _tag: "Timeout", afterMillis: 50, silentMillis: 50 }
  ]
  it.effect.each(unknown)("lets the next call try if the trial call ends with $_tag", (reason) =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      for (let count = 0; count < 3; count++) yield* attempt(gate, down)
      yield* TestClock.adjust("30 seconds")
      yield* attempt(gate, failing(alpha, reason))
      expect(yield* attempt(gate, down)).toEqual({ _tag: "Network" })
      expect(yield* attempt(gate, answered)).toMatchObject({ _tag: "Overloaded" })
    })
  )

  it.effect("lets one call try, and the others wait for its verdict", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      const { call, state } = recorder()
      for (let count = 0; count < 3; count++) yield* attempt(gate, down)
      yield* TestClock.adjust("30 seconds")
      const probe = yield* fork(attempt(gate, Effect.as(call(0, 5_000), "")))
      const others = yield* Effect.forEach([1, 2, 3], (name) => fork(attempt(gate, Effect.as(call(name, 0), ""), beta)))
      yield* TestClock.adjust("4 seconds")
      expect(state.starts.map((start) => start.name)).toEqual([0])
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(probe)).toBe("success")
      expect(yield* Effect.forEach(others, Fiber.join)).toEqual(["success", "success", "success"])
      expect(state.starts.map((start) => start.name)).toEqual([0, 1, 2, 3])
    })
  )

  it.effect("refuses those who waited when the try fails, and lets the next one try when it is interrupted", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker })
      for (let count = 0; count < 3; count++) yield* attempt(gate, down)
      yield* TestClock.adjust("30 seconds")
      const interrupted = yield* fork(attempt(gate, Effect.never))
      const second = yield* fork(attempt(gate, Effect.andThen(Effect.sleep(1_000), down)))
      const third = yield* fork(attempt(gate, answered))
      yield* Fiber.interrupt(interrupted)
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(second)).toEqual({ _tag: "Network" })
      expect(yield* Fiber.join(third)).toMatchObject({ _tag: "Overloaded", retryAfterMillis: 30_000 })
    })
  )

  it.effect("stays open for as long as an overloaded vendor asks", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker: { failures: 1, openMillis: 1_000 } })
      yield* attempt(gate, failing(alpha, { _tag: "Overloaded", retryAfterMillis: 60_000 }))
      yield* TestClock.adjust("59 seconds")
      expect(yield* attempt(gate, answered)).toMatchObject({ _tag: "Overloaded", retryAfterMillis: 1_000 })
      yield* TestClock.adjust("1 second")
      expect(yield* attempt(gate, answered)).toBe("success")
    })
  )

  it.effect("refuses a queue immediately instead of at its rate", () =>
    Effect.gen(function* () {
      const gate = yield* gateOf({ breaker, limits: { vendor: { requestsPerMinute: 3 } } })
      const fibers = yield* Effect.forEach(Array.from({ length: 50 }), () => fork(attempt(gate, down)))
      const reasons = yield* Effect.forEach(fibers, Fiber.join)
      expect(reasons.map((reason) => (reason === "success" ? reason : reason._tag))).toEqual([
        ...Array.from({ length: 3 }, () => "Network"),
        ...Array.from({ length: 47 }, () => "Overloaded")
      ])
    })
  )
})

describe("layer", () => {
  it.effect("sets the gate that is off by default", () =>
    Effect.gen(function* () {
      expect(yield* Resilience.Gate).toBeUndefined()
      const gate = yield* Effect.provide(Effect.service(Resilience.Gate), ProviderGate.layer({}))
      expect(yield* gate!.enter(alpha, 1, () => Effect.succeed(1))).toBe(1)
    })
  )
})

describe("a wall clock that is set back by an hour", () => {
  const wait = (options: ProviderGate.Options, reason?: WorkerErrorReason) =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let shift = 0
      const wall: Clock.Clock = {
        ...clock,
        currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + shift,
        currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + shift),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      }
      const started: Array<number> = []
      const call = Effect.sync(() => started.push(clock.currentTimeMillisUnsafe()))
      const asked = Effect.gen(function* () {
        const gate = (yield* Resilience.Gate)!
        yield* attempt(gate, reason === undefined ? Effect.as(call, "") : failing(alpha, reason))
        shift = -3_600_000
        const [closed] = yield* gate.closed!
        assert.isTrue(closed === undefined || closed.until === wall.currentTimeMillisUnsafe() + 10_000)
        yield* Effect.retry(
          gate.enter(alpha, 1, () => call),
          { times: 1, schedule: Schedule.spaced("10 seconds") }
        )
      })
      yield* fork(asked.pipe(Effect.provide(ProviderGate.layer(options)), Effect.provideService(Clock.Clock, wall)))
      yield* TestClock.adjust("2 hours")
      return started
    }).pipe(Effect.provide(TestClock.layer()), Effect.runPromise)

  it("leaves limits as they are", async () => {
    expect(await wait({ limits: { vendor: { requestsPerMinute: 6 } } })).toEqual([0, 0])
    expect(await wait({ limits: { vendor: { requestsPerMinute: 1 } } })).toEqual([0, 60_000])
  })

  it("leaves pauses as they are", async () => {
    expect(await wait({}, { _tag: "RateLimited", retryAfterMillis: 10_000 })).toEqual([10_000])
  })

  it("leaves circuits as they are", async () => {
    const breaker = { failures: 1, openMillis: 10_000 }
    expect(await wait({ breaker }, { _tag: "Overloaded" })).toEqual([10_000])
  })
})
