/**
 * The text form of a workflow: the paper's three Python lists.
 *
 * ```python
 * model_id = [1, 0]
 * subtasks = ["Plan an algorithm.", "Implement the plan."]
 * access_list = [[], "all"]
 * ```
 *
 * A model writes this form after its reasoning. {@link read} converts it to a checked workflow: tolerantly by default,
 * or strictly, exactly as Python reads the lists. {@link write} is its inverse. Parsing takes linear time and does not
 * recurse, whatever the text.
 */
import * as Data from "effect/Data"
import * as Result from "effect/Result"
import * as Tables from "../Options.ts"
import * as Clauses from "./clauses.ts"
import { type Failure, strictReader } from "./reader/literalReader.ts"
import { type OwnAnswer, readOwnAnswer } from "./reader/ownAnswer.ts"
import type { Literal } from "./reader/pythonLiteral.ts"
import { type Columns, type ListName, type Lists, readAssignments } from "./reader/workflowLists.ts"
import { searchLists } from "./reader/workflowSearch.ts"
import * as Workflow from "./Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How tolerant the parser is. See {@link Options.mode}. */
export type Mode = "tolerant" | "strict" | "thought-then-strict"

/** Parser options, and the rules that the workflow must obey. */
export interface Options extends Workflow.Rules {
  /**
   * `"tolerant"` (the default) finds the lists anywhere in the text and accepts unambiguous deviations. `"strict"`
   * accepts only the three assignments, as Python does. `"thought-then-strict"` also accepts text before them, such as
   * the reasoning of the paper's Conductor.
   */
  readonly mode?: Mode | undefined
  /**
   * Whether the list `how` and the check consequence `again` are allowed (see {@link read}). Default: `false`, so that
   * only the paper's lists are accepted.
   */
  readonly how?: boolean | undefined
  /** Whether `answer = "Paris."` is allowed instead of the lists. Default: `false`. */
  readonly mayAnswer?: boolean | undefined
}

const writeTable = { how: Tables.flag, isSpread: Tables.flag } satisfies Tables.ShapeOf<WriteOptions>

/** A workflow parsed from a text. */
export interface Reading {
  readonly workflow: Workflow.Workflow
  /** The step of an earlier round whose answer is confirmed. Present only if the workflow is empty. */
  readonly stands?: Workflow.EarlierStep | undefined
  /** The answer that was written instead of the lists. Present only if the workflow is empty. */
  readonly answer?: string | undefined
  /** The accepted deviations, one sentence each; empty if the text is strict. */
  readonly notes: ReadonlyArray<string>
  /** The position of the three lists, as offsets: the start, and the end (exclusive). */
  readonly span: { readonly start: number; readonly end: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a text is not a workflow: a syntax error in a list, or a violated rule. */
export type WorkflowTextErrorReason =
  | { readonly _tag: "Unreadable"; readonly found: string }
  | { readonly _tag: "InvalidWorkflow"; readonly error: Workflow.WorkflowError }

/** The error for a text that is not a workflow: the position, the reason, and the expected syntax. */
export class WorkflowTextError extends Data.TaggedError("WorkflowTextError")<{
  readonly reason: WorkflowTextErrorReason
  /** The line, from 1. */
  readonly line: number
  /** The character within the line, from 1. */
  readonly column: number
  readonly expected: string
}> {
  override get message(): string {
    const what =
      this.reason._tag === "Unreadable"
        ? `expected ${this.expected}, found ${this.reason.found}.`
        : this.reason.error.message
    return `Line ${this.line}, column ${this.column}: ${what}`
  }
}

/** Whether the second code unit of a surrogate pair is at an offset. */
const isSecondHalf = (text: string, at: number): boolean => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff

/** The line and column of an offset, from 1, counted in characters. */
const locate = (text: string, offset: number): { readonly line: number; readonly column: number } => {
  let line = 1
  let lineStart = 0
  for (const lineBreak of text.slice(0, offset).matchAll(/\r\n|\r|\n/g)) {
    line++
    lineStart = lineBreak.index + lineBreak[0].length
  }
  let column = 1
  for (let at = lineStart; at < offset; at++) {
    if (!isSecondHalf(text, at)) column++
  }
  return { line, column }
}

const unreadable = (text: string, { at, expected, found }: Failure) =>
  new WorkflowTextError({ reason: { _tag: "Unreadable", found }, expected, ...locate(text, at) })

/** Returns the list whose length differs from the other two, or the subtasks if all three differ. */
const oddOneOut = ({
  access,
  subtasks,
  workers
}: Extract<Workflow.WorkflowErrorReason, { _tag: "UnequalLengths" }>) => {
  if (workers === subtasks) return "access_list" satisfies ListName
  return subtasks === access ? ("model_id" satisfies ListName) : ("subtasks" satisfies ListName)
}

/** Returns the offset of the element that breaks a rule. */
const offsetOf = (columns: Columns, reason: Workflow.WorkflowErrorReason): number => {
  const { access_list, model_id } = columns
  switch (reason._tag) {
    case "NotAWorkflow":
    case "UnknownKey":
    case "NoSteps":
      return model_id.literal.at
    case "TooManySteps":
      return model_id.literal.items[reason.maxSteps]!.at
    case "UnequalLengths":
      return columns[oddOneOut(reason)].literal.at
    case "WorkerOutOfRange":
      return model_id.literal.items[reason.step]!.at
    case "AccessNotBackward":
    case "AccessOutOfRange": {
      const literal = access_list.literal.items[reason.step]!
      if (literal.type !== "list") return literal.at
      const written = String(reason.index)
      const isIt = (item: Literal) =>
        item.type === "integer" ? item.value === reason.index : item.type === "string" && item.value.includes(written)
      return (literal.items.find(isIt) ?? literal).at
    }
    case "EarlierOutOfRange":
      return access_list.literal.items[reason.step]!.at
    case "UnknownCheck":
      return (columns.checks?.literal.items[reason.step] ?? model_id.literal).at
    case "WrongField": {
      const column = reason.field.startsWith("check") ? columns.checks : columns.how
      return (column?.literal.items[reason.step] ?? model_id.literal.items[reason.step]!).at
    }
  }
}

const expectedBy = (reason: Workflow.WorkflowErrorReason, rules: Workflow.Rules): string => {
  switch (reason._tag) {
    case "NotAWorkflow":
    case "UnknownKey":
      return "a workflow"
    case "NoSteps":
      return "at least one step"
    case "TooManySteps":
      return `at most ${reason.maxSteps} steps`
    case "UnequalLengths":
      return "three lists of the same length"
    case "WorkerOutOfRange":
      return rules.poolSize === 1 ? "worker 0" : `a worker from 0 to ${rules.poolSize - 1}`
    case "AccessNotBackward":
    case "AccessOutOfRange":
      return reason.step === 0 ? "an empty access list" : `a step from 0 to ${reason.step - 1}`
    case "EarlierOutOfRange":
      return "a step of an earlier round"
    case "UnknownCheck":
      return `a check of ${(rules.checks ?? []).join(", ")}`
    case "WrongField":
      return reason.detail
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Returns the confirmed step: the only step that is named although there is no step to see it. */
const standing = ({ access_list, model_id, subtasks }: Columns, { allowEmpty, earlier = [] }: Workflow.Rules) => {
  const [seen, ...others] = access_list.values
  const isAlone = model_id.values.length === 0 && subtasks.values.length === 0 && others.length === 0
  if (allowEmpty !== true || !isAlone || seen?.earlier.length !== 1 || seen.access.length > 0) return undefined
  const [step] = seen.earlier
  return step!.step < (earlier[step!.round] ?? 0) ? step : undefined
}

const join = (text: string, lists: Lists, notes: ReadonlyArray<string>, rules: Workflow.Rules) => {
  const { access_list, checks, how, model_id, subtasks } = lists.columns
  const span = { start: lists.start, end: lists.end }
  const stands = standing(lists.columns, rules)
  if (stands !== undefined) return Result.succeed<Reading>({ workflow: { steps: [] }, stands, notes, span })
  const checked = Workflow.fromLists(
    {
      workers: model_id.values,
      subtasks: subtasks.values,
      access: access_list.values.map(({ access }) => access),
      earlier: access_list.values.map(({ earlier }) => earlier),
      checks: checks?.values,
      how: how?.values
    },
    rules
  )
  if (Result.isSuccess(checked)) return Result.succeed<Reading>({ workflow: checked.success, notes, span })
  const error = checked.failure
  return Result.fail(
    new WorkflowTextError({
      reason: { _tag: "InvalidWorkflow", error },
      expected: expectedBy(error.reason, rules),
      ...locate(text, offsetOf(lists.columns, error.reason))
    })
  )
}

const answeredBy = ({ answer, notes, span }: OwnAnswer): Reading => ({ workflow: { steps: [] }, answer, notes, span })

/** Returns the offset of the last line that begins with the first list, or 0 if there is no such line. */
const afterThought = (text: string): number => Math.max(0, text.lastIndexOf("\nmodel_id") + 1)

/**
 * Parses a workflow from a text and checks it against the rules.
 *
 * **Details**
 *
 * *Strict* reading accepts assignments to `model_id`, `subtasks` and `access_list`, comments and blank lines. It
 * returns the same values as Python, for every string prefix, quote and escape, adjacent strings, tuples, trailing
 * commas and every integer notation. The exception is a character name (`\N{...}`), which is rejected with its
 * position. A later assignment replaces an earlier one. `True` is not an index, although Python treats it as 1.
 *
 * *Thought-then-strict* reading starts at the last line that begins with `model_id`, and is strict from there.
 *
 * *Tolerant* reading accepts everything that strict reading accepts, with the same result. Otherwise it searches for
 * the lists in prose, code fences and JSON, and takes the last complete set. It prefers adjacent lists to lists with
 * prose between them. It accepts other names (`models`, `workers`, `sub_tasks`, `access`, ...), `:` for `=`, curly
 * quotes, and quotes and line breaks that should be escaped. It also accepts escapes that strict reading rejects (they
 * remain as text), a missing last bracket if the end of the list is clear, `"Model 1"` for `1`, and `["all"]`, `all`,
 * `true`, `none`, `null` or `false` as an access list. `notes` lists the accepted deviations.
 *
 * If the rules name checks, a fourth list of the same length may be among the three: `checks = ["", "tests: next"]`.
 * For each step it has an empty string, or the name of a check or the number of a model that judges, with the
 * consequence of a failure (default: `revise`). If the rules allow earlier rounds, an access list may have `"0.1"` for
 * step 1 of round 0. If a workflow without steps is allowed, `access_list = [["0.1"]]` next to two empty lists confirms
 * that step's answer ({@link Reading}'s `stands`). Without such rules only the paper's lists are read.
 *
 * With `how`, a list of that name and of the same length may be among the others: `how = ["list 16", "each 0", ""]`.
 * For each step it has an empty string, or clauses with `; ` between them, each kind at most once: `list N` or `gives
 * NAME`, `each S`, `if S failed`, `after N` or `after N +T ms`, `effort E` or `think N tokens`, `at most N tokens`, `at
 * most T ms`, `temperature X`, `tools NAME, NAME`, `all tools` or `no tools`. Checks may then be `"tests: again 3"`.
 * With `mayAnswer`, `answer = "Paris."` may be written instead of the lists: {@link Reading}'s `answer`.
 *
 * **Gotchas**
 *
 * JavaScript cannot distinguish `"\ud83d\ude00"` (two halves) from `"\U0001f600"` (one character); Python can. Three
 * empty lists are valid only if the rules allow an empty workflow.
 *
 * **Example**
 *
 * ```ts
 * import * as Result from "effect/Result"
 * import { WorkflowText } from "@divisi/core"
 *
 * const completion = "One call will do.\nmodels: [2]\nsubtasks: ['Name the capital of France.']\naccess: [[]]"
 *
 * const reading = Result.getOrThrow(WorkflowText.read(completion, { poolSize: 3 }))
 * reading.workflow // => { steps: [{ worker: 2, subtask: "Name the capital of France.", access: [] }] }
 * reading.notes[2] // => 'Read ":" as "=".'
 *
 * const strict = WorkflowText.read("model_id: [2]", { poolSize: 3, mode: "strict" })
 * Result.isFailure(strict) && strict.failure.message // => 'Line 1, column 9: expected "=", found ":".'
 * ```
 */
export const read = (text: string, options: Options): Result.Result<Reading, WorkflowTextError> => {
  const { how = false, mayAnswer = false, mode = "tolerant" } = options
  const more = {
    checks: options.checks !== undefined && options.checks.length > 0,
    earlier: options.earlier !== undefined,
    how
  }
  const own = mayAnswer ? readOwnAnswer(text, mode) : undefined
  if (own !== undefined) {
    return "expected" in own ? Result.fail(unreadable(text, own)) : Result.succeed(answeredBy(own))
  }
  const exact = readAssignments(strictReader(text, mode === "thought-then-strict" ? afterThought(text) : 0, more))
  if (!("type" in exact)) return join(text, exact, [], options)
  if (mode !== "tolerant") return Result.fail(unreadable(text, exact))
  const notes = new Set<string>()
  const lists = searchLists(text, notes, more)
  return "type" in lists ? Result.fail(unreadable(text, lists)) : join(text, lists, [...notes], options)
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const namedEscapes: { readonly [character: string]: string } = {
  "\\": "\\\\",
  '"': '\\"',
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t"
}

const escapeCharacter = (character: string): string => {
  const named = namedEscapes[character]
  if (named !== undefined) return named
  const hex = character.charCodeAt(0).toString(16)
  return hex.length > 2 ? `\\u${hex.padStart(4, "0")}` : `\\x${hex.padStart(2, "0")}`
}

/** Characters that are invalid or invisible in a string: control characters, line separators and lone surrogates. */
const unprintable = /["\\\p{Cc}\p{Zl}\p{Zp}\p{Cs}\u{feff}]/gu

const writeString = (value: string): string => `"${value.replace(unprintable, escapeCharacter)}"`

const writeAccess = ({ access, earlier = [] }: Workflow.Step): string => {
  const before = earlier.map(({ round, step }) => `"${round}.${step}"`)
  if (access === "all") return before.length === 0 ? '"all"' : `[${before.join(", ")}, "all"]`
  return `[${[...before, ...access].join(", ")}]`
}

const writeCheck = ({ check }: Workflow.Step): string => {
  if (check === undefined) return '""'
  const { by, onFailure, times } = check
  if (onFailure === "revise") return writeString(`${by}`)
  return writeString(`${by}: ${onFailure}${times === undefined ? "" : ` ${times}`}`)
}

/** Options for writing a workflow. */
export interface WriteOptions {
  /**
   * Whether to write the list `how`, and the checks before the access lists, so that the text ends with the access
   * lists, as in grammars with `how`. Default: only if a step has clauses.
   */
  readonly how?: boolean | undefined
  /** Whether to write each element on its own line, for people who edit the text. Default: `false`. */
  readonly isSpread?: boolean | undefined
}

/**
 * Writes a workflow in the paper's form. Parsing the text strictly returns the same workflow.
 *
 * **Details**
 *
 * Checks are a fourth list, which is written only if a step has a check. A step of an earlier round is written as
 * `"0.1"` (round 0, step 1) in an access list. Other fields of steps (items, conditions, quorums, settings, tools) are
 * clauses of a list `how`, which is written only if a step has one of them. It is parsed only with the rule `how`.
 *
 * **Gotchas**
 *
 * The form cannot express `answer: "majority"`; only the steps are written.
 *
 * **Example**
 *
 * ```ts
 * import { WorkflowText } from "@divisi/core"
 *
 * const text = WorkflowText.write({ steps: [{ worker: 1, subtask: "Name it.", access: [] }] })
 * text // => 'model_id = [1]\nsubtasks = ["Name it."]\naccess_list = [[]]\n'
 * ```
 */
export const write = ({ steps }: Workflow.Workflow, options: WriteOptions = {}): string => {
  Tables.check("WorkflowText.write", options, writeTable)
  const clauses = steps.map(Clauses.write)
  const hasClauses = clauses.some((clause) => clause !== "")
  const hasChecks = steps.some(({ check }) => check !== undefined)
  const list = (name: string, items: ReadonlyArray<string | number>): string =>
    options.isSpread === true && items.length > 0
      ? `${name} = [\n  ${items.join(",\n  ")}\n]`
      : `${name} = [${items.join(", ")}]`
  const checks = hasChecks ? [list("checks", steps.map(writeCheck))] : []
  const isChecksFirst = options.how ?? hasClauses
  // Clauses cannot be combined with a check that asks for a revision, so that grammars with `how` have no list for it.
  const isWithHow = hasClauses || (options.how === true && !steps.some(({ check }) => check?.onFailure === "revise"))
  return [
    list(
      "model_id",
      steps.map((step) => step.worker)
    ),
    list(
      "subtasks",
      steps.map((step) => writeString(step.subtask))
    ),
    ...(isChecksFirst ? checks : []),
    ...(isWithHow ? [list("how", clauses.map(writeString))] : []),
    list("access_list", steps.map(writeAccess)),
    ...(isChecksFirst ? [] : checks),
    ""
  ].join("\n")
}

/**
 * Writes a direct answer instead of lists. Parsing it strictly with `mayAnswer` returns the same answer.
 *
 * **Example**
 *
 * ```ts
 * import { WorkflowText } from "@divisi/core"
 *
 * WorkflowText.writeAnswer("Paris.") // => 'answer = "Paris."\n'
 * ```
 */
export const writeAnswer = (answer: string): string => `answer = ${writeString(answer)}\n`
