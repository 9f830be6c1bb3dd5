/**
 * What becomes of accounts and of what is set aside on them: plain code over rows that a transaction has read and locked.
 * It says which of them have to be written.
 */
import type { Limits, Standing } from "@divisi/core/Account"
import * as Budget from "@divisi/core/Budget"
import type { BudgetExceeded, Paid } from "@divisi/core/Usage"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An account by the name that it has now, that of its day included. */
export interface Named {
  readonly name: string
  readonly limits: Limits | undefined
}

/** An account as it stands. */
export type Row = { -readonly [K in keyof Standing]: Standing[K] }

/** What is set aside for a call. */
export interface Hold {
  readonly id: string
  /** The lowest account, whatever the day. */
  readonly account: string
  readonly call: string | undefined
  /** The names of the accounts that are charged. */
  readonly chain: ReadonlyArray<string>
  readonly amount: Budget.Amount
  state: "open" | "doubtful" | "settled"
  owner: string
}

/** What is asked of the accounts. Each may be asked again with the same id, and is done once. */
export type Task =
  /** Finds an account, or makes it; limits that are given take the place of its own. */
  | { readonly type: "open"; readonly account: Named; readonly isGiven: boolean }
  | {
      readonly type: "reserve"
      readonly id: string
      readonly account: string
      readonly chain: ReadonlyArray<Named>
      readonly call: string | undefined
      readonly occurrence: Budget.Occurrence
      readonly amount: Budget.Amount
    }
  /** Replaces what was set aside by what was used, or gives it back. */
  | {
      readonly type: "close"
      readonly id: string
      readonly chain: ReadonlyArray<string>
      readonly used: Paid | undefined
    }
  | {
      readonly type: "charge"
      readonly id: string
      readonly account: string
      readonly chain: ReadonlyArray<Named>
      readonly call: string | undefined
      readonly costUsd: number
    }
  /** Counts what a process had set aside that is no more at its worst case. */
  | { readonly type: "bury"; readonly id: string; readonly chain: ReadonlyArray<string>; readonly owner: string }

/** What became of a task: a hold, where one is asked for. */
export type Done = Hold | "wait" | BudgetExceeded | undefined

/** The accounts that a task needs. */
export const namesOf = (task: Task): ReadonlyArray<Named> => {
  if (task.type === "open") return [task.account]
  if (task.type === "reserve" || task.type === "charge") return task.chain
  return task.chain.map((name) => ({ name, limits: undefined }))
}

// -------------------------------------------------------------------------------------------------------------------
// The book
// -------------------------------------------------------------------------------------------------------------------

/** What a hold counts for once its process has ended: its worst case. */
const worstOf = ({ amount: { costUsd, tokens } }: Hold): Paid => ({
  usage: { inputTokens: tokens, outputTokens: 0 },
  costUsd
})

/** The rows of a transaction. */
export interface Book {
  readonly accounts: ReadonlyMap<string, Row>
  readonly do: (task: Task) => Done
  /** What is to be written: the accounts and holds that were changed, and the ids of holds that go. */
  readonly changes: () => {
    readonly accounts: ReadonlyArray<Row>
    readonly holds: ReadonlyArray<Hold>
    readonly gone: ReadonlyArray<string>
  }
}

/** Opens the book of rows that were read: every account that the tasks need, and every hold that they name. */
export const make = (self: string, accounts: ReadonlyMap<string, Row>, found: ReadonlyArray<Hold>): Book => {
  const holds = new Map(found.map((hold) => [hold.id, hold]))
  const callOf = ({ account, call }: Pick<Hold, "account" | "call">) => JSON.stringify([account, call])
  const named = new Map(found.flatMap((hold) => (hold.call === undefined ? [] : [[callOf(hold), hold] as const])))
  const changed = new Set<Row>()
  const written = new Set<Hold>()
  const gone = new Set<string>()

  const each = (chain: ReadonlyArray<string>, change: (row: Row) => void) => {
    for (const name of chain) {
      const row = accounts.get(name)!
      change(row)
      changed.add(row)
    }
  }

  const book = (chain: ReadonlyArray<string>, { costUsd, usage }: Paid, sign: 1 | -1) =>
    each(chain, (row) => {
      const { total } = row
      row.total = {
        usage: {
          inputTokens: total.usage.inputTokens + sign * usage.inputTokens,
          outputTokens: total.usage.outputTokens + sign * usage.outputTokens
        },
        costUsd: total.costUsd + sign * (costUsd ?? 0),
        calls: total.calls + sign,
        unpricedCalls: total.unpricedCalls + (costUsd === undefined ? sign : 0)
      }
    })

  /** Takes back what a hold counts for. */
  const free = (hold: Hold) => {
    if (hold.state === "doubtful") return book(hold.chain, worstOf(hold), -1)
    each(hold.chain, (row) => {
      row.open -= 1
      // With nothing open, the sum is exactly zero: rounding errors do not stay.
      row.reservedCostUsd = row.open === 0 ? 0 : row.reservedCostUsd - (hold.amount.costUsd ?? 0)
      row.reservedTokens -= hold.amount.tokens
    })
  }

  const drop = (hold: Hold) => {
    holds.delete(hold.id)
    written.delete(hold)
    gone.add(hold.id)
  }

  const add = (hold: Hold) => {
    holds.set(hold.id, hold)
    if (hold.call !== undefined) named.set(callOf(hold), hold)
    written.add(hold)
    return hold
  }

  const reserve = (task: Extract<Task, { readonly type: "reserve" }>): Done => {
    const { account, amount, call, chain, id, occurrence } = task
    const same = call === undefined ? undefined : named.get(callOf({ account, call }))
    const isSame = occurrence === "replayed" || (occurrence === "resumed" && same?.state !== "settled")
    const before = holds.get(id) ?? (isSame ? same : undefined)
    if (before !== undefined) {
      before.owner = self
      written.add(before)
      return before
    }
    const rows = chain.map(({ name }) => accounts.get(name)!)
    const fits = rows.map((row) => Budget.fit(row.limits, row, amount))
    const refused = fits.find((fit) => typeof fit === "object")
    if (refused !== undefined) return refused
    if (fits.includes("wait")) return "wait"
    const names = rows.map(({ name }) => name)
    each(names, (row) => {
      row.open += 1
      row.reservedCostUsd += amount.costUsd ?? 0
      row.reservedTokens += amount.tokens
    })
    // Another call has the name already.
    const name = same === undefined ? call : undefined
    return add({ id, account, call: name, chain: names, amount, state: "open", owner: self })
  }

  const close = (hold: Hold, used: Paid | undefined) => {
    free(hold)
    if (used !== undefined) book(hold.chain, used, 1)
    if (used === undefined || hold.call === undefined) {
      if (hold.call !== undefined) named.delete(callOf(hold))
      return drop(hold)
    }
    hold.state = "settled"
    written.add(hold)
  }

  const perform = (task: Task): Done => {
    if (task.type === "reserve") return reserve(task)
    if (task.type === "open") {
      const row = accounts.get(task.account.name)!
      const { limits } = task.account
      if (task.isGiven && limits !== undefined && JSON.stringify(limits) !== JSON.stringify(row.limits)) {
        row.limits = limits
        changed.add(row)
      }
      return undefined
    }
    const hold = holds.get(task.id)
    if (task.type === "charge") {
      const { account, call } = task
      if (hold !== undefined || (call !== undefined && named.has(callOf({ account, call })))) return undefined
      const names = task.chain.map(({ name }) => name)
      each(names, (row) => {
        row.total = { ...row.total, costUsd: row.total.costUsd + task.costUsd }
      })
      const amount = { costUsd: task.costUsd, tokens: 0 }
      add({ id: task.id, account, call, chain: names, amount, state: "settled", owner: self })
      return undefined
    }
    if (hold === undefined || hold.state === "settled") return undefined
    if (task.type === "close") close(hold, task.used)
    else if (hold.state === "open" && hold.owner === task.owner) {
      free(hold)
      book(hold.chain, worstOf(hold), 1)
      // Its process may live after all, and say what was used.
      hold.state = "doubtful"
      written.add(hold)
    }
    return undefined
  }

  return {
    accounts,
    do: perform,
    changes: () => ({ accounts: [...changed], holds: [...written], gone: [...gone] })
  }
}
