/** The tables, and how they come to be. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Session } from "./session.ts"

/** The first half of the keys of our advisory locks: "DivC". */
export const lockClass = 0x44697643

/**
 * All types are plain ones. `holds`: what is set aside for one call on all the accounts that it is charged to; `state` is
 * open, doubtful (its process has ended, and its worst case counts as spent) or settled (kept so that a call is charged
 * once). Rows that are written often leave room in their page for the next version of themselves.
 */
const first = (schema: string) => `
  CREATE TABLE ${schema}.runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run text NOT NULL UNIQUE,
    epoch integer NOT NULL,
    owner text,
    length integer NOT NULL,
    bytes bigint NOT NULL,
    changed_at bigint NOT NULL,
    caller text,
    head text
  ) WITH (fillfactor = 70);
  CREATE INDEX runs_caller ON ${schema}.runs (caller, id);
  CREATE INDEX runs_owner ON ${schema}.runs (owner) WHERE owner IS NOT NULL;
  CREATE TABLE ${schema}.batches (
    run bigint NOT NULL,
    seq integer NOT NULL,
    entries text NOT NULL,
    PRIMARY KEY (run, seq)
  );
  CREATE TABLE ${schema}.accounts (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    limits text NOT NULL,
    cost_usd double precision NOT NULL DEFAULT 0,
    input_tokens double precision NOT NULL DEFAULT 0,
    output_tokens double precision NOT NULL DEFAULT 0,
    calls bigint NOT NULL DEFAULT 0,
    unpriced_calls bigint NOT NULL DEFAULT 0,
    open bigint NOT NULL DEFAULT 0,
    reserved_usd double precision NOT NULL DEFAULT 0,
    reserved_tokens double precision NOT NULL DEFAULT 0,
    changed_at bigint NOT NULL
  ) WITH (fillfactor = 50);
  CREATE TABLE ${schema}.holds (
    id text PRIMARY KEY,
    account text NOT NULL,
    call text,
    chain text NOT NULL,
    cost_usd double precision,
    tokens double precision NOT NULL,
    state text NOT NULL,
    owner text NOT NULL,
    changed_at bigint NOT NULL,
    UNIQUE (account, call)
  );
  CREATE INDEX holds_open ON ${schema}.holds (owner) WHERE state = 'open';
  CREATE INDEX holds_closed ON ${schema}.holds (changed_at) WHERE state <> 'open';
  CREATE TABLE ${schema}.records (
    kind text NOT NULL,
    name text NOT NULL,
    bytes integer NOT NULL,
    kept_at bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (kind, name)
  );
  CREATE INDEX records_kept_at ON ${schema}.records (kind, kept_at);
  CREATE TABLE ${schema}.version (version integer NOT NULL);
  INSERT INTO ${schema}.version VALUES (0)
`

/** What may begin anew after a crash of the database is not written to its log. */
const withPaces = (schema: string) => `
  CREATE UNLOGGED TABLE ${schema}.paces (
    name text PRIMARY KEY,
    requests_full_at double precision NOT NULL,
    tokens_full_at double precision NOT NULL
  ) WITH (fillfactor = 50)
`

/** What has made the tables, in its order. Their version is how many of it were done; those of a later one are left alone. */
const steps = [first, withPaces]

/** The version of the tables that are there, in whole; 0 where there are none. */
const find = (session: Session, schema: string): Effect.Effect<number, SqlError> =>
  Effect.gen(function* () {
    const [there] = yield* session.query("SELECT to_regclass($1)::text", [`${schema}.version`])
    if (there?.[0] == null) return 0
    const [found] = yield* session.query(`SELECT version FROM ${schema}.version`)
    return Number(found?.[0])
  })

/** Makes the tables that are missing, in a transaction. Says whether they are of a version that is known here. */
export const prepare = (session: Session, schema: string): Effect.Effect<"ours" | "Newer", SqlError> =>
  Effect.gen(function* () {
    const found = yield* find(session, schema)
    if (found === steps.length) return "ours"
    // Of several servers that begin at once, one makes them.
    yield* session.query("SELECT pg_advisory_xact_lock($1::integer, 0)::text", [`${lockClass}`])
    const before = yield* find(session, schema)
    if (before >= steps.length) return before > steps.length ? "Newer" : "ours"
    if (before === 0) yield* session.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`)
    for (const step of steps.slice(before)) {
      for (const statement of step(schema).split(";")) yield* session.query(statement)
    }
    yield* session.query(`UPDATE ${schema}.version SET version = $1::integer`, [`${steps.length}`])
    return "ours"
  })
