/** Results for runs that cannot start or resume because of their id, journal or options. */
import { OptionsError } from "../Options.ts"
import { noSpend } from "../task/Usage.ts"
import type { RunResult } from "./Conductor.ts"
import type { Broken } from "./Recording.ts"

const longest = 512

// biome-ignore lint/suspicious/noControlCharactersInRegex: ids are held to have none
const control = /[\u0000-\u001f\u007f-\u009f]/

/** Ids that cannot be a part of a URL, because clients remove them from paths. */
const pathDots: ReadonlySet<string> = new Set([".", ".."])

/** Description of the id format, for error messages. */
export const idRule = `a string of 1 to ${longest} characters without control characters or unpaired surrogates, and not "." or ".."`

/** Whether a value is a valid run id. */
export const isRunId = (value: unknown): value is string =>
  typeof value === "string" &&
  value.trim() !== "" &&
  value.length <= longest &&
  value.isWellFormed() &&
  !control.test(value) &&
  !pathDots.has(value)

/** Returns an error if the run id cannot be stored by every journal, or `undefined` if it is valid. */
export const wrongId = (runId: unknown): OptionsError | undefined =>
  isRunId(runId) ? undefined : new OptionsError({ what: "the run", detail: `"runId" must be ${idRule}.` })

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
