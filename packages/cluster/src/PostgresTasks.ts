/**
 * Work lists shared by several machines, which claim tasks and store their answers. Only the first answer to a task is
 * stored. If a machine dies or freezes, its claims expire.
 */
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Batches from "./internal/batches.ts"
import { databaseNow } from "./internal/owner.ts"
import { column } from "./internal/session.ts"
import type { Postgres, PostgresError } from "./Postgres.ts"

/** Options for opening a work list. */
export interface Options {
  /** Id of the work list. All machines that use the same id share its tasks. */
  readonly id: string
  /** A description that must be identical on all machines, such as the settings encoded as JSON. */
  readonly plan: string
  /** Task keys, in the order in which tasks are claimed. Tasks added by earlier runs remain in the list. */
  readonly keys: ReadonlyArray<string>
  /** How long a claim lasts unless it is renewed, in milliseconds. Default: 10,000. */
  readonly leaseMillis?: number | undefined
}

const optionsTable = Tables.table(
  {
    id: Tables.name,
    plan: Tables.name,
    keys: Tables.listOf(Tables.text),
    leaseMillis: Tables.whole(1)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["id", "plan", "keys"] }
)

/** An open work list. */
export interface Tasks {
  /**
   * The plan stored by the machine that opened the list first. If it differs from the given plan, no tasks were added.
   */
  readonly plan: string
  readonly leaseMillis: number
  /** Claims up to `count` tasks that are neither answered nor claimed, and not in `except`. */
  readonly claim: (count: number, except?: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, PostgresError>
  /** Adds tasks that this process has claimed. Existing tasks are left unchanged. */
  readonly add: (keys: ReadonlyArray<string>) => Effect.Effect<void, PostgresError>
  /** Renews this process's claims and returns the keys that it still holds. */
  readonly renew: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>, PostgresError>
  /** Releases claims held by this process. */
  readonly release: (keys: ReadonlyArray<string>) => Effect.Effect<void, PostgresError>
  /** Stores the answer to a task, unless the task already has one. Concurrent answers share one statement. */
  readonly answer: (key: string, body: string) => Effect.Effect<void, PostgresError>
  /** Deletes the answers to the given tasks, so that they can be claimed again. */
  readonly reopen: (keys: ReadonlyArray<string>) => Effect.Effect<void, PostgresError>
  /** Number of tasks without an answer. */
  readonly left: Effect.Effect<number, PostgresError>
  /** Returns the answers to the given tasks, keyed by task. Unanswered tasks are omitted. */
  readonly find: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>, PostgresError>
  /** Returns all answers, keyed by task. */
  readonly answers: Effect.Effect<ReadonlyMap<string, string>, PostgresError>
  /** Deletes tasks, whether or not they are claimed. */
  readonly forget: (keys: ReadonlyArray<string>) => Effect.Effect<void, PostgresError>
  /** Deletes the work list. */
  readonly remove: Effect.Effect<void, PostgresError>
}

/**
 * Opens a work list.
 *
 * **Example**
 *
 * ```ts no-run
 * import { Postgres, PostgresTasks } from "@divisi/cluster"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function* () {
 *   const postgres = yield* Postgres.open({ url: Redacted.make("postgres://divisi@localhost/divisi") })
 *   const tasks = yield* PostgresTasks.open(postgres, { id: "squares", plan: "{}", keys: ["1", "2", "3"] })
 *   for (const key of yield* tasks.claim(2)) yield* tasks.answer(key, `${Number(key) ** 2}`)
 *   return yield* tasks.left
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const open = Effect.fnUntraced(function* (
  { run, schema, self }: Postgres,
  options: Options
): Effect.fn.Return<Tasks, PostgresError> {
  Tables.check("PostgresTasks.open", options, optionsTable)
  const { id, keys, leaseMillis = 10_000, plan } = options
  const [works, tasks] = [`${schema}.works`, `${schema}.tasks`]
  const query = (statement: string, parameters: ReadonlyArray<unknown>) =>
    run((session) => session.query(statement, parameters))

  const begin = query(
    `WITH added AS (
      INSERT INTO ${works} (id, plan, begun_at) VALUES ($1, $2, ${databaseNow}::bigint) ON CONFLICT (id) DO NOTHING RETURNING plan
    ) SELECT plan FROM added UNION ALL SELECT plan FROM ${works} WHERE id = $1`,
    [id, plan]
  )
  let begun = yield* begin
  // Another machine has opened the list since this statement began, which does not show its plan.
  while (begun.length === 0) begun = yield* begin
  const known = String(begun[0]?.[0])
  if (known === plan) {
    yield* query(
      `INSERT INTO ${tasks} (work, key, position)
      SELECT $1, key, position FROM unnest($2::text[]) WITH ORDINALITY AS given (key, position)
      ON CONFLICT DO NOTHING`,
      [id, keys]
    )
  }

  const answer = yield* Batches.make(
    (given: ReadonlyArray<{ readonly key: string; readonly body: string }>) =>
      Effect.map(
        query(
          `UPDATE ${tasks} AS known SET body = given.body, owner = NULL, until = NULL
          FROM (SELECT * FROM unnest($2::text[], $3::text[]) AS given (key, body) ORDER BY key) AS given
          WHERE known.work = $1 AND known.key = given.key AND known.body IS NULL`,
          [id, column(given, ({ key }) => key), column(given, ({ body }) => body)]
        ),
        () => given.map(() => Effect.void)
      ),
    ({ key }) => key
  )

  const until = `${databaseNow} + ${leaseMillis}`
  return {
    plan: known,
    leaseMillis,
    claim: (count, except = []) =>
      Effect.map(
        query(
          `WITH free AS (
            SELECT key FROM ${tasks} WHERE work = $1 AND body IS NULL AND (until IS NULL OR until < ${databaseNow})
              AND key <> ALL ($4::text[])
            ORDER BY position LIMIT $3::bigint FOR UPDATE SKIP LOCKED
          ) UPDATE ${tasks} AS known SET owner = $2, until = ${until}, attempts = attempts + 1
          FROM free WHERE known.work = $1 AND known.key = free.key RETURNING known.key`,
          [id, self, `${count}`, except]
        ),
        (rows) => rows.map(([key]) => String(key))
      ),
    add: (keys) =>
      Effect.asVoid(
        query(
          `INSERT INTO ${tasks} (work, key, position, owner, until, attempts)
          SELECT $1, key, (${databaseNow} / 1000)::integer, $2, ${until}, 1 FROM unnest($3::text[]) AS given (key)
          ON CONFLICT DO NOTHING`,
          [id, self, keys]
        )
      ),
    renew: (keys) =>
      Effect.map(
        query(
          `UPDATE ${tasks} SET until = ${until}
          WHERE work = $1 AND owner = $2 AND key = ANY ($3::text[]) AND body IS NULL RETURNING key`,
          [id, self, keys]
        ),
        (rows) => rows.map(([key]) => String(key))
      ),
    release: (keys) =>
      Effect.asVoid(
        query(
          `UPDATE ${tasks} SET owner = NULL, until = NULL WHERE work = $1 AND owner = $2 AND key = ANY ($3::text[])`,
          [id, self, keys]
        )
      ),
    answer: (key, body) => answer({ key, body }),
    reopen: (keys) =>
      Effect.asVoid(
        query(`UPDATE ${tasks} SET body = NULL WHERE work = $1 AND key = ANY ($2::text[]) AND body IS NOT NULL`, [
          id,
          keys
        ])
      ),
    left: Effect.map(
      query(`SELECT count(*)::double precision FROM ${tasks} WHERE work = $1 AND body IS NULL`, [id]),
      ([row]) => Number(row?.[0])
    ),
    find: (keys) =>
      Effect.map(
        query(`SELECT key, body FROM ${tasks} WHERE work = $1 AND key = ANY ($2::text[]) AND body IS NOT NULL`, [
          id,
          keys
        ]),
        (rows) => new Map(rows.map(([key, body]) => [String(key), String(body)]))
      ),
    answers: Effect.map(
      query(`SELECT key, body FROM ${tasks} WHERE work = $1 AND body IS NOT NULL ORDER BY position`, [id]),
      (rows) => new Map(rows.map(([key, body]) => [String(key), String(body)]))
    ),
    forget: (keys) =>
      Effect.asVoid(query(`DELETE FROM ${tasks} WHERE work = $1 AND key = ANY ($2::text[])`, [id, keys])),
    remove: Effect.asVoid(
      query(`WITH gone AS (DELETE FROM ${tasks} WHERE work = $1) DELETE FROM ${works} WHERE id = $1`, [id])
    )
  }
})
