/**
 * The intent middleware: writes an attempt's intent to the journal before the request is sent, and stores the handle
 * for requesting its answer again.
 */
import * as Effect from "effect/Effect"
import { unpaid } from "../../loop/accounts.ts"
import type { Ask, At, CallMiddleware } from "../../loop/call.ts"
import type { Slot } from "../../run/Recording.ts"
import type { Paid } from "../../task/Usage.ts"
import { CallId } from "../../task/Worker.ts"
import { outputBound, worstCase } from "../../task/WorstCase.ts"

/** Returns the maximum usage and cost of a call. */
const worstOf = (ask: Ask): Paid => {
  const { costUsd, tokens } = worstCase(ask)
  const outputTokens = outputBound(ask)
  return { usage: { inputTokens: tokens - outputTokens, outputTokens, estimated: true }, costUsd }
}

/** Writes the intent of an attempt. A free attempt does not wait for the write, because it can be repeated. */
const intend = ({ call, hash, recording }: Slot, ask: Ask, { attempt, received }: At): Effect.Effect<void> =>
  Effect.clockWith((clock) => {
    const { worker } = ask
    const isFree = worker.recovery === "free"
    const at = clock.currentTimeMillisUnsafe()
    const worst = isFree ? unpaid : worstOf(ask)
    const entry = { type: "intent" as const, call, attempt, hash, worker: worker.id, at, worst }
    if (isFree) return Effect.sync(() => recording.note(entry))
    return Effect.onError(recording.intend(entry), () =>
      Effect.sync(() => {
        if (recording.broken() === undefined) return
        received.isHalted = true
        // The journal may have the intent, although the call is not sent.
        recording.note({ type: "withdrawn", call, attempt })
      })
    )
  })

/** Wraps an attempt so that its handle is stored, or so that it continues from a stored handle. */
const recoverable = (ask: Ask, at: At, { call, recording }: Slot): readonly [Ask, At] => {
  const { attempt, handle: known } = at
  const { worker } = ask
  const { recovery } = worker
  if (typeof recovery !== "object") return [ask, at]
  const onHandle = (handle: string) => {
    recording.note({ type: "handle", call, attempt, handle })
    return recording.saved
  }
  const reattached = { ...worker, generate: (request: Ask["request"]) => recovery.reattach(known!, request) }
  return [known === undefined ? ask : { ...ask, worker: reattached }, { ...at, onHandle }]
}

export const intent: CallMiddleware = (next) => (ask, at) => {
  const { attempt, handle, slot } = at
  if (slot === undefined) return next(ask, at)
  const sent = Effect.provideService(next(...recoverable(ask, at, slot)), CallId, `${slot.call}/${attempt}`)
  return handle === undefined ? Effect.andThen(intend(slot, ask, at), sent) : sent
}
