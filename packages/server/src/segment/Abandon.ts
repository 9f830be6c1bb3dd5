/** Ends suspended runs whose results will not arrive because the user has continued without them. */
import { Journal, Transcript } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ownerIn } from "./Owner.ts"

/** Ends a suspended run of an owner as interrupted. Leaves runs that have ended or are active unchanged. */
export const abandon = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  runId: string,
  owner: string
): Effect.fn.Return<void, Journal.JournalError> {
  const entries = yield* journal.read(runId)
  const events = Journal.eventsOf(entries)
  const transcript = Transcript.fromEvents(events)
  if (ownerIn(events[0]) !== owner || transcript === undefined || Journal.isEnded(runId, entries)) return
  const { epoch, length } = yield* journal.claim(runId)
  const end = Effect.gen(function* () {
    const summary = yield* journal.find(runId)
    if (summary === undefined || length !== entries.length) return
    const { caller, calls, costUsd, policy, question, startedAt, workers } = summary
    const at = yield* Clock.currentTimeMillis
    const event = {
      type: "run-finished",
      runId,
      at,
      ending: "interrupted",
      detail: "The user continued without the tool results.",
      spend: Transcript.spendSoFar(transcript),
      durationMillis: at - startedAt
    } as const
    const head = { question, policy, workers, startedAt, costUsd, calls, caller, ending: "interrupted" } as const
    yield* journal.append({ run: runId, epoch, seq: length, entries: [{ type: "event", event }], head })
  })
  yield* Effect.ensuring(end, journal.release(runId, epoch))
})
