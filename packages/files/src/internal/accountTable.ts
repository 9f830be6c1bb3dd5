/**
 * Accounts and their reservations in a SQLite file: its schema, and the statements that read and write it. Each
 * function is a part of a transaction: no other process intervenes between its reads and writes.
 */
import type { DatabaseSync, SQLOutputValue } from "node:sqlite"
import { Account, Budget } from "@divisi/core"
import type { BudgetExceeded, Paid } from "@divisi/core/Usage"
import { type Kind, pragma, transact } from "./database.ts"

/** Marks a SQLite file as an account file of this package: "DivA". */
const applicationId = 0x44697641

/** The version of the schema below. A file of another one is not read. */
const schemaVersion = 1

// A hold is the reservation for one call on all the accounts that it is charged to. `chain` has their ids; if nested
// calls have drawn on it, `[id, USD, tokens]` with the amounts drawn. `state`: open, doubtful (its process has ended,
// and its worst case counts as spent), settled (retained so that a named call is charged once).
const schema = `
  CREATE TABLE accounts (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    limits TEXT NOT NULL,
    cost_usd REAL NOT NULL DEFAULT 0,
    input_tokens REAL NOT NULL DEFAULT 0,
    output_tokens REAL NOT NULL DEFAULT 0,
    calls INTEGER NOT NULL DEFAULT 0,
    unpriced_calls INTEGER NOT NULL DEFAULT 0,
    open INTEGER NOT NULL DEFAULT 0,
    reserved_usd REAL NOT NULL DEFAULT 0,
    reserved_tokens REAL NOT NULL DEFAULT 0,
    changed_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE holds (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    call TEXT,
    chain TEXT NOT NULL,
    cost_usd REAL,
    tokens REAL NOT NULL,
    state TEXT NOT NULL,
    owner TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    UNIQUE (account, call)
  ) STRICT;
  CREATE INDEX holds_open ON holds (owner) WHERE state = 'open';
  CREATE INDEX holds_settled ON holds (changed_at) WHERE state = 'settled';
  PRAGMA application_id = ${applicationId};
  PRAGMA user_version = ${schemaVersion};
`

// The audit of corrections: `body` is an adjustment as JSON.
const adjustments = `
  CREATE TABLE IF NOT EXISTS adjustments (id TEXT PRIMARY KEY, at INTEGER NOT NULL, body TEXT NOT NULL) STRICT;
`

// Finds the accounts that were charged for a call, whichever account a run is resumed under.
const callIndex = "CREATE INDEX IF NOT EXISTS holds_call ON holds (call) WHERE call IS NOT NULL"

/** Prepares a file for several processes, and writes the schema if it is missing. */
const prepare = (database: DatabaseSync): void => {
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 16777216")
  // Another process may have written it meanwhile; and a file that cannot be written shows it here.
  transact(database, () => {
    if (pragma(database, "user_version") === 0) database.exec(schema)
    else database.exec(`PRAGMA user_version = ${schemaVersion}`)
    // Files of before it have the same version: an older process can ignore it.
    database.exec(adjustments)
    database.exec(callIndex)
  })
}

/** The mark of such a file, and its preparation. */
export const kind: Kind = { applicationId, schemaVersion, prepare }

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An account and its current state. */
export interface Row extends Budget.Standing {
  readonly id: number
  readonly name: string
  readonly limits: Account.Limits
}

/** The requested reservation. */
export interface Asked {
  /** The accounts that are charged, from the lowest to the topmost. */
  readonly chain: ReadonlyArray<Account.Named>
  /** The name of the lowest, whatever the day. */
  readonly account: string
  readonly call: string | undefined
  readonly occurrence: Budget.Occurrence
  readonly amount: Budget.Amount
  /** The amounts taken from other holds. */
  readonly draws: ReadonlyArray<Account.Draw<number>>
  readonly owner: string
  readonly now: number
}

/** A charge without a reservation. */
export type Charged = Omit<Asked, "occurrence" | "amount" | "draws">

/** A closed hold: settled with the actual usage, or released without it. */
export interface Closed {
  readonly hold: number
  readonly used: Paid | undefined
  /** Whether nested calls have drawn on it: an account is then charged no more than its limit allows. */
  readonly isDrawn: boolean
  /** The amounts returned to other holds (negative), or taken from them. */
  readonly draws: ReadonlyArray<Account.Draw<number>>
  readonly now: number
}

/** An account of a hold, and the amounts drawn from the hold on it. */
interface Link {
  readonly id: number
  readonly drawn: Budget.Part
}

type Record = { readonly [column: string]: SQLOutputValue }

const rowOf = (row: Record): Row => ({
  id: Number(row.id),
  name: String(row.name),
  ...Account.readLimits(row.limits),
  total: {
    usage: { inputTokens: Number(row.input_tokens), outputTokens: Number(row.output_tokens) },
    costUsd: Number(row.cost_usd),
    calls: Number(row.calls),
    unpricedCalls: Number(row.unpriced_calls)
  },
  open: Number(row.open),
  reservedCostUsd: Number(row.reserved_usd),
  reservedTokens: Number(row.reserved_tokens)
})

/** Returns the charge for a hold whose process has ended: its worst case, less the amounts drawn from it. */
const worstOf = (hold: Record, { drawn }: Link): Paid => ({
  usage: { inputTokens: Number(hold.tokens) - drawn.tokens, outputTokens: 0 },
  costUsd: hold.cost_usd === null ? undefined : Number(hold.cost_usd) - drawn.costUsd
})

const chainOf = (row: Record): ReadonlyArray<Link> => {
  const chain: ReadonlyArray<number | readonly [number, number, number]> = JSON.parse(String(row.chain))
  return chain.map((one) =>
    typeof one === "number"
      ? { id: one, drawn: { costUsd: 0, tokens: 0 } }
      : { id: one[0], drawn: { costUsd: one[1], tokens: one[2] } }
  )
}

const chainText = (chain: ReadonlyArray<Link>): string =>
  JSON.stringify(
    chain.map(({ drawn, id }) => (drawn.costUsd === 0 && drawn.tokens === 0 ? id : [id, drawn.costUsd, drawn.tokens]))
  )

/** Returns the state of an account without its draws among the reservations. */
const drawnOn = (row: Row, draws: ReadonlyArray<Account.Draw<number>>): Row => {
  const own = draws.filter(({ account }) => account === row.name)
  if (own.length === 0) return row
  const { costUsd, tokens } = own.reduce<Budget.Part>(Budget.plus, { costUsd: 0, tokens: 0 })
  return { ...row, reservedCostUsd: row.reservedCostUsd - costUsd, reservedTokens: row.reservedTokens - tokens }
}

/** How long the charge of a named call is remembered: longer than the time after which runs are resumed. */
const keptMillis = 90 * 86_400_000

// -------------------------------------------------------------------------------------------------------------------
// Statements
// -------------------------------------------------------------------------------------------------------------------

/** The statements of one open file. They throw SQLite's errors. */
export interface AccountTable {
  /**
   * Returns an account, and creates it if it does not exist. If `isGiven`, the limits of an existing one are replaced.
   */
  readonly open: (account: Account.Named, now: number, isGiven: boolean) => Row
  /** Reserves an amount on all accounts or on none; returns the id of the hold. */
  readonly reserve: (asked: Asked) => Account.Taken<number> | "wait" | BudgetExceeded
  readonly close: (closed: Closed) => void
  readonly charge: (asked: Charged, costUsd: number) => void
  /** The owners of reservations. */
  readonly owners: () => ReadonlyArray<string>
  /** Counts all that processes had set aside which are no more as spent. */
  readonly bury: (dead: ReadonlyArray<string>, now: number) => void
  /** Forgets calls that were charged long ago. */
  readonly tidy: (now: number) => void
  readonly list: () => ReadonlyArray<Row>
  /** Corrects accounts once for each id, and returns the adjustment of that id. */
  readonly adjust: (correction: Account.Correction, now: number) => Account.Adjustment
  readonly adjustments: () => ReadonlyArray<Account.Adjustment>
}

/** The table of a file that has been prepared. */
export const make = (database: DatabaseSync): AccountTable => {
  const find = database.prepare("SELECT * FROM accounts WHERE name = ?")
  const begin = database.prepare("INSERT INTO accounts (name, limits, changed_at) VALUES (?, ?, ?)")
  const limit = database.prepare("UPDATE accounts SET limits = ? WHERE id = ?")
  const all = database.prepare("SELECT * FROM accounts ORDER BY changed_at DESC, id DESC")
  const hold = database.prepare(`
    UPDATE accounts SET open = open + 1, reserved_usd = reserved_usd + ?, reserved_tokens = reserved_tokens + ?,
      changed_at = ? WHERE id = ?
  `)
  // With nothing open, the sum is exactly zero: rounding errors do not stay.
  const free = database.prepare(`
    UPDATE accounts SET open = open - 1, reserved_usd = CASE WHEN open = 1 THEN 0 ELSE reserved_usd - ? END,
      reserved_tokens = reserved_tokens - ?, changed_at = ? WHERE id = ?
  `)
  const spend = database.prepare(`
    UPDATE accounts SET cost_usd = cost_usd + ?, input_tokens = input_tokens + ?, output_tokens = output_tokens + ?,
      calls = calls + ?, unpriced_calls = unpriced_calls + ?, changed_at = ? WHERE id = ?
  `)
  const known = database.prepare("SELECT * FROM holds WHERE account = ? AND call = ?")
  const get = database.prepare("SELECT * FROM holds WHERE id = ?")
  const byCall = database.prepare("SELECT * FROM holds WHERE call = ?")
  const add = database.prepare(`
    INSERT INTO holds (account, call, chain, cost_usd, tokens, state, owner, changed_at)
    VALUES (?, ?, ?, ?, ?, 'open', ?, ?)
  `)
  const mark = database.prepare("UPDATE holds SET state = ?, changed_at = ? WHERE id = ?")
  const take = database.prepare("UPDATE holds SET owner = ? WHERE id = ?")
  const drop = database.prepare("DELETE FROM holds WHERE id = ?")
  const openOwners = database.prepare("SELECT DISTINCT owner FROM holds WHERE state = 'open'")
  const openOf = database.prepare("SELECT * FROM holds WHERE state = 'open' AND owner = ?")
  const forget = database.prepare("DELETE FROM holds WHERE state = 'settled' AND changed_at < ?")

  const correct = database.prepare("UPDATE accounts SET cost_usd = ?, changed_at = ? WHERE id = ?")
  const audited = database.prepare("SELECT body FROM adjustments WHERE id = ?")
  const audit = database.prepare("INSERT INTO adjustments (id, at, body) VALUES (?, ?, ?)")
  const allAudited = database.prepare("SELECT body FROM adjustments ORDER BY at, rowid")

  const adjustmentOf = (row: Record): Account.Adjustment => JSON.parse(String(row.body))

  const shift = database.prepare(`
    UPDATE accounts SET reserved_usd = reserved_usd - ?, reserved_tokens = reserved_tokens - ? WHERE id = ?
  `)
  const redraw = database.prepare("UPDATE holds SET chain = ? WHERE id = ?")
  const byId = database.prepare("SELECT * FROM accounts WHERE id = ?")

  /** Takes parts of other holds, or returns them. A closed hold is empty. */
  const move = (draws: ReadonlyArray<Account.Draw<number>>) => {
    for (const { account, costUsd, from, tokens } of draws) {
      const hold = get.get(from)
      const id = Number(find.get(account)?.id)
      if (hold?.state !== "open") continue
      const chain = chainOf(hold).map((link) =>
        link.id === id ? { id, drawn: Budget.plus(link.drawn, { costUsd, tokens }) } : link
      )
      redraw.run(chainText(chain), from)
      shift.run(costUsd, tokens, id)
    }
  }

  const book = (account: number, { costUsd, usage }: Paid, sign: 1 | -1, now: number) => {
    const { inputTokens, outputTokens } = usage
    const unpriced = costUsd === undefined ? sign : 0
    spend.run(sign * (costUsd ?? 0), sign * inputTokens, sign * outputTokens, sign, unpriced, now, account)
  }

  const close = (row: Record, now: number) => {
    for (const link of chainOf(row)) {
      const { costUsd = 0, usage } = worstOf(row, link)
      if (row.state === "open") free.run(costUsd, usage.inputTokens, now, link.id)
      else book(link.id, worstOf(row, link), -1, now)
    }
  }

  /** The accounts that were not charged for a call yet: a run may be resumed under another account of the same parent. */
  const uncharged = (
    chain: ReadonlyArray<Account.Named>,
    call: string | undefined,
    occurrence: Budget.Occurrence
  ): ReadonlyArray<Account.Named> => {
    if (call === undefined || occurrence === "new") return chain
    const holds = byCall.all(call).filter(({ state }) => occurrence === "replayed" || state !== "settled")
    const charged = new Set(holds.flatMap(chainOf).map(({ id }) => Account.undated(String(byId.get(id)?.name))))
    return chain.filter(({ name }) => !charged.has(Account.undated(name)))
  }

  const open: AccountTable["open"] = ({ limits, name }, now, isGiven) => {
    const row = find.get(name)
    if (row !== undefined && !(isGiven && limits !== undefined)) return rowOf(row)
    const text = JSON.stringify(limits ?? {})
    if (row === undefined) begin.run(name, text, now)
    else limit.run(text, row.id!)
    return rowOf(find.get(name)!)
  }

  return {
    open,
    reserve: ({ account, amount, call, chain, draws, now, occurrence, owner }) => {
      const before = call === undefined ? undefined : known.get(account, call)
      const isSame = occurrence === "replayed" || (occurrence === "resumed" && before?.state !== "settled")
      if (before !== undefined && isSame) {
        take.run(owner, before.id!)
        return { hold: Number(before.id), isNew: false }
      }
      const left = before === undefined ? uncharged(chain, call, occurrence) : chain
      const rows = left.map((one) => open(one, now, false))
      const fits = rows.map((row) => Budget.fit(row.limits, drawnOn(row, draws), amount))
      const refused = fits.find((fit) => typeof fit === "object")
      if (refused !== undefined) return refused
      if (fits.includes("wait")) return "wait"
      move(draws)
      for (const { id } of rows) hold.run(amount.costUsd ?? 0, amount.tokens, now, id)
      const ids = JSON.stringify(rows.map(({ id }) => id))
      // Another call has the name already.
      const name = before === undefined ? (call ?? null) : null
      const { lastInsertRowid } = add.run(account, name, ids, amount.costUsd ?? null, amount.tokens, owner, now)
      return { hold: Number(lastInsertRowid), isNew: true }
    },
    close: ({ draws, hold: id, isDrawn, now, used }) => {
      const row = get.get(id)
      if (row === undefined || row.state === "settled") return
      close(row, now)
      move(draws)
      if (used === undefined) return void drop.run(id)
      for (const link of chainOf(row)) {
        const account = isDrawn ? rowOf(byId.get(link.id)!) : undefined
        book(link.id, account === undefined ? used : Budget.chargeable(account.limits, account, used), 1, now)
      }
      if (row.call === null) drop.run(id)
      else mark.run("settled", now, id)
    },
    charge: ({ account, call, chain, now, owner }, costUsd) => {
      if (call !== undefined && known.get(account, call) !== undefined) return
      const ids = uncharged(chain, call, "replayed").map((one) => open(one, now, false).id)
      for (const id of ids) spend.run(costUsd, 0, 0, 0, 0, now, id)
      if (call === undefined) return
      const { lastInsertRowid } = add.run(account, call, JSON.stringify(ids), costUsd, 0, owner, now)
      mark.run("settled", now, lastInsertRowid)
    },
    owners: () => openOwners.all().map(({ owner }) => String(owner)),
    bury: (dead, now) => {
      for (const row of dead.flatMap((owner) => openOf.all(owner))) {
        close(row, now)
        for (const link of chainOf(row)) book(link.id, worstOf(row, link), 1, now)
        if (row.call === null) drop.run(row.id!)
        else mark.run("doubtful", now, row.id!)
      }
    },
    tidy: (now) => void forget.run(now - keptMillis),
    list: () => all.all().map(rowOf),
    adjust: ({ names, ...correction }, now) => {
      const before = audited.get(correction.id)
      if (before !== undefined) return adjustmentOf(before)
      const rows = names.map((name) => open({ name, limits: undefined }, now, false))
      const topmost = rows.at(-1)?.total.costUsd ?? 0
      const accounts = rows.map(({ id, name, total: { costUsd: beforeUsd } }) => {
        const afterUsd = Account.correctedUsd(correction.change, beforeUsd, topmost)
        correct.run(afterUsd, now, id)
        return { name, beforeUsd, afterUsd }
      })
      const made = { ...correction, at: now, accounts }
      audit.run(made.id, now, JSON.stringify(made))
      return made
    },
    adjustments: () => allAudited.all().map(adjustmentOf)
  }
}
