/** Concurrent runs, and runs that are stopped at any point. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Scheduler from "effect/Scheduler"
import { TestClock } from "effect/testing"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import { pausingAt } from "./pausing.ts"

// A virtual clock does not wait for modules that load on first use.
beforeAll(() => Effect.runPromise(Conductor.preload))

describe("ledgers shared by many runs", () => {
  it.effect("hold over all of them", () =>
    Effect.gen(function* () {
      const ledger = Budget.make({ calls: 25 })
      const workers = [ScriptedWorker.make({ id: "a", replies: ["an answer"], latencyMillis: 3 })]
      const conductor = Conductor.make({ policy: Baselines.single(0), pool: WorkerPool.makeUnsafe(workers) })
      const fiber = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: 40 }), () => conductor.run("Why?", { ledger }), {
          concurrency: "unbounded"
        })
      )
      yield* TestClock.adjust("1 minute")
      const results = yield* Fiber.join(fiber)
      assert.strictEqual(results.filter(({ ending }) => ending === "answered").length, 25)
      assert.strictEqual(results.filter(({ ending }) => ending === "budget").length, 15)
      assert.strictEqual(workers[0]!.calls.length, 25)
      assert.strictEqual(ledger.spent().calls, 25)
    })
  )
})

describe("a run that is started", () => {
  it.effect("has a result when it is stopped, also before it has begun", () =>
    Effect.gen(function* () {
      const scheduler = yield* Scheduler.Scheduler
      for (let operation = 0; operation < 40; operation++) {
        const pausing = pausingAt(scheduler, operation)
        const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: [{ hang: true }] })])
        const conductor = Conductor.make({ policy: Baselines.single(0), pool })
        const stopped = Effect.scoped(Effect.flatMap(conductor.start("Anybody there?"), (run) => run.interrupt))
        const fiber = yield* Effect.forkChild(Effect.provideService(stopped, Scheduler.Scheduler, pausing))
        for (let turn = 0; turn < 60 && fiber.pollUnsafe() === undefined; turn++) yield* Effect.yieldNow
        assert.isDefined(fiber.pollUnsafe(), `a pause at operation ${operation}`)
        assert.strictEqual((yield* Fiber.join(fiber)).ending, "interrupted")
      }
    })
  )
})
