/** Validation of the results that a caller passes to resume a run. */
import { isRecord } from "../Fields.ts"
import * as Options from "../Options.ts"
import { problemOf } from "../task/ContentProblem.ts"
import type { Given, ToolResult } from "../task/Tool.ts"

const isGiven = (value: unknown): boolean =>
  typeof value === "string" ||
  (isRecord(value) &&
    (typeof value.approved === "boolean" || ("content" in value && problemOf(value.content) === undefined)))

const given = Options.expects("a string, { content }, or { approved: true or false }", isGiven)

type Keys<A> = { readonly [Key in keyof A]-?: Options.Row }

const resultKeys: Keys<ToolResult> = { content: Options.anything, isError: Options.flag }
const approvalKeys: Keys<Extract<Given, { readonly approved: boolean }>> = {
  approved: Options.flag,
  reason: Options.text
}

/** Throws an `OptionsError` if the results passed to `resume`, keyed by call id, are malformed. */
export const checkResults = (results: Readonly<Record<string, Given>>): void => {
  Options.check("resume", { results }, { results: Options.recordOf(given) })
  for (const [id, one] of Object.entries(results)) {
    if (typeof one === "string") continue
    const detail = Options.problemOf(one, "approved" in one ? approvalKeys : resultKeys, `results["${id}"]`)
    if (detail !== undefined) throw new Options.OptionsError({ what: "resume", detail })
  }
}
