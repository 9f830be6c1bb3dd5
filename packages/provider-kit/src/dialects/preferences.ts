/**
 * Handles request preferences that a server rejects: a rejected preference is omitted or replaced by the nearest
 * accepted value, and the server's limit is remembered. Demands are never changed.
 *
 * {@link adapt} adapts a body to a server, {@link learn} reads a rejection, {@link send} does both for a call, and
 * `VendorBatch` for batched calls.
 */
import type { WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as VendorError from "../VendorError.ts"
import * as Bounds from "./bounds.ts"
import { type Api, type Field, fieldsOf, cacheHints as hints, type Valued, valuedOf } from "./fields.ts"

/** The fields of an API. A field that is not listed is a demand. */
export interface Family {
  readonly name: Api
  readonly preferences: ReadonlyArray<Field>
  /** If an error names one of these fields, it does not reject a preference. */
  readonly demands: ReadonlyArray<Field>
  /** The fields that limit the output. */
  readonly limits: ReadonlyArray<string>
  /** The fields for which a server may accept only some values. */
  readonly valued: ReadonlyArray<Valued>
}

const family = (name: Api, limits: ReadonlyArray<string>, demands = fieldsOf(name, "demand")): Family => ({
  name,
  preferences: fieldsOf(name, "preference"),
  demands,
  limits,
  valued: valuedOf(name)
})

/** Chat Completions and Responses. Their servers mention demands when they reject preferences, such as "with tools". */
export const openai: Family = family("openai", ["max_tokens", "max_completion_tokens", "max_output_tokens"], [])

/** The Messages API. */
export const messages: Family = family("messages", ["max_tokens"])

/** The `generateContent` API. */
export const generateContent: Family = family("generateContent", ["generationConfig.maxOutputTokens"])

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A block without its hint, and without those of the blocks within it. An input of a tool call is not looked into. */
const unhinted = (block: unknown): unknown => {
  if (!isObject(block)) return block
  const { [hints]: _, ...rest } = block
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.map(unhinted) } : rest
}

const withoutHints = (body: object): object =>
  Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => name !== hints)
      .map(([name, value]) => [
        name,
        Array.isArray(value) && ["system", "tools", "messages"].includes(name) ? value.map(unhinted) : value
      ])
  )

const hasHint = (value: unknown): boolean =>
  isObject(value) && (value[hints] !== undefined || (Array.isArray(value.content) && value.content.some(hasHint)))

type Node = Readonly<Record<string, unknown>>

/** The value at a path. */
const valueAt = (body: object, path: string): unknown =>
  path.split(".").reduce<unknown>((node, name) => (isObject(node) ? node[name] : undefined), body)

/** A body with another value at a path; without its field for `undefined`. */
const withValue = (body: object, path: string, value: unknown): object => {
  const [name = "", ...rest] = path.split(".")
  const { [name]: inner, ...others } = body as Node
  if (rest.length > 0) return { ...body, [name]: withValue(isObject(inner) ? inner : {}, rest.join("."), value) }
  return value === undefined ? others : { ...body, [name]: value }
}

const containerOf = (body: object, field: string): readonly [object: unknown, name: string] => {
  const [first = "", second] = field.split(".")
  return second === undefined ? [body, first] : [(body as Readonly<Record<string, unknown>>)[first], second]
}

const has = (body: object, field: string): boolean => {
  if (field === hints) {
    const { messages, system, tools } = body as Readonly<Record<string, unknown>>
    return hasHint(body) || [messages, system, tools].some((list) => Array.isArray(list) && list.some(hasHint))
  }
  const [object, name] = containerOf(body, field)
  return isObject(object) && object[name] !== undefined
}

const without = (body: object, field: string): object => {
  if (!has(body, field)) return body
  if (field === hints) return withoutHints(body)
  const [object, name] = containerOf(body, field)
  const { [name]: _, ...rest } = object as Readonly<Record<string, unknown>>
  if (object === body) return rest
  const [container = ""] = field.split(".")
  // Google's API, unlike Anthropic's, has an object of settings in each request.
  if (Object.keys(rest).length > 0 || container === "generationConfig") return { ...body, [container]: rest }
  return without(body, container)
}

// -------------------------------------------------------------------------------------------------------------------
// Refusals
// -------------------------------------------------------------------------------------------------------------------

/** Words of an error about a field that a server does not take. */
const complaint =
  /unsupport|support|unknown|unrecogni[sz]|unexpected|not (?:permitted|allowed|recogni[sz]ed|valid|available|enabled)|extra|invalid|must be|\bonly\b|deprecat|forbid|does(?: not|n't) (?:take|accept|have)|cannot|disallow|no such|additional propert/i

const isNamed = ({ isWord, name: field, names = [field] }: Field, words: string): boolean =>
  names.some((given) => {
    // `presence_penalty` is `presencePenalty` at xAI, and "presence penalty" in words.
    const name = given.replaceAll(".", "\\.").replaceAll("_", "[_ -]?")
    const near =
      isWord === true
        ? `['"\`]${name}['"\`.]|\\b(?:parameters?|arguments?|fields?|keys?|supplied):? \\[?${name}\\b|(?:^|^\\d{3} |[-:] )${name}[:.]|\\bconfig\\.${name}\\b`
        : `(?:^|\\W)${name}(?:\\W|$)`
    return new RegExp(near, "im").test(words)
  })

/** Whether a field's names can mean it in this body. */
const applies = (body: object, { isContainer, name: field }: Field): boolean => {
  if (!has(body, field)) return false
  const [object] = containerOf(body, field)
  return isContainer !== true || Object.keys(object as object).length === 1
}

/**
 * The preference of a body that a server has refused by name; nothing for a refusal of anything else.
 *
 * Servers that require the other name of an output limit report it: the field is renamed, not omitted
 * ({@link renamed}).
 */
const refusedIn = (body: object, reason: WorkerErrorReason, family: Family): string | undefined => {
  if (reason._tag !== "InvalidRequest") return undefined
  const words = reason.detail ?? ""
  if (!complaint.test(words)) return undefined
  const isOf = (row: Field) => applies(body, row) && isNamed(row, words)
  const field = family.preferences.find(isOf)?.name
  // A hint is named with its block: "messages.0.content.0.cache_control".
  return field === hints || !family.demands.some(isOf) ? field : undefined
}

const limitNames = ["max_tokens", "max_completion_tokens"] as const

/** The output limit's other name, if a server refuses one and its error names the other. */
const renamed = (
  body: Readonly<Record<string, unknown>>,
  reason: WorkerErrorReason
): { readonly from: string; readonly to: string } | undefined => {
  if (reason._tag !== "InvalidRequest") return undefined
  const words = reason.detail ?? ""
  const from = limitNames.find((name) => body[name] !== undefined)
  const to = limitNames.find((name) => name !== from)
  if (from === undefined || to === undefined || !complaint.test(words)) return undefined
  return new RegExp(`\\b${from}\\b`).test(words) && new RegExp(`\\b${to}\\b`).test(words) ? { from, to } : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Limits of the output
// -------------------------------------------------------------------------------------------------------------------

/** Pattern of a server's statement that the output limit must be lower. */
interface Ceiling {
  readonly pattern: RegExp
  /** Returns the accepted maximum from the numbers in the pattern. */
  readonly most: (first: number, second: number) => number
  /** Whether it applies only to this prompt. */
  readonly isOfPrompt?: boolean | undefined
  readonly source: string
}

const ceilings: ReadonlyArray<Ceiling> = [
  {
    pattern:
      /max[_ ]?(?:new_)?tokens[^.]{0,80}(?:less than or equal to|at most|<=|cannot exceed|no (?:larger|greater|more) than)\D{0,4}(\d{1,12})/i,
    most: (most) => most,
    source: "Groq, Cohere, DeepInfra"
  },
  {
    pattern: /max_(?:completion_)?tokens is too large[^.]{0,80}\. [^.]{0,80}supports at most (\d{1,12})/i,
    most: (most) => most,
    source: "OpenAI"
  },
  {
    pattern: /range of max_(?:output_)?tokens[^.]{0,40}\[\d{1,12}, ?(\d{1,12})\]/i,
    most: (most) => most,
    source: "DeepSeek, DashScope"
  },
  {
    pattern: /max_(?:completion_|output_|new_)?tokens[^.]{0,80}(?:between|from) \d{1,12} (?:and|to) (\d{1,12})/i,
    most: (most) => most,
    source: "Mistral, LM Studio"
  },
  {
    pattern: /max_(?:completion_|output_)?tokens'?:? integer above maximum value\. Expected a value <= (\d{1,12})/i,
    most: (most) => most,
    source: "OpenAI"
  },
  {
    pattern:
      /max_(?:completion_|output_|new_)?tokens[^.]{0,60}exceeds?[^.]{0,60}?(?:limit|maximum)[^.\d]{0,20}(\d{3,12})/i,
    most: (most) => most,
    source: "SambaNova, Fireworks"
  },
  {
    pattern: /max_tokens: \d{1,12} > (\d{1,12}), which is the maximum/i,
    most: (most) => most,
    source: "Anthropic"
  },
  {
    pattern: /maximum tokens[^.]{0,60}exceeds the model limit of (\d{1,12})/i,
    most: (most) => most,
    source: "Amazon Bedrock"
  },
  {
    pattern: /maxOutputTokens[^.]{0,80}range is from 1 \(inclusive\) to (\d{1,12}) \(exclusive\)/i,
    most: (most) => most - 1,
    source: "Google"
  },
  {
    pattern: /maximum context length is (\d{1,12}) tokens and your request has (\d{1,12}) input tokens/i,
    most: (context, input) => context - input,
    isOfPrompt: true,
    source: "vLLM, farion1231/cc-switch#1022"
  },
  {
    pattern:
      /maximum context length is (\d{1,12}) tokens[.,][^.]{0,80}\((\d{1,12}) in (?:the |your )?(?:messages|prompt)/i,
    most: (context, input) => context - input,
    isOfPrompt: true,
    source: "vLLM, vllm-project/vllm#20409"
  },
  {
    pattern: /max_new_tokens` must be <= (\d{1,12})\. Given: (\d{1,12}) `inputs`/i,
    most: (context, input) => context - input,
    isOfPrompt: true,
    source: "text-generation-inference"
  },
  {
    pattern: /maximum context length of (\d{1,12}) tokens[^:]{0,80}: (\d{1,12}) tokens from the input/i,
    most: (context, input) => context - input,
    isOfPrompt: true,
    source: "SGLang"
  },
  {
    pattern: /`?max_tokens`? exceed context limit: (\d{1,12}) \+ \d{1,12} > (\d{1,12})/i,
    most: (input, context) => context - input,
    isOfPrompt: true,
    source: "Anthropic"
  }
]

/** A shorter limit on the answer is useless: the prompt is too long. */
const shortest = 256

/** The limit of the output that a server wants lowered, and to what: a limit is the most that an answer may be. */
const loweredIn = (body: object, { detail = "", _tag }: WorkerErrorReason, { limits }: Family): Lesson | undefined => {
  if (_tag !== "InvalidRequest" && _tag !== "ContextTooLong") return undefined
  for (const { isOfPrompt = false, most, pattern } of ceilings) {
    const [, first, second] = pattern.exec(detail) ?? []
    const value = most(Number(first), Number(second))
    const field = limits.find((field) => limitOf(body, field) > value)
    if (field !== undefined && value >= shortest)
      return { type: "bound", field, bound: { most: value }, isOfCall: isOfPrompt }
  }
  return undefined
}

const limitOf = (body: object, path: string): number => {
  const value = valueAt(body, path)
  return typeof value === "number" ? value : Number.NaN
}

// -------------------------------------------------------------------------------------------------------------------
// Values
// -------------------------------------------------------------------------------------------------------------------

/** A refusal that holds for a combination: "temperature may only be 1 when thinking is enabled". */
const conditional = /\b(?:when|while|if|unless)\b[^.]{0,40}\b(?:thinking|reasoning|tools?|stream\w*|effort)\b/i

/** Returns the text about a field: from a little before its name on. */
const saidOf = ({ pattern }: Valued, words: string): string | undefined => {
  const at = words.search(pattern)
  return at === -1 ? undefined : words.slice(Math.max(0, at - 40))
}

/** The field of a body that has a value which the server does not take, and those that it does. */
const boundIn = (body: object, { _tag, detail = "" }: WorkerErrorReason, { valued }: Family): Lesson | undefined => {
  if (_tag !== "InvalidRequest") return undefined
  for (const row of valued) {
    const value = valueAt(body, row.path)
    const said = value === undefined ? undefined : saidOf(row, detail)
    if (said === undefined) continue
    const read = typeof value === "string" ? Bounds.wordsIn(said) : Bounds.numbersIn(said)
    if (read === undefined || (row.isDemand === true && read.only === undefined)) continue
    const bound = { ...read, isWhole: row.isWhole }
    const isOfCall = conditional.test(detail)
    if (Bounds.fit(bound, value) !== value) return { type: "bound", field: row.path, bound, isOfCall }
  }
  return undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Accepted values of servers
// -------------------------------------------------------------------------------------------------------------------

/** A server's learned limits: fields to omit, fields with another name, and accepted values. */
export interface Learned {
  readonly left: Set<string>
  readonly names: Map<string, string>
  /** The values that a model accepts in a field, by the field's path. */
  readonly bounds: Map<string, Bounds.Bound>
}

/** More servers and models than this are not remembered: the oldest is forgotten. */
const mostRemembered = 1_000

const remembered = new Map<string, Learned>()

/** Returns empty limits, for a worker whose server has no known address, and for limits of a single call. */
export const nothingLearned = (): Learned => ({ left: new Set(), names: new Map(), bounds: new Map() })

/** Returns the learned limits of a server's model in this process; `place` is its address and its name. */
export const learnedOf = (place: string): Learned => {
  const known = remembered.get(place)
  if (known !== undefined) return known
  const learned = nothingLearned()
  remembered.set(place, learned)
  for (const oldest of remembered.keys()) {
    if (remembered.size <= mostRemembered) break
    remembered.delete(oldest)
  }
  return learned
}

// -------------------------------------------------------------------------------------------------------------------
// Learning
// -------------------------------------------------------------------------------------------------------------------

/** The information about a field in a rejection. */
export type Lesson = (
  | { readonly type: "left"; readonly field: string }
  | { readonly type: "name"; readonly field: string; readonly to: string }
  | { readonly type: "bound"; readonly field: string; readonly bound: Bounds.Bound }
) & {
  /** Whether it applies only to this call, for example because of its prompt. */
  readonly isOfCall: boolean
}

/** Reads why a server rejected a body. Returns `undefined` if the reason is not a preference or cannot be changed. */
export const learn = (body: object, reason: WorkerErrorReason, family: Family): Lesson | undefined => {
  const name = family.name === openai.name ? renamed(body as Node, reason) : undefined
  if (name !== undefined) return { type: "name", field: name.from, to: name.to, isOfCall: false }
  const value = loweredIn(body, reason, family) ?? boundIn(body, reason, family)
  if (value !== undefined) return value
  const field = refusedIn(body, reason, family)
  return field === undefined ? undefined : { type: "left", field, isOfCall: conditional.test(reason.detail ?? "") }
}

/** Stores the information of a rejection. */
export const remember = ({ bounds, left, names }: Learned, lesson: Lesson): void => {
  if (lesson.type === "left") left.add(lesson.field)
  else if (lesson.type === "name") names.set(lesson.field, lesson.to)
  else bounds.set(lesson.field, Bounds.both(bounds.get(lesson.field), lesson.bound))
}

// -------------------------------------------------------------------------------------------------------------------
// Adapting
// -------------------------------------------------------------------------------------------------------------------

/** A body adapted to a server, with a notice for each field that was omitted or changed. */
export interface Adapted<Body> {
  readonly body: Body
  readonly notices: ReadonlyArray<string>
}

const leftOut = (field: string): string => `${field}: the server does not take it: it was left out`

const noticeOf = (path: string, bound: Bounds.Bound, before: unknown, after: unknown): string => {
  const taken = `${path}: the server takes ${Bounds.describe(bound)}: it was`
  if (after === undefined) return `${taken} left out`
  if (typeof after !== "number") return `${taken} replaced by "${String(after)}"`
  return `${taken} ${after < (before as number) ? "lowered" : "raised"}`
}

const within = (before: Adapted<object>, path: string, bound: Bounds.Bound): Adapted<object> => {
  const value = valueAt(before.body, path)
  const fitted = Bounds.fit(bound, value)
  if (fitted === value) return before
  return {
    body: withValue(before.body, path, fitted),
    notices: [...before.notices, noticeOf(path, bound, value, fitted)]
  }
}

/** Adapts a body to the limits of a server. */
export const adapt = <Body extends object>(body: Body, { bounds, left, names }: Learned): Adapted<Body> => {
  if (left.size === 0 && names.size === 0 && bounds.size === 0) return { body, notices: [] }
  const omitted = [...left].filter((field) => has(body, field))
  const whole = omitted.reduce(without, body as object)
  // Options of a stream are refused without one.
  const rest = omitted.includes("stream") ? without(whole, "stream_options") : whole
  const entries = Object.entries(rest).map(([name, value]) => [names.get(name) ?? name, value] as const)
  const named: object = Object.fromEntries(entries)
  const start: Adapted<object> = { body: named, notices: omitted.map(leftOut) }
  return [...bounds].reduce((adapted, [path, bound]) => within(adapted, path, bound), start) as Adapted<Body>
}

// -------------------------------------------------------------------------------------------------------------------
// Sending
// -------------------------------------------------------------------------------------------------------------------

/** The maximum number of rejected preferences per call. A server that rejects more is not understood. */
const mostRefusals = 16

/** Sends requests to a server, with the known limits of the server. */
export interface Sender<Body extends object, Sent> {
  readonly family: Family
  readonly learned: Learned
  /** Sends a body. Throws if the server rejects it. */
  readonly send: (body: Body) => Promise<Sent>
  /** Returns the reason for a value that `send` threw. */
  readonly reason: (error: unknown) => WorkerErrorReason
  /** Called with a notice for each field that was omitted or changed. */
  readonly omit: (notice: string) => void
}

/** The attempts of one call. Each applies the information of the previous rejections. */
export class Attempts<Body extends object> {
  readonly #whole: Body
  readonly #family: Family
  readonly #learned: Learned
  readonly #ofCall = nothingLearned()
  #refusals = 0
  #adapted: Adapted<Body>

  constructor(whole: Body, { family, learned }: Pick<Sender<Body, unknown>, "family" | "learned">) {
    this.#whole = whole
    this.#family = family
    this.#learned = learned
    this.#adapted = adapt(whole, learned)
  }

  /** The body of this attempt. */
  get adapted(): Adapted<Body> {
    return this.#adapted
  }

  /** Learns from a refusal; `false` if there is nothing to try again. */
  refused(reason: WorkerErrorReason): boolean {
    const { body } = this.#adapted
    const lesson = this.#refusals === mostRefusals ? undefined : learn(body, reason, this.#family)
    if (lesson === undefined) return false
    this.#refusals += 1
    remember(lesson.isOfCall ? this.#ofCall : this.#learned, lesson)
    const known = adapt(this.#whole, this.#learned)
    const { body: next, notices } = adapt(known.body, this.#ofCall)
    this.#adapted = { body: next, notices: [...known.notices, ...notices] }
    return true
  }
}

/**
 * Sends a body adapted to the server. If the server rejects a preference, the body is sent again without it or with an
 * accepted value, once per preference, because most servers report one field at a time. Demands are always sent.
 */
export const send = async <Body extends object, Sent>(whole: Body, sender: Sender<Body, Sent>): Promise<Sent> => {
  const attempts = new Attempts(whole, sender)
  for (;;) {
    attempts.adapted.notices.forEach(sender.omit)
    try {
      return await sender.send(attempts.adapted.body)
    } catch (error) {
      if (!attempts.refused(VendorError.fromThrown(error, sender.reason))) throw error
    }
  }
}

/** Collects notices, each once. */
export const collector = (): { readonly notices: ReadonlyArray<string>; readonly omit: (notice: string) => void } => {
  const notices: Array<string> = []
  return { notices, omit: (notice) => void (notices.includes(notice) || notices.push(notice)) }
}

/** Returns the parts that report notices. */
export const partsOf = (notices: ReadonlyArray<string>): ReadonlyArray<WorkerPart> =>
  notices.map((notice) => ({ type: "notice", notice }))
