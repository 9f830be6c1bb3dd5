/** Charges the payments made by a run's earlier processes under their names, so that no account is charged twice. */
import * as Effect from "effect/Effect"
import { inPlace } from "../../events/items.ts"
import type { Listener, RunEvent } from "../../events/RunEvent.ts"
import { defined } from "../../Fields.ts"
import type { Retired } from "../../journal/Superseded.ts"
import { unpaid } from "../../loop/accounts.ts"
import type { CallRun } from "../../loop/call.ts"
import { emitter } from "../../loop/reports.ts"
import type { Ledger } from "../../run/Budget.ts"
import type { Doubt, Recording } from "../../run/Recording.ts"
import type { BudgetExceeded, Paid } from "../../task/Usage.ts"

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
    const left = Math.max(0, refused.allowed - refused.spent)
    if (refused.limit === "tokens" && left < inputTokens + outputTokens) {
      const input = Math.min(inputTokens, left)
      const less = { ...usage, inputTokens: input, outputTokens: Math.min(outputTokens, left - input) }
      return bookDoubt(ledger, name, { costUsd, usage: less })
    }
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
 * Returns the event that reports an unconfirmed call, based on the call's address: `run/round/by/number`, where the run
 * id may contain slashes. If the nested run or the step was not started since the resume, the event refers to the round
 * or to the run as a whole.
 */
const lostEvent = (
  { clock, runId: whole }: CallRun,
  recording: Recording,
  { attempt, call, worker }: Doubt,
  paid: Paid
): RunEvent => {
  const [, who = "", number] = call.split("/").reverse()
  const run = call.split("/").slice(0, -3).join("/")
  const [asker, check] = who.split(" ")
  const round = Number(number)
  const { item, step } = inPlace(asker ?? "")
  const steps = recording.stepsOf(run, round)
  const place =
    steps === undefined
      ? { runId: whole, round: 0 }
      : { runId: run, round, ...(step < steps ? defined({ step, item }) : undefined) }
  const by = check === "check" ? { by: check as "check" } : who === "critic" ? { by: who as "critic" } : {}
  const chargeId = `${call}/${attempt}`
  return { type: "call-lost", ...place, ...by, worker, chargeId, ...paid, at: clock.currentTimeMillisUnsafe() }
}

/** Charges and reports failures at positions that a resumed run did not reach before it ended. */
const settleRetired = (before: Before, recording: Recording): Effect.Effect<void> =>
  Effect.forEach(
    recording.unreported(),
    // The failures may belong to nested runs.
    (one) => Effect.catch(retire(before, [one], recording.listener), () => Effect.void),
    { discard: true }
  )

/**
 * Charges and reports unconfirmed calls that a resumed run did not reach before it ended, because of a different limit
 * or order.
 */
const settleDoubts = ({ chargesRun, run }: Before, recording: Recording): Effect.Effect<void> => {
  const { ledger } = run
  return Effect.forEach(
    recording.doubts(),
    (doubt) => {
      const { attempt, call, costUsd, usage } = doubt
      const worst: Paid = { costUsd, usage }
      if (!chargesRun) return Effect.sync(() => recording.note({ type: "lost", call, attempt, ...worst }))
      const booked = Effect.catch(bookDoubt(ledger, `${call}/${attempt}`, worst), () =>
        Effect.as(ledger.charge(costUsd ?? 0, `${call}/${attempt}`), worst)
      )
      return Effect.map(booked, (paid) => {
        recording.note({ type: "lost", call, attempt, ...paid })
        recording.listener(lostEvent(run, recording, doubt, paid))
      })
    },
    { discard: true }
  )
}

/** Charges and reports everything recorded by earlier processes that the run did not reach before it ended. */
export const settleRest = (before: Before): Effect.Effect<void> => {
  const { recording } = before
  if (recording === undefined) return Effect.void
  return Effect.andThen(
    settleRetired(before, recording),
    Effect.suspend(() => settleDoubts(before, recording))
  )
}
