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

const failing = (reason: WorkerErrorReason) => Effect.fail(new WorkerError({ worker: worker.id, reason }))

const limited = failing({ _tag: "RateLimited", retryAfterMillis: day })

const closed = Effect.flatMap(Resilience.Gate, (gate) => gate!.closed!)

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
})
