/** Operations on Postgres accounts and their results. The database function `account_tasks` performs them. */
import type { Account, Budget } from "@divisi/core"
import type { BudgetExceeded, Paid } from "@divisi/core/Usage"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An account with its current balance. */
export type Row = Account.Standing

/** The reservation for a call, and the names of the accounts that it is charged to. */
export interface Hold {
  readonly id: string
  readonly chain: ReadonlyArray<string>
}

/** An operation on accounts. It is performed once, even if it is sent several times with the same id. */
export type Task =
  /** Returns an account, creating it if necessary. Limits are replaced if they are given. */
  | { readonly type: "open"; readonly account: Account.Named; readonly isGiven: boolean }
  | {
      readonly type: "reserve"
      readonly id: string
      readonly account: string
      readonly chain: ReadonlyArray<Account.Named>
      readonly call: string | undefined
      readonly occurrence: Budget.Occurrence
      readonly amount: Budget.Amount
      /** Amounts drawn from other reservations. */
      readonly draws: ReadonlyArray<Account.Draw<Hold>>
    }
  /** Replaces a reservation with the actual usage, or releases it. */
  | {
      readonly type: "close"
      readonly id: string
      readonly chain: ReadonlyArray<string>
      readonly used: Paid | undefined
      /**
       * Whether nested calls have drawn on the reservation. If so, accounts are charged no more than their limits
       * allow.
       */
      readonly isDrawn: boolean
      /** Amounts drawn from other reservations, or returned to them (negative). */
      readonly draws: ReadonlyArray<Account.Draw<Hold>>
    }
  | {
      readonly type: "charge"
      readonly id: string
      readonly account: string
      readonly chain: ReadonlyArray<Account.Named>
      readonly call: string | undefined
      readonly costUsd: number
    }
  /** Charges the reservations of a dead process at their worst-case cost. */
  | { readonly type: "bury"; readonly id: string; readonly chain: ReadonlyArray<string>; readonly owner: string }

/** The result of an operation, including the reservation if one was requested. */
export type Done = Account.Taken<Hold> | "wait" | BudgetExceeded | undefined

/** Returns the accounts that an operation accesses. */
export const namesOf = (task: Task): ReadonlyArray<Account.Named> => {
  if (task.type === "open") return [task.account]
  if (task.type === "reserve" || task.type === "charge") return task.chain
  return task.chain.map((name) => ({ name, limits: undefined }))
}
