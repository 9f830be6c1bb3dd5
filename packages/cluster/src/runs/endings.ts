/** Ends runs in the journal that no server executes to their end, for their followers and in the list of runs. */
import { Journal } from "@divisi/core"
import * as Usage from "@divisi/core/Usage"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"

/** Writes the end of a run. */
const end = Effect.fnUntraced(function* (
  journal: Journal.Journal,
  known: Journal.Summary,
  { epoch, length }: Journal.Claim,
  ending: { readonly ending: "failed" | "interrupted"; readonly detail?: string }
): Effect.fn.Return<void, Journal.JournalError> {
  const at = yield* Clock.currentTimeMillis
  const { calls, costUsd, run, startedAt } = known
  yield* journal.append({
    run,
    epoch,
    seq: length,
    head: { ...Journal.headOf(known), waitsFor: undefined, ending: ending.ending },
    entries: [
      {
        type: "event",
        event: {
          type: "run-finished",
          runId: run,
          at,
          ...ending,
          spend: { ...Usage.noSpend, costUsd, calls },
          durationMillis: Math.max(0, at - startedAt)
        }
      }
    ]
  })
})

/**
 * Ends a run that was lost by too many servers in a row, and fails. Such a run may be what crashes the servers, and
 * must not take down all of them. A run without entries is marked as cancelled.
 */
export const abandoned = (
  journal: Journal.Journal,
  run: string,
  claim: Journal.Claim,
  cancel: Effect.Effect<unknown>
): Effect.Effect<never, Journal.JournalError> =>
  Effect.gen(function* () {
    const reason = { _tag: "Abandoned", run, takeovers: claim.takeovers ?? 0 } as const
    const error = new Journal.JournalError({ journal: journal.name, reason })
    const known = yield* journal.find(run)
    yield* known === undefined ? cancel : end(journal, known, claim, { ending: "failed", detail: error.message })
    return yield* error
  })

/** Ends a cancelled run, unless it has ended, has no entries yet, or is executed by a process that will end it. */
export const cancelled = (journal: Journal.Journal, run: string): Effect.Effect<void, Journal.JournalError> =>
  Effect.gen(function* () {
    const isOver = (known: Journal.Summary | undefined) => known === undefined || known.ending !== undefined
    if (isOver(yield* journal.find(run))) return
    yield* Effect.acquireUseRelease(
      journal.claim(run),
      (claim) =>
        Effect.flatMap(journal.find(run), (known) =>
          known === undefined || isOver(known) ? Effect.void : end(journal, known, claim, { ending: "interrupted" })
        ),
      ({ epoch }) => journal.release(run, epoch)
    )
  }).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "Held" || reason._tag === "Fenced",
      () => Effect.void
    )
  )
