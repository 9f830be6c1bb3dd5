/**
 * Budgets limit what a run may spend. A ledger enforces the limits.
 *
 * Before a call starts, its worst-case cost is reserved; when it ends, the reservation is replaced with the actual
 * usage. Concurrent calls can therefore never exceed a limit together. A call that may fit once others have settled
 * waits. A call that can never fit fails immediately with `BudgetExceeded`, which ends the run with a result.
 */
import type * as Effect from "effect/Effect"
import type { BudgetExceeded, Paid, Spend } from "../task/Usage.ts"
import type { WorkerRequest } from "../task/Worker.ts"
import type { Caller } from "./Caller.ts"
import type { Amount, Limits } from "./Limits.ts"
import type { Entry } from "./ResponseCache.ts"

export {
  type Amount,
  chargeable,
  type Fit,
  fit,
  type Limits,
  lowest,
  type Part,
  type PlanAmount,
  plus,
  type Standing
} from "./Limits.ts"
export { make } from "./MemoryLedger.ts"

// -------------------------------------------------------------------------------------------------------------------
// Ledgers
// -------------------------------------------------------------------------------------------------------------------

/** An amount that remains reserved until it is settled or released. */
export interface Reservation {
  readonly amount: Amount
  /** The matching reservation on the parent account, if the parent is not an in-memory ledger. */
  readonly above?: Reservation | undefined
}

/**
 * Distinguishes new calls from calls repeated by a resumed run:
 *
 * - `"replayed"`: the call was sent earlier and is not sent again. An account already charged for this call name is not
 *   charged again.
 * - `"resumed"`: a run with a journal sends the call now. It takes over an unsettled reservation made by an earlier
 *   process under the same name. If that reservation was settled, the call is charged separately.
 * - `"new"`: the call is sent now and always charged, even if an earlier call had the same name.
 */
export type Occurrence = "replayed" | "resumed" | "new"

/**
 * Tracks spending and reservations against limits. A ledger can be shared by any number of runs. If it has a parent,
 * the parent's limits apply as well. {@link make} creates an in-memory ledger, whose parent may be stored in a
 * database.
 */
export interface Ledger {
  readonly limits: Limits
  /**
   * Whether this ledger or an ancestor limits cost, tokens or calls. If `false`, worst-case costs are not calculated.
   */
  readonly isLimited: boolean
  /** The lowest known cost limit of this ledger and its ancestors, in USD. */
  readonly costLimit?: number | undefined
  /**
   * Reserves an amount. Waits if the amount may fit once other calls have settled. Run it with
   * `Effect.uninterruptible`; otherwise, an amount granted at the moment of an interruption is never released. The wait
   * itself remains interruptible. `call` names the call, so that an account is not charged again when a resumed run
   * replays it. `occurrence` defaults to `"replayed"`, which may use the amount set aside by {@link hold}. If the call
   * is made within another call (`caller`), that call's reservation is drawn on first, and the effect fails if no other
   * call could free enough budget.
   */
  readonly reserve: (
    amount: Amount,
    call?: string,
    occurrence?: Occurrence,
    caller?: Caller
  ) => Effect.Effect<Reservation, BudgetExceeded>
  /** Replaces a reservation with the call's actual usage. */
  readonly settle: (reservation: Reservation, used: Paid) => Effect.Effect<void>
  /** Releases the reservation for a call that was never sent. */
  readonly release: (reservation: Reservation) => Effect.Effect<void>
  /**
   * Charges USD that were not spent on calls, e.g. for training a policy. The charge always succeeds and reduces the
   * remaining budget. If `call` is set, each name is charged only once.
   */
  readonly charge: (costUsd: number, call?: string) => Effect.Effect<void>
  /** Returns the total amount settled and charged, as known to this process. */
  readonly spent: () => Spend
}

// -------------------------------------------------------------------------------------------------------------------
// Payers
// -------------------------------------------------------------------------------------------------------------------

/** A call that has been paid for. */
export interface Payment extends Paid {
  /** Set if the call returned an answer: the answer and its response cache key. */
  readonly answered?: { readonly key: string; readonly entry: Entry } | undefined
}

/** A call that was not sent because it exceeds the payer's limits. */
export interface Refusal {
  readonly error: BudgetExceeded
  readonly worker: string
  readonly request: WorkerRequest
}

/**
 * An account that pays for the calls that runs actually send, independently of the runs' own budgets.
 *
 * **Details**
 *
 * Each call that is sent is charged both to this account and to its run's budget. Response cache hits are not charged
 * to this account. If a call exceeds the account's limits, it is not sent, and the run ends with a `BudgetExceeded`
 * whose `account` is `"payer"`. With a limit of 0 calls, only calls answered from the cache succeed.
 *
 * **Gotchas**
 *
 * Do not pass a ledger that the runs already share as `account`, or each call will be charged to it twice. Calls wait
 * for the callbacks, which must not throw.
 */
export interface Payer {
  readonly account: Ledger
  /**
   * Whether unconfirmed calls are charged to this account only. These are calls that were in flight when an earlier
   * process of a journaled run crashed or was stopped. If `true`, the run's own budget is not charged for them, and the
   * run behaves as if it had never been interrupted; the owner of the account must then account for these calls.
   * Default: `false`.
   */
  readonly chargesUnconfirmedCalls?: boolean | undefined
  /** Called for each call that was paid for, including failed ones, before its answer is delivered. */
  readonly onPaid?: ((payment: Payment) => void) | undefined
  readonly onRefused?: ((refusal: Refusal) => void) | undefined
}
