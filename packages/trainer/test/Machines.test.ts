import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { assert, describe, it } from "vitest"
import * as Machines from "../src/Machines.ts"

describe("groups of rollouts on several machines", () => {
  it("are dropped before their next call once their version is no longer used", () =>
    Effect.runPromise(
      Effect.gen(function* () {
        const claimed = yield* Deferred.make<void>()
        const dropped = yield* Deferred.make<void>()
        const answers: Array<string> = []
        const released: Array<string> = []
        let keys = ["0"]
        let calls = 0
        const tasks: Machines.SharedTasks = {
          leaseMillis: 9_000,
          claim: () => Effect.sync(() => keys.splice(0, 1)),
          // The machine that trains has removed the list.
          renew: () => Effect.succeed([]),
          release: (some) => Effect.sync(() => released.push(...some)),
          answer: (key) => Effect.sync(() => answers.push(key)),
          find: () => Effect.succeed(new Map()),
          remove: Effect.void
        }
        // The policy's sample takes longer than a third of the lease; the workers are paid after it.
        const make = () =>
          Effect.gen(function* () {
            yield* Deferred.succeed(claimed, undefined)
            yield* Effect.sleep("4 seconds")
            calls += 1
            return "rollouts"
          }).pipe(Effect.onInterrupt(() => Effect.asVoid(Deferred.succeed(dropped, undefined))))
        const isDone = Effect.sync(() => keys.length === 0 && released.length + answers.length > 0)
        const making = yield* Effect.forkChild(Machines.makeGroups(tasks, 1, isDone, make))
        yield* Deferred.await(claimed)
        yield* TestClock.adjust("3 seconds")
        yield* Deferred.await(dropped)
        keys = []
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual([calls, answers], [0, []])
        yield* Fiber.interrupt(making)
      }).pipe(Effect.provide(TestClock.layer()))
    ))
})
