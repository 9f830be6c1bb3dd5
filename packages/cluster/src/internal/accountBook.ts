/** The tasks of accounts in Postgres, and their results. `account_tasks` of the schema performs them. */
import type { Account, Budget } from "@divisi/core"
import type { BudgetExceeded, Paid } from "@divisi/core/Usage"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** An account and its current state. */
export type Row = Account.Standing

/** The reservation for a call, and the names of the accounts that are charged. */
export interface Hold {
  readonly id: string
  readonly chain: ReadonlyArray<string>
}

/** A task for the accounts. Each may be sent again with the same id, and is performed once. */
export type Task =
  /** Returns an account, or creates it; the given limits replace its own. */
  | { readonly type: "open"; readonly account: Account.Named; readonly isGiven: boolean }
  | {
      readonly type: "reserve"
      readonly id: string
      readonly account: string
      readonly chain: ReadonlyArray<Account.Named>
      readonly call: string | undefined
      readonly occurrence: Budget.Occurrence
      readonly amount: Budget.Amount
      /** The amounts taken from other holds. */
      readonly draws: ReadonlyArray<Account.Draw<Hold>>
    }
  /** Replaces a reservation by the actual usage, or releases it. */
  | {
      readonly type: "close"
      readonly id: string
      readonly chain: ReadonlyArray<string>
      readonly used: Paid | undefined
      /** Whether nested calls have drawn on it: an account is then charged no more than its limit allows. */
      readonly isDrawn: boolean
      /** The amounts returned to other holds (negative), or taken from them. */
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
  /** Charges the reservation of a process that has ended at its worst case. */
  | { readonly type: "bury"; readonly id: string; readonly chain: ReadonlyArray<string>; readonly owner: string }

/** The result of a task: a hold, if one is requested. */
export type Done = Account.Taken<Hold> | "wait" | BudgetExceeded | undefined

/** The accounts that a task needs. */
export const namesOf = (task: Task): ReadonlyArray<Account.Named> => {
  if (task.type === "open") return [task.account]
  if (task.type === "reserve" || task.type === "charge") return task.chain
  return task.chain.map((name) => ({ name, limits: undefined }))
}
