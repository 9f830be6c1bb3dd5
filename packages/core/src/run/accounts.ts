/** What a call reserves on the accounts that it is charged to, and what becomes of it. */
import * as Effect from "effect/Effect"
import { notifyLogged } from "../Callback.ts"
import { BudgetExceeded, type Paid } from "../task/Usage.ts"
import type { Amount, Ledger, Occurrence, Payer, Reservation } from "./Budget.ts"
import { worstCase } from "./bounds.ts"
import type { Call, CallContext } from "./WorkerCall.ts"

/** An attempt of a call, as the accounts that it is charged to know it. */
export interface Charge {
  /** Absent if the run shares no account and has no journal. */
  readonly name: string | undefined
  readonly occurrence: Occurrence
}

const nothing: Amount = { costUsd: 0, tokens: 0 }

/** What is reserved for a call on an account. */
export const boundOn = ({ isLimited }: Ledger, call: Call): Amount => (isLimited ? worstCase(call) : nothing)

/** Reserves the worst case of a call on the payer's account. */
export const reserveAtPayer = (
  payer: Payer,
  call: Call,
  { name, occurrence }: Charge
): Effect.Effect<Reservation, BudgetExceeded> =>
  Effect.mapError(
    payer.account.reserve(boundOn(payer.account, call), name, occurrence),
    ({ allowed, limit, needed, spent }) => {
      const error = new BudgetExceeded({ limit, allowed, spent, needed, account: "payer" })
      notifyLogged("onRefused", () => payer.onRefused?.({ error, worker: call.worker.id, request: call.request }))
      return error
    }
  )

/** Settles what was reserved, or gives it back where the worker was not asked. */
export const closeAll = (
  { ledger, payer }: CallContext,
  own: Reservation,
  payers: Reservation | undefined,
  paid: Paid | undefined
): Effect.Effect<void> => {
  const close = (account: Ledger, reservation: Reservation) =>
    paid === undefined ? account.release(reservation) : account.settle(reservation, paid)
  const closed = close(ledger, own)
  return payer === undefined || payers === undefined ? closed : Effect.andThen(closed, close(payer.account, payers))
}
