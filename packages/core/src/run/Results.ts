/** Validation of the results that a caller passes to resume a run. */
import { isRecord } from "../Fields.ts"
import * as Options from "../Options.ts"
import { problemOf } from "../task/ContentProblem.ts"
import type { Given } from "../task/Tool.ts"

const isGiven = (value: unknown): boolean =>
  typeof value === "string" ||
  (isRecord(value) &&
    (typeof value.approved === "boolean" || ("content" in value && problemOf(value.content) === undefined)))

const given = Options.expects("a string, { content }, or { approved: true or false }", isGiven)

/** Throws an `OptionsError` if the results passed to `resume`, keyed by call id, are malformed. */
export const checkResults = (results: Readonly<Record<string, Given>>): void =>
  Options.check("resume", { results }, { results: Options.recordOf(given) })
