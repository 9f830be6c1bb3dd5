/**
 * Tracks the requests that a server has read. Reading a request claims it for ten minutes, during which no other server
 * receives it unless the claim is released. Effect's cluster releases a claim only once, which is not sufficient in two
 * cases: a read by the previous owner may end after the next owner has locked the shard, or a result cannot be stored
 * because the database is down.
 */
import type * as MessageStorage from "effect/cluster/MessageStorage"
import type * as ShardId from "effect/cluster/ShardId"
import type * as Snowflake from "effect/cluster/Snowflake"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"

type Storage = MessageStorage.MessageStorage["Service"]

/** Interval at which claims are released, in milliseconds. */
const backMillis = 1_000

/** Interval in milliseconds and maximum number of attempts for storing a reply. */
const againMillis = 250
const attempts = 20

/**
 * Releases claims on requests that this server has read but does not own, on requests whose read failed, and on
 * requests whose release failed before. Releasing a claim unnecessarily only costs another read, because the owner
 * recognizes requests that it already executes. While the database is unreachable, storing a reply is retried for a few
 * seconds. Otherwise, the request would be neither executed nor available.
 *
 * Reads at most `room()` requests at a time, so that pending requests stay in the database rather than in this server's
 * memory.
 */
export const watch = Effect.fnUntraced(function* (
  storage: Storage,
  isOwned: (shard: ShardId.ShardId) => boolean,
  room: () => number
): Effect.fn.Return<Storage, never, Scope.Scope> {
  /**
   * Shards by name. `received` contains the shards of requests that were read, `doubtful` those whose claims must be
   * released.
   */
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
        // Messages store their replies in the storage from which they were read.
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
