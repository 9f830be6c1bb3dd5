/**
 * Calls and their journal: what is written of an attempt, and how a call that the journal knows is told again.
 */
import * as Effect from "effect/Effect"
import { defined } from "../Fields.ts"
import type { BudgetExceeded, Paid } from "../task/Usage.ts"
import { noUsage } from "../task/Usage.ts"
import { WorkerError } from "../task/Worker.ts"
import { outputBound, worstCase } from "./bounds.ts"
import type { Known, Place } from "./Recording.ts"
import type { Answer, Entry, Failure } from "./ResponseCache.ts"
import type { Call, CallContext } from "./WorkerCall.ts"

/** What costs nothing. */
export const unpaid: Paid = { usage: noUsage, costUsd: 0 }

/** Where making a call begins: after what the journal knows of it. */
export interface Beginning {
  readonly place?: Place | undefined
  /** How many attempts there were. */
  readonly attempt: number
  readonly failures: ReadonlyArray<Failure>
}

/** An attempt in the journal. */
export interface Numbered extends Place {
  readonly attempt: number
}

/** The name of an attempt on accounts. */
export const nameOf = ({ attempt, call }: Numbered): string => `${call}/${attempt}`

/** The most that a call can have used. */
const worstOf = (call: Call): Paid => {
  const { costUsd, tokens } = worstCase(call)
  const outputTokens = outputBound(call)
  return { usage: { inputTokens: tokens - outputTokens, outputTokens, estimated: true }, costUsd }
}

export const intend = ({ attempt, call: id, hash, recording }: Numbered, call: Call): Effect.Effect<void> =>
  Effect.clockWith((clock) =>
    recording.intend({
      type: "intent",
      call: id,
      attempt,
      hash,
      worker: call.worker.id,
      at: clock.currentTimeMillisUnsafe(),
      worst: call.worker.recovery === "free" ? unpaid : worstOf(call)
    })
  )

/** Writes what became of an attempt. */
export const note = (
  { attempt, call, recording }: Numbered,
  { answer, paid }: { readonly answer?: Answer | undefined; readonly paid: Paid | undefined },
  failure: Failure | undefined,
  isSent: boolean
): void => {
  const at = { call, attempt }
  if (answer !== undefined) recording.note({ ...at, type: "answered", answer, ...paid! })
  else if (failure !== undefined) {
    const { message, reason, retryInMillis, unasked } = failure
    recording.note({
      ...at,
      ...defined({ type: "failed", reason, message, retryInMillis, unasked }),
      ...(paid ?? unpaid)
    })
  } else if (isSent) recording.note({ ...at, type: "interrupted", ...(paid ?? unpaid) })
  else recording.note({ ...at, type: "withdrawn" })
}

/** Books what was paid before on the run's account, and tells it in the same turn. Nobody pays it again. */
const repay = (
  { ledger }: CallContext,
  at: Numbered,
  { costUsd, usage }: Paid,
  tell: (paid: Paid) => void
): Effect.Effect<void, BudgetExceeded> => {
  const paid: Paid = { usage, costUsd }
  const amount = { costUsd, tokens: usage.inputTokens + usage.outputTokens }
  return Effect.uninterruptible(
    Effect.flatMap(ledger.reserve(amount, nameOf(at)), (reservation) =>
      Effect.map(ledger.settle(reservation, paid), () => tell(paid))
    )
  )
}

const tellLost = ({ emit }: CallContext, { round, step, worker }: Call, paid: Paid) =>
  emit?.({ ...defined({ type: "call-lost", round, step, worker: worker.id }), ...paid })

/** Why a call failed whose answer was lost with its process, and that was not to be made again. */
export const lostDetail = "the process that had asked it ended before its answer came"

/** How a call is made, and how what is known of it is told. */
interface Ways {
  readonly make: (beginning: Beginning) => Effect.Effect<unknown, WorkerError | BudgetExceeded>
  readonly take: (entry: Entry) => Effect.Effect<void, BudgetExceeded>
  readonly answer: (entry: Entry, costUsd: number | undefined) => void
  readonly tellFailure: (number: number, failure: Failure, paid: Paid) => void
  readonly tellInterruption: (paid: Paid) => void
}

/** A call that the journal knows: what is known of it is told as it was, and the rest is made. */
export const replay = (
  context: CallContext,
  call: Call,
  place: Place,
  ways: Ways
): Effect.Effect<unknown, WorkerError | BudgetExceeded> => {
  const { recording } = place

  const from = (
    attempt: number,
    failures: ReadonlyArray<Failure>
  ): Effect.Effect<unknown, WorkerError | BudgetExceeded> => {
    const known: Known | undefined = place.past[attempt]
    if (known === undefined) return ways.make({ place, attempt, failures })
    if (known.hash !== undefined && known.hash !== place.hash) {
      return recording.mismatch(place.call, `asks ${call.worker.id} something else than it did before`)
    }
    const at = { ...place, attempt }
    const { outcome } = known
    if (outcome === undefined || outcome.type === "lost") return lost(at, known, failures)
    if (outcome.type === "interrupted") {
      const again = repay(context, at, outcome, ways.tellInterruption)
      return Effect.andThen(again, from(attempt + 1, failures))
    }
    if (outcome.type === "failed") {
      const { message, reason, retryInMillis, unasked, usage } = outcome
      const failure: Failure = { reason, message, usage, retryInMillis, unasked }
      const tell = (paid: Paid) => ways.tellFailure(failures.length, failure, paid)
      const again = unasked === true ? Effect.sync(() => tell(unpaid)) : repay(context, at, outcome, tell)
      if (retryInMillis === undefined) {
        return Effect.andThen(again, Effect.fail(new WorkerError({ worker: call.worker.id, reason, usage })))
      }
      const wait = place.past[attempt + 1] === undefined ? Effect.sleep(retryInMillis) : Effect.void
      return Effect.andThen(Effect.andThen(again, wait), from(attempt + 1, [...failures, failure]))
    }
    // What this package wrote, under the version and the checksum of its journal.
    const entry = outcome.answer as Entry
    if (outcome.type === "found") return ways.take(entry)
    return repay(context, at, outcome, ({ costUsd }) => ways.answer(entry, costUsd))
  }

  /** Nobody knows whether it was answered: it is charged at its worst case, and told. */
  const lost = (at: Numbered, known: Known, failures: ReadonlyArray<Failure>) => {
    const { worst = unpaid } = known
    const { attempt, call: id } = at
    if (known.outcome === undefined) recording.note({ type: "lost", call: id, attempt, ...worst })
    const told = repay(context, at, worst, (paid) => tellLost(context, call, paid))
    if ((context.onDoubt ?? "again") === "again" || call.worker.recovery === "free") {
      return Effect.andThen(told, from(attempt + 1, failures))
    }
    const reason = { _tag: "Timeout", detail: lostDetail } as const
    return Effect.andThen(told, Effect.fail(new WorkerError({ worker: call.worker.id, reason })))
  }

  return from(0, [])
}
