/**
 * The grammar of workflows in GBNF. A model constrained by it can only write valid plans.
 *
 * All functions operate on text. {@link make} writes the grammar for a complete completion (free-form reasoning, then
 * the three lists). {@link ending} returns the shortest ending for a completion that ran out of tokens. {@link span}
 * locates the three lists in a text.
 *
 * The grammar enforces equal list lengths: once `model_id` is closed with n workers, exactly n subtasks and n access
 * lists must follow.
 */

import { Options as Tables, WorkflowText } from "@divisi/core"
import type { WorkflowFormat } from "@divisi/core/Worker"
import * as Result from "effect/Result"
import * as HowRules from "./internal/howRules.ts"
import { type Position, positionOf } from "./internal/listPosition.ts"
import { shortestEnding } from "./internal/shortestEnding.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Limits for a completion. A `WorkerRequest.format` can be passed directly. */
export interface Options extends Omit<WorkflowFormat, "type"> {
  /** Whether reasoning may precede the lists. Default: `true`. */
  readonly reasoning?: boolean | undefined
}

const names = Tables.listOf(Tables.name)

const grammarTable = Tables.table(
  {
    poolSize: Tables.whole(1, 100_000),
    maxSteps: Tables.whole(1, 10_000),
    access: Tables.oneOf("binary", "fine-grained"),
    allowEmpty: Tables.flag,
    how: { checks: names, shapes: names, tools: names, maxItems: Tables.whole(1) },
    mayAnswer: Tables.flag,
    reasoning: Tables.flag,
    // The `type` of a `WorkerRequest.format`.
    type: Tables.oneOf("workflow")
  } satisfies Tables.ShapeOf<Options & Partial<Pick<WorkflowFormat, "type">>>,
  { required: ["poolSize", "maxSteps", "access", "allowEmpty"] }
)

/** Position of the three lists in a text: the offset of the first character, and the offset after the last bracket. */
export interface Span {
  readonly start: number
  readonly end: number
}

// -------------------------------------------------------------------------------------------------------------------
// Rules
// -------------------------------------------------------------------------------------------------------------------

const first = "model_id"
const second = "]\\nsubtasks = ["
const third = "]\\naccess_list = ["

/** Start of an answer that the Conductor gives itself. */
const answering = 'answer = "'

/** A comma with or without a space, because models write lists both ways. */
const separator = 'separator ::= "," " "?'

/** Strings without line breaks or control characters, which Python parses unchanged. */
const text = ['text ::= "\\"" character* "\\""', 'character ::= [^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\nt]']

/**
 * Lines that do not start with `model_id`. If they could, the grammar could not distinguish reasoning from the lists,
 * and would enforce nothing.
 */
const reasoning = ({ mayAnswer }: Options): ReadonlyArray<string> => {
  const rest = "rest ::= [^\\n\\x00-\\x08\\x0B-\\x1F\\x7F]*"
  const chain = (word: string, name: string) =>
    [...word].map((letter, at) => {
      const isFirst = at === 0 && mayAnswer === true
      const others = `[^${isFirst ? first[0]! + answering[0]! : letter}\\n\\x00-\\x08\\x0B-\\x1F\\x7F] rest`
      const more = at + 1 < word.length ? ` | ${gbnfText(letter)} ${name}${at + 1}` : ""
      const other = isFirst ? ` | "${answering[0]}" own1` : ""
      return `${name}${at} ::= (${others}${more}${other})?`
    })
  // Likewise, a line that starts an answer is not reasoning.
  return [...chain(first, "line"), ...(mayAnswer === true ? chain(answering, "own").slice(1) : []), rest]
}

const gbnfText = (letter: string): string => (letter === '"' ? '"\\""' : `"${letter}"`)

/**
 * Rule `worker0` matches the first worker. Each rule either continues with the next worker or closes the list at the
 * current count.
 */
const workers = ({ allowEmpty, maxSteps, poolSize }: Options): ReadonlyArray<string> => {
  const ordinals = Array.from({ length: poolSize }, (_, ordinal) => `"${ordinal}"`).join(" | ")
  const chain = Array.from({ length: maxSteps }, (_, at) => {
    const more = at + 1 < maxSteps ? ` | separator workers${at + 1}` : ""
    return `workers${at} ::= worker (steps${at + 1}${more})`
  })
  const empty = `"${second}${third}]"`
  return [
    `lists ::= "${first} = [" ${allowEmpty ? `(workers0 | ${empty})` : "workers0"}`,
    `worker ::= ${ordinals}`,
    ...chain
  ]
}

const listed = (items: ReadonlyArray<string>) => items.join(" separator ")

/**
 * Returns the name of the rule for the access lists, up to the end of the text. With a quorum, the last step sees all
 * steps.
 */
const closing = (count: number, seesAll: boolean): string => {
  const lists = Array.from({ length: count }, (_, step) =>
    seesAll && step === count - 1 ? '"\\"all\\""' : `access${step}`
  )
  return `"${third}" ${listed(lists)} "]"`
}

/** Rules for the subtasks and access lists of plans of every length and, if enabled, for the list `how`. */
const steps = (options: Options): ReadonlyArray<string> => {
  const how = options.how && HowRules.make(options, closing)
  const plans = Array.from({ length: options.maxSteps }, (_, at) => {
    const count = at + 1
    const subtasks = listed(Array.from({ length: count }, () => "text"))
    const plain = closing(count, false)
    return `steps${count} ::= "${second}" ${subtasks} ${how === undefined ? plain : how.between(count, plain)}`
  })
  return how === undefined ? plans : [...plans, ...how.rules]
}

/** Rules for an answer by the Conductor itself. It must start with a visible character. */
const answer = [
  `answer ::= "answer = \\"" visible character* "\\""`,
  'visible ::= [^"\\\\\\x00-\\x20\\x7F] | "\\\\" ["\\\\]'
]

/**
 * Rules for access lists. Step 0 sees no steps. Later steps see all, none or, in the fine-grained form, any ascending
 * subset of earlier steps.
 */
const access = ({ access: form, maxSteps }: Options): ReadonlyArray<string> =>
  Array.from({ length: maxSteps }, (_, step) => {
    if (step === 0) return ['access0 ::= "[]"']
    if (form === "binary") return [`access${step} ::= "[]" | "\\"all\\""`]
    const choices = Array.from({ length: step }, (_, least) => {
      const later = least + 1 < step ? ` (separator earlier${step}x${least + 1})? | earlier${step}x${least + 1}` : ""
      return `earlier${step}x${least} ::= "${least}"${later}`
    })
    return [`access${step} ::= "[" earlier${step}x0? "]" | "\\"all\\""`, ...choices]
  }).flat()

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Writes the GBNF grammar of a completion. The start rule is `root`.
 *
 * **Details**
 *
 * Lines that do not start with `model_id` may precede the lists, and nothing may follow the last bracket. Access lists
 * are ascending and contain only earlier steps; the list of the first step is empty. With `how`, the lists `checks` and
 * `how` may precede the access lists, in the order that `WorkflowText.write` uses with the option `how`. With
 * `mayAnswer`, `answer = "…"` may replace the lists.
 *
 * **Gotchas**
 *
 * A grammar cannot limit the number of tokens, so a truncated completion is not a valid workflow. Complete it with
 * {@link ending}.
 *
 * **Example**
 *
 * ```ts
 * import { WorkflowGrammar } from "@divisi/gguf/browser"
 *
 * const grammar = WorkflowGrammar.make({ poolSize: 3, maxSteps: 5, access: "binary", allowEmpty: false })
 * grammar.split("\n")[0] // => 'root ::= (line0 "\\n")* lists'
 * ```
 */
export const make = (options: Options): string => {
  Tables.check("WorkflowGrammar.make", options, grammarTable)
  const hasReasoning = options.reasoning ?? true
  const end = options.mayAnswer === true ? "(lists | answer)" : "lists"
  return [
    hasReasoning ? `root ::= (line0 "\\n")* ${end}` : `root ::= ${end}`,
    ...(hasReasoning ? reasoning(options) : []),
    ...(options.mayAnswer === true ? answer : []),
    ...workers(options),
    ...steps(options),
    ...access(options),
    separator,
    ...text,
    ""
  ].join("\n")
}

// -------------------------------------------------------------------------------------------------------------------
// Endings
// -------------------------------------------------------------------------------------------------------------------

const brackets = (count: number) => Array.from({ length: count }, () => "[]").join(", ")

const quotes = (count: number) => Array.from({ length: count }, () => '""').join(", ")

/** Returns the text that closes the access lists when `count` steps still lack a list. */
const closeAccess = (count: number, isFirst: boolean): string =>
  `${isFirst || count === 0 ? "" : ", "}${brackets(count)}]`

const closeSubtasks = (count: number, steps: number, isFirst: boolean): string =>
  `${isFirst || count === 0 ? "" : ", "}${quotes(count)}]\naccess_list = [${brackets(steps)}]`

const rest = (position: Position): string => {
  switch (position.list) {
    case "none":
      return `${position.isLineStart ? "" : "\n"}${first} = [0]\nsubtasks = [""]\naccess_list = [[]]`
    case "name":
      return position.missing + rest(position.next)
    case "workers":
      return position.isOpen
        ? `0]\nsubtasks = [${quotes(position.count + 1)}]\naccess_list = [${brackets(position.count + 1)}]`
        : `]\nsubtasks = [${quotes(position.count)}]\naccess_list = [${brackets(position.count)}]`
    case "subtasks": {
      const string = position.string === "escape" ? 'n"' : position.string === "open" ? '"' : ""
      const left = position.steps - position.count
      // A comma must be followed by an item, not by another comma.
      return string + closeSubtasks(left, position.steps, position.isOpen)
    }
    case "access": {
      const left = position.steps - position.count
      return position.item + closeAccess(left, position.isOpen)
    }
    case "closed":
      return ""
  }
}

/**
 * Returns the shortest text that completes a partial completion.
 *
 * **Details**
 *
 * Open strings are closed, missing subtasks are left blank, and steps without an access list see no steps. If the lists
 * have not started, the ending is a plan with one step for worker 0. If the completion may contain `how` or an answer,
 * pass the options that its grammar was created with.
 *
 * **Example**
 *
 * ```ts
 * import { WorkflowGrammar } from "@divisi/gguf/browser"
 *
 * const cut = 'Easy.\nmodel_id = [2, 0]\nsubtasks = ["Solve i'
 * WorkflowGrammar.ending(cut) // => '", ""]\naccess_list = [[], []]'
 * ```
 */
export const ending = (completion: string, options?: Options): string => {
  // Unfinished reasoning is completed to a plan, because an answer must never be made up.
  if (options !== undefined) Tables.check("WorkflowGrammar.ending", options, grammarTable)
  const mayAnswer = options?.mayAnswer === true && hasAnswer(completion)
  if (options === undefined || (options.how === undefined && !mayAnswer)) return rest(positionOf(completion))
  return shortestEnding(make({ ...options, mayAnswer }), completion) ?? rest(positionOf(completion))
}

/** Whether the last line of a text is the start of an answer. */
const hasAnswer = (completion: string): boolean => completion.startsWith(answering, completion.lastIndexOf("\n") + 1)

/**
 * Returns the grammar for the rest of a completion whose reasoning has used up its tokens: only the lists, starting on
 * a new line. Returns `undefined` if the lists have already started.
 */
export const afterReasoning = (options: Options, completion: string): string | undefined => {
  if (positionOf(completion).list !== "none" || (options.mayAnswer === true && hasAnswer(completion))) return undefined
  const lists = make({ ...options, reasoning: false })
  const isLineStart = completion === "" || completion.endsWith("\n")
  return isLineStart ? lists : lists.replace("root ::= ", 'root ::= "\\n" ')
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const any = { poolSize: Number.MAX_SAFE_INTEGER, maxSteps: Number.MAX_SAFE_INTEGER, allowEmpty: true } as const

/** Matches a closed answer on the last line. */
const ownAnswer = /((?:^|\n)[ \t]{0,16})answer[ \t]{0,16}=[ \t]{0,16}"(?:[^"\\\n]|\\.)+"(?![^\n]*\n)/u

const opening = /(?:^|\n)[ \t]*(model_id[ \t]*=)/g

/** Whether a text contains three complete lists, valid or not. */
const isWhole = (lists: string, { how }: Pick<Options, "how">): boolean => {
  const more = how && { how: true, checks: how.checks }
  const reading = WorkflowText.read(lists, { ...any, ...more, mode: "strict" })
  return Result.isSuccess(reading) || reading.failure.reason._tag === "InvalidWorkflow"
}

/**
 * Returns the position of the three lists in a text, or `undefined` if the third list is not yet closed.
 *
 * **Details**
 *
 * The lists start at the last line that assigns `model_id`. They do not have to be valid: a model that runs without a
 * grammar is stopped once it has written them.
 *
 * **Example**
 *
 * ```ts
 * import { WorkflowGrammar } from "@divisi/gguf/browser"
 *
 * const text = 'Easy.\nmodel_id = [2]\nsubtasks = ["Solve it."]\naccess_list = [[]'
 * WorkflowGrammar.span(text) // => undefined
 * WorkflowGrammar.span(`${text}] And so on`)?.start // => 6
 * ```
 */
export const span = (
  completion: string,
  from = 0,
  options: Pick<Options, "how" | "mayAnswer"> = {}
): Span | undefined => {
  const own = options.mayAnswer === true ? ownAnswer.exec(completion) : null
  if (own !== null) {
    const start = own.index + own[1]!.length
    return { start, end: own.index + own[0].length }
  }
  const start = [...completion.matchAll(opening)].at(-1)
  if (start === undefined) return undefined
  const at = start.index + start[0].length - start[1]!.length
  if (!completion.includes("access_list", at)) return undefined
  for (let end = completion.indexOf("]", Math.max(from, at)); end >= 0; end = completion.indexOf("]", end + 1)) {
    if (isWhole(completion.slice(at, end + 1), options)) return { start: at, end: end + 1 }
  }
  return undefined
}
