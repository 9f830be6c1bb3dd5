/** Operates a shared database: shows its servers, runs and work, drains servers, and deletes old data. */
import * as Effect from "effect/Effect"
import { addressOf, databaseNow, nameOf } from "./internal/owner.ts"
import { column } from "./internal/session.ts"
import type { Postgres, PostgresError } from "./Postgres.ts"
import { defaultExpireMillis } from "./PostgresJournal.ts"

/** A cluster server that executes runs. */
export interface Server {
  /** Host and port of the server. */
  readonly address: string
  readonly versionGroup?: string | undefined
  /** Whether the other servers can reach it, and it was seen within the last 12 seconds. */
  readonly isHealthy: boolean
  /** Whether the server was asked to drain. */
  readonly isDraining: boolean
  /** Time since the last heartbeat, in milliseconds. */
  readonly seenMillis: number
}

/**
 * Time since the last heartbeat after which a server is not listed, in milliseconds. Effect's cluster deletes the row of a
 * server that has died only when another server stops.
 */
const goneMillis = 60_000

/** The status of a database and the processes that share it. */
export interface Status {
  /** Servers that sent a heartbeat within the last 60 seconds, by the clock of the database. */
  readonly servers: ReadonlyArray<Server>
  /** Processes that own runs in progress, with their number of runs, and their address if they are cluster servers. */
  readonly owners: ReadonlyArray<{
    readonly process: string
    readonly address?: string | undefined
    readonly runs: number
  }>
  /** Number of unprocessed messages between servers, excluding those of scheduled runs. */
  readonly pendingMessages: number
  /** Number of submitted runs with a start time in the future. */
  readonly scheduledRuns: number
  /** Shared work lists, such as those of evaluations, most recent first. */
  readonly works: ReadonlyArray<Work>
  /**
   * Shared work lists for training groups, most recent first. A list is identified by its training run and its name.
   */
  readonly trainings: ReadonlyArray<Work>
}

/** A list of tasks that several machines claim and answer. */
export interface Work {
  readonly id: string
  readonly tasks: number
  readonly answered: number
  readonly claimed: number
}

/** Id prefix of work lists that belong to training runs. */
const ofTraining = "training/"

/**
 * Returns the status of a database. The servers, messages and scheduled runs are those of one version group, or of all
 * groups if `versionGroup` is omitted.
 */
export const status = ({ run, schema }: Postgres, versionGroup?: string): Effect.Effect<Status, PostgresError> =>
  Effect.gen(function* () {
    const query = (statement: string, parameters: ReadonlyArray<unknown> = []) =>
      run((session) => session.query(statement, parameters))
    const group = versionGroup === undefined ? "(?:_([a-z0-9_]{1,20}))?" : `_(${versionGroup})`
    const pattern = `^${schema}_cluster${group}_(runners|messages)$`
    const tables = yield* query(
      "SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2 ORDER BY tablename",
      [schema, pattern]
    )
    const drains = new Set((yield* query(`SELECT address FROM ${schema}.drains`)).map(([address]) => String(address)))
    const servers: Array<Server> = []
    let [pendingMessages, scheduledRuns] = [0, 0]
    for (const [table] of tables) {
      const [name = "", versionGroup, kind] = new RegExp(pattern).exec(String(table)) ?? []
      if (kind === "messages") {
        const [row] = yield* query(
          `SELECT (count(*) FILTER (WHERE deliver_at IS NULL OR deliver_at <= ${databaseNow}))::double precision,
            (count(*) FILTER (WHERE deliver_at > ${databaseNow}))::double precision
          FROM ${schema}.${name} WHERE NOT processed`
        )
        pendingMessages += Number(row?.[0])
        scheduledRuns += Number(row?.[1])
        continue
      }
      const rows = yield* query(
        `SELECT runner::text, healthy, extract(epoch FROM now()::timestamp - last_heartbeat)::double precision * 1000
        FROM ${schema}.${name} WHERE last_heartbeat > now()::timestamp - interval '${goneMillis} milliseconds' ORDER BY address`
      )
      for (const [runner, healthy, seen] of rows) {
        const { host, port } = JSON.parse(String(runner)).address as { readonly host: string; readonly port: number }
        const address = `${host}:${port}`
        const seenMillis = Number(seen)
        const isHealthy = healthy === true && seenMillis <= defaultExpireMillis
        servers.push({ address, versionGroup, isHealthy, isDraining: drains.has(address), seenMillis })
      }
    }
    const owners = yield* query(
      `SELECT owner, count(*)::double precision FROM ${schema}.runs WHERE owner IS NOT NULL GROUP BY owner ORDER BY 2 DESC`
    )
    const found = yield* query(
      `SELECT id, count(key)::double precision, count(body)::double precision,
        (count(*) FILTER (WHERE body IS NULL AND until > ${databaseNow}))::double precision
      FROM ${schema}.works LEFT JOIN ${schema}.tasks ON work = id WHERE id NOT LIKE 'serve/%' GROUP BY id, begun_at ORDER BY begun_at DESC LIMIT 100`
    )
    const works = found.map(([id, tasks, answered, claimed]) => ({
      id: String(id),
      tasks: Number(tasks),
      answered: Number(answered),
      claimed: Number(claimed)
    }))
    return {
      servers,
      owners: owners.map(([owner, runs]) => ({
        process: nameOf(String(owner)),
        address: addressOf(String(owner)),
        runs: Number(runs)
      })),
      pendingMessages,
      scheduledRuns,
      works: works.filter(({ id }) => !id.startsWith(ofTraining)),
      trainings: works.flatMap((work) =>
        work.id.startsWith(ofTraining) ? [{ ...work, id: work.id.slice(ofTraining.length) }] : []
      )
    }
  })

/** Asks a server to drain: it hands over its runs and exits. `address` consists of host and port. */
export const drain = ({ run, schema }: Postgres, address: string): Effect.Effect<void, PostgresError> =>
  Effect.asVoid(
    run((session) =>
      session.query(
        `INSERT INTO ${schema}.drains (address, at) VALUES ($1, ${databaseNow}::bigint) ON CONFLICT (address) DO NOTHING`,
        [address]
      )
    )
  )

/**
 * Deletes shared work lists and cancellations older than the given age. Keeps work lists with a claimed task, and
 * cancellations of runs in progress. Returns the number of deleted work lists.
 */
export const purge = ({ run, schema }: Postgres, olderThanMillis: number): Effect.Effect<number, PostgresError> =>
  Effect.map(
    run((session) =>
      session.query(
        `WITH old AS (DELETE FROM ${schema}.works WHERE begun_at < ${databaseNow} - $1::double precision AND id NOT LIKE 'serve/%' AND NOT EXISTS (
            SELECT FROM ${schema}.tasks WHERE work = id AND body IS NULL AND until > ${databaseNow}
          ) RETURNING id),
        gone AS (DELETE FROM ${schema}.tasks USING old WHERE work = old.id),
        forgotten AS (
          DELETE FROM ${schema}.cancelled WHERE at < ${databaseNow} - $1::double precision
            AND NOT EXISTS (SELECT FROM ${schema}.runs AS known WHERE known.run = cancelled.run AND known.owner IS NOT NULL)
        )
        SELECT id FROM old`,
        [olderThanMillis]
      )
    ),
    (rows) => rows.length
  )

/** Maximum number of runs processed by one statement. */
const pageLength = 2_000

/**
 * Deletes stored messages of cluster runs (tasks, tool results and answers) in all version groups. A message is deleted
 * if it was delivered longer ago than the given age and its run was deleted from the journal or has not changed since. A
 * suspended or scheduled run needs its messages to continue, so they are deleted only after the run. After that, the id
 * of a deleted run can be submitted again, and `result` waits for the new run. With `isDryRun`, messages are only
 * counted. Returns the number of runs and the size of their messages in bytes.
 */
export const purgeMessages = (
  { run, schema }: Postgres,
  olderThanMillis: number,
  isDryRun = false
): Effect.Effect<{ readonly entries: number; readonly bytes: number }, PostgresError> =>
  Effect.gen(function* () {
    const query = (statement: string, parameters: ReadonlyArray<unknown>) =>
      run((session) => session.query(statement, parameters))
    const tables = yield* query("SELECT tablename::text FROM pg_tables WHERE schemaname = $1 AND tablename ~ $2", [
      schema,
      `^${schema}_cluster(_[a-z0-9_]{1,20})?_messages$`
    ])
    const before = `${databaseNow} - ${olderThanMillis}`
    let [entries, bytes] = [0, 0]
    for (const [name] of tables) {
      const messages = `${schema}.${name}`
      const replies = messages.replace(/messages$/, "replies")
      const delivered = `SELECT id::text, entity_id, payload FROM ${messages}
        WHERE id > $1::text::bigint AND tag = 'run' AND processed
          AND last_read < now()::timestamp - interval '${olderThanMillis} milliseconds'
        ORDER BY id LIMIT ${pageLength}`
      const old = `WITH given AS (SELECT * FROM unnest($1::text[], $2::text[]) AS given (entity, run)),
        old AS (
          SELECT id, entity_id, payload FROM ${messages} JOIN given ON entity_id = entity
          WHERE entity NOT IN (SELECT entity_id FROM ${messages} WHERE NOT processed) AND NOT EXISTS (
            SELECT FROM ${schema}.runs AS known
            WHERE known.run = given.run
              AND (known.owner IS NOT NULL OR known.changed_at >= ${before} OR known.head LIKE '%"waitsFor":%')
          )
        ),
        answers AS (SELECT reply.id, reply.payload FROM ${replies} AS reply JOIN old ON request_id = old.id)`
      const removed = `,
        gone AS (DELETE FROM ${messages} AS message USING old WHERE message.id = old.id),
        unsaid AS (DELETE FROM ${replies} AS reply USING answers WHERE reply.id = answers.id)`
      const sums = `
        SELECT (SELECT count(DISTINCT entity_id) FROM old)::double precision,
          coalesce((SELECT sum(octet_length(payload)) FROM (SELECT payload FROM old UNION ALL SELECT payload FROM answers)
            AS texts), 0)::double precision`
      for (let after: unknown = "0"; after !== undefined; ) {
        const page = yield* query(delivered, [after])
        after = page.length < pageLength ? undefined : page.at(-1)?.[0]
        const [sum] = yield* query(`${old}${isDryRun ? "" : removed}${sums}`, [
          column(page, ([, entity]) => String(entity)),
          column(page, ([, , payload]) => String(JSON.parse(String(payload)).id))
        ])
        entries += Number(sum?.[0])
        bytes += Number(sum?.[1])
      }
    }
    return { entries, bytes }
  })
