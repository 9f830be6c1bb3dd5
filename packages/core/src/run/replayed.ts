/**
 * Calls that a run has made before. Attempts are written into its journal; a call that a journal or a transcript knows
 * is told again, and neither made nor paid for again.
 */
import * as Effect from "effect/Effect"
import * as Hash from "effect/Hash"
import { emitter, type Listener, type RunEvent } from "../events/RunEvent.ts"
import { defined } from "../Fields.ts"
import type { Known, Outcome } from "../journal/RecordedRun.ts"
import type { Retired } from "../journal/Superseded.ts"
import type { Message } from "../task/Message.ts"
import type { BudgetExceeded, Paid } from "../task/Usage.ts"
import { noUsage } from "../task/Usage.ts"
import { WorkerError } from "../task/Worker.ts"
import type { Ledger } from "./Budget.ts"
import { outputBound, worstCase } from "./bounds.ts"
import type { Doubt, Slot } from "./Recording.ts"
import { type Answer, type Entry, type Failure, key } from "./ResponseCache.ts"
import type { Call as Received } from "./receive.ts"
import type { Call, CallContext } from "./WorkerCall.ts"

/** Where a call that gave no answer belongs. */
export const placeOf = ({ by, round, step, turn, worker }: Call) => ({
  round,
  step,
  turn: turn === 0 ? undefined : turn,
  by: by === "check" || by === "critic" ? by : undefined,
  worker: worker.id
})

/** What costs nothing. */
export const unpaid: Paid = { usage: noUsage, costUsd: 0 }

/** Where making a call begins: after what is known of it. */
export interface Beginning {
  /** Absent without a journal. */
  readonly slot?: Slot | undefined
  /** The name of the call on accounts. Absent if the run shares no account and has no journal. */
  readonly name?: string | undefined
  /** How many attempts there were. */
  readonly attempt: number
  readonly failures: ReadonlyArray<Failure>
  /** By which the first attempt is gone on with: the vendor is asked for its answer again. */
  readonly handle?: string | undefined
}

/** An attempt in the journal. */
export interface Numbered extends Slot {
  readonly attempt: number
  readonly handle?: string | undefined
}

/**
 * The identity of a call in a journal: worker, messages, settings and shape. A run that is resumed makes its messages as
 * it did before, to the order of their properties; what others give it may come in another order. The list of tools is
 * not part of it: servers of tools change their lists, and an answer that was paid for stays one. Nor is an output limit
 * that only the accounts set: a run may be resumed under other limits.
 */
export const askedOf = (
  { request: { messages, tools: _, ...rest }, sample, worker }: Call,
  { maxOutputTokens }: { readonly maxOutputTokens?: number | undefined } = rest
): string => key(worker, { ...rest, maxOutputTokens, messages: [] }, sample) + messages.map(digestOf).join()

/** The digests of messages. A conversation is hashed once, not once for each of its turns. */
const digests = new WeakMap<Message, string>()

const digestOf = (message: Message): string => {
  const known = digests.get(message)
  if (known !== undefined) return known
  const text = JSON.stringify(message)
  const digest = `${text.length.toString(36)}-${(Hash.string(text) >>> 0).toString(36)}`
  digests.set(message, digest)
  return digest
}

/** The name of an attempt on accounts, by the name of its call. */
export const attemptName = (call: string | undefined, attempt: number): string | undefined =>
  call === undefined ? undefined : `${call}/${attempt}`

/** The name of an attempt in the journal. */
export const nameOf = ({ attempt, call }: Numbered): string => `${call}/${attempt}`

/** The most that a call may have used. */
const worstOf = (call: Call): Paid => {
  const { costUsd, tokens } = worstCase(call)
  const outputTokens = outputBound(call)
  return { usage: { inputTokens: tokens - outputTokens, outputTokens, estimated: true }, costUsd }
}

/** Writes that an attempt begins, before it does. For one that costs nothing nobody waits: it can be made again. */
export const intend = ({ attempt, call: id, hash, recording }: Numbered, call: Call): Effect.Effect<void> =>
  Effect.clockWith((clock) => {
    const isFree = call.worker.recovery === "free"
    const at = clock.currentTimeMillisUnsafe()
    const worst = isFree ? unpaid : worstOf(call)
    const entry = { type: "intent" as const, call: id, attempt, hash, worker: call.worker.id, at, worst }
    return isFree ? Effect.sync(() => recording.note(entry)) : recording.intend(entry)
  })

/** A call that writes by what it can be gone on with, or that goes on with one that was begun before. */
export const inJournal = (call: Call, { attempt, call: id, handle: known, recording }: Numbered): Received => {
  const { worker } = call
  const { recovery } = worker
  if (typeof recovery !== "object") return call
  return {
    ...call,
    worker: known === undefined ? worker : { ...worker, generate: (request) => recovery.reattach(known, request) },
    onHandle: (handle) => {
      recording.note({ type: "handle", call: id, attempt, handle })
      return recording.saved
    }
  }
}

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

/** Whether what ended with a process is the payer's alone. */
const isBorne = ({ payer }: CallContext): boolean => payer?.bearsLost === true

/**
 * Books what was paid before on the run's account, and tells it in the same turn. Nobody pays it again.
 */
const repay = (
  { ledger }: CallContext,
  name: string | undefined,
  { costUsd, usage }: Paid,
  tell: (paid: Paid) => void
): Effect.Effect<void, BudgetExceeded> => {
  const paid: Paid = { usage, costUsd }
  const amount = { costUsd, tokens: usage.inputTokens + usage.outputTokens }
  return Effect.uninterruptible(
    Effect.flatMap(ledger.reserve(amount, name), (reservation) =>
      Effect.map(ledger.settle(reservation, paid), () => tell(paid))
    )
  )
}

const tellLost = ({ emit }: CallContext, call: Call, paid: Paid, chargeId: string | undefined) =>
  emit?.({ ...defined({ type: "call-lost", ...placeOf(call), chargeId }), ...paid })

/**
 * The event of a doubt, by the address of its call: `run/round/by/number`, where a run's id may have slashes, too. Of what
 * this time was not begun (a nested run, a step), it is told of the round, or of the whole run.
 */
const lostEvent = (
  { clock, recording, runId: whole }: CallContext,
  { attempt, call, worker }: Doubt,
  paid: Paid
): RunEvent => {
  const [, who = "", number] = call.split("/").reverse()
  const run = call.split("/").slice(0, -3).join("/")
  const [asker, check] = who.split(" ")
  const [round, step] = [Number(number), Number(asker)]
  const steps = recording!.stepsOf(run, round)
  const place =
    steps === undefined
      ? { runId: whole, round: 0 }
      : { runId: run, round, ...defined({ step: step < steps ? step : undefined }) }
  const by = check === "check" ? { by: check as "check" } : who === "critic" ? { by: who as "critic" } : {}
  const chargeId = `${call}/${attempt}`
  return { type: "call-lost", ...place, ...by, worker, chargeId, ...paid, at: clock.currentTimeMillisUnsafe() }
}

/**
 * Books a call in doubt at its worst case, as far as there is room: a run that goes on in another order may have asked
 * others for it. Gives what it has booked.
 */
const bookDoubt = (
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

/** Charges and reports the failures whose places a resumed run has not come to again before it ended. */
export const settleRetired = (context: CallContext): Effect.Effect<void> =>
  Effect.forEach(
    context.recording?.unreported() ?? [],
    // They may be of runs nested in this one.
    (one) => Effect.catch(retire(context, [one], context.recording!.listener), () => Effect.void),
    { discard: true }
  )

/**
 * What was in doubt, and the run did not come to again before it ended (another limit, another order): it is charged and
 * told all the same.
 */
export const settleDoubts = (context: CallContext): Effect.Effect<void> => {
  const { ledger, recording } = context
  return Effect.forEach(
    recording?.doubts() ?? [],
    (doubt) => {
      const { attempt, call, costUsd, usage } = doubt
      const worst: Paid = { costUsd, usage }
      if (isBorne(context)) return Effect.sync(() => recording!.note({ type: "lost", call, attempt, ...worst }))
      const booked = Effect.catch(bookDoubt(ledger, `${call}/${attempt}`, worst), () =>
        Effect.as(ledger.charge(costUsd ?? 0, `${call}/${attempt}`), worst)
      )
      return Effect.map(booked, (paid) => {
        recording!.note({ type: "lost", call, attempt, ...paid })
        recording!.listener(lostEvent(context, doubt, paid))
      })
    },
    { discard: true }
  )
}

/** Why a call failed whose answer was lost with its process, and that was not to be made again. */
export const lostDetail = "the process that had asked it ended before its answer came"

/**
 * Charges and reports attempts that failed before the run was resumed: by their names, so that an account is charged
 * for each of them once.
 */
export const retire = (
  context: CallContext,
  retired: ReadonlyArray<Retired>,
  listener?: Listener
): Effect.Effect<void, BudgetExceeded> => {
  const isCharged = context.counts !== undefined || context.recording !== undefined
  return Effect.forEach(
    retired,
    ({ event, name }) => {
      const { at: _, runId, ...body } = event
      const emit = listener === undefined ? context.emit : emitter(runId, context.clock, listener)
      const report = ({ costUsd, usage }: Paid) =>
        emit?.({
          ...body,
          ...defined({ chargeId: isCharged ? name : event.chargeId }),
          isRetired: true,
          costUsd,
          usage
        })
      if (event.type === "call-failed") {
        return event.unasked === true ? Effect.sync(() => report(unpaid)) : repay(context, name, event, report)
      }
      if (isBorne(context)) return Effect.void
      if (event.type === "call-interrupted") return repay(context, name, event, report)
      return Effect.uninterruptible(Effect.map(bookDoubt(context.ledger, name, event), report))
    },
    { discard: true }
  )
}

/** How a call is made, and how what is known of it is told. */
interface Ways {
  readonly make: (beginning: Beginning) => Effect.Effect<unknown, WorkerError | BudgetExceeded>
  readonly take: (entry: Entry, attempt: number) => Effect.Effect<void, BudgetExceeded>
  readonly answer: (entry: Entry, costUsd: number | undefined) => void
  readonly tellFailure: (number: number, failure: Failure, paid: Paid, chargeId: string | undefined) => void
  readonly tellInterruption: (paid: Paid, chargeId: string | undefined) => void
}

/** Tells what is known of a call as it was, and makes the rest of it. */
export const replay = (
  context: CallContext,
  call: Call,
  past: ReadonlyArray<Known>,
  slot: Slot | undefined,
  name: string | undefined,
  ways: Ways
): Effect.Effect<unknown, WorkerError | BudgetExceeded> => {
  type Replayed = Effect.Effect<unknown, WorkerError | BudgetExceeded>

  const from = (attempt: number, failures: ReadonlyArray<Failure>): Replayed => {
    const known = past[attempt]
    if (known === undefined) return ways.make({ slot, name, attempt, failures })
    if (known.isRetired === true) return from(attempt + 1, [])
    if (slot !== undefined && known.hash !== undefined && known.hash !== slot.hash) {
      return slot.recording.mismatch(slot.call, `asks ${call.worker.id} something else than it did before`)
    }
    const { handle } = known
    if (known.outcome === undefined && handle !== undefined && typeof call.worker.recovery === "object") {
      return ways.make({ slot, name, attempt, failures, handle })
    }
    const { outcome = { type: "lost" as const, ...(known.worst ?? unpaid) } } = known
    const at = slot && { ...slot, attempt }
    // The journal of a run that goes on from a transcript is whole, too.
    if (at !== undefined && at.past[attempt]?.outcome === undefined) {
      at.recording.note({ ...outcome, call: at.call, attempt })
    }
    return tell(outcome, attempt, failures)
  }

  const tell = (outcome: Outcome, attempt: number, failures: ReadonlyArray<Failure>): Replayed => {
    const charged = attemptName(name, attempt)
    switch (outcome.type) {
      case "lost":
        return lost(outcome, attempt, failures)
      case "interrupted":
        return Effect.andThen(
          isBorne(context)
            ? Effect.void
            : repay(context, charged, outcome, (paid) => ways.tellInterruption(paid, charged)),
          Effect.suspend(() => from(attempt + 1, failures))
        )
      case "failed":
        return failed(outcome, attempt, failures)
      // What this package wrote, under the version and the checksum of its journal or its transcript.
      case "found":
        return Effect.suspend(() => ways.take(outcome.answer as Entry, attempt))
      case "answered":
        return repay(context, charged, outcome, ({ costUsd }) => ways.answer(outcome.answer as Entry, costUsd))
    }
  }

  const failed = (
    outcome: Extract<Outcome, { readonly type: "failed" }>,
    attempt: number,
    failures: ReadonlyArray<Failure>
  ): Replayed => {
    const { message, reason, retryInMillis, unasked, usage } = outcome
    const failure: Failure = { reason, message, usage, retryInMillis, unasked }
    const charged = attemptName(name, attempt)
    const told = (paid: Paid) => ways.tellFailure(failures.length, failure, paid, charged)
    const again = unasked === true ? Effect.sync(() => told(unpaid)) : repay(context, charged, outcome, told)
    // After a failure for good there are attempts only where the run was resumed: those begin anew.
    if (retryInMillis === undefined && past[attempt + 1] !== undefined) {
      return Effect.andThen(
        again,
        Effect.suspend(() => from(attempt + 1, []))
      )
    }
    if (retryInMillis === undefined) {
      return Effect.andThen(again, Effect.fail(new WorkerError({ worker: call.worker.id, reason, usage })))
    }
    const wait = past[attempt + 1] === undefined ? Effect.sleep(retryInMillis) : Effect.void
    const next = Effect.suspend(() => from(attempt + 1, [...failures, failure]))
    return Effect.andThen(Effect.andThen(again, wait), next)
  }

  /** Nobody knows whether it was answered: it is charged at its worst case, and told. */
  const lost = (worst: Paid, attempt: number, failures: ReadonlyArray<Failure>): Replayed => {
    const charged = attemptName(name, attempt)
    const told = isBorne(context)
      ? Effect.void
      : Effect.uninterruptible(
          Effect.map(bookDoubt(context.ledger, charged, worst), (paid) => tellLost(context, call, paid, charged))
        )
    if ((context.onDoubt ?? "again") === "again" || call.worker.recovery === "free") {
      return Effect.andThen(
        told,
        Effect.suspend(() => from(attempt + 1, failures))
      )
    }
    const reason = { _tag: "Timeout", detail: lostDetail } as const
    return Effect.andThen(told, Effect.fail(new WorkerError({ worker: call.worker.id, reason })))
  }

  return from(0, [])
}
