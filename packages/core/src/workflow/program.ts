/**
 * Rules for step fields that extend the paper's format: lists and items, conditions, quorums and settings.
 *
 * A step's axes are the steps whose lists provide its items, outermost first. Two steps share the items of their common
 * leading axes, which determines the items that a step waits for and sees.
 */
import { counted } from "../Counted.ts"
import { isRecord } from "../Fields.ts"
import { nearest } from "../Nearest.ts"
import * as Options from "../Options.ts"
import { reasoningTable } from "../task/Worker.ts"
import type { Gives, Rules, Step, StepSettings, Workflow, WorkflowErrorReason } from "./Workflow.ts"

/**
 * Default maximum number of items in a workflow.
 *
 * @internal
 */
export const defaultMaxItems = 1_000

/** The default and the maximum number of repetitions for `onFailure: "again"`. */
export const defaultTimes = 3
export const mostTimes = 16

/** Whether a step uses only the paper's fields, checks and earlier rounds. */
const isPlain = ({ check, each, enough, gives, settings, tools, when }: Step): boolean =>
  each === undefined &&
  gives === undefined &&
  when === undefined &&
  enough === undefined &&
  settings === undefined &&
  (check === undefined || (check.times === undefined && check.onFailure !== "again")) &&
  (tools === undefined || typeof tools === "boolean")

/** Whether any step has a field that {@link wrongField} needs to validate. */
export const isProgram = ({ steps }: Workflow): boolean => {
  for (const step of steps) if (!isPlain(step)) return true
  return false
}

/** Returns the maximum length of the list that a step returns, or `undefined` if it does not return a list. */
export const listOf = (gives: Gives | undefined): number | undefined =>
  gives !== undefined && "list" in gives ? gives.list : undefined

/** Returns the axes of each step. A step that does not run for items has no axes. */
export const axesOf = ({ steps }: Workflow): ReadonlyArray<ReadonlyArray<number>> => {
  const axes: Array<ReadonlyArray<number>> = []
  for (const { each } of steps) {
    const before = each === undefined ? [] : (axes[each] ?? [])
    axes.push(each !== undefined && listOf(steps[each]?.gives) !== undefined ? [...before, each] : before)
  }
  return axes
}

/** Returns the part of a step's item that a later step shares, or an empty string if they share none. */
export const sharedItem = (
  axes: ReadonlyArray<ReadonlyArray<number>>,
  step: number,
  later: number,
  item: string
): string => {
  const [own, other] = [axes[step]!, axes[later]!]
  const at = own.findIndex((axis, depth) => other[depth] !== axis)
  return at < 0 ? item : item.split(".").slice(0, at).join(".")
}

/** Whether a step sees an earlier one. */
export const isSeen = ({ access }: Step, earlier: number): boolean => access === "all" || access.includes(earlier)

/** Whether any step has items, a condition or a quorum. */
export const hasCells = ({ steps }: Workflow): boolean => {
  for (const { each, enough, when } of steps) {
    if (each !== undefined || when !== undefined || enough !== undefined) return true
  }
  return false
}

/** Whether a step waits for an earlier one, because it sees its answer, runs for its items, or depends on its check. */
export const waitsFor = ({ access, each, when }: Step, earlier: number): boolean =>
  access === "all" || access.includes(earlier) || each === earlier || when?.failed === earlier

// -------------------------------------------------------------------------------------------------------------------
// Rules
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of axes: a list, and a nested list for each of its items. */
const mostAxes = 2

const isWhole = (value: unknown, least: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least

/** Maximum duration of a timer, in milliseconds. */
const mostMillis = 2 ** 31 - 1

/** The rules for a step's settings. They are also the list of its settings. */
export const settingsTable = {
  reasoning: reasoningTable,
  maxOutputTokens: Options.whole(1),
  temperature: Options.temperature,
  timeoutMillis: Options.number(1, mostMillis)
} satisfies Options.ShapeOf<StepSettings>

/** Returns the first field of a step that would be invalid in any workflow, with the reason. */
const malformedField = ({ check, each, enough, gives, settings, tools, when }: Step): [string, string] | undefined => {
  if (gives !== undefined) {
    const isList = isRecord(gives) && "list" in gives && isWhole(gives.list, 1)
    const isShape = isRecord(gives) && "shape" in gives && typeof gives.shape === "string" && gives.shape !== ""
    if (isList === isShape) return ["gives", 'expected { list: 16 }, with at least 1 item, or { shape: "name" }']
  }
  if (each !== undefined && !isWhole(each, 0)) return ["each", "expected the index of an earlier step"]
  if (when !== undefined && !(isRecord(when) && isWhole(when.failed, 0)))
    return ["when", "expected { failed: the index of an earlier step with a check }"]
  if (enough !== undefined) {
    const { answers, graceMillis = 0 } = isRecord(enough) ? enough : { answers: undefined }
    if (!isWhole(answers, 1) || typeof graceMillis !== "number" || !(graceMillis >= 0 && graceMillis <= mostMillis))
      return ["enough", `expected { answers: at least 1, graceMillis: 0 to ${mostMillis} }`]
  }
  if (settings !== undefined) {
    const problem = Options.problemOf(settings, Options.table(settingsTable), "settings")
    if (problem !== undefined) return ["settings", problem.replace(/\.$/u, "")]
  }
  if (tools !== undefined && typeof tools !== "boolean") {
    if (!Array.isArray(tools) || tools.length === 0 || tools.some((name) => typeof name !== "string"))
      return ["tools", "expected true, false or the names of tools, at least one"]
  }
  if (
    check?.times !== undefined &&
    !(isWhole(check.times, 1) && check.times <= mostTimes && check.onFailure === "again")
  )
    return ["check", `times is a whole number from 1 to ${mostTimes}, with onFailure: "again"`]
  return undefined
}

const unknownName = (what: string, name: string, known: ReadonlyArray<string> = []): string | undefined => {
  if (known.includes(name)) return undefined
  const meant = nearest(name, known)
  if (meant !== undefined) return `${what} "${name}" does not exist; did you mean "${meant}"?`
  return `${what} "${name}" does not exist; ${known.length === 0 ? `the run has no ${what}s` : `${what}s: ${known.join(", ")}`}`
}

/** Returns the first reference of a step to an output format or tool that the run does not define. */
const wrongName = ({ gives, tools }: Step, rules: Pick<Rules, "shapes" | "tools">): [string, string] | undefined => {
  const shape = gives !== undefined && "shape" in gives ? unknownName("shape", gives.shape, rules.shapes) : undefined
  if (shape !== undefined) return ["gives", shape]
  if (tools === undefined || typeof tools === "boolean") return undefined
  const wrong = tools.map((name) => unknownName("tool", name, rules.tools)).find((detail) => detail !== undefined)
  return wrong === undefined ? undefined : ["tools", wrong]
}

/** Validates `each` and `gives`. */
const wrongItems = ({ steps }: Workflow, step: number, own: ReadonlyArray<number>): [string, string] | undefined => {
  const { check, each, gives } = steps[step]!
  if (listOf(gives) !== undefined && step === steps.length - 1)
    return ["gives", "the last step answers the question, so no step can run for the items of its list"]
  if (each === undefined) return undefined
  if (each >= step) return ["each", `${each} is not an earlier step`]
  if (own.length === 0) return ["each", `step ${each} gives no list and has no items`]
  if (own.length > mostAxes) return ["each", `lists can be nested only ${mostAxes} deep`]
  if (check?.onFailure === "revise") return ["check", 'a step with items cannot use onFailure: "revise"']
  return undefined
}

/** Validates `when` and `enough`. */
const wrongWait = (
  { steps }: Workflow,
  step: number,
  axes: ReadonlyArray<ReadonlyArray<number>>
): [string, string] | undefined => {
  const { access, enough, when } = steps[step]!
  const own = axes[step]!
  if (when !== undefined) {
    const { failed } = when
    if (failed >= step || steps[failed]!.check === undefined)
      return ["when", `step ${failed} is not an earlier step with a check`]
    if (axes[failed]!.some((axis, at) => own[at] !== axis))
      return ["when", `step ${failed} runs for items that step ${step} does not run for`]
  }
  if (enough === undefined) return undefined
  if (when !== undefined) return ["enough", "a step with a condition waits for its check; remove enough or when"]
  const seen = access === "all" ? Array.from({ length: step }, (_, index) => index) : access
  const isLifted = seen.some((at) => axes[at]!.some((axis, depth) => own[depth] !== axis))
  if (!isLifted && enough.answers > seen.length)
    return [
      "enough",
      `it sees ${counted(seen.length, "step")}, so it cannot wait for ${counted(enough.answers, "answer")}`
    ]
  return undefined
}

/** Returns the first invalid field that extends the paper's format, or `undefined`. */
export const wrongField = (
  workflow: Workflow,
  { maxItems = defaultMaxItems, ...rules }: Pick<Rules, "maxItems" | "shapes" | "tools">
): WorkflowErrorReason | undefined => {
  const { steps } = workflow
  const wrong = (step: number, [field, detail]: readonly [string, string]): WorkflowErrorReason => ({
    _tag: "WrongField",
    step,
    field,
    detail
  })
  for (const [step, one] of steps.entries()) {
    const problem = malformedField(one) ?? wrongName(one, rules)
    if (problem !== undefined) return wrong(step, problem)
  }
  const axes = axesOf(workflow)
  let items = 0
  for (let step = 0; step < steps.length; step++) {
    const problem = wrongItems(workflow, step, axes[step]!) ?? wrongWait(workflow, step, axes)
    if (problem !== undefined) return wrong(step, problem)
    if (axes[step]!.length === 0) continue
    const most = axes[step]!.reduce((product, axis) => product * listOf(steps[axis]!.gives)!, 1)
    items += most
    if (items > maxItems)
      return wrong(step, [
        "each",
        `it can have ${counted(most, "item")}; with all steps, that is more than ${maxItems} (maxItems)`
      ])
  }
  return undefined
}
