/** Results for runs that cannot start or resume because of their id, journal or options. */
import { OptionsError, runId } from "../Options.ts"
import { noSpend } from "../task/Usage.ts"
import type { RunResult } from "./Conductor.ts"
import type { Broken } from "./Recording.ts"

/** Returns an error if the run id cannot be stored by every journal, or `undefined` if it is valid. */
export const wrongId = (id: unknown): OptionsError | undefined => {
  const rule = runId(id)
  return rule === undefined ? undefined : new OptionsError({ what: "the run", detail: `"runId" must be ${rule}.` })
}

/** Returns the result for a run that cannot start or resume. */
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
