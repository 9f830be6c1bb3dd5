/** The format of run ids. All journals share it, because not every database can store every string. */
import { OptionsError } from "../Options.ts"

const longest = 512

// biome-ignore lint/suspicious/noControlCharactersInRegex: ids are held to have none
const control = /[\u0000-\u001f\u007f-\u009f]/

/** The format of an id, for display. */
export const rule = `a string of 1 to ${longest} characters without control characters or unpaired surrogates`

/** Whether a value can be the id of a run. */
export const isRunId = (value: unknown): value is string =>
  typeof value === "string" &&
  value.trim() !== "" &&
  value.length <= longest &&
  value.isWellFormed() &&
  !control.test(value)

/** Returns an error for a run id that not every journal can store. */
export const wrongId = (runId: unknown): OptionsError | undefined =>
  isRunId(runId) ? undefined : new OptionsError({ what: "the run", detail: `"runId" must be ${rule}.` })
