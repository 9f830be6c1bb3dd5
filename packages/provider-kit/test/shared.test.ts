import type { Resilience } from "@divisi/core"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as CircuitBreaker from "effect/persistence/CircuitBreaker"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Scope from "effect/Scope"
import { TestClock } from "effect/testing"
import * as ProviderGate from "../src/ProviderGate.ts"

const alpha = ScriptedWorker.make({ id: "alpha", provider: "vendor", replies: [""] })

/** Slots that are given to whichever process asks first. */
const slotsIn = (
  leaseMillis: number,
  state: { isDown: boolean; asked: number; isAlone?: boolean }
): Resilience.SharedSlots => {
  const held = new Map<object, number>()
  return {
    join: Effect.gen(function* () {
      const own = {}
      yield* Effect.addFinalizer(() => Effect.sync(() => held.delete(own)))
      return {
        share: (_, { limit, used, wanted }) =>
          Effect.suspend(() => {
            state.asked += 1
            if (state.isDown) return Effect.fail({ message: "The store is down." })
            const others = [...held].reduce((sum, [one, count]) => (one === own ? sum : sum + count), 0)
            const slots = Math.min(wanted, Math.max(0, limit - others))
            held.set(own, Math.max(used, slots))
            return Effect.succeed({ slots, isContended: state.isAlone !== true, leaseMillis })
          })
      }
    })
  }
}

const gateOf = (slots: Resilience.SharedSlots, limit: number) =>
  ProviderGate.make({ limits: { vendor: { concurrency: limit } } }, slots).pipe(
    Effect.provide([RateLimiter.layerStoreMemory, CircuitBreaker.layerStoreMemory()])
  )

/** Calls of a second each, of which the most at the same time are counted. */
const calls = () => {
  const state = { running: 0, most: 0, ended: 0 }
  const call = Effect.acquireUseRelease(
    Effect.sync(() => {
      state.running += 1
      state.most = Math.max(state.most, state.running)
    }),
    () => Effect.sleep(1_000),
    () =>
      Effect.sync(() => {
        state.running -= 1
        state.ended += 1
      })
  )
  return { state, call }
}

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const many = (gate: Resilience.Gate, call: Effect.Effect<void>, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => fork(gate.enter(alpha, 1, () => call)))

describe("a limit of concurrent calls that processes share", () => {
  it.effect("holds for all of them together, and no call is lost", () =>
    Effect.gen(function* () {
      const slots = slotsIn(10_000, { isDown: false, asked: 0 })
      const [one, other] = [yield* gateOf(slots, 3), yield* gateOf(slots, 3)]
      const { call, state } = calls()
      yield* many(one, call, 12)
      yield* many(other, call, 12)
      yield* TestClock.adjust("5 seconds")
      assert.isBelow(state.ended, 24)
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(state, { running: 0, most: 3, ended: 24 })
    })
  )

  it.effect("leaves all slots to one process if the other has no calls or has ended", () =>
    Effect.gen(function* () {
      const slots = slotsIn(10_000, { isDown: false, asked: 0 })
      const [one, scope] = [yield* gateOf(slots, 3), yield* Scope.make()]
      const other = yield* Scope.provide(gateOf(slots, 3), scope)
      const { call, state } = calls()
      yield* many(other, call, 3)
      yield* TestClock.adjust("1500 millis")
      yield* many(one, call, 3)
      yield* TestClock.adjust("800 millis")
      assert.deepStrictEqual([state.most, state.running], [3, 3])
      yield* TestClock.adjust("10 seconds")
      yield* many(other, call, 3)
      yield* TestClock.adjust("1001 millis")
      yield* Scope.close(scope, Exit.void)
      yield* many(one, call, 3)
      yield* TestClock.adjust("3 seconds")
      assert.deepStrictEqual([state.most, state.ended], [3, 12])
    })
  )

  it.effect("asks the store once for many calls, and never without calls", () =>
    Effect.gen(function* () {
      const counted = { isDown: false, asked: 0 }
      const gate = yield* gateOf(slotsIn(10_000, counted), 100)
      const { call, state } = calls()
      yield* many(gate, call, 100)
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual([state.running, counted.asked], [100, 1])
      yield* TestClock.adjust("1 minute")
      assert.isBelow(counted.asked, 10)
      assert.strictEqual(state.ended, 100)
    })
  )

  it.effect("begins no call after its lease has expired", () =>
    Effect.gen(function* () {
      const store = { isDown: false, asked: 0, isAlone: true }
      const gate = yield* gateOf(slotsIn(300, store), 2)
      const { call, state } = calls()
      yield* fork(gate.enter(alpha, 1, () => Effect.sleep(200)))
      yield* many(gate, call, 1)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(state.running, 1)
      // A slot becomes free, and the lease expires.
      yield* TestClock.adjust("350 millis")
      const asked = store.asked
      yield* many(gate, call, 1)
      assert.deepStrictEqual([state.running, store.asked], [1, asked])
      yield* TestClock.adjust("100 millis")
      assert.deepStrictEqual([state.running, store.asked], [2, asked + 1])
    })
  )

  it.effect("applies to each process while the store is down", () =>
    Effect.gen(function* () {
      const store = { isDown: true, asked: 0 }
      const slots = slotsIn(10_000, store)
      const [one, other] = [yield* gateOf(slots, 2), yield* gateOf(slots, 2)]
      const { call, state } = calls()
      yield* many(one, call, 3)
      yield* many(other, call, 3)
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(state.running, 4)
      store.isDown = false
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(state.ended, 6)
      state.most = 0
      yield* many(one, call, 3)
      const last = yield* many(other, call, 3)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.joinAll(last)
      assert.deepStrictEqual(state, { running: 0, most: 2, ended: 12 })
    })
  )
})
