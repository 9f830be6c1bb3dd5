/**
 * The requests that a server has read. Reading claims a request for ten minutes: no other server receives it meanwhile, unless
 * the claim is given back. Effect's cluster tries that once: when the next owner has locked the shard, which is too early for
 * a read by the owner before that ends later, and when a result cannot be stored, which fails while the database is down.
 */
import type * as MessageStorage from "effect/cluster/MessageStorage"
import type * as ShardId from "effect/cluster/ShardId"
import type * as Snowflake from "effect/cluster/Snowflake"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"

type Storage = MessageStorage.MessageStorage["Service"]

/** The interval at which claims are given back, in milliseconds. */
const backMillis = 1_000

/** The interval at which the reply of a request is stored again, in milliseconds, and the number of attempts. */
const againMillis = 250
const attempts = 20

/**
 * Gives claims back: those of shards that this server read and does not own, those of reads whose answer was lost, and those
 * that could not be given back before. A claim that is given back without need costs one more read: the owner knows the
 * requests that it executes. The reply of a request is stored again for a few seconds while the database is unreachable:
 * without it the request would be neither executed nor free.
 *
 * Reads at most `room()` requests at once, and none if there is no room: those that wait stay in the database, and not in
 * the memory of this server.
 */
export const watch = Effect.fnUntraced(function* (
  storage: Storage,
  isOwned: (shard: ShardId.ShardId) => boolean,
  room: () => number
): Effect.fn.Return<Storage, never, Scope.Scope> {
  /** By name. `received`: of requests that were read. `doubtful`: those whose claims must be given back. */
  const received = new Map<string, ShardId.ShardId>()
  const doubtful = new Map<string, ShardId.ShardId>()
  const requests = new Set<Snowflake.Snowflake>()
  const doubt = (shards: Iterable<ShardId.ShardId>) => {
    for (const shard of shards) doubtful.set(shard.toString(), shard)
  }
  const onFailure = <A, E>(effect: Effect.Effect<A, E>, note: () => void): Effect.Effect<A, E> =>
    Effect.onError(effect, () => Effect.sync(note))
  const resetShards: Storage["resetShards"] = (asked) =>
    Effect.suspend(() => {
      const shards = [...asked]
      return onFailure(storage.resetShards(shards), () => doubt(shards))
    })
  const resetRequests: Storage["resetRequests"] = (ids) =>
    onFailure(storage.resetRequests(ids), () => {
      for (const id of ids) requests.add(id)
    })
  const giveBack = Effect.suspend(() => {
    for (const [name, shard] of received) {
      if (isOwned(shard)) continue
      received.delete(name)
      doubtful.set(name, shard)
    }
    const [shards, ids] = [[...doubtful.values()], [...requests]]
    doubtful.clear()
    requests.clear()
    const ofShards = shards.length === 0 ? Effect.void : Effect.ignoreCause(resetShards(shards))
    return ids.length === 0 ? ofShards : Effect.andThen(ofShards, Effect.ignoreCause(resetRequests(ids)))
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(backMillis), giveBack)))
  const watched: Storage = {
    ...storage,
    resetShards,
    resetRequests,
    resetAddress: (address) => onFailure(storage.resetAddress(address), () => doubt([address.shardId])),
    resetAddresses: (addresses) =>
      onFailure(storage.resetAddresses(addresses), () => doubt(addresses.map(({ shardId }) => shardId))),
    saveReply: (reply) =>
      Effect.retry(storage.saveReply(reply), {
        schedule: Schedule.spaced(againMillis),
        times: attempts,
        while: ({ _tag }) => _tag === "PersistenceError"
      }),
    unprocessedMessages: (asked, options) =>
      Effect.suspend(() => {
        const limit = Math.min(options?.limit ?? Number.POSITIVE_INFINITY, room())
        if (limit <= 0) return Effect.succeed([])
        const shards = [...asked]
        // Messages store their replies in the storage that they were read from.
        const read = storage.unprocessedMessages.call(watched, shards, { ...options, limit })
        const messages = onFailure(read, () => doubt(shards))
        return Effect.tap(messages, (messages) =>
          Effect.sync(() => {
            for (const { envelope } of messages)
              received.set(envelope.address.shardId.toString(), envelope.address.shardId)
          })
        )
      })
  }
  return watched
})
