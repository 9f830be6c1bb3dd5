/**
 * The intent middleware: writes an attempt's intent to the journal before the request is sent, and stores the handle
 * for requesting its answer again.
 */
import * as Effect from "effect/Effect"
import { unpaid } from "../../loop/accounts.ts"
import type { Ask, At, Call, CallMiddleware, CallRun } from "../../loop/call.ts"
import type { Slot } from "../../run/Recording.ts"
import type { Paid } from "../../task/Usage.ts"
import { CallId } from "../../task/Worker.ts"
import { costBound, inputBound, outputBound } from "../../task/WorstCase.ts"

/** Returns the maximum usage and cost of a call. */
const worstOf = (ask: Ask): Paid => {
  const inputTokens = inputBound(ask)
  const outputTokens = outputBound(ask)
  const usage = { inputTokens, outputTokens, estimated: true }
  return { usage, costUsd: costBound(ask.worker, inputTokens, outputTokens) }
}

/** Writes the intent of an attempt. A free attempt does not wait for the write, because it can be repeated. */
const intend = (
  { clock }: CallRun,
  { call, hash, recording }: Slot,
  ask: Ask,
  { attempt, received }: At
): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { worker } = ask
    const isFree = worker.recovery === "free"
    const at = clock.currentTimeMillisUnsafe()
    const worst = isFree ? unpaid : worstOf(ask)
    const entry = { type: "intent" as const, call, attempt, hash, worker: worker.id, at, worst }
    if (isFree) {
      recording.note(entry)
      return Effect.void
    }
    return recording.intend(entry, () => {
      received.isHalted = true
      // The journal may have the intent, although the call is not sent.
      recording.note({ type: "withdrawn", call, attempt })
    })
  })

/** Makes an attempt whose handle is stored, or continues from a stored handle. */
const recoverably = (next: Call, ask: Ask, at: At, { call, recording }: Slot): ReturnType<Call> => {
  const { attempt, handle: known } = at
  const { worker } = ask
  const { recovery } = worker
  if (typeof recovery !== "object") return next(ask, at)
  const onHandle = (handle: string) => {
    recording.note({ type: "handle", call, attempt, handle })
    return recording.saved
  }
  const reattached = { ...worker, generate: (request: Ask["request"]) => recovery.reattach(known!, request) }
  return next(known === undefined ? ask : { ...ask, worker: reattached }, { ...at, onHandle })
}

export const intent =
  (run: CallRun): CallMiddleware =>
  (next) =>
  (ask, at) => {
    const { attempt, handle, slot } = at
    if (slot === undefined) return next(ask, at)
    const sent = Effect.provideService(recoverably(next, ask, at, slot), CallId, `${slot.call}/${attempt}`)
    return handle === undefined ? Effect.flatMap(intend(run, slot, ask, at), () => sent) : sent
  }
