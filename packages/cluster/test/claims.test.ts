import type * as Message from "effect/cluster/Message"
import type * as MessageStorage from "effect/cluster/MessageStorage"
import * as ShardId from "effect/cluster/ShardId"
import * as Snowflake from "effect/cluster/Snowflake"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/testing/TestClock"
import { assert, describe, it } from "vitest"
import * as Claims from "../src/runs/claims.ts"

type Storage = MessageStorage.MessageStorage["Service"]

const [one, two] = [ShardId.make("default", 1), ShardId.make("default", 2)]

/** A storage with a request in each shard that is read, which fails while `isDown`, and the shards of its resets. */
const open = Effect.gen(function* () {
  const owned = new Set([one, two])
  const resets: Array<string> = []
  const state = { isDown: false, room: 10 }
  const whileUp = <A>(answer: () => A) =>
    Effect.suspend(() => (state.isDown ? Effect.die("the database is unreachable") : Effect.sync(answer)))
  const base: Partial<Record<keyof Storage, unknown>> = {
    unprocessedMessages(this: Storage, shards: Iterable<ShardId.ShardId>, { limit }: { readonly limit: number }) {
      const respond = () => this.saveReply({} as Parameters<Storage["saveReply"]>[0])
      return whileUp(() =>
        [...shards].slice(0, limit).map((shardId) => ({ envelope: { address: { shardId } }, respond }))
      )
    },
    resetShards: (shards: Iterable<ShardId.ShardId>) => whileUp(() => resets.push(...[...shards].map(String))),
    resetRequests: (ids: ReadonlyArray<unknown>) => whileUp(() => resets.push(...ids.map((id) => `request ${id}`))),
    saveReply: () =>
      Effect.suspend(() =>
        state.isDown ? Effect.fail({ _tag: "PersistenceError" }) : Effect.sync(() => resets.push("reply"))
      )
  }
  const storage = yield* Claims.watch(
    base as Storage,
    (shard) => owned.has(shard),
    () => state.room
  )
  return { owned, resets, state, storage }
})

const run = (effect: Effect.Effect<void, unknown, Scope.Scope>) =>
  Effect.runPromise(Effect.scoped(Effect.provide(effect, TestClock.layer())))

describe("claims of requests", () => {
  it("stay while the server owns the shard, and are given back once when it does not", () =>
    run(
      Effect.gen(function* () {
        const { owned, resets, storage } = yield* open
        yield* storage.unprocessedMessages([one, two])
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(resets, [])
        owned.delete(one)
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(resets, [String(one)])
      })
    ))

  it("are given back when a read ends after its shard was released", () =>
    run(
      Effect.gen(function* () {
        const { owned, resets, storage } = yield* open
        owned.clear()
        yield* storage.unprocessedMessages([two])
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(resets, [String(two)])
      })
    ))

  it("are as many as there is room for; the other requests stay in the database", () =>
    run(
      Effect.gen(function* () {
        const { state, storage } = yield* open
        for (const [room, limit, read] of [
          [10, undefined, 2],
          [1, undefined, 1],
          [10, 1, 1],
          [0, undefined, 0],
          [-3, 5, 0],
          [2, 5, 2]
        ] as const) {
          state.room = room
          const messages = yield* storage.unprocessedMessages([one, two], limit === undefined ? undefined : { limit })
          assert.lengthOf(messages, read)
        }
      })
    ))

  it("of a read whose answer was lost are given back as soon as the database answers", () =>
    run(
      Effect.gen(function* () {
        const { resets, state, storage } = yield* open
        state.isDown = true
        yield* Effect.ignoreCause(storage.unprocessedMessages([one]))
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(resets, [])
        state.isDown = false
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(resets, [String(one)])
      })
    ))

  it("of a shard whose reset failed are given back later", () =>
    run(
      Effect.gen(function* () {
        const { resets, state, storage } = yield* open
        state.isDown = true
        yield* Effect.ignoreCause(storage.resetShards([two]))
        state.isDown = false
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(resets, [String(two)])
      })
    ))

  it("of a request whose result could not be stored are given back later", () =>
    run(
      Effect.gen(function* () {
        const { resets, state, storage } = yield* open
        state.isDown = true
        yield* Effect.ignoreCause(storage.resetRequests([Snowflake.Snowflake("7")]))
        yield* TestClock.adjust("3 seconds")
        state.isDown = false
        yield* TestClock.adjust("3 seconds")
        assert.deepStrictEqual(resets, ["request 7"])
      })
    ))

  it("end with a reply that is stored as soon as the database answers", () =>
    run(
      Effect.gen(function* () {
        const { resets, state, storage } = yield* open
        const [message] = yield* storage.unprocessedMessages([one])
        state.isDown = true
        const saved = yield* Effect.forkScoped((message as Message.IncomingRequest<never>).respond({} as never))
        yield* TestClock.adjust("2 seconds")
        assert.deepStrictEqual(resets, [])
        state.isDown = false
        yield* TestClock.adjust("1 second")
        yield* Fiber.join(saved)
        assert.deepStrictEqual(resets, ["reply"])
      })
    ))
})
