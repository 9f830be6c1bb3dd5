/** Charges the payments made by a run's earlier processes under their names, so that no account is charged twice. */
import * as Effect from "effect/Effect"
import type { Listener } from "../../events/RunEvent.ts"
import { defined } from "../../Fields.ts"
import type { Retired } from "../../journal/Superseded.ts"
import { unpaid } from "../../loop/accounts.ts"
import type { CallRun } from "../../loop/call.ts"
import { emitter } from "../../loop/reports.ts"
import type { Ledger } from "../../run/Budget.ts"
import type { Recording, Uncharged } from "../../run/Recording.ts"
import type { BudgetExceeded, Paid, Usage } from "../../task/Usage.ts"

/** The run to charge, and its earlier state. */
export interface Before {
  readonly run: CallRun
  /** Undefined if the run has no journal. */
  readonly recording: Recording | undefined
  /**
   * Whether the run is charged for calls that ended with their process. If not, only the payer is charged and nothing
   * is reported.
   */
  readonly chargesRun: boolean
}

/** Records an earlier payment on the run's account and reports it in the same tick. No money is spent. */
export const repay = <A>(
  { ledger }: CallRun,
  name: string | undefined,
  { costUsd, usage }: Paid,
  report: (paid: Paid) => A
): Effect.Effect<A, BudgetExceeded> => {
  const paid: Paid = { usage, costUsd }
  const amount = { costUsd, tokens: usage.inputTokens + usage.outputTokens }
  return Effect.uninterruptible(
    Effect.flatMap(ledger.reserve(amount, name), (reservation) =>
      Effect.map(ledger.settle(reservation, paid), () => report(paid))
    )
  )
}

/** Returns the part of a usage that a token limit allows, or `undefined` if the limit did not refuse it. */
const withinTokens = ({ allowed, limit, spent }: BudgetExceeded, usage: Usage): Usage | undefined => {
  const left = Math.max(0, allowed - spent)
  if (limit !== "tokens" || left >= usage.inputTokens + usage.outputTokens) return undefined
  const inputTokens = Math.min(usage.inputTokens, left)
  return { ...usage, inputTokens, outputTokens: Math.min(usage.outputTokens, left - inputTokens) }
}

/**
 * Charges an unconfirmed call at its worst case, as far as the budget allows: a resumed run that executes in a
 * different order may have spent the budget on other calls. Returns the amount charged.
 */
export const bookDoubt = (
  ledger: Ledger,
  name: string | undefined,
  { costUsd, usage }: Paid
): Effect.Effect<Paid, BudgetExceeded> => {
  const { inputTokens, outputTokens } = usage
  const booked = Effect.flatMap(ledger.reserve({ costUsd, tokens: inputTokens + outputTokens }, name), (own) =>
    Effect.as(ledger.settle(own, { costUsd, usage }), { costUsd, usage })
  )
  return Effect.catch(booked, (refused) => {
    const less = withinTokens(refused, usage)
    if (less !== undefined) return bookDoubt(ledger, name, { costUsd, usage: less })
    const left = Math.max(0, refused.allowed - refused.spent)
    if (refused.limit === "costUsd" && costUsd !== undefined && left < costUsd) {
      return bookDoubt(ledger, name, { costUsd: left, usage })
    }
    return Effect.fail(refused)
  })
}

/**
 * Charges and reports attempts that failed before the run was resumed. Attempts are charged by name, so that no account
 * is charged twice.
 */
export const retire = (
  { chargesRun, recording, run }: Before,
  retired: ReadonlyArray<Retired>,
  listener?: Listener
): Effect.Effect<void, BudgetExceeded> => {
  const isCharged = run.isShared || recording !== undefined
  return Effect.forEach(
    retired,
    ({ event, name }) => {
      const { at: _, runId, ...body } = event
      const emit = listener === undefined ? run.emit : emitter(runId, run.clock, listener)
      const report = ({ costUsd, usage }: Paid) =>
        emit?.({
          ...body,
          ...defined({ chargeId: isCharged ? name : event.chargeId }),
          isRetired: true,
          costUsd,
          usage
        })
      if (event.type === "call-failed") {
        return event.unasked === true ? Effect.sync(() => report(unpaid)) : repay(run, name, event, report)
      }
      if (!chargesRun) return Effect.void
      if (event.type === "call-interrupted") return repay(run, name, event, report)
      return Effect.uninterruptible(Effect.map(bookDoubt(run.ledger, name, event), report))
    },
    { discard: true }
  )
}

/**
 * Charges and reports a call that was paid for earlier. Its cost is charged in full, even if a limit is lower now; its
 * tokens are charged as far as they are allowed.
 */
const settle = (before: Before, one: Retired, listener: Listener): Effect.Effect<void> =>
  Effect.catch(retire(before, [one], listener), (refused) => {
    const { event, name } = one
    const { clock, ledger } = before.run
    const usage = withinTokens(refused, event.usage)
    if (usage !== undefined) return settle(before, { name, event: { ...event, usage } }, listener)
    return Effect.map(ledger.charge(event.costUsd ?? 0, name), () =>
      listener({ ...event, chargeId: name, isRetired: true, at: clock.currentTimeMillisUnsafe() })
    )
  })

/**
 * Charges and reports everything recorded by earlier processes that the run did not reach before it ended, because of a
 * different limit or order. If the journal failed, the run is resumed later.
 */
export const settleRest = (before: Before): Effect.Effect<void> => {
  const { chargesRun, recording } = before
  if (recording === undefined || recording.broken() !== undefined) return Effect.void
  const { listener, note } = recording
  const settleOne = (one: Uncharged) => {
    const { attempt, call, event, outcome } = one
    const isUnconfirmed = outcome === undefined
    const lost = ({ costUsd, usage }: Paid) => note({ type: "lost", call, attempt, costUsd, usage })
    if (!chargesRun && outcome !== "answered" && outcome !== "failed") {
      return isUnconfirmed ? Effect.sync(() => lost(event)) : Effect.void
    }
    return settle({ ...before, chargesRun: true }, one, (event) => {
      if (event.type !== "call-interrupted" && event.type !== "call-lost") return listener(event)
      // The attempt is not marked as retired, because the run may reach it if it is resumed again.
      const { isRetired: _, ...report } = event
      if (isUnconfirmed) lost(report)
      listener(report)
    })
  }
  return Effect.andThen(
    Effect.forEach(recording.unreported(), (one) => settle(before, one, listener), { discard: true }),
    Effect.suspend(() => Effect.forEach(recording.uncharged(), settleOne, { discard: true }))
  )
}
