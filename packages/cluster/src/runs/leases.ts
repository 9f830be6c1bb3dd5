/**
 * Tracks how long this process is certain to own its shards. The database releases the locks of a process that does not
 * confirm them for `expireMillis`.
 */
import type * as Clock from "effect/Clock"
import type * as RunnerStorage from "effect/cluster/RunnerStorage"
import type * as ShardId from "effect/cluster/ShardId"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import * as Instant from "../internal/instant.ts"

/** The shards of this process, and the time of their last confirmation. */
export interface Leases {
  /** Wraps a lock storage to record confirmations. */
  readonly watch: (storage: RunnerStorage.RunnerStorage["Service"]) => RunnerStorage.RunnerStorage["Service"]
  /**
   * Whether this process owns a shard. False if the shard was never locked, its lock was lost, or it is being released.
   */
  readonly has: (shard: ShardId.ShardId) => boolean
}

/**
 * Fraction of `expireMillis` during which a query about a single shard is answered from memory. The cluster queries a
 * shard before it stores the reply of each run, and restarts the run if the answer takes too long. All queries share
 * one connection with the refresh of all locks and with the release of shards that move to another server. The period
 * is therefore longer than the refresh interval, with a few seconds to spare for a late refresh.
 */
const freshPart = 2 / 3

/** Creates leases that expire after the given time, in milliseconds. */
export const make = (clock: Clock.Clock, expireMillis: number): Leases => {
  const confirmed = new Map<string, Instant.Instant>()
  const releases = Semaphore.makeUnsafe(1)
  const confirming = <E>(
    asked: Iterable<ShardId.ShardId>,
    answer: (shards: ReadonlyArray<ShardId.ShardId>) => Effect.Effect<Array<ShardId.ShardId>, E>
  ) =>
    Effect.suspend(() => {
      const shards = [...asked]
      // Measured before the query, because the database may have responded long before the response is read.
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
      // Shards are released one at a time, because half of them move when a second server joins. If all were released
      // at once, the last would exceed the statement timeout, which closes the connection and thereby frees all other
      // locks.
      release: (address, shard) =>
        Effect.suspend(() => {
          confirmed.delete(shard.toString())
          return releases.withPermits(1)(storage.release(address, shard))
        }),
      releaseAll: (address) =>
        Effect.suspend(() => {
          confirmed.clear()
          return storage.releaseAll(address)
        })
    })
  }
}
