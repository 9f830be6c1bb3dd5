/**
 * Rate limits on requests and tokens per minute, shared by all servers that use the database.
 *
 * Each limit is a token bucket with a capacity of one minute. Only the time at which the bucket is full again is
 * stored, by the database's clock, so that servers need no synchronized clocks. Tokens are counted after use and can
 * overdraw the bucket; further requests are then refused until it has refilled.
 */
import * as Effect from "effect/Effect"
import * as Batches from "./internal/batches.ts"
import { column } from "./internal/session.ts"
import type { Postgres, PostgresError } from "./Postgres.ts"

/** Limits per minute. An omitted limit means unlimited. */
export interface Limits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
}

/** The limit that was exceeded and the time to wait, in milliseconds. */
export interface Refusal {
  readonly of: "requests" | "tokens"
  readonly waitMillis: number
}

/** Rate limits stored in a database. */
export interface Paces {
  /** Counts a request for a caller. If a limit is exceeded, returns a refusal and does not count the request. */
  readonly take: (name: string, limits: Limits) => Effect.Effect<Refusal | undefined, PostgresError>
  /** Counts tokens used by a caller. */
  readonly use: (name: string, limits: Limits, tokens: number) => Effect.Effect<void, PostgresError>
}

interface Task {
  readonly name: string
  readonly limits: Limits
  /** Number of tokens used. If omitted, this task is a request. */
  readonly used?: number | undefined
}

/**
 * The combined result for one caller: the number of admitted requests, and the times at which its buckets are full
 * again, in milliseconds.
 */
interface Found {
  granted: number
  readonly requestsFull: number
  readonly tokensFull: number
}

const minute = 60_000

/** Returns the time in which a bucket refills by one unit, in milliseconds, or 0 if there is no limit. */
const millisOf = (perMinute: number | undefined): number => (perMinute === undefined ? 0 : minute / perMinute)

/**
 * Returns the refusal for a rejected request. The wait lasts until the token debt is repaid, or until the request
 * bucket has room for one request.
 */
const refusalOf = ({ requestsFull, tokensFull }: Found, { requestsPerMinute }: Limits): Refusal => {
  const ofTokens = tokensFull >= minute
  const millis = ofTokens ? tokensFull - minute : requestsFull - minute + millisOf(requestsPerMinute)
  return { of: ofTokens ? "tokens" : "requests", waitMillis: Math.max(1, Math.ceil(millis)) }
}

/** Groups tasks by caller, as rows of query parameters. */
const rowsOf = (tasks: ReadonlyArray<Task>) => {
  const rows = new Map<string, { readonly name: string; readonly limits: Limits; asked: number; used: number }>()
  for (const { limits, name, used } of tasks) {
    const before = rows.get(name)
    const asked = (before?.asked ?? 0) + (used === undefined ? 1 : 0)
    rows.set(name, { name, limits, asked, used: (before?.used ?? 0) + (used ?? 0) })
  }
  return [...rows.values()]
}

/**
 * Creates rate limits stored in a database. Concurrent requests share one statement and one round trip.
 *
 * **Gotchas**
 *
 * The table is unlogged: a crash of the database empties it, which resets the limits. In return, requests do not wait
 * for the disk.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Postgres, PostgresPaces } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function* () {
 *   const postgres = yield* Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 *   const paces = yield* PostgresPaces.make(postgres)
 *   const refusal = yield* paces.take("alice", { requestsPerMinute: 20 })
 *   return refusal === undefined ? "go on" : `wait for ${refusal.waitMillis} ms`
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = Effect.fnUntraced(function* ({ run, schema }: Postgres): Effect.fn.Return<Paces> {
  const table = `${schema}.paces`
  const begin = `
    INSERT INTO ${table} (name, requests_full_at, tokens_full_at)
    SELECT name, 0, 0 FROM unnest($1::text[]) AS given (name) ORDER BY name ON CONFLICT (name) DO NOTHING`
  // Rows are locked in a consistent order to avoid deadlocks between servers.
  const take = `
    WITH given AS (
      SELECT * FROM unnest(
        $1::text[], $2::text[]::integer[], $3::text[]::double precision[], $4::text[]::double precision[],
        $5::text[]::double precision[]
      ) AS given (name, asked, used, request_millis, token_millis)
      CROSS JOIN (SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now) AS clock
    ), locked AS (
      SELECT given.*, greatest(requests_full_at, now) AS requests_at,
        greatest(tokens_full_at, now) + used * token_millis AS tokens_at
      FROM ${table} AS known JOIN given USING (name) ORDER BY name FOR UPDATE OF known
    ), counted AS (
      SELECT *, CASE
        WHEN token_millis > 0 AND tokens_at - now >= ${minute} THEN 0
        WHEN request_millis = 0 THEN asked
        ELSE greatest(0, least(asked, floor((${minute} - (requests_at - now)) / request_millis + 0.001)))
      END AS granted FROM locked
    )
    UPDATE ${table} AS known
    SET requests_full_at = requests_at + granted * request_millis, tokens_full_at = tokens_at
    FROM counted WHERE known.name = counted.name
    RETURNING known.name, granted::integer, requests_full_at - now, tokens_full_at - now`

  const takeAll = (rows: ReturnType<typeof rowsOf>) => {
    const names = column(rows, ({ name }) => name)
    const parameters = [
      names,
      column(rows, ({ asked }) => asked),
      column(rows, ({ used }) => used),
      column(rows, ({ limits }) => millisOf(limits.requestsPerMinute)),
      column(rows, ({ limits }) => millisOf(limits.tokensPerMinute))
    ]
    return Effect.map(
      run((session) => session.query(take, parameters)),
      (found) =>
        new Map(
          found.map(([name, granted, requestsFull, tokensFull]): readonly [string, Found] => [
            String(name),
            { granted: Number(granted), requestsFull: Number(requestsFull), tokensFull: Number(tokensFull) }
          ])
        )
    )
  }

  const perform = yield* Batches.make((tasks: ReadonlyArray<Task>) =>
    Effect.gen(function* () {
      const rows = rowsOf(tasks)
      let found = yield* takeAll(rows)
      const missing = rows.filter(({ name }) => !found.has(name))
      if (missing.length > 0) {
        yield* run((session) => session.query(begin, [column(missing, ({ name }) => name)]))
        found = new Map([...found, ...(yield* takeAll(missing))])
      }
      return tasks.map(({ limits, name, used }) => {
        const of = found.get(name)!
        if (used !== undefined) return Effect.undefined
        of.granted -= 1
        return Effect.succeed(of.granted >= 0 ? undefined : refusalOf(of, limits))
      })
    })
  )

  return {
    take: (name, limits) => perform({ name, limits }),
    use: (name, limits, used) => Effect.asVoid(perform({ name, limits, used }))
  }
})
