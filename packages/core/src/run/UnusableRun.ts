/** Runs that cannot start or be resumed because of their journal or options. */
import * as RunId from "../journal/RunId.ts"
import { OptionsError } from "../Options.ts"
import { noSpend } from "../task/Usage.ts"
import type { RunResult } from "./Conductor.ts"
import type { Broken } from "./Recording.ts"

/** Returns the result of a run that cannot be resumed because of its journal or its options. */
export const unusable = (runId: string, error: Broken | OptionsError): RunResult<never> => ({
  runId,
  ending: "failed",
  answer: undefined,
  partial: undefined,
  detail: error.message,
  error,
  failures: [],
  spend: noSpend,
  durationMillis: 0,
  rounds: [],
  waitingFor: [],
  value: undefined
})

/** Returns an error for a run id that not every journal can store. */
export const wrongId = (runId: unknown): OptionsError | undefined =>
  RunId.isRunId(runId) ? undefined : new OptionsError({ what: "the run", detail: `"runId" must be ${RunId.rule}.` })
