/**
 * The payer middleware. The payer's account pays for calls that are actually sent, independently of the runs' own
 * budgets.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { notifyLogged } from "../../Callback.ts"
import { ticks } from "../../Elapsed.ts"
import { attemptName, boundOn, occurrenceOf, paidOf } from "../../loop/accounts.ts"
import { type Ask, type At, type CallMiddleware, type CallRun, entryOf } from "../../loop/call.ts"
import type { Payer, Reservation } from "../../run/Budget.ts"
import type { Caller } from "../../run/Caller.ts"
import * as ResponseCache from "../../run/ResponseCache.ts"
import { withErrorOf } from "../../task/thrown.ts"
import { BudgetExceeded, type Paid } from "../../task/Usage.ts"

const keyOf = ({ request, sample, worker }: Ask): string | undefined =>
  worker.isCacheable === false ? undefined : ResponseCache.key(worker, request, sample)

/** Reports each paid attempt to the payer before its answer is delivered. */
export const payerReported =
  ({ onPaid }: Payer, { clock }: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { key = keyOf(ask) } = at
    const settled: At["settled"] = (ask, now, end) => {
      const { answered, paid } = end
      if (paid !== undefined) {
        const payment =
          answered === undefined || key === undefined ? paid : { ...paid, answered: { key, entry: entryOf(answered) } }
        notifyLogged("onPaid", () => onPaid?.(payment))
      }
      at.settled(ask, now, end)
    }
    return next(ask, key === undefined ? { ...at, settled } : { ...at, key, since: at.since ?? ticks(clock), settled })
  }

/** Reserves a call's worst case on the payer's account. */
const reserve = (payer: Payer, ask: Ask, at: At, caller: Caller): Effect.Effect<Reservation, BudgetExceeded> =>
  Effect.mapError(
    payer.account.reserve(boundOn(payer.account, ask), attemptName(at), occurrenceOf(at), caller),
    ({ allowed, limit, needed, spent }) => {
      const worker = needed === undefined ? ask.worker.id : undefined
      const error = new BudgetExceeded({ limit, allowed, spent, needed, account: "payer", worker })
      notifyLogged("onRefused", () => payer.onRefused?.({ error, worker: ask.worker.id, request: ask.request }))
      return error
    }
  )

/**
 * Charges each attempt to the payer's account. Waiting cannot deadlock, because the attempt waits only for calls in
 * flight, which have already made all of their reservations.
 */
export const payerCharged =
  (payer: Payer, run: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { account } = payer
    const { reservations = [] } = at
    /** Marks the attempt as halted if an account fails, because this is not a failure of the worker. */
    const halting = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.onError(effect, () =>
        Effect.sync(() => {
          at.received.isHalted = true
        })
      )
    const close = (reservation: Reservation, paid: Paid | undefined) =>
      halting(paid === undefined ? account.release(reservation) : account.settle(reservation, paid))
    const waitsHere: Caller = { reservations, above: run.caller, isWaiting: true }
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(halting(reserve(payer, ask, at, waitsHere)), (reserved) =>
        Effect.onExit(restore(next(ask, { ...at, reservations: [...reservations, reserved] })), (exit) => {
          if (Exit.isFailure(exit))
            return withErrorOf(ask.worker, exit.cause, (error) => close(reserved, paidOf(run, ask, at, error)))
          const { costUsd, usage } = exit.value
          at.onAnswered?.(at.attempt, exit.value)
          return close(reserved, { usage, costUsd })
        })
      )
    )
  }
