import { PostgresServer } from "@divisi/testkit/journals"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresRateLimits from "../src/PostgresRateLimits.ts"
import { fresh, hasPostgres } from "./database.ts"

describe.skipIf(!hasPostgres)("token buckets in Postgres", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  const limiterOf = (postgres: Parameters<typeof PostgresRateLimits.layer>[0]) =>
    Effect.provide(RateLimiter.make, PostgresRateLimits.layer(postgres))

  /** The limiters of two processes on one database, and a connection for SQL. */
  const two = Effect.gen(function* () {
    const opened = fresh(() => server)
    const [one, other] = [yield* opened, yield* opened]
    return { postgres: one, limiters: [yield* limiterOf(one), yield* limiterOf(other)] as const }
  })
  const run = <A, E>(program: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(program))

  const consume = (limiter: RateLimiter.RateLimiter, tokens: number, limit: number, key = "vendor/tokens") =>
    limiter.consume({
      algorithm: "token-bucket",
      onExceeded: "fail",
      window: Duration.minutes(1),
      limit,
      key,
      tokens
    })

  /** Returns how long to wait, in milliseconds, if the bucket has too few tokens. */
  const waitOf = (limiter: RateLimiter.RateLimiter, tokens: number, limit: number) =>
    Effect.flip(consume(limiter, tokens, limit)).pipe(
      Effect.map(({ reason }) =>
        reason._tag === "RateLimitExceeded" ? Duration.toMillis(reason.retryAfter) : assert.fail(reason.message)
      )
    )

  it("admit a limit's calls in all, however many processes ask at once", () =>
    run(
      Effect.gen(function* () {
        const { limiters } = yield* two
        const begun = performance.now()
        const results = yield* Effect.forEach(
          Array.from({ length: 400 }, (_, at) => at),
          (at) => Effect.option(consume(limiters[at % 2]!, 1, 7)),
          { concurrency: 32 }
        )
        const granted = results.filter(({ _tag }) => _tag === "Some").length
        assert.isAtLeast(granted, 7)
        assert.isAtMost(granted, 8 + Math.floor(((performance.now() - begun) * 7) / 60_000))
        yield* consume(limiters[0], 1, 7, "another vendor/tokens")
      })
    ))

  it("say how long to wait, take nothing for a refused call, and refill by the database's clock", () =>
    run(
      Effect.gen(function* () {
        const { limiters, postgres } = yield* two
        const pass = (millis: number) =>
          postgres.run((session) =>
            session.query(
              `UPDATE ${postgres.schema}.paces SET requests_full_at = requests_full_at - $1::double precision`,
              [millis]
            )
          )
        assert.isAtMost((yield* consume(limiters[0], 60_000, 60_000)).remaining, 1_000)
        yield* pass(10_000)
        const wait = yield* waitOf(limiters[1], 30_000, 60_000)
        assert.isTrue(wait > 5_000 && wait <= 20_000, `${wait} ms`)
        assert.isAtMost(yield* waitOf(limiters[0], 30_000, 60_000), wait)
        yield* pass(20_000)
        const { remaining } = yield* consume(limiters[0], 30_000, 60_000)
        assert.isAtLeast(remaining, 0)
        yield* pass(60_000)
        // A full bucket has room for one call of its whole size.
        yield* consume(limiters[1], 60_000, 60_000)
      })
    ))

  it("fail with a store error while the database is gone", () =>
    run(
      Effect.gen(function* () {
        const { limiters } = yield* two
        server.stop()
        const { reason } = yield* Effect.flip(consume(limiters[0], 1, 1))
        assert.strictEqual(reason._tag, "RateLimitStoreError")
      })
    ))
})
