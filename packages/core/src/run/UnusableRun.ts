/** Runs that cannot start or be resumed because of their id, their journal or their options. */
import { OptionsError } from "../Options.ts"
import { noSpend } from "../task/Usage.ts"
import type { RunResult } from "./Conductor.ts"
import type { Broken } from "./Recording.ts"

const longest = 512

// biome-ignore lint/suspicious/noControlCharactersInRegex: ids are held to have none
const control = /[\u0000-\u001f\u007f-\u009f]/

/** The format of an id, for display. */
export const idRule = `a string of 1 to ${longest} characters without control characters or unpaired surrogates`

/** Whether a value can be the id of a run. */
export const isRunId = (value: unknown): value is string =>
  typeof value === "string" &&
  value.trim() !== "" &&
  value.length <= longest &&
  value.isWellFormed() &&
  !control.test(value)

/** Returns an error for a run id that not every journal can store. */
export const wrongId = (runId: unknown): OptionsError | undefined =>
  isRunId(runId) ? undefined : new OptionsError({ what: "the run", detail: `"runId" must be ${idRule}.` })

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
