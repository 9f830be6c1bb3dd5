/**
 * The time for which this process certainly has its shards. The database frees the locks of a process that confirms nothing
 * for `expireMillis`.
 */
import type * as Clock from "effect/Clock"
import type * as RunnerStorage from "effect/cluster/RunnerStorage"
import type * as ShardId from "effect/cluster/ShardId"
import * as Effect from "effect/Effect"
import * as Instant from "../internal/instant.ts"

/** The shards of this process, and when their locks were confirmed. */
export interface Leases {
  /** Notes each confirmation by a storage of locks. */
  readonly watch: (storage: RunnerStorage.RunnerStorage["Service"]) => RunnerStorage.RunnerStorage["Service"]
  /** False for a shard that was never locked, whose lock was lost, or whose release has begun. */
  readonly has: (shard: ShardId.ShardId) => boolean
}

/**
 * A question for one shard is answered without the database within this part of that time. The cluster asks it before it
 * stores the reply of each run. All questions share one connection with the refresh of all locks: under load they would
 * wait there until the cluster takes all locks for lost, and begins every run again.
 */
const freshPart = 1 / 3

/** Leases whose locks expire after a time in milliseconds. */
export const make = (clock: Clock.Clock, expireMillis: number): Leases => {
  const confirmed = new Map<string, Instant.Instant>()
  const confirming = <E>(
    asked: Iterable<ShardId.ShardId>,
    answer: (shards: ReadonlyArray<ShardId.ShardId>) => Effect.Effect<Array<ShardId.ShardId>, E>
  ) =>
    Effect.suspend(() => {
      const shards = [...asked]
      // From before the question: the database may have answered long before the answer is read.
      const since = Instant.now(clock)
      return Effect.tap(answer(shards), (held) =>
        Effect.sync(() => {
          for (const shard of shards) confirmed.delete(shard.toString())
          for (const shard of held) confirmed.set(shard.toString(), since)
        })
      )
    })
  const isFresh = (shard: ShardId.ShardId): boolean => {
    const since = confirmed.get(shard.toString())
    return since !== undefined && Instant.millisBetween(since, Instant.now(clock)) < expireMillis * freshPart
  }
  return {
    has: (shard) => confirmed.has(shard.toString()),
    watch: (storage) => ({
      ...storage,
      acquire: (address, shards) => confirming(shards, (shards) => storage.acquire(address, shards)),
      refresh: (address, asked) =>
        Effect.suspend(() => {
          const shards = [...asked]
          const [shard] = shards
          if (shards.length === 1 && shard !== undefined && isFresh(shard)) return Effect.succeed(shards)
          return confirming(shards, (shards) => storage.refresh(address, shards))
        }),
      release: (address, shard) =>
        Effect.suspend(() => {
          confirmed.delete(shard.toString())
          return storage.release(address, shard)
        }),
      releaseAll: (address) =>
        Effect.suspend(() => {
          confirmed.clear()
          return storage.releaseAll(address)
        })
    })
  }
}
