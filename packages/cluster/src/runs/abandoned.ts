/**
 * Ends runs that were lost by too many servers in a row. Such a run may be the cause of the losses and must not take
 * down every server.
 */
import { Journal } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Ends a run for its followers and in the list of runs, and fails. A run without entries is marked as cancelled. */
export const end = (
  journal: Journal.Journal,
  run: string,
  { epoch, length, takeovers = 0 }: Journal.Claim,
  cancel: Effect.Effect<unknown>
): Effect.Effect<never, Journal.JournalError> =>
  Effect.gen(function* () {
    const error = new Journal.JournalError({
      journal: journal.name,
      reason: { _tag: "Abandoned", run, takeovers }
    })
    const known = yield* journal.find(run)
    if (known === undefined) yield* cancel
    else {
      const at = yield* Clock.currentTimeMillis
      const { caller, calls, costUsd, policy, question, request, startedAt, workers } = known
      yield* journal.append({
        run,
        epoch,
        seq: length,
        head: { question, policy, workers, startedAt, costUsd, calls, caller, request, ending: "failed" },
        entries: [
          {
            type: "event",
            event: {
              type: "run-finished",
              runId: run,
              at,
              ending: "failed",
              detail: error.message,
              spend: { ...Usage.noSpend, costUsd, calls },
              durationMillis: Math.max(0, at - startedAt)
            }
          }
        ]
      })
    }
    return yield* error
  })
