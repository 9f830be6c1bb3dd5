import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import * as Line from "../src/internal/line.ts"

const fork = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const turns = (count: number) => Effect.forEach(Array.from({ length: count }), () => Effect.yieldNow, { discard: true })

describe("line", () => {
  it.effect("a call that is interrupted in any instant leaves its place to the next", () =>
    Effect.gen(function* () {
      for (let instant = 0; instant < 30; instant++) {
        const line = Line.make(1)
        const open = yield* Deferred.make<void>()
        yield* fork(line.pass(Deferred.await(open)))
        // It yields every few operations, so that it can be interrupted between any two.
        const second = yield* fork(Effect.provideService(line.pass(Effect.never), Scheduler.MaxOpsBeforeYield, 3))
        yield* turns(60)
        yield* Deferred.succeed(open, undefined)
        yield* turns(instant)
        yield* Fiber.interrupt(second)
        const third = yield* fork(line.pass(Effect.void))
        yield* turns(60)
        assert.isDefined(third.pollUnsafe(), `interrupted after ${instant} turns`)
      }
    })
  )

  it.effect("a call that was about to wait when a place became free gets it", () =>
    Effect.gen(function* () {
      for (let instant = 0; instant < 30; instant++) {
        const line = Line.make(1)
        const open = yield* Deferred.make<void>()
        yield* fork(line.pass(Deferred.await(open)))
        const second = yield* fork(Effect.provideService(line.pass(Effect.void), Scheduler.MaxOpsBeforeYield, 3))
        yield* turns(instant)
        yield* Deferred.succeed(open, undefined)
        yield* turns(60)
        assert.isDefined(second.pollUnsafe(), `left after ${instant} turns`)
      }
    })
  )

  it.effect("calls pass in their order, and no more at once than there are places", () =>
    Effect.gen(function* () {
      const line = Line.make(2)
      const started: Array<number> = []
      let running = 0
      const call = (number: number) =>
        Effect.gen(function* () {
          started.push(number)
          running += 1
          assert.isAtMost(running, 2)
          yield* turns(1 + (number % 3))
          running -= 1
        })
      const numbers = Array.from({ length: 50 }, (_, number) => number)
      const fibers = yield* Effect.forEach(numbers, (number) => fork(line.pass(call(number))))
      yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual(started, numbers)
    })
  )

  it.effect("ten thousand waiting calls that end at once pass one after the other, and do not nest", () =>
    Effect.gen(function* () {
      const line = Line.make(1)
      const open = yield* Deferred.make<void>()
      yield* fork(line.pass(Deferred.await(open)))
      let passed = 0
      const calls = Array.from({ length: 10_000 }, () => line.pass(Effect.sync(() => (passed += 1))))
      const fibers = yield* Effect.forEach(calls, fork)
      yield* Deferred.succeed(open, undefined)
      yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
      assert.strictEqual(passed, 10_000)
    })
  )
})
