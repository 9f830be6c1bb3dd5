/**
 * Accounts that outlive a process: what runs may spend, counted in one place for all processes that share it.
 *
 * Each account is a `Ledger`: given to runs, it is never exceeded by all of them together, whatever processes they are
 * in, and a restart forgets nothing. Accounts stand under others: a run's under its key's, that under its team's, that
 * under the day's. `DiskAccounts` of `@divisi/files` keeps them in a file, `PostgresAccounts` of `@divisi/cluster` in a
 * database. Whoever writes others holds them to `AccountsContract` of `@divisi/testkit/journals`.
 */
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { BudgetExceeded } from "../task/Usage.ts"
import type * as Budget from "./Budget.ts"

/** What an account limits: USD, tokens, calls. An absent limit does not limit. */
export type Limits = Omit<Budget.Limits, "durationMillis">

/** An account that is opened. */
export interface AccountOptions {
  /** Its name among all accounts, e.g. `team/red`. */
  readonly name: string
  /** Its limits from now on, for all processes; when absent, it keeps those that it has. */
  readonly limits?: Limits | undefined
  /** With `"day"` it begins anew with each day, in UTC; a call counts for the day in which it began. */
  readonly per?: "day" | undefined
  /** The account above: whatever is charged here is charged there, too. */
  readonly parent?: Account | undefined
}

/** What all processes have spent and reserved on an account. */
export interface Standing extends Budget.Standing {
  readonly name: string
  readonly limits: Limits
  /** Why its stored limits cannot be read: nothing more can be spent then. */
  readonly damaged?: string
}

/** Reads stored limits. Damaged ones allow nothing more, and hide no other account. */
export const readLimits = (text: unknown): Pick<Standing, "limits" | "damaged"> => {
  try {
    const limits: unknown = JSON.parse(String(text))
    if (typeof limits === "object" && limits !== null) return { limits }
  } catch {}
  return { limits: { costUsd: 0, tokens: 0, calls: 0 }, damaged: "its limits cannot be read" }
}

/** Accounts that cannot be used. A run that needs them fails with it. */
export interface AccountsError extends Error {
  readonly _tag: "AccountsError"
}

/** An account: a `Ledger` for `RunOptions.ledger`, for a `Payer`, or under a ledger in memory. */
export interface Account<E extends AccountsError = AccountsError> extends Budget.Ledger {
  readonly name: string
  readonly standing: Effect.Effect<Standing, E>
  /** Itself and those above it. */
  readonly chain: ReadonlyArray<AccountOptions>
}

/** How a correction changes an account: by an amount in USD (negative for a credit), or to an amount. */
export type Change = { readonly addUsd: number } | { readonly setUsd: number }

/** A correction of what accounts have spent. */
export interface Correction {
  /** Names the correction among all of a place: a second one of the same id changes nothing. */
  readonly id: string
  /** The person or program that corrects. */
  readonly by: string
  readonly reason: string
  readonly change: Change
  /**
   * The accounts by the names that they have in the list, from the lowest to the topmost. `setUsd` sets the topmost; the
   * others change by as much. No account falls below 0.
   */
  readonly names: ReadonlyArray<string>
}

/** A correction that was made, as the audit has it. */
export interface Adjustment extends Omit<Correction, "names"> {
  /** In milliseconds since 1970. */
  readonly at: number
  readonly accounts: ReadonlyArray<{ readonly name: string; readonly beforeUsd: number; readonly afterUsd: number }>
}

/** What an account has spent after a correction, in USD. `topmostUsd` is what the topmost had spent before it. */
export const correctedUsd = (change: Change, beforeUsd: number, topmostUsd: number): number =>
  Math.max(0, beforeUsd + ("addUsd" in change ? change.addUsd : change.setUsd - topmostUsd))

/** The accounts of a place. */
export interface Accounts<E extends AccountsError = AccountsError> {
  /** The file, or where else they lie. */
  readonly name: string
  /** Opens an account, and makes it where there is none of this name. */
  readonly open: (options: AccountOptions) => Effect.Effect<Account<E>, E>
  /** All accounts, the last changed first; those per day once for each day. */
  readonly list: Effect.Effect<ReadonlyArray<Standing>, E>
  /**
   * Corrects what accounts have spent, in one transaction with its audit. Returns the adjustment as it was made: if there
   * was one of this id before, that one.
   */
  readonly adjust: (correction: Correction) => Effect.Effect<Adjustment, E>
  /** All adjustments, the first made first. */
  readonly adjustments: Effect.Effect<ReadonlyArray<Adjustment>, E>
}

/** A day in UTC, as in 2026-11-24. */
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** The name that an account has now: that of its day, where it begins anew with each. */
export const nameAt = ({ name, per }: Pick<AccountOptions, "name" | "per">, now: number): string =>
  per === "day" ? `${name}@${dayOf(now)}` : name

/** How long a call waits before it looks again whether others have made room. */
const napMillis = 25

/** After so many naps it looks whether one of the others has died. */
const napsToLook = 20

/** How amounts are set aside on an account that other processes write, too. */
export interface Place<A> {
  /** Sets an amount aside; `"wait"` where it may fit once others have settled for less. */
  readonly take: (
    amount: Budget.Amount,
    call: string | undefined,
    occurrence: Budget.Occurrence
  ) => Effect.Effect<A | "wait" | BudgetExceeded>
  readonly reservation: (amount: Budget.Amount, taken: A) => Budget.Reservation
  /** Counts what the dead have set aside as spent. */
  readonly bury: Effect.Effect<void>
}

/** Makes the `reserve` of an account: of the calls that have to wait, one looks again and again, for all of its process. */
export const reserving = <A>({ bury, reservation, take }: Place<A>): Budget.Ledger["reserve"] => {
  const turn = Semaphore.makeUnsafe(1)
  const granted = (amount: Budget.Amount, taken: A | BudgetExceeded) =>
    taken instanceof BudgetExceeded ? Effect.fail(taken) : Effect.succeed(reservation(amount, taken))
  const wait = (
    amount: Budget.Amount,
    call: string | undefined,
    occurrence: Budget.Occurrence,
    naps: number
  ): Effect.Effect<Budget.Reservation, BudgetExceeded> =>
    Effect.gen(function* () {
      const taken = yield* take(amount, call, occurrence)
      if (taken !== "wait") return yield* granted(amount, taken)
      if (naps % napsToLook === 0) yield* bury
      yield* Effect.interruptible(Effect.sleep(napMillis))
      return yield* wait(amount, call, occurrence, naps + 1)
    })
  return (amount, call, occurrence = "replayed") =>
    Effect.uninterruptible(
      Effect.flatMap(take(amount, call, occurrence), (taken) =>
        taken === "wait"
          ? Effect.acquireUseRelease(
              Effect.interruptible(turn.take(1)),
              () => wait(amount, call, occurrence, 0),
              () => turn.release(1)
            )
          : granted(amount, taken)
      )
    )
}
