/** Accounts and reservations in Postgres. One statement performs any number of operations. */
import { Account } from "@divisi/core"
import { BudgetExceeded } from "@divisi/core/Usage"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import * as AccountBook from "./accountBook.ts"
import { column, type Row, type Session } from "./session.ts"

type Written<A> = Effect.Effect<A, SqlError>

/** Reservations left by dead processes. */
type Buried = Extract<AccountBook.Task, { readonly type: "bury" }>

/** The statements for accounts. */
export interface AccountTable {
  /** Performs operations in order. Returns their results and the new state of the affected accounts. */
  readonly perform: (
    session: Session,
    tasks: ReadonlyArray<AccountBook.Task>,
    now: number
  ) => Written<{
    readonly done: ReadonlyArray<AccountBook.Done>
    readonly accounts: ReadonlyMap<string, AccountBook.Row>
  }>
  /** Returns the open reservations of dead processes, or of this process. */
  readonly left: (session: Session, whose: "dead" | "own") => Written<ReadonlyArray<Buried>>
  /** Deletes records of calls that were charged before the given time. */
  readonly tidy: (session: Session, before: number) => Written<void>
  readonly list: (session: Session) => Written<ReadonlyArray<AccountBook.Row>>
  /** Applies a correction once per id. Returns the stored adjustment with that id. */
  readonly adjust: (session: Session, correction: Account.Correction, now: number) => Written<Account.Adjustment>
  readonly adjustments: (session: Session) => Written<ReadonlyArray<Account.Adjustment>>
}

const accountColumns = `name, limits, cost_usd, input_tokens, output_tokens, calls::double precision,
  unpriced_calls::double precision, open::double precision, reserved_usd, reserved_tokens`

const accountOf = (row: Row): AccountBook.Row => {
  const [name, limits, costUsd, inputTokens, outputTokens, calls, unpricedCalls, open, reservedUsd, reservedTokens] =
    row
  return {
    name: String(name),
    ...Account.readLimits(limits),
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

/** Decodes an account returned by the database function. */
const accountIn = ([, name, values]: Row): AccountBook.Row => accountOf([name, ...JSON.parse(String(values))])

const adjustmentOf = (body: unknown): Account.Adjustment => JSON.parse(String(body))

const refusalOf = ([, limit, , allowed, spent, needed]: Row): BudgetExceeded =>
  new BudgetExceeded({
    limit: limit as BudgetExceeded["limit"],
    allowed: Number(allowed),
    spent: Number(spent),
    needed: needed === null ? undefined : Number(needed)
  })

const doneOf = (row: Row, task: AccountBook.Task): AccountBook.Done => {
  const [kind, id, chain] = row
  if (kind === "hold") {
    const hold = { id: String(id), chain: JSON.parse(String(chain)) }
    return { hold, isNew: task.type === "reserve" && task.id === id }
  }
  if (kind === "wait") return kind
  return kind === "refused" ? refusalOf(row) : undefined
}

/** Encodes an operation for the database function. */
const given = (task: AccountBook.Task, position: (name: string) => number): object => {
  const drawn = (draws: ReadonlyArray<Account.Draw<AccountBook.Hold>>) =>
    draws.map(({ account, costUsd, from, tokens }) => ({ from: from.id, at: position(account), cost: costUsd, tokens }))
  const chain = AccountBook.namesOf(task).map(({ name }) => position(name))
  switch (task.type) {
    case "open": {
      const { account, isGiven } = task
      const limits = isGiven && account.limits !== undefined ? JSON.stringify(account.limits) : undefined
      return { type: "open", chain, limits }
    }
    case "reserve": {
      const { amount, chain: accounts, draws, ...rest } = task
      const names = JSON.stringify(accounts.map(({ name }) => name))
      return { ...rest, chain, names, cost: amount.costUsd, tokens: amount.tokens, draws: drawn(draws) }
    }
    case "close": {
      const { draws, id, isDrawn, used } = task
      const closed = { type: "close", id, chain, draws: drawn(draws), is_drawn: isDrawn }
      if (used === undefined) return { ...closed, used: false }
      const { inputTokens: input, outputTokens: output } = used.usage
      return { ...closed, used: true, cost: used.costUsd, input, output }
    }
    case "charge": {
      const { chain: accounts, costUsd, ...rest } = task
      return { ...rest, chain, names: JSON.stringify(accounts.map(({ name }) => name)), cost: costUsd }
    }
    case "bury":
      return { ...task, chain }
  }
}

/** Creates the statements for a schema and a process. */
export const make = (schema: string, self: string, isAlive: (column: string) => string): AccountTable => {
  const [accounts, holds] = [`${schema}.accounts`, `${schema}.holds`]
  const perform = `SELECT * FROM ${schema}.account_tasks($1, $2::bigint, $3::text[], $4::text[], $5::text::jsonb)`
  const open = `SELECT id, chain, owner FROM ${holds} WHERE state = 'open' AND`

  return {
    perform: (session, tasks, now) => {
      const named = new Map(tasks.flatMap(AccountBook.namesOf).map((one) => [one.name, one]))
      for (const task of tasks) if (task.type === "open") named.set(task.account.name, task.account)
      const positions = new Map([...named.keys()].map((name, index) => [name, index + 1]))
      const limits = column([...named.values()], ({ limits }) => JSON.stringify(limits ?? {}))
      const asked = JSON.stringify(tasks.map((task) => given(task, (name) => positions.get(name)!)))
      return Effect.map(session.query(perform, [self, `${now}`, [...named.keys()], limits, asked]), (rows) => ({
        done: tasks.map((task, index) => doneOf(rows[index]!, task)),
        accounts: new Map(rows.slice(tasks.length).map((row) => [String(row[1]), accountIn(row)]))
      }))
    },
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
      ),
    adjust: (session, { names, ...correction }, now) => {
      const { change, id } = correction
      const [add, set] = "addUsd" in change ? [`${change.addUsd}`, null] : [null, `${change.setUsd}`]
      return Effect.map(
        session.query(
          `SELECT ${schema}.adjust_accounts($1, $2::text[], $3::double precision, $4::double precision, $5::bigint, $6)`,
          [id, names, add, set, `${now}`, JSON.stringify({ ...correction, at: now, accounts: [] })]
        ),
        ([row]) => adjustmentOf(row?.[0])
      )
    },
    adjustments: (session) =>
      Effect.map(session.query(`SELECT body FROM ${schema}.adjustments ORDER BY number`, []), (rows) =>
        rows.map(([body]) => adjustmentOf(body))
      )
  }
}
