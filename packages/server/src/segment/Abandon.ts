/** Ends suspended or stopped runs, because their results will not arrive or their caller has cancelled them. */
import { Journal, Transcript } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { ownerIn } from "./Owner.ts"

/** Appends an `interrupted` ending to a claimed run, and updates the run's head. */
export const interrupt = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  { epoch, length }: Journal.Claim,
  transcript: Transcript.Transcript,
  head: Omit<Journal.Head, "ending">,
  detail: string
): Effect.fn.Return<void, Journal.JournalError> {
  const { runId } = transcript
  const at = yield* Clock.currentTimeMillis
  const event = {
    type: "run-finished",
    runId,
    at,
    ending: "interrupted",
    detail,
    spend: Transcript.spendSoFar(transcript),
    durationMillis: at - head.startedAt
  } as const
  const entries = [{ type: "event", event }] as const
  yield* journal.append({ run: runId, epoch, seq: length, entries, head: { ...head, ending: "interrupted" } })
})

/**
 * Ends an owner's suspended or stopped run as interrupted, with a reason. Finished and active runs are left unchanged.
 */
export const abandon = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  runId: string,
  owner: unknown,
  detail = "The user continued without the tool results."
): Effect.fn.Return<void, Journal.JournalError> {
  const entries = yield* journal.read(runId)
  const events = Journal.eventsOf(entries)
  const transcript = Transcript.fromEvents(events)
  if (ownerIn(events[0]) !== owner || transcript === undefined || Journal.isEnded(runId, entries)) return
  const claim = yield* journal.claim(runId)
  const end = Effect.gen(function* () {
    const summary = yield* journal.find(runId)
    if (summary === undefined || claim.length !== entries.length) return
    const { caller, calls, costUsd, policy, question, startedAt, workers } = summary
    const head = { question, policy, workers, startedAt, costUsd, calls, caller }
    yield* interrupt(journal, claim, transcript, head, detail)
  })
  yield* Effect.ensuring(end, journal.release(runId, claim.epoch))
})
