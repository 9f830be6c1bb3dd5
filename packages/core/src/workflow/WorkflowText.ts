/**
 * The text format for workflows: the paper's three Python lists.
 *
 * ```python
 * model_id = [1, 0]
 * subtasks = ["Plan an algorithm.", "Implement the plan."]
 * access_list = [[], "all"]
 * ```
 *
 * A model writes this text after its reasoning. {@link read} parses and validates it: tolerantly by default, or
 * strictly, following the semantics of Python. {@link write} is the inverse. Parsing is iterative and takes linear time
 * for any input.
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

/** How strictly to parse. See {@link Options.mode}. */
export type Mode = "tolerant" | "strict" | "thought-then-strict"

/** Parser options, and the rules that the workflow must satisfy. */
export interface Options extends Workflow.Rules {
  /**
   * `"tolerant"` (the default) finds the lists anywhere in the text and accepts unambiguous deviations. `"strict"`
   * accepts only the three assignments, as Python does. `"thought-then-strict"` also allows text before the
   * assignments, such as the reasoning of the paper's Conductor.
   */
  readonly mode?: Mode | undefined
  /**
   * Whether to accept the `how` list and `again` as the consequence of a check (see {@link read}). Default: `false`,
   * which accepts only the paper's lists.
   */
  readonly how?: boolean | undefined
  /** Whether to accept `answer = "Paris."` instead of the lists. Default: `false`. */
  readonly mayAnswer?: boolean | undefined
}

const writeTable = { how: Tables.flag, isSpread: Tables.flag } satisfies Tables.ShapeOf<WriteOptions>

/** A workflow parsed from text. */
export interface Reading {
  readonly workflow: Workflow.Workflow
  /** The earlier step whose answer is confirmed. Set only if the workflow is empty. */
  readonly stands?: Workflow.EarlierStep | undefined
  /** The answer that was given instead of the lists. Set only if the workflow is empty. */
  readonly answer?: string | undefined
  /** Accepted deviations from the strict format, one sentence each. Empty if the text is strictly valid. */
  readonly notes: ReadonlyArray<string>
  /** Offsets of the start (inclusive) and the end (exclusive) of the lists in the text. */
  readonly span: { readonly start: number; readonly end: number }
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a text is not a valid workflow: a syntax error or a violated rule. */
export type WorkflowTextErrorReason =
  | { readonly _tag: "Unreadable"; readonly found: string }
  | { readonly _tag: "InvalidWorkflow"; readonly error: Workflow.WorkflowError }

/** Raised when a text is not a valid workflow, with the position, the reason and the expected syntax. */
export class WorkflowTextError extends Data.TaggedError("WorkflowTextError")<{
  readonly reason: WorkflowTextErrorReason
  /** One-based line number. */
  readonly line: number
  /** One-based column, counted in characters. */
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

/** Whether the offset points to the second code unit of a surrogate pair. */
const isSecondHalf = (text: string, at: number): boolean => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff

/** Returns the one-based line and column of an offset, counted in characters. */
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

/** Returns the name of the list whose length differs from the other two, or `subtasks` if all three differ. */
const oddOneOut = ({
  access,
  subtasks,
  workers
}: Extract<Workflow.WorkflowErrorReason, { _tag: "UnequalLengths" }>) => {
  if (workers === subtasks) return "access_list" satisfies ListName
  return subtasks === access ? ("model_id" satisfies ListName) : ("subtasks" satisfies ListName)
}

/** Returns the offset of the element that violates a rule. */
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

/** Returns the confirmed step, if the lists contain a single reference to an earlier step but no steps. */
const standing = ({ access_list, model_id, subtasks }: Columns, { allowEmpty, earlier = [] }: Workflow.Rules) => {
  const [seen, ...others] = access_list.values
  const isAlone = model_id.values.length === 0 && subtasks.values.length === 0 && others.length === 0
  if (allowEmpty !== true || !isAlone || seen?.earlier.length !== 1 || seen.access.length > 0) return undefined
  const [step] = seen.earlier
  return step!.step < (earlier[step!.round] ?? 0) ? step : undefined
}

/**
 * Creates a workflow from the paper's three lists and validates it.
 *
 * @internal
 */
export const fromLists = (
  lists: {
    readonly workers: ReadonlyArray<number>
    readonly subtasks: ReadonlyArray<string>
    readonly access: ReadonlyArray<Workflow.Access>
    readonly earlier?: ReadonlyArray<ReadonlyArray<Workflow.EarlierStep>> | undefined
    readonly checks?: ReadonlyArray<Workflow.StepCheck | undefined> | undefined
    /** Fields that extend the paper's format, by step. */
    readonly how?:
      | ReadonlyArray<Pick<Workflow.Step, "each" | "enough" | "gives" | "settings" | "tools" | "when">>
      | undefined
  },
  rules: Workflow.Rules
): Result.Result<Workflow.Workflow, Workflow.WorkflowError> => {
  const { access, checks = [], earlier = [], how = [], subtasks, workers } = lists
  if (workers.length !== subtasks.length || workers.length !== access.length) {
    const lengths = { workers: workers.length, subtasks: subtasks.length, access: access.length }
    return Result.fail(new Workflow.WorkflowError({ reason: { _tag: "UnequalLengths", ...lengths } }))
  }
  return Workflow.check(
    {
      steps: workers.map((worker, index) => ({
        worker,
        subtask: subtasks[index]!,
        access: access[index]!,
        ...((earlier[index]?.length ?? 0) > 0 && { earlier: earlier[index]! }),
        ...(checks[index] && { check: checks[index] }),
        ...how[index]
      }))
    },
    rules
  )
}

const join = (text: string, lists: Lists, notes: ReadonlyArray<string>, rules: Workflow.Rules) => {
  const { access_list, checks, how, model_id, subtasks } = lists.columns
  const span = { start: lists.start, end: lists.end }
  const stands = standing(lists.columns, rules)
  if (stands !== undefined) return Result.succeed<Reading>({ workflow: { steps: [] }, stands, notes, span })
  const checked = fromLists(
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

/** Returns the offset of the last line that starts with the first list, or 0 if there is no such line. */
const afterThought = (text: string): number => Math.max(0, text.lastIndexOf("\nmodel_id") + 1)

/**
 * Parses a workflow from text and validates it.
 *
 * **Details**
 *
 * *Strict* mode accepts assignments to `model_id`, `subtasks` and `access_list`, comments and blank lines. The
 * resulting values are the same as in Python, for all string prefixes, quotes and escapes, adjacent strings, tuples,
 * trailing commas and integer notations. The only exception is named characters (`\N{...}`), which are rejected with
 * their position. If a name is assigned more than once, the last assignment applies. `True` is not accepted as an
 * index, although Python treats it as 1.
 *
 * *Thought-then-strict* mode starts at the last line that begins with `model_id` and is strict from there on.
 *
 * *Tolerant* mode accepts everything that strict mode accepts, with the same result. Otherwise, it searches for the
 * lists in prose, code fences and JSON and uses the last complete set, preferring adjacent lists to lists separated by
 * prose. It accepts other names (`models`, `workers`, `sub_tasks`, `access`, ...), `:` instead of `=`, curly quotes,
 * and unescaped quotes and line breaks. It also accepts escapes that strict mode rejects (they are left in the text), a
 * missing final bracket if the end of the list is unambiguous, `"Model 1"` for `1`, and `["all"]`, `all`, `true`,
 * `none`, `null` or `false` as an access list. Accepted deviations are listed in `notes`.
 *
 * If the rules define checks, the text may contain a fourth list of the same length: `checks = ["", "tests: next"]`.
 * Each element is either an empty string, or a check name (or the index of a model that acts as a judge) followed by
 * the consequence of a failure (default: `revise`). If the rules define earlier rounds, an access list may contain
 * `"0.1"` to refer to step 1 of round 0. If an empty workflow is allowed, `access_list = [["0.1"]]` with the other two
 * lists empty confirms that step's answer (see `stands` in {@link Reading}). Without such rules, only the paper's lists
 * are accepted.
 *
 * With `how`, the text may contain a further list of the same length: `how = ["list 16", "each 0", ""]`. Each element
 * is an empty string or a sequence of clauses separated by `; `, with each kind at most once: `list N` or `gives NAME`,
 * `each S`, `if S failed`, `after N` or `after N +T ms`, `effort E` or `think N tokens`, `at most N tokens`, `at most T
 * ms`, `temperature X`, `tools NAME, NAME`, `all tools` or `no tools`. Checks may then also have the form `"tests:
 * again 3"`. With `mayAnswer`, the text may be `answer = "Paris."` instead of the lists (see `answer` in {@link
 * Reading}).
 *
 * **Gotchas**
 *
 * Unlike Python, JavaScript cannot distinguish `"\ud83d\ude00"` (a surrogate pair) from `"\U0001f600"` (one character).
 * Three empty lists are valid only if the rules allow an empty workflow.
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

/** Options for {@link write}. */
export interface WriteOptions {
  /**
   * Whether to write the `how` list, and to place the checks before the access lists, so that the text ends with the
   * access lists as in grammars with `how`. By default, this is done only if a step has clauses.
   */
  readonly how?: boolean | undefined
  /**
   * Whether to write each element on a separate line, which makes the text easier to edit by hand. Default: `false`.
   */
  readonly isSpread?: boolean | undefined
}

/**
 * Writes a workflow in the paper's text format. Parsing the text strictly returns the same workflow.
 *
 * **Details**
 *
 * Checks are written as a fourth list if any step has one. A reference to a step in an earlier round is written as
 * `"0.1"` (round 0, step 1) in an access list. All other step fields (items, conditions, quorums, settings, tools) are
 * written as clauses of the `how` list if any step has one of them; parsing these requires the `how` option.
 *
 * **Gotchas**
 *
 * The format cannot express `answer: "majority"`; only the steps are written.
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
  // Grammars with `how` have no list for checks that request a revision, so these cannot be combined with clauses.
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
