/**
 * The grammar of a workflow in GBNF. Under it, every completion of a model is a valid plan.
 *
 * All functions only work on text: {@link make} writes the grammar of a complete completion (free reasoning, then the
 * three lists), {@link ending} returns the shortest ending for a completion that has run out of tokens, and
 * {@link span} locates the three lists in a text.
 *
 * The grammar enforces equal list lengths: after `model_id` has ended with n workers, only n subtasks and n access
 * lists are possible.
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

/** Limits for a completion. A `WorkerRequest.format` is sufficient. */
export interface Options extends Omit<WorkflowFormat, "type"> {
  /** Whether text may precede the lists. Default: `true`. */
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
    // That of a `WorkerRequest.format`.
    type: Tables.oneOf("workflow")
  } satisfies Tables.ShapeOf<Options & Partial<Pick<WorkflowFormat, "type">>>,
  { required: ["poolSize", "maxSteps", "access", "allowEmpty"] }
)

/** The position of the three lists in a text: offsets of the first character, and after the last bracket. */
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

/** The beginning of the Conductor's own answer. */
const answering = 'answer = "'

/** A comma with or without a blank: the two ways in which models write lists. */
const separator = 'separator ::= "," " "?'

/** Strings without line breaks or control characters, which Python reads unchanged. */
const text = ['text ::= "\\"" character* "\\""', 'character ::= [^"\\\\\\x00-\\x1F\\x7F] | "\\\\" ["\\\\nt]']

/**
 * Lines that do not begin with `model_id`. Otherwise the grammar could not tell reasoning from the lists, and would
 * force nothing.
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
  // A line that begins an answer is one, too: it is not part of a thought.
  return [...chain(first, "line"), ...(mayAnswer === true ? chain(answering, "own").slice(1) : []), rest]
}

const gbnfText = (letter: string): string => (letter === '"' ? '"\\""' : `"${letter}"`)

/** `worker0` takes the first worker; each rule continues with the next, or closes with the count reached. */
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

/** The access lists of a plan, to the end of the text. The last step of a quorum sees all steps. */
const closing = (count: number, seesAll: boolean): string => {
  const lists = Array.from({ length: count }, (_, step) =>
    seesAll && step === count - 1 ? '"\\"all\\""' : `access${step}`
  )
  return `"${third}" ${listed(lists)} "]"`
}

/** The subtasks and access lists of a plan of each length, and how its steps are run, if that may be written. */
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

/** An answer of the Conductor itself, with a character that can be seen at its beginning. */
const answer = [
  `answer ::= "answer = \\"" visible character* "\\""`,
  'visible ::= [^"\\\\\\x00-\\x20\\x7F] | "\\\\" ["\\\\]'
]

/** Step 0 sees no step; a later one all, none or, in the fine-grained form, any ascending choice of earlier steps. */
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
 * Writes the grammar of a completion, with `root` as its first rule.
 *
 * **Details**
 *
 * Lines that do not start with `model_id` may precede the lists; nothing may follow the last bracket. Access lists are
 * ascending and contain only earlier steps; the first step's list is empty. With `how`, lists `checks` and `how` may
 * come before the access lists, in the order in which `WorkflowText.write` writes them with the option `how`; with
 * `mayAnswer`, `answer = "…"` may be written instead of the lists.
 *
 * **Gotchas**
 *
 * A grammar cannot count tokens, so a truncated completion is not a workflow. See {@link ending}.
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

/** Returns the text that closes the access lists if `count` steps have no list yet. */
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
      // After a comma an item must follow, not another comma.
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
 * Open strings are closed, missing subtasks stay blank, and steps without an access list see no step. If the lists have
 * not started, it is a plan with one step for worker 0. To read text that contains `how` or an answer, pass the options
 * that its grammar was made with.
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
  // A thought that breaks off becomes a plan: an answer is never made up.
  if (options !== undefined) Tables.check("WorkflowGrammar.ending", options, grammarTable)
  const mayAnswer = options?.mayAnswer === true && hasAnswer(completion)
  if (options === undefined || (options.how === undefined && !mayAnswer)) return rest(positionOf(completion))
  return shortestEnding(make({ ...options, mayAnswer }), completion) ?? rest(positionOf(completion))
}

/** Whether the last line of a text is an answer that has begun. */
const hasAnswer = (completion: string): boolean => completion.startsWith(answering, completion.lastIndexOf("\n") + 1)

/**
 * Returns the grammar for the rest of a completion whose reasoning has used up its tokens: the lists, starting on a new
 * line. Returns `undefined` if the lists have started.
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

/** An answer that is closed, on the last line. */
const ownAnswer = /((?:^|\n)[ \t]{0,16})answer[ \t]{0,16}=[ \t]{0,16}"(?:[^"\\\n]|\\.)+"(?![^\n]*\n)/u

const opening = /(?:^|\n)[ \t]*(model_id[ \t]*=)/g

/** Whether a text has three complete lists, valid or not. */
const isWhole = (lists: string, { how }: Pick<Options, "how">): boolean => {
  const more = how && { how: true, checks: how.checks }
  const reading = WorkflowText.read(lists, { ...any, ...more, mode: "strict" })
  return Result.isSuccess(reading) || reading.failure.reason._tag === "InvalidWorkflow"
}

/**
 * Returns the position of the three lists in a text, or `undefined` until the third one has ended.
 *
 * **Details**
 *
 * The lists are those that begin with the last line that assigns `model_id`. They need not be valid: a model without a
 * grammar is stopped after it has written them, valid or not.
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
