/** How long a provider stays closed, and how it opens. */
import { Resilience } from "@divisi/core"
import { type Worker, WorkerError, type WorkerErrorReason } from "@divisi/core/Worker"
import * as ProviderGate from "@divisi/provider-kit/ProviderGate"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { TestClock } from "effect/testing"

const day = 86_400_000

const worker: Worker = { id: "acme:a", provider: "acme", generate: () => Stream.empty }

const enter = (call: Effect.Effect<string, WorkerError>) =>
  Effect.flatMap(Resilience.Gate, (gate) => gate!.enter(worker, 10, () => call))

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

/** A call whose answer begins after a second and ends after ten minutes. */
const slow = Effect.flatMap(Resilience.Gate, (gate) =>
  gate!.enter(worker, 10, (_, __, onBegin) =>
    Effect.sleep(1_000).pipe(
      Effect.andThen(Effect.sync(() => onBegin?.())),
      Effect.andThen(Effect.sleep(600_000)),
      Effect.as("slow")
    )
  )
)

const failing = (reason: WorkerErrorReason) => Effect.fail(new WorkerError({ worker: worker.id, reason }))

const limited = failing({ _tag: "RateLimited", retryAfterMillis: day })

const closed = Effect.flatMap(Resilience.Gate, (gate) => gate!.closed!)

/** A call whose answer reports exhausted limits. */
const exhausted = (remaining: number, resetMillis: number, limit?: number) =>
  Effect.flatMap(Resilience.Gate, (gate) =>
    gate!.enter(worker, 10, (onAllowance) =>
      Effect.sync(() => {
        onAllowance({ requests: { remaining, resetMillis, limit } })
        return "answered"
      })
    )
  )

const withGate = Effect.provide(ProviderGate.layer({ breaker: { failures: 1, openMillis: 1000 } }))

describe("a provider that asks all calls to wait for a day", () => {
  it.effect("is closed for five minutes, and says until when", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(limited))
      const now = yield* Clock.currentTimeMillis
      assert.deepStrictEqual(yield* closed, [{ provider: "acme", because: "rate-limited", until: now + 300_000 }])
      const refused = yield* Effect.flip(enter(Effect.succeed("sent")))
      assert.strictEqual(refused._tag, "WorkerError")
      yield* TestClock.adjust(300_000)
      assert.deepStrictEqual(yield* closed, [])
      assert.strictEqual(yield* enter(Effect.succeed("sent")), "sent")
    }).pipe(withGate)
  )

  it.effect("is tried by one call, and the others wait for what becomes of it", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(limited))
      yield* TestClock.adjust(300_000)
      let sent = 0
      const slow = Effect.andThen(
        Effect.sync(() => sent++),
        Effect.andThen(Effect.sleep(1000), limited)
      )
      const calls = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(Effect.exit(enter(slow))))
      yield* TestClock.adjust(500)
      assert.strictEqual(sent, 1)
      yield* TestClock.adjust(600)
      for (const call of calls) assert.strictEqual((yield* Fiber.join(call))._tag, "Failure")
      assert.strictEqual(sent, 1)
      assert.lengthOf(yield* closed, 1)
    }).pipe(withGate)
  )

  it.effect("is open again after a reset", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(limited))
      yield* Effect.flatMap(Resilience.Gate, (gate) => gate!.reset!)
      assert.deepStrictEqual(yield* closed, [])
      assert.strictEqual(yield* enter(Effect.succeed("sent")), "sent")
    }).pipe(withGate)
  )

  it.effect("is closed no longer where it is overloaded", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(failing({ _tag: "Overloaded", retryAfterMillis: day })))
      const [one] = yield* closed
      const now = yield* Clock.currentTimeMillis
      assert.strictEqual(one?.because, "failing")
      assert.isAtMost(one!.until - now, 300_000)
      yield* Effect.flatMap(Resilience.Gate, (gate) => gate!.reset!)
      assert.strictEqual(yield* enter(Effect.succeed("sent")), "sent")
    }).pipe(withGate)
  )

  it.effect("opens for all once the answer of the call that tries it begins", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(limited))
      yield* TestClock.adjust(300_000)
      yield* fork(slow)
      const other = yield* fork(enter(Effect.succeed("sent")))
      yield* TestClock.adjust(999)
      assert.isUndefined(other.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(other), "sent")
    }).pipe(withGate)
  )

  it.effect("is tried by one call at a time until one shows that it accepts calls again", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(limited))
      yield* TestClock.adjust(300_000)
      let running = 0
      const trial = <A>(end: Effect.Effect<A, WorkerError>) =>
        Effect.ensuring(
          Effect.suspend(() => {
            running += 1
            return Effect.andThen(Effect.sleep(1_000), end)
          }),
          Effect.sync(() => (running -= 1))
        )
      const ends = [Effect.never, failing({ _tag: "RateLimited" }), failing({ _tag: "InvalidRequest" })]
      const calls = yield* Effect.forEach(ends, (end) => fork(Effect.exit(enter(trial(end)))))
      const others = yield* Effect.forEach([1, 2, 3], () => fork(enter(trial(Effect.succeed("sent")))))
      yield* TestClock.adjust(1_500)
      assert.strictEqual(running, 1)
      // A client that leaves proves nothing.
      yield* Fiber.interrupt(calls[0]!)
      yield* TestClock.adjust(10)
      assert.strictEqual(running, 1)
      // A refusal without a delay neither.
      yield* TestClock.adjust(1_000)
      assert.strictEqual(running, 1)
      // The third call is refused for its content, so the vendor accepts calls.
      yield* TestClock.adjust(1_000)
      assert.strictEqual(running, 3)
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(yield* Effect.forEach(others, Fiber.join), ["sent", "sent", "sent"])
    }).pipe(withGate)
  )

  it.effect("wakes a waiting call on a reset", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(failing({ _tag: "RateLimited", retryAfterMillis: 100_000 })))
      const waiting = yield* fork(enter(Effect.succeed("sent")))
      yield* TestClock.adjust(1_000)
      assert.isUndefined(waiting.pollUnsafe())
      yield* Effect.flatMap(Resilience.Gate, (gate) => gate!.reset!)
      assert.strictEqual(yield* Fiber.join(waiting), "sent")
    }).pipe(withGate)
  )

  it.effect("rejects a call whose run ends before the pause", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(failing({ _tag: "RateLimited", retryAfterMillis: 100_000 })))
      const gate = (yield* Resilience.Gate)!
      const refused = yield* Effect.flip(gate.enter(worker, 10, () => Effect.succeed("sent"), [], 30_000))
      assert.deepInclude(refused.reason, { _tag: "RateLimited", retryAfterMillis: 100_000 })
    }).pipe(withGate)
  )
})

describe("a provider that failed repeatedly", () => {
  it.effect("opens for all once the answer of the trial call begins", () =>
    Effect.gen(function* () {
      yield* Effect.exit(enter(failing({ _tag: "Network" })))
      yield* TestClock.adjust(1_000)
      yield* fork(slow)
      const other = yield* fork(enter(Effect.succeed("sent")))
      yield* TestClock.adjust(999)
      assert.isUndefined(other.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(other), "sent")
    }).pipe(withGate)
  )
})

describe("a provider whose limits are exhausted for a day", () => {
  it.effect.each([undefined, 1])("is closed for five minutes, and says until when (limit %s)", (limit) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* exhausted(0, day, limit), "answered")
      const now = yield* Clock.currentTimeMillis
      assert.deepStrictEqual(yield* closed, [{ provider: "acme", because: "rate-limited", until: now + 300_000 }])
      assert.strictEqual((yield* Effect.flip(enter(Effect.succeed("sent")))).reason._tag, "RateLimited")
      yield* TestClock.adjust(300_000)
      assert.deepStrictEqual(yield* closed, [])
      assert.strictEqual(yield* enter(Effect.succeed("sent")), "sent")
      yield* exhausted(0, day, limit)
      yield* Effect.flatMap(Resilience.Gate, (gate) => gate!.reset!)
      assert.strictEqual(yield* enter(Effect.succeed("sent")), "sent")
    }).pipe(withGate)
  )
})
