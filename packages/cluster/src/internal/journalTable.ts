/**
 * The statements that read and write runs and their entries in Postgres. Write statements process many runs at once.
 */
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Postgres } from "../Postgres.ts"
import { databaseNow as clockMillis, isLost } from "./owner.ts"
import { column, type Row, type Session } from "./session.ts"

/** A claimed run, identified by its row id. */
export interface Claimed {
  readonly id: string
  readonly epoch: number
  readonly length: number
  /** Number of processes in a row that lost the run without receiving an answer in between. */
  readonly takeovers: number
}

/** The fields that identify a claim. */
export type Named = Pick<Claimed, "id" | "epoch">

/** Raised if journal entries are missing. */
export class Torn extends Error {}

/** Entries to append to a run, identified by its row id. */
export interface Appended extends Journal.Batch {
  readonly id: string
}

/** A run that has entries. */
export interface Listed {
  readonly run: string
  readonly length: number
  readonly bytes: number
  readonly changedAt: number
  readonly ageMillis: number
  readonly head: ReturnType<typeof Journal.readHead>
  /** Set if the owning process is alive. */
  readonly owner: string | undefined
  /** True if the owner may be dead, which cannot be determined shortly after a restart of the database. */
  readonly isOwnerUnconfirmed?: true | undefined
}

type Written<A> = Effect.Effect<A, SqlError>

/** The statements for journals. */
export interface JournalTable {
  /**
   * Claims runs by id (without duplicates). Runs held by another live process are omitted from the result, unless they
   * are taken over (`taken`). With `expireMillis`, a run is taken over only if its owner was not seen for that long.
   */
  readonly claim: (
    session: Session,
    runs: ReadonlyArray<string>,
    taken: ReadonlyArray<string>,
    expireMillis: number | undefined
  ) => Written<ReadonlyMap<string, Claimed>>
  /**
   * Returns the owner of a run, and whether the run will soon be released: it is suspended or finished, or its process
   * is disconnected.
   */
  readonly holder: (session: Session, run: string) => Written<{ owner: string; waits: boolean } | undefined>
  readonly release: (session: Session, claims: ReadonlyArray<Named>) => Written<void>
  /** Returns the claims on the given runs that the database assigns to this process. */
  readonly mine: (
    session: Session,
    runs: ReadonlyArray<string>
  ) => Written<ReadonlyArray<Named & { readonly run: string }>>
  /**
   * Extends the time during which no other process takes over a run. Returns whether this process still holds the
   * claim.
   */
  readonly renew: (session: Session, claim: Named) => Written<boolean>
  /** Releases all claims held by this process. */
  readonly releaseAll: (session: Session) => Written<void>
  /**
   * Returns the ids of the runs whose batch was written. `isAgain` indicates that the batch may have been written
   * before.
   */
  readonly append: (
    session: Session,
    batches: ReadonlyArray<Appended>,
    isAgain: boolean
  ) => Written<ReadonlySet<string>>
  readonly read: (
    session: Session,
    run: string,
    from: number
  ) => Effect.Effect<ReadonlyArray<Journal.Entry>, SqlError | Torn>
  /** Returns the number of entries for each run. */
  readonly lengths: (session: Session, runs: ReadonlyArray<string>) => Written<ReadonlyArray<number>>
  readonly find: (session: Session, run: string) => Written<Listed | undefined>
  readonly list: (session: Session, query: Journal.Query) => Written<ReadonlyArray<Listed>>
  readonly remove: (session: Session, runs: ReadonlyArray<string>) => Written<ReadonlyArray<string>>
}

const databaseNow = `${clockMillis}::bigint`

/** Creates the statements for a schema and a process. */
export const make = (
  schema: string,
  self: string,
  { hasLock, isAlive }: Pick<Postgres, "hasLock" | "isAlive">
): JournalTable => {
  const [runs, batches] = [`${schema}.runs`, `${schema}.batches`]

  /** SQL condition for a takeover. A process that wrote to a run may read the response later and then send a call. */
  const lost = (expireMillis: number) =>
    `known.changed_at < ${databaseNow} - ${expireMillis / 2} AND ${isLost(schema, "known.owner", "$2", expireMillis)}`
  // Rows are locked in a consistent order to avoid deadlocks.
  const claim = (expireMillis: number | undefined) => `
    INSERT INTO ${runs} AS known (run, epoch, owner, length, bytes, changed_at)
    SELECT run, 1, $2, 0, 0, ${databaseNow} FROM unnest($1::text[]) AS given (run) ORDER BY run
    ON CONFLICT (run) DO UPDATE SET epoch = known.epoch + 1, owner = excluded.owner, takeovers =
        CASE WHEN known.owner IS NULL THEN 0 WHEN known.owner = excluded.owner THEN known.takeovers
        ELSE known.takeovers + 1 END
      WHERE known.owner IS NULL OR known.owner = excluded.owner OR CASE WHEN known.run = ANY ($3::text[])
        THEN ${expireMillis === undefined ? "true" : lost(expireMillis)} ELSE NOT ${isAlive("known.owner")} END
    RETURNING run, id::text, epoch, length, takeovers`
  const renew = `UPDATE ${runs} SET changed_at = ${databaseNow}
    WHERE id = $1::text::bigint AND epoch = $2::text::integer AND owner = $3 RETURNING id::text`
  const release = `
    WITH given AS (SELECT * FROM unnest($1::text[]::bigint[], $2::text[]::integer[]) AS given (id, epoch)),
    mine AS (
      SELECT ${runs}.id, length FROM given JOIN ${runs} USING (id, epoch) WHERE owner = $3 ORDER BY id
      FOR UPDATE OF runs
    ),
    empty AS (DELETE FROM ${runs} USING mine WHERE runs.id = mine.id AND mine.length = 0)
    UPDATE ${runs} SET owner = NULL FROM mine WHERE runs.id = mine.id AND mine.length > 0`
  const mine = `SELECT run, id::text, epoch FROM ${runs} WHERE owner = $1 AND run = ANY ($2::text[])`
  const append = `
    WITH given AS (
      SELECT * FROM unnest(
        $1::text[]::bigint[], $2::text[]::integer[], $3::text[]::integer[], $4::text[]::integer[], $5::text[], $6::text[],
        $7::text[], $8::text[], $10::text[]::boolean[]
      ) AS given (id, epoch, seq, count, entries, head, caller, request, is_answered)
    ),
    mine AS (
      SELECT runs.id FROM given JOIN ${runs} ON runs.id = given.id AND runs.epoch = given.epoch AND runs.length = given.seq
      WHERE owner = $9 ORDER BY runs.id FOR UPDATE OF runs
    ),
    grown AS (
      UPDATE ${runs} SET length = runs.length + given.count, bytes = runs.bytes + octet_length(given.entries),
        changed_at = ${databaseNow}, head = coalesce(nullif(given.head, ''), runs.head),
        caller = coalesce(nullif(given.caller, ''), runs.caller),
        request = coalesce(nullif(given.request, ''), runs.request),
        takeovers = CASE WHEN given.is_answered THEN 0 ELSE runs.takeovers END
      FROM mine JOIN given USING (id) WHERE runs.id = mine.id
      RETURNING runs.id
    )
    INSERT INTO ${batches} (run, seq, entries)
    SELECT id, seq, entries FROM grown JOIN given USING (id) RETURNING run::text`
  const there = `
    SELECT runs.id::text
    FROM unnest($1::text[]::bigint[], $2::text[]::integer[], $3::text[]::integer[], $4::text[]::integer[], $5::text[])
      AS given (id, epoch, seq, count, entries)
    JOIN ${runs} ON runs.id = given.id AND runs.epoch = given.epoch AND runs.length = given.seq + given.count
    JOIN ${batches} ON batches.run = runs.id AND batches.seq = given.seq AND batches.entries = given.entries`
  const read = `
    SELECT runs.length, batches.seq, batches.entries FROM ${runs} LEFT JOIN ${batches}
      ON batches.run = runs.id AND batches.seq >= coalesce(
        (SELECT max(seq) FROM ${batches} WHERE batches.run = runs.id AND seq <= $2::bigint), 0
      )
    WHERE runs.run = $1 AND (runs.length > $2::bigint OR (runs.length < 1 AND head IS NOT NULL)) ORDER BY batches.seq`
  const lengths = `SELECT run, length FROM ${runs} WHERE run = ANY ($1::text[])`
  const isSelf = `owner = '${self.replaceAll("'", "''")}'`
  const listed = `SELECT run, length, bytes::double precision, changed_at::double precision, head,
    CASE WHEN owner IS NOT NULL AND (${isSelf} OR ${isAlive("owner")}) THEN owner END,
    greatest(0, ${databaseNow} - changed_at)::double precision, ${isSelf} OR ${hasLock("owner")}`
  const before = `id < coalesce((SELECT CASE WHEN $1 = '' THEN NULL ELSE coalesce(
    (SELECT id FROM ${runs} WHERE run = $1), 0) END), ${Number.MAX_SAFE_INTEGER})`
  const list = `${listed} FROM ${runs} WHERE ${before} AND head IS NOT NULL ORDER BY id DESC LIMIT nullif($2::bigint, -1)`
  const theirs = `${listed} FROM ${runs} WHERE ${before} AND head IS NOT NULL AND caller = $3
    ORDER BY id DESC LIMIT nullif($2::bigint, -1)`
  const answering = `${listed} FROM ${runs} WHERE ${before} AND head IS NOT NULL AND request = $3
    AND ($4 = '' OR caller = $4) ORDER BY id DESC LIMIT nullif($2::bigint, -1)`
  const remove = `
    WITH gone AS (
      DELETE FROM ${runs} AS known WHERE run = ANY ($1::text[]) AND (
        owner IS NULL OR (owner <> $2 AND NOT ${isAlive("known.owner")})
      ) RETURNING id, run
    ), emptied AS (DELETE FROM ${batches} USING gone WHERE batches.run = gone.id)
    SELECT run FROM gone`

  const listedOf = ([run, length, bytes, changedAt, head, owner, age, isConfirmed]: Row): Listed => ({
    run: String(run),
    length: Number(length),
    bytes: Number(bytes),
    changedAt: Number(changedAt),
    ageMillis: Number(age),
    head: Journal.readHead(head),
    owner: owner === null ? undefined : String(owner),
    ...(owner !== null && isConfirmed === false && { isOwnerUnconfirmed: true })
  })

  const entriesOf = (run: string, first: number, rows: ReadonlyArray<Row>): ReadonlyArray<Journal.Entry> => {
    const [row] = rows
    if (row === undefined) return []
    if (Number(row[0]) < 1) throw new Torn(`the length of run ${run}, ${row[0]}`)
    const start = row[1] === null ? Number.POSITIVE_INFINITY : Number(row[1])
    let next = start
    const entries: Array<Journal.Entry> = []
    for (const [, seq, text] of rows) {
      if (seq !== next) throw new Torn(`entries of run ${run} from ${next} on`)
      const some: ReadonlyArray<Journal.Entry> = JSON.parse(String(text))
      entries.push(...some)
      next += some.length
    }
    if (start > first || next < Number(row[0])) {
      throw new Torn(`entries of run ${run} from ${start > first ? first : next} on`)
    }
    return entries.slice(first - start)
  }

  return {
    claim: (session, names, taken, expireMillis) =>
      Effect.map(session.query(claim(expireMillis), [names, self, taken]), (rows) => {
        const entry = ([run, id, epoch, length, takeovers]: Row) => {
          const claimed = { id: String(id), epoch: Number(epoch), length: Number(length), takeovers: Number(takeovers) }
          return [String(run), claimed] as const
        }
        return new Map(rows.map(entry))
      }),
    holder: (session, run) =>
      Effect.map(
        session.query(`SELECT owner, head, ${hasLock("owner")} FROM ${runs} WHERE run = $1`, [run]),
        ([row]) => {
          if (row === undefined || row[0] === null) return undefined
          const head = Journal.readHead(row[1])
          return {
            owner: String(row[0]),
            waits: head.waitsFor !== undefined || head.ending !== undefined || row[2] !== true
          }
        }
      ),
    release: (session, claims) =>
      Effect.asVoid(
        session.query(release, [column(claims, ({ id }) => id), column(claims, ({ epoch }) => epoch), self])
      ),
    mine: (session, names) =>
      Effect.map(session.query(mine, [self, names]), (rows) =>
        rows.map(([run, id, epoch]) => ({ run: String(run), id: String(id), epoch: Number(epoch) }))
      ),
    renew: (session, { epoch, id }) =>
      Effect.map(session.query(renew, [id, `${epoch}`, self]), (rows) => rows.length > 0),
    releaseAll: (session) =>
      Effect.asVoid(
        session.query(
          `WITH gone AS (DELETE FROM ${runs} WHERE owner = $1 AND length = 0)
          UPDATE ${runs} SET owner = NULL WHERE owner = $1 AND length > 0`,
          [self]
        )
      ),
    append: (session, given, isAgain) => {
      const columns = [
        column(given, ({ id }) => id),
        column(given, ({ epoch }) => epoch),
        column(given, ({ seq }) => seq),
        column(given, ({ entries }) => entries.length),
        column(given, ({ entries }) => JSON.stringify(entries))
      ]
      const heads = column(given, ({ head }) => (head === undefined ? "" : JSON.stringify(head satisfies Journal.Head)))
      const callers = column(given, ({ head }) => head?.caller ?? "")
      const requests = column(given, ({ head }) => head?.request ?? "")
      const answered = column(given, ({ entries }) => `${entries.some(({ type }) => type === "answered")}`)
      const written = session.query(append, [...columns, heads, callers, requests, self, answered])
      const before = isAgain ? session.query(there, columns) : Effect.succeed([])
      return Effect.flatMap(before, (before) =>
        Effect.map(written, (rows) => new Set([...before, ...rows].map(([id]) => String(id))))
      )
    },
    read: (session, run, from) =>
      Effect.flatMap(session.query(read, [run, from]), (rows) =>
        Effect.try({ try: () => entriesOf(run, from, rows), catch: (error) => new Torn((error as Error).message) })
      ),
    lengths: (session, names) =>
      Effect.map(session.query(lengths, [names]), (rows) => {
        const found = new Map(rows.map(([run, length]) => [String(run), Number(length)]))
        return names.map((run) => found.get(run) ?? 0)
      }),
    find: (session, run) =>
      Effect.map(session.query(`${listed} FROM ${runs} WHERE run = $1 AND head IS NOT NULL`, [run]), ([row]) =>
        row === undefined ? undefined : listedOf(row)
      ),
    list: (session, { after = "", caller, limit = -1, request }) => {
      const page = [after, `${limit}`]
      const found =
        request !== undefined
          ? session.query(answering, [...page, request, caller ?? ""])
          : caller !== undefined
            ? session.query(theirs, [...page, caller])
            : session.query(list, page)
      return Effect.map(found, (rows) => rows.map(listedOf))
    },
    remove: (session, names) =>
      names.length === 0
        ? Effect.succeed([])
        : Effect.map(session.query(remove, [names, self]), (rows) => rows.map(([run]) => String(run)))
  }
}
