import * as Clock from "effect/Clock"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import type * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as ShardId from "effect/cluster/ShardId"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import { assert, describe, it } from "vitest"
import * as Leases from "../src/runs/leases.ts"

const address = RunnerAddress.make("127.0.0.1", 1)
const [one, two] = [ShardId.make("default", 1), ShardId.make("default", 2)]

/** Leases of 12 s over a storage that holds some locks, and counts the questions. */
const open = Effect.gen(function* () {
  const leases = Leases.make(yield* Clock.Clock, 12_000)
  const held = new Set([one, two])
  let questions = 0
  const ask = (_: unknown, shards: Iterable<ShardId.ShardId>) =>
    Effect.sync(() => {
      questions += 1
      return [...shards].filter((shard) => held.has(shard))
    })
  const storage = leases.watch({
    acquire: ask,
    refresh: ask,
    release: () => Effect.void,
    releaseAll: () => Effect.void
  } as Partial<RunnerStorage.RunnerStorage["Service"]> as RunnerStorage.RunnerStorage["Service"])
  return { leases, storage, held, questions: () => questions }
})

const run = (effect: Effect.Effect<void, unknown>) => Effect.runPromise(Effect.provide(effect, TestClock.layer()))

describe("leases", () => {
  it("count from the question, since the process may freeze before it reads the answer", () =>
    run(
      Effect.gen(function* () {
        const { leases } = yield* open
        let questions = 0
        const slow = leases.watch({
          refresh: (_: unknown, shards: Iterable<ShardId.ShardId>) =>
            Effect.andThen(
              Effect.sync(() => {
                questions += 1
              }),
              Effect.as(TestClock.adjust("9 seconds"), [...shards])
            )
        } as Partial<RunnerStorage.RunnerStorage["Service"]> as RunnerStorage.RunnerStorage["Service"])
        yield* slow.refresh(address, [one])
        yield* slow.refresh(address, [one])
        assert.strictEqual(questions, 2)
      })
    ))

  it("of locks that are lost or released are not answered without the database", () =>
    run(
      Effect.gen(function* () {
        const { held, questions, storage } = yield* open
        yield* storage.acquire(address, [one, two])
        held.delete(one)
        yield* storage.refresh(address, [one, two])
        assert.deepStrictEqual(yield* storage.refresh(address, [one]), [])
        yield* storage.release(address, two)
        yield* storage.refresh(address, [two])
        assert.strictEqual(questions(), 4)
        yield* storage.releaseAll(address)
        yield* storage.refresh(address, [two])
        assert.strictEqual(questions(), 5)
      })
    ))

  it("answer questions before replies without the database while they are fresh", () =>
    run(
      Effect.gen(function* () {
        const { questions, storage } = yield* open
        yield* storage.acquire(address, [one, two])
        for (let reply = 0; reply < 1_000; reply++)
          assert.deepStrictEqual(yield* storage.refresh(address, [one]), [one])
        assert.strictEqual(questions(), 1)
        yield* storage.refresh(address, [one, two])
        assert.strictEqual(questions(), 2)
        yield* TestClock.adjust("8 seconds")
        yield* storage.refresh(address, [one])
        assert.strictEqual(questions(), 3)
      })
    ))

  it("are released one after the other, each with its own time limit", () =>
    run(
      Effect.gen(function* () {
        const leases = Leases.make(yield* Clock.Clock, 12_000)
        let [now, most, released] = [0, 0, 0]
        const storage = leases.watch({
          release: () =>
            Effect.gen(function* () {
              now += 1
              most = Math.max(most, now)
              yield* Effect.sleep(100)
              now -= 1
              released += 1
            }).pipe(Effect.timeout(1_000), Effect.orDie)
        } as Partial<RunnerStorage.RunnerStorage["Service"]> as RunnerStorage.RunnerStorage["Service"])
        const moved = Array.from({ length: 150 }, (_, at) => ShardId.make("default", at))
        const all = yield* Effect.forkChild(
          Effect.forEach(moved, (shard) => storage.release(address, shard), { concurrency: "unbounded" })
        )
        yield* TestClock.adjust("20 seconds")
        yield* Fiber.join(all)
        assert.deepStrictEqual({ most, released }, { most: 1, released: 150 })
      })
    ))
})
