/**
 * The requests that a server has read. Reading claims a request for ten minutes: no other server receives it meanwhile, unless
 * the claim is given back. Effect's cluster gives the claims of a shard back once, when its next owner has locked it. That
 * is too early for a read by the owner before that ends later, and for an answer of the database that never arrives.
 */
import type * as MessageStorage from "effect/cluster/MessageStorage"
import type * as ShardId from "effect/cluster/ShardId"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"

type Storage = MessageStorage.MessageStorage["Service"]

/** The interval at which claims are given back, in milliseconds. */
const backMillis = 1_000

/**
 * Gives the claims of shards back that this server read and does not own, and those of reads and resets that failed. A
 * claim that is given back without need costs one more read: the owner knows the requests that it executes.
 */
export const watch = Effect.fnUntraced(function* (
  storage: Storage,
  isOwned: (shard: ShardId.ShardId) => boolean
): Effect.fn.Return<Storage, never, Scope.Scope> {
  /** By name. `read`: of requests that were received. `doubtful`: those whose claims must be given back. */
  const read = new Map<string, ShardId.ShardId>()
  const doubtful = new Map<string, ShardId.ShardId>()
  const doubt = (shards: Iterable<ShardId.ShardId>) => {
    for (const shard of shards) doubtful.set(shard.toString(), shard)
  }
  /** Doubts the shards, unless the effect ends well. */
  const sure = <A, E>(shards: ReadonlyArray<ShardId.ShardId>, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.onExit(effect, (exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) doubt(shards)
      })
    )
  const reset: Storage["resetShards"] = (asked) =>
    Effect.suspend(() => {
      const shards = [...asked]
      return sure(shards, storage.resetShards(shards))
    })
  const giveBack = Effect.suspend(() => {
    for (const [name, shard] of read) {
      if (isOwned(shard)) continue
      read.delete(name)
      doubtful.set(name, shard)
    }
    const shards = [...doubtful.values()]
    doubtful.clear()
    return shards.length === 0 ? Effect.void : Effect.ignoreCause(reset(shards))
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(backMillis), giveBack)))
  return {
    ...storage,
    resetShards: reset,
    unprocessedMessages: (asked, options) =>
      Effect.suspend(() => {
        const shards = [...asked]
        return Effect.tap(sure(shards, storage.unprocessedMessages(shards, options)), (messages) =>
          Effect.sync(() => {
            for (const { envelope } of messages) read.set(envelope.address.shardId.toString(), envelope.address.shardId)
          })
        )
      })
  }
})
