import { PostgresServer } from "@divisi/testkit/journals"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresPaces from "../src/PostgresPaces.ts"
import { fresh, hasPostgres } from "./database.ts"

const once = (at: number) => Array.from({ length: at }, (_, index) => index)

describe.skipIf(!hasPostgres)("rate limits in Postgres", () => {
  let server: PostgresServer.PostgresServer
  beforeAll(async () => {
    server = await PostgresServer.start()
  })
  afterAll(() => server.stop())

  /** The rate limits of two processes on one database, and a separate connection for SQL. */
  const two = Effect.gen(function* () {
    const opened = fresh(() => server)
    const [one, other] = [yield* opened, yield* opened]
    return { postgres: one, paces: [yield* PostgresPaces.make(one), yield* PostgresPaces.make(other)] as const }
  })
  const run = <A, E>(program: Effect.Effect<A, E, Scope.Scope>) => Effect.runPromise(Effect.scoped(program))

  it("let through as many of 1,000 requests at once, in two processes, as one minute has", () =>
    run(
      Effect.gen(function* () {
        const { paces } = yield* two
        const limits = { requestsPerMinute: 7 }
        const begun = performance.now()
        const refusals = yield* Effect.forEach(once(1_000), (at) => paces[at % 2]!.take("key", limits), {
          concurrency: "unbounded"
        })
        const granted = refusals.filter((refusal) => refusal === undefined).length
        assert.isAtLeast(granted, 7)
        assert.isAtMost(granted, 7 + Math.ceil(((performance.now() - begun) * 7) / 60_000))
        const refused = refusals.find((refusal) => refusal !== undefined)!
        assert.strictEqual(refused.of, "requests")
        assert.isTrue(refused.waitMillis > 0 && refused.waitMillis <= 60_000 / 7 + 1)
        assert.isUndefined(yield* paces[0].take("another", limits))
      })
    ))

  it("wait off a debt of tokens on all servers, take no request for it, and let time pass", () =>
    run(
      Effect.gen(function* () {
        const { paces, postgres } = yield* two
        const limits = { requestsPerMinute: 2, tokensPerMinute: 10 }
        const pass = (millis: number) =>
          postgres.run((session) =>
            session.query(
              `UPDATE ${postgres.schema}.paces SET requests_full_at = requests_full_at - $1::double precision,
                  tokens_full_at = tokens_full_at - $1::double precision`,
              [millis]
            )
          )
        assert.isUndefined(yield* paces[0].take("key", limits))
        yield* paces[0].use("key", limits, 20)
        const inDebt = yield* paces[1].take("key", limits)
        assert.strictEqual(inDebt?.of, "tokens")
        assert.isTrue(inDebt!.waitMillis > 0 && inDebt!.waitMillis <= 60_000)
        yield* pass(60_000)
        assert.isUndefined(yield* paces[1].take("key", limits))
        assert.isUndefined(yield* paces[0].take("key", limits))
        const tooMany = yield* paces[1].take("key", limits)
        assert.strictEqual(tooMany?.of, "requests")
        assert.isTrue(tooMany!.waitMillis > 0 && tooMany!.waitMillis <= 30_000)
      })
    ))

  it("continue after a crash of the database has emptied their table", () =>
    run(
      Effect.gen(function* () {
        const { paces } = yield* two
        const limits = { requestsPerMinute: 1 }
        assert.isUndefined(yield* paces[0].take("key", limits))
        server.restart("immediate")
        assert.isUndefined(yield* paces[1].take("key", limits))
        assert.strictEqual((yield* paces[0].take("key", limits))?.of, "requests")
      })
    ))
})
