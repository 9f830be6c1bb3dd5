/** A key-value store for strings in Postgres. Servers use it for data that they share or store for clients. */
import { ResponseCache, Options as Tables } from "@divisi/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Batches from "./internal/batches.ts"
import { column } from "./internal/session.ts"
import type { Postgres, PostgresError } from "./Postgres.ts"

/** Options for a store. */
export interface Options {
  /** Namespace of the entries, for example `responses`. Names are unique within a kind. */
  readonly kind: string
  /** How long an entry is stored. Numbers are in milliseconds. Default: no limit. */
  readonly timeToLive?: Duration.Input | undefined
  /**
   * Approximate maximum total size of this kind's entries, in bytes. When it is exceeded, the oldest entries are
   * deleted. Default: unlimited.
   */
  readonly maxBytes?: number | undefined
}

const optionsTable = Tables.table(
  { kind: Tables.name, timeToLive: ResponseCache.aDuration, maxBytes: Tables.limit } satisfies Tables.ShapeOf<Options>,
  { required: ["kind"] }
)

/** Strings stored by name. Once `set` completes, all processes see the new value. */
export interface Records {
  readonly get: (name: string) => Effect.Effect<string | undefined, PostgresError>
  readonly set: (name: string, text: string) => Effect.Effect<void, PostgresError>
  /** Replaces an entry if its text is still the given one. Returns whether it was replaced. */
  readonly replace: (name: string, before: string, text: string) => Effect.Effect<boolean, PostgresError>
  readonly remove: (name: string) => Effect.Effect<void, PostgresError>
  /** Returns all entries by name, oldest first. */
  readonly all: Effect.Effect<ReadonlyMap<string, string>, PostgresError>
  /**
   * Deletes entries last written before the given time, in milliseconds since 1970. Returns their number and size. With
   * `isDryRun`, entries are only counted.
   */
  readonly purge: (
    before: number,
    isDryRun?: boolean
  ) => Effect.Effect<{ readonly entries: number; readonly bytes: number }, PostgresError>
}

/** Maximum number of entries deleted by one statement. */
const removedAtOnce = 1_000

/** Number of writes between two checks of the size limit. */
const countedEvery = 64

/**
 * Opens the entries of one kind. Concurrent reads share one statement.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Postgres, PostgresRecords } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function* () {
 *   const postgres = yield* Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 *   const notes = yield* PostgresRecords.make(postgres, { kind: "notes", timeToLive: "30 days" })
 *   yield* notes.set("one", "Forty-two.")
 *   return yield* notes.get("one")
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = Effect.fnUntraced(function* (
  { now, run, schema }: Postgres,
  options: Options
): Effect.fn.Return<Records> {
  Tables.check("PostgresRecords.make", options, optionsTable)
  const { kind, maxBytes, timeToLive } = options
  const table = `${schema}.records`
  const lifeMillis = timeToLive === undefined ? undefined : Duration.toMillis(timeToLive)
  const since = () => `${lifeMillis === undefined ? 0 : now() - lifeMillis}`
  let written = 0

  const find = `SELECT name, body FROM ${table} WHERE kind = $1 AND name = ANY ($2::text[]) AND kept_at >= $3::bigint`
  const put = `
    INSERT INTO ${table} (kind, name, bytes, kept_at, body)
    SELECT $1, name, octet_length(body), $4::bigint, body FROM unnest($2::text[], $3::text[]) AS given (name, body)
    ORDER BY name
    ON CONFLICT (kind, name) DO UPDATE SET bytes = excluded.bytes, kept_at = excluded.kept_at, body = excluded.body`
  const exchange = `
    UPDATE ${table} SET bytes = octet_length($4), kept_at = $5::bigint, body = $4
    WHERE kind = $1 AND name = $2 AND body = $3 RETURNING 1`
  const crowd = `
    DELETE FROM ${table} WHERE kind = $1 AND name IN (
      SELECT name FROM (
        SELECT name, sum(bytes) OVER (ORDER BY kept_at DESC, name) AS sum FROM ${table} WHERE kind = $1
      ) AS counted WHERE sum > $2::bigint
    )`

  const count = `
    SELECT count(*)::double precision, coalesce(sum(bytes), 0)::double precision FROM ${table}
    WHERE kind = $1 AND kept_at < $2::bigint`
  const removeSome = `
    DELETE FROM ${table} WHERE kind = $1 AND name IN (
      SELECT name FROM ${table} WHERE kind = $1 AND kept_at < $2::bigint LIMIT ${removedAtOnce}
    ) RETURNING 1`

  const makeRoom = Effect.gen(function* () {
    if (lifeMillis !== undefined) {
      const old = `DELETE FROM ${table} WHERE kind = $1 AND kept_at < $2::bigint`
      yield* run((session) => session.query(old, [kind, since()]))
    }
    if (maxBytes !== undefined) yield* run((session) => session.query(crowd, [kind, `${maxBytes}`]))
  })

  const get = yield* Batches.make((names: ReadonlyArray<string>) =>
    Effect.map(
      run((session) => session.query(find, [kind, [...new Set(names)], since()])),
      (rows) => {
        const found = new Map(rows.map(([name, body]) => [String(name), String(body)]))
        return names.map((name) => Effect.succeed(found.get(name)))
      }
    )
  )

  const set = yield* Batches.make(
    (texts: ReadonlyArray<{ readonly name: string; readonly text: string }>) => {
      const names = column(texts, ({ name }) => name)
      const bodies = column(texts, ({ text }) => text)
      const stored = run((session) => session.query(put, [kind, names, bodies, `${now()}`]))
      const isCounted = written % countedEvery === 0
      written += 1
      return Effect.as(
        isCounted ? Effect.tap(stored, () => makeRoom) : stored,
        texts.map(() => Effect.void)
      )
    },
    ({ name }) => name
  )

  const removeOld = (before: number): Effect.Effect<void, PostgresError> =>
    Effect.flatMap(
      run((session) => session.query(removeSome, [kind, `${before}`])),
      (removed) => (removed.length < removedAtOnce ? Effect.void : removeOld(before))
    )

  const purge: Records["purge"] = (before, isDryRun = false) =>
    Effect.flatMap(
      run((session) => session.query(count, [kind, `${before}`])),
      ([row]) => {
        const counted = { entries: Number(row?.[0]), bytes: Number(row?.[1]) }
        return isDryRun ? Effect.succeed(counted) : Effect.as(removeOld(before), counted)
      }
    )

  return {
    get,
    purge,
    set: (name, text) => set({ name, text }),
    replace: (name, before, text) =>
      Effect.map(
        run((session) => session.query(exchange, [kind, name, before, text, `${now()}`])),
        (rows) => rows.length > 0
      ),
    remove: (name) =>
      Effect.asVoid(
        run((session) => session.query(`DELETE FROM ${table} WHERE kind = $1 AND name = $2`, [kind, name]))
      ),
    all: Effect.map(
      run((session) =>
        session.query(
          `SELECT name, body FROM ${table} WHERE kind = $1 AND kept_at >= $2::bigint ORDER BY kept_at, name`,
          [kind, since()]
        )
      ),
      (rows) => new Map(rows.map(([name, body]) => [String(name), String(body)]))
    )
  }
})
