/**
 * Token buckets in Postgres, shared by all servers that use the database, for limits that apply to all of them together,
 * such as a vendor's requests per minute.
 *
 * For each bucket, only the time at which it is full again is stored, by the database's clock, so that servers need no
 * synchronized clocks.
 *
 * `PostgresPaces` has a statement of its own for the same table: it grants as many requests of a batch as fit, and
 * tokens may overdraw its buckets. Here, one call takes all of its tokens or none.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RateLimiter from "effect/persistence/RateLimiter"
import { databaseNow } from "./internal/owner.ts"
import type { Postgres } from "./Postgres.ts"

/** Maximum time to wait for the database, in milliseconds. A rate limit is not worth a longer delay of every call. */
const patienceMillis = 2_000

const unavailable = (message: string, cause?: unknown) =>
  new RateLimiter.RateLimiterError({ reason: new RateLimiter.RateLimitStoreError({ message, cause }) })

/**
 * Provides Effect's `RateLimiterStore` with token buckets in a database.
 *
 * **Gotchas**
 *
 * Fixed windows and adaptive limits are not shared: they are stored in memory. The table is unlogged: a crash of the
 * database empties it, which fills all buckets. If the database does not respond within 2 seconds, a call fails with
 * `RateLimitStoreError`; `ProviderGate` then admits it.
 *
 * **Example** (one limit for the calls of several processes)
 *
 * ```ts no-run
 * import { Postgres, PostgresRateLimits } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as RateLimiter from "effect/persistence/RateLimiter"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function* () {
 *   const postgres = yield* Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 *   const limiter = yield* Effect.provide(RateLimiter.make, PostgresRateLimits.layer(postgres))
 *   return yield* limiter.consume({ algorithm: "token-bucket", key: "openai", limit: 500, window: "1 minute" })
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 *
 * `ProviderGate.layerShared` of `@divisi/provider-kit` applies such limits to all calls of a provider.
 */
export const layer = ({ run, schema }: Postgres): Layer.Layer<RateLimiter.RateLimiterStore> => {
  const table = `${schema}.paces`
  const fullAt = `greatest(known.requests_full_at, ${databaseNow}) + $2::double precision`
  // The row is created full. The update is skipped if the bucket has too few tokens.
  const take = `
    INSERT INTO ${table} AS known (name, requests_full_at, tokens_full_at)
    VALUES ($1::text, ${databaseNow} + $2::double precision, 0)
    ON CONFLICT (name) DO UPDATE SET requests_full_at = ${fullAt} WHERE ${fullAt} - ${databaseNow} <= $3::double precision
    RETURNING requests_full_at - ${databaseNow}`
  const look = `SELECT ${fullAt} - ${databaseNow} FROM ${table} AS known WHERE name = $1::text`

  /** Takes tokens, and returns the time in which the bucket would be full, in milliseconds. Overdrafts are not stored. */
  const millisUntilFull = (name: string, takeMillis: number, capacityMillis: number) =>
    run((session) =>
      Effect.gen(function* () {
        const taken = yield* session.query(take, [name, takeMillis, capacityMillis])
        const found = taken.length > 0 ? taken : yield* session.query(look, [name, takeMillis])
        return Number(found[0]?.[0] ?? takeMillis)
      })
    ).pipe(
      Effect.mapError((error) => unavailable(error.message, error)),
      Effect.timeoutOrElse({
        duration: patienceMillis,
        orElse: () => Effect.fail(unavailable(`The database did not respond within ${patienceMillis / 1_000} seconds.`))
      })
    )

  return Layer.effect(
    RateLimiter.RateLimiterStore,
    Effect.map(RateLimiter.RateLimiterStore, (memory) => ({
      ...memory,
      tokenBucket: ({ allowOverflow, key, limit, refillRate, tokens }) => {
        const tokenMillis = Duration.toMillis(refillRate)
        // Rounding must not make a full bucket too small for as many tokens as it holds.
        const capacityMillis = allowOverflow ? Number.MAX_VALUE : limit * tokenMillis + 1
        return Effect.map(millisUntilFull(`limit ${key}`, tokens * tokenMillis, capacityMillis), (millis) => {
          const exact = limit - millis / tokenMillis
          const remaining = millis <= capacityMillis ? Math.max(0, Math.floor(exact)) : Math.floor(exact)
          return [remaining, Math.max(0, (exact - remaining) * tokenMillis)] as const
        })
      }
    }))
  ).pipe(Layer.provide(RateLimiter.layerStoreMemory))
}
