/** Resumes a run. Loaded on first use. */
import * as Effect from "effect/Effect"
import { OptionsError } from "../Options.ts"
import { withJournaledRun } from "../run/journaled.ts"
import type { ConductOptions, ResumeOptions } from "./runs.ts"

/** Returns the options of the resumed run. */
export const resumed = async <A = unknown>({
  results,
  runId,
  transcript,
  ...options
}: ResumeOptions<A>): Promise<ConductOptions<A>> => {
  if (transcript === undefined && (runId === undefined || options.journal === undefined)) {
    throw new OptionsError({
      what: "resume",
      detail: `Pass the "transcript" of the run, or its "runId" and "journal".`
    })
  }
  const from = transcript === undefined ? { runId: runId!, results } : { transcript, results }
  const {
    begun,
    past,
    runId: id
  } = await Effect.runPromise(withJournaledRun((journaled) => journaled.resumed(from, options.journal)))
  const seed = options.seed ?? begun?.seed
  return { ...options, seed, question: past.transcript.task, runId: id, resume: past }
}
