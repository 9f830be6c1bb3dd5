import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Scheduler from "effect/Scheduler"
import { TestClock } from "effect/testing"
import * as Budget from "../src/run/Budget.ts"
import type * as Usage from "../src/task/Usage.ts"
import { pausingAt } from "./pausing.ts"

const used = (tokens: number, costUsd: number | undefined) => ({
  usage: { inputTokens: tokens, outputTokens: 0 },
  costUsd
})

const tokensOf = ({ usage }: Usage.Spend) => usage.inputTokens + usage.outputTokens

describe("Budget", () => {
  it.effect("no interleaving of concurrent calls ever exceeds a limit, and none is lost", () =>
    Effect.gen(function* () {
      for (let seed = 0; seed < 60; seed++) {
        yield* Effect.gen(function* () {
          const limits = {
            costUsd: yield* Random.nextBetween(1, 6),
            tokens: yield* Random.nextIntBetween(200, 2000),
            calls: yield* Random.nextIntBetween(5, 40)
          }
          const above = { costUsd: limits.costUsd * 1.5, tokens: limits.tokens * 2 }
          const shared = Budget.make(above)
          const ledgers = [Budget.make(limits, shared), Budget.make(limits, shared)]
          let running = 0
          const watch = () => {
            for (const ledger of ledgers) {
              const spend = ledger.spent()
              assert.isAtMost(spend.costUsd, limits.costUsd + 1e-9)
              assert.isAtMost(tokensOf(spend), limits.tokens)
              assert.isAtMost(spend.calls, limits.calls)
            }
            assert.isAtMost(shared.spent().costUsd, above.costUsd + 1e-9)
            assert.isAtMost(tokensOf(shared.spent()), above.tokens)
          }
          const callOnce = Effect.fnUntraced(function* (index: number) {
            const ledger = ledgers[index % 2]!
            const worst = {
              costUsd: yield* Random.nextBetween(0.01, 1),
              tokens: yield* Random.nextIntBetween(1, 300)
            }
            const share = yield* Random.next
            const fate = yield* Random.nextIntBetween(0, 10)
            const millis = yield* Random.nextIntBetween(1, 50)
            yield* Effect.sleep(yield* Random.nextIntBetween(0, 60))
            const reservation = yield* ledger.reserve(worst)
            running += 1
            watch()
            yield* Effect.sleep(millis).pipe(
              Effect.ensuring(
                Effect.suspend(() => {
                  running -= 1
                  const settled = used(Math.floor(worst.tokens * share), worst.costUsd * share)
                  const closed = fate === 0 ? ledger.release(reservation) : ledger.settle(reservation, settled)
                  return Effect.map(closed, watch)
                })
              )
            )
          })
          const fibers = yield* Effect.forEach(
            Array.from({ length: 60 }, (_, index) => index),
            (index) => Effect.forkChild(Effect.result(callOnce(index)))
          )
          // Some are interrupted while they wait or run.
          yield* TestClock.adjust(40)
          yield* Effect.forEach(fibers.slice(0, 7), Fiber.interrupt, { concurrency: "unbounded" })
          yield* TestClock.adjust("1 minute")
          yield* Fiber.awaitAll(fibers)
          assert.strictEqual(running, 0)
          // Nothing stays reserved: the rest of each ledger can be used up to its limit.
          const rest = limits.tokens - tokensOf(ledgers[0]!.spent())
          const room = Math.min(rest, above.tokens - tokensOf(shared.spent()))
          if (ledgers[0]!.spent().calls < limits.calls) yield* ledgers[0]!.reserve({ costUsd: 0, tokens: room })
        }).pipe(Random.withSeed(`budget ${seed}`))
      }
    })
  )

  it.effect("who waits is served in order", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ tokens: 100 })
      const order: Array<number> = []
      const first = yield* ledger.reserve({ costUsd: 0, tokens: 100 })
      const fibers = yield* Effect.forEach([1, 2, 3], (index) =>
        Effect.forkChild(
          Effect.andThen(ledger.reserve({ costUsd: 0, tokens: 40 }), () => Effect.sync(() => order.push(index))),
          { startImmediately: true }
        )
      )
      yield* ledger.settle(first, used(10, 0))
      yield* Fiber.joinAll(fibers.slice(0, 2))
      assert.deepStrictEqual(order, [1, 2])
    })
  )

  it.effect("who waits is served once, also when it settles in the instant in which it is served", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ costUsd: 1 })
      const first = yield* ledger.reserve({ costUsd: 0.8, tokens: 0 })
      const instant = Effect.flatMap(ledger.reserve({ costUsd: 0.8, tokens: 0 }), (reservation) =>
        ledger.settle(reservation, used(0, 0.1))
      )
      const fiber = yield* Effect.forkChild(instant, { startImmediately: true })
      yield* ledger.settle(first, used(0, 0.1))
      yield* Fiber.join(fiber)
      assert.strictEqual(ledger.spent().calls, 2)
      // Nothing stays reserved.
      yield* ledger.reserve({ costUsd: 0.8, tokens: 0 })
    })
  )

  it.effect("many who wait, and settle in the turn in which they are served, are all served, once each", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ tokens: 100 })
      const first = yield* ledger.reserve({ costUsd: 0, tokens: 90 })
      const instant = Effect.flatMap(ledger.reserve({ costUsd: 0, tokens: 90 }), (reservation) =>
        ledger.settle(reservation, used(1, 0))
      )
      const fibers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(instant, { startImmediately: true }))
      yield* ledger.settle(first, used(1, 0))
      yield* Fiber.joinAll(fibers)
      assert.strictEqual(ledger.spent().calls, 4)
      // Nothing stays reserved.
      yield* ledger.reserve({ costUsd: 0, tokens: 96 })
    })
  )

  it.effect("ten thousand who wait, and settle in the turn in which they are served, do not nest", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ tokens: 100 })
      const first = yield* ledger.reserve({ costUsd: 0, tokens: 90 })
      const instant = Effect.flatMap(ledger.reserve({ costUsd: 0, tokens: 90 }), (reservation) =>
        ledger.settle(reservation, used(0, 0))
      )
      const callers = Array.from({ length: 10_000 }, () => Effect.forkChild(instant, { startImmediately: true }))
      const fibers = yield* Effect.all(callers)
      yield* ledger.settle(first, used(0, 0))
      yield* Fiber.joinAll(fibers)
      assert.strictEqual(ledger.spent().calls, 10_001)
    })
  )

  it.effect("an interruption between a grant and its use, at any operation, keeps nothing reserved", () =>
    Effect.gen(function* () {
      const scheduler = yield* Scheduler.Scheduler
      for (const isWaiting of [false, true]) {
        for (let seed = 0; seed < 400; seed++) {
          let state = seed
          const restless: Scheduler.Scheduler = {
            executionMode: scheduler.executionMode,
            makeDispatcher: () => scheduler.makeDispatcher(),
            shouldYield: () => {
              state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
              return state < 2 ** 30
            }
          }
          const ledger = Budget.make({ tokens: 100 })
          const first = yield* ledger.reserve({ costUsd: 0, tokens: isWaiting ? 90 : 1 })
          const use = Effect.uninterruptibleMask((restore) =>
            Effect.flatMap(ledger.reserve({ costUsd: 0, tokens: 90 }), (reservation) =>
              Effect.ensuring(restore(Effect.never), ledger.release(reservation))
            )
          )
          const fiber = yield* Effect.forkChild(Effect.provideService(use, Scheduler.Scheduler, restless), {
            startImmediately: isWaiting
          })
          yield* ledger.release(first)
          for (let turn = 0; turn < seed % 7; turn++) yield* Effect.yieldNow
          yield* Fiber.interrupt(fiber)
          yield* ledger.reserve({ costUsd: 0, tokens: 100 })
        }
      }
    })
  )

  it.effect("who begins to wait in the instant in which the others settle does not wait for ever", () =>
    Effect.gen(function* () {
      const scheduler = yield* Scheduler.Scheduler
      // Yields once at an operation, which lets the others settle between the refusal and the wait.
      for (let operation = 0; operation < 40; operation++) {
        const pausing = pausingAt(scheduler, operation)
        const ledger = Budget.make({ tokens: 100 })
        const first = yield* ledger.reserve({ costUsd: 0, tokens: 90 })
        const waiting = Effect.provideService(ledger.reserve({ costUsd: 0, tokens: 90 }), Scheduler.Scheduler, pausing)
        const fiber = yield* Effect.forkChild(waiting, { startImmediately: true })
        yield* ledger.settle(first, used(1, 0))
        yield* Fiber.join(fiber)
      }
    })
  )

  it.effect("fails a request that can never fit at once, with the reason", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ tokens: 100 })
      yield* ledger.reserve({ costUsd: 0, tokens: 90 })
      const error = yield* Effect.flip(ledger.reserve({ costUsd: 0, tokens: 101 }))
      assert.strictEqual(
        error.message,
        "The next call could exceed the token limit of 100 tokens: it needs up to 101 tokens (0 tokens spent). Raise the limit, or lower --max-output-tokens (in code or a config: worker.maxOutputTokens)."
      )
    })
  )

  it.effect("allows free calls when the money is spent", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ costUsd: 1 })
      yield* ledger.settle(yield* ledger.reserve({ costUsd: 1, tokens: 5 }), used(5, 1))
      assert.strictEqual((yield* Effect.flip(ledger.reserve({ costUsd: 0.01, tokens: 5 }))).limit, "costUsd")
      yield* ledger.settle(yield* ledger.reserve({ costUsd: 0, tokens: 5 }), used(5, 0))
      assert.strictEqual(ledger.spent().calls, 2)
    })
  )

  it.effect("a limit above counts, and a wait there is a wait", () =>
    Effect.gen(function* () {
      const parent = Budget.make({ calls: 10, tokens: 50 })
      const [left, right] = [Budget.make({}, parent), Budget.make({ calls: 1 }, parent)]
      const reservation = yield* left.reserve({ costUsd: undefined, tokens: 40 })
      const waiting = yield* Effect.forkChild(right.reserve({ costUsd: undefined, tokens: 40 }), {
        startImmediately: true
      })
      yield* left.settle(reservation, used(10, undefined))
      yield* right.settle(yield* Fiber.join(waiting), used(20, undefined))
      assert.strictEqual((yield* Effect.flip(right.reserve({ costUsd: 0, tokens: 1 }))).limit, "calls")
      assert.deepStrictEqual(parent.spent(), {
        usage: { inputTokens: 30, outputTokens: 0 },
        costUsd: 0,
        calls: 2,
        unpricedCalls: 2
      })
    })
  )

  it.effect("reduces the room for calls by other spending, in all accounts above, and wakes the waiting calls", () =>
    Effect.gen(function* () {
      const shared = Budget.make({ costUsd: 1 })
      const ledger = Budget.make({}, shared)
      const reservation = yield* ledger.reserve({ costUsd: 0.5, tokens: 1 })
      const waiting = yield* Effect.forkChild(Effect.flip(ledger.reserve({ costUsd: 0.6, tokens: 1 })))
      yield* Effect.yieldNow
      yield* ledger.charge(0.7)
      const refused = yield* Fiber.join(waiting)
      assert.strictEqual(refused.limit, "costUsd")
      yield* ledger.settle(reservation, used(1, 0.2))
      assert.closeTo(shared.spent().costUsd, 0.9, 1e-9)
      assert.strictEqual(shared.spent().calls, 1)
    })
  )
})
