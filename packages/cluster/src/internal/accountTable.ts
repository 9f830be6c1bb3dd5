/** Accounts and holds in Postgres: how tasks are done in one transaction, however many there are. */
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as AccountBook from "./accountBook.ts"
import { column, type Row, type Session } from "./session.ts"

type Written<A> = Effect.Effect<A, SqlError>

/** The holds of processes that are no more. */
type Buried = Extract<AccountBook.Task, { readonly type: "bury" }>

/** The statements. */
export interface AccountTable {
  /** Does tasks as a part of a transaction; tells what became of each, and how the accounts stand that they need. */
  readonly perform: (
    session: Session,
    tasks: ReadonlyArray<AccountBook.Task>,
    now: number
  ) => Written<{
    readonly done: ReadonlyArray<AccountBook.Done>
    readonly accounts: ReadonlyMap<string, AccountBook.Row>
  }>
  /** What processes have set aside that are no more; or what this one has. */
  readonly left: (session: Session, whose: "dead" | "own") => Written<ReadonlyArray<Buried>>
  /** Forgets calls that were charged long ago. */
  readonly tidy: (session: Session, before: number) => Written<void>
  readonly list: (session: Session) => Written<ReadonlyArray<AccountBook.Row>>
}

const accountColumns = `name, limits, cost_usd, input_tokens, output_tokens, calls::double precision,
  unpriced_calls::double precision, open::double precision, reserved_usd, reserved_tokens`

const accountOf = (row: Row): AccountBook.Row => {
  const [name, limits, costUsd, inputTokens, outputTokens, calls, unpricedCalls, open, reservedUsd, reservedTokens] =
    row
  return {
    name: String(name),
    limits: JSON.parse(String(limits)),
    total: {
      usage: { inputTokens: Number(inputTokens), outputTokens: Number(outputTokens) },
      costUsd: Number(costUsd),
      calls: Number(calls),
      unpricedCalls: Number(unpricedCalls)
    },
    open: Number(open),
    reservedCostUsd: Number(reservedUsd),
    reservedTokens: Number(reservedTokens)
  }
}

const holdColumns = "id, account, call, chain, cost_usd, tokens, state, owner"

const holdOf = ([id, account, call, chain, costUsd, tokens, state, owner]: Row): AccountBook.Hold => ({
  id: String(id),
  account: String(account),
  call: call === null ? undefined : String(call),
  chain: JSON.parse(String(chain)),
  amount: { costUsd: costUsd === null ? undefined : Number(costUsd), tokens: Number(tokens) },
  state: state as AccountBook.Hold["state"],
  owner: String(owner)
})

/** The statements of a schema, for a process. */
export const make = (schema: string, self: string, isAlive: (column: string) => string): AccountTable => {
  const [accounts, holds] = [`${schema}.accounts`, `${schema}.holds`]
  const begin = `
    INSERT INTO ${accounts} (name, limits, changed_at)
    SELECT name, limits, $3::bigint FROM unnest($1::text[], $2::text[]) AS given (name, limits) ORDER BY name
    ON CONFLICT (name) DO NOTHING`
  // In one order, so that two processes do not wait for each other.
  const lock = `SELECT ${accountColumns} FROM ${accounts} WHERE name = ANY ($1::text[]) ORDER BY id FOR UPDATE`
  const find = `
    SELECT ${holdColumns} FROM ${holds} WHERE id = ANY ($1::text[])
    UNION SELECT ${holdColumns} FROM ${holds} WHERE (account, call) IN (SELECT * FROM unnest($2::text[], $3::text[]))`
  const write = `
    WITH changed AS (
      UPDATE ${accounts} AS known SET limits = given.limits, cost_usd = given.cost_usd,
        input_tokens = given.input_tokens, output_tokens = given.output_tokens, calls = given.calls,
        unpriced_calls = given.unpriced_calls, open = given.open, reserved_usd = given.reserved_usd,
        reserved_tokens = given.reserved_tokens, changed_at = $11::bigint
      FROM unnest(
        $1::text[], $2::text[], $3::text[]::double precision[], $4::text[]::double precision[],
        $5::text[]::double precision[], $6::text[]::bigint[], $7::text[]::bigint[], $8::text[]::bigint[],
        $9::text[]::double precision[], $10::text[]::double precision[]
      ) AS given (name, limits, cost_usd, input_tokens, output_tokens, calls, unpriced_calls, open, reserved_usd,
        reserved_tokens)
      WHERE known.name = given.name
    ), kept AS (
      INSERT INTO ${holds} (id, account, call, chain, cost_usd, tokens, state, owner, changed_at)
      SELECT id, account, nullif(call, ''), chain, nullif(cost_usd, '')::double precision, tokens, state, owner,
        $11::bigint
      FROM unnest(
        $12::text[], $13::text[], $14::text[], $15::text[], $16::text[], $17::text[]::double precision[], $18::text[],
        $19::text[]
      ) AS given (id, account, call, chain, cost_usd, tokens, state, owner)
      ON CONFLICT (id) DO UPDATE
        SET state = excluded.state, owner = excluded.owner, changed_at = excluded.changed_at
    )
    DELETE FROM ${holds} WHERE id = ANY ($20::text[])`
  const open = `SELECT id, chain, owner FROM ${holds} WHERE state = 'open' AND`

  const lockedOf = (session: Session, names: ReadonlyArray<string>) =>
    Effect.map(session.query(lock, [names]), (rows) => rows.map((row) => [String(row[0]), accountOf(row)] as const))

  /** Reads the accounts that tasks need, which nobody else changes until the transaction ends. */
  const locked = (session: Session, tasks: ReadonlyArray<AccountBook.Task>, now: number) =>
    Effect.gen(function* () {
      const named = new Map(tasks.flatMap(AccountBook.namesOf).map((one) => [one.name, one]))
      for (const task of tasks) if (task.type === "open") named.set(task.account.name, task.account)
      const rows = new Map(yield* lockedOf(session, [...named.keys()]))
      const missing = [...named.values()].filter(({ name }) => !rows.has(name))
      if (missing.length === 0) return rows
      const names = column(missing, ({ name }) => name)
      yield* session.query(begin, [names, column(missing, ({ limits }) => JSON.stringify(limits ?? {})), `${now}`])
      return new Map([...rows, ...(yield* lockedOf(session, names))])
    })

  const holdsOf = (session: Session, tasks: ReadonlyArray<AccountBook.Task>) => {
    const ids = tasks.flatMap((task) => ("id" in task ? [task.id] : []))
    const calls = tasks.flatMap((task) =>
      (task.type === "reserve" || task.type === "charge") && task.call !== undefined
        ? [{ account: task.account, call: task.call }]
        : []
    )
    if (ids.length === 0) return Effect.succeed([])
    return Effect.map(
      session.query(find, [ids, column(calls, ({ account }) => account), column(calls, ({ call }) => call)]),
      (rows) => rows.map(holdOf)
    )
  }

  const save = (session: Session, book: AccountBook.Book, now: number) => {
    const changes = book.changes()
    if (changes.accounts.length + changes.holds.length + changes.gone.length === 0) return Effect.void
    const of = (value: (row: AccountBook.Row) => string | number) => column(changes.accounts, value)
    const by = (value: (hold: AccountBook.Hold) => string | number) => column(changes.holds, value)
    return session.query(write, [
      of(({ name }) => name),
      of(({ limits }) => JSON.stringify(limits)),
      of(({ total }) => total.costUsd),
      of(({ total }) => total.usage.inputTokens),
      of(({ total }) => total.usage.outputTokens),
      of(({ total }) => total.calls),
      of(({ total }) => total.unpricedCalls),
      of(({ open }) => open),
      of(({ reservedCostUsd }) => reservedCostUsd),
      of(({ reservedTokens }) => reservedTokens),
      `${now}`,
      by(({ id }) => id),
      by(({ account }) => account),
      by(({ call }) => call ?? ""),
      by(({ chain }) => JSON.stringify(chain)),
      by(({ amount }) => amount.costUsd ?? ""),
      by(({ amount }) => amount.tokens),
      by(({ state }) => state),
      by(({ owner }) => owner),
      changes.gone
    ])
  }

  return {
    perform: (session, tasks, now) =>
      Effect.gen(function* () {
        const rows = yield* locked(session, tasks, now)
        const book = AccountBook.make(self, rows, yield* holdsOf(session, tasks))
        const done = tasks.map(book.do)
        yield* save(session, book, now)
        return { done, accounts: rows }
      }),
    left: (session, whose) =>
      Effect.map(
        session.query(`${open} ${whose === "own" ? "owner = $1" : `owner <> $1 AND NOT ${isAlive("holds.owner")}`}`, [
          self
        ]),
        (rows) =>
          rows.map(
            ([id, chain, owner]): Buried => ({
              type: "bury",
              id: String(id),
              chain: JSON.parse(String(chain)),
              owner: String(owner)
            })
          )
      ),
    tidy: (session, before) =>
      Effect.asVoid(
        session.query(`DELETE FROM ${holds} WHERE state <> 'open' AND changed_at < $1::bigint`, [`${before}`])
      ),
    list: (session) =>
      Effect.map(session.query(`SELECT ${accountColumns} FROM ${accounts} ORDER BY changed_at DESC, id DESC`), (rows) =>
        rows.map(accountOf)
      )
  }
}
