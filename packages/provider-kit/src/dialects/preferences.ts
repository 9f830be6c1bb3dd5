/**
 * Adapts requests to servers that reject a preference: it is omitted or replaced by the nearest accepted value, and the
 * server's limit is remembered. Demands are never changed.
 *
 * {@link adapt} adapts a body to a server, {@link learn} reads a rejection, and {@link send} does both for one call;
 * `VendorBatch` does so for batched calls.
 */
import { isRecord } from "@divisi/core/Fields"
import type { WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as VendorError from "../VendorError.ts"
import * as Bounds from "./bounds.ts"
import { type Api, type Field, fieldsOf, cacheHints as hints, type Valued, valuedOf } from "./fields.ts"

/** The fields of an API. Fields that are not listed are demands. */
export interface Family {
  readonly name: Api
  readonly preferences: ReadonlyArray<Field>
  /** Fields that, if an error names them, mean that the rejection concerns a demand and not a preference. */
  readonly demands: ReadonlyArray<Field>
  /** The fields that limit the output. */
  readonly limits: ReadonlyArray<string>
  /** The fields for which some servers accept only certain values. */
  readonly valued: ReadonlyArray<Valued>
}

const family = (name: Api, limits: ReadonlyArray<string>, demands = fieldsOf(name, "demand")): Family => ({
  name,
  preferences: fieldsOf(name, "preference"),
  demands,
  limits,
  valued: valuedOf(name)
})

/**
 * Chat Completions and Responses. Their servers may mention demands when they reject preferences, such as "with tools".
 */
export const openai: Family = family("openai", ["max_tokens", "max_completion_tokens", "max_output_tokens"], [])

/** The Messages API. */
export const messages: Family = family("messages", ["max_tokens"])

/**
 * The `generateContent` API.
 *
 * @internal
 */
export const generateContent: Family = family("generateContent", ["generationConfig.maxOutputTokens"])

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

/** Removes the cache hints from a block and its nested blocks. Tool call inputs are not searched. */
const unhinted = (block: unknown): unknown => {
  if (!isRecord(block)) return block
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
  isRecord(value) && (value[hints] !== undefined || (Array.isArray(value.content) && value.content.some(hasHint)))

type Node = Readonly<Record<string, unknown>>

/** Returns the value at a path. */
const valueAt = (body: object, path: string): unknown =>
  path.split(".").reduce<unknown>((node, name) => (isRecord(node) ? node[name] : undefined), body)

/** Returns a copy of a body with a different value at a path; `undefined` removes the field. */
const withValue = (body: object, path: string, value: unknown): object => {
  const [name = "", ...rest] = path.split(".")
  const { [name]: inner, ...others } = body as Node
  if (rest.length > 0) return { ...body, [name]: withValue(isRecord(inner) ? inner : {}, rest.join("."), value) }
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
  return isRecord(object) && object[name] !== undefined
}

const without = (body: object, field: string): object => {
  if (!has(body, field)) return body
  if (field === hints) return withoutHints(body)
  const [object, name] = containerOf(body, field)
  const { [name]: _, ...rest } = object as Readonly<Record<string, unknown>>
  if (object === body) return rest
  const [container = ""] = field.split(".")
  // In Google's API, unlike Anthropic's, every request has a settings object, so it may remain empty.
  if (Object.keys(rest).length > 0 || container === "generationConfig") return { ...body, [container]: rest }
  return without(body, container)
}

// -------------------------------------------------------------------------------------------------------------------
// Refusals
// -------------------------------------------------------------------------------------------------------------------

/** Matches phrases for an unsupported field. */
const complaint =
  /unsupport|support|unknown|unrecogni[sz]|unexpected|not (?:permitted|allowed|recogni[sz]ed|valid|available|enabled)|extra|invalid|must be|\bonly\b|deprecat|forbid|does(?: not|n't) (?:take|accept|have)|cannot|disallow|no such|additional propert/i

const isNamed = ({ isWord, name: field, names = [field] }: Field, words: string): boolean =>
  names.some((given) => {
    // `presence_penalty` is `presencePenalty` at xAI, and "presence penalty" in prose.
    const name = given.replaceAll(".", "\\.").replaceAll("_", "[_ -]?")
    const near =
      isWord === true
        ? `['"\`]${name}['"\`.]|\\b(?:parameters?|arguments?|fields?|keys?|supplied):? \\[?${name}\\b|(?:^|^\\d{3} |[-:] )${name}[:.]|\\bconfig\\.${name}\\b`
        : `(?:^|\\W)${name}(?:\\W|$)`
    return new RegExp(near, "im").test(words)
  })

/** Whether a field's names can refer to that field in this body. */
const applies = (body: object, { isContainer, name: field }: Field): boolean => {
  if (!has(body, field)) return false
  const [object] = containerOf(body, field)
  return isContainer !== true || Object.keys(object as object).length === 1
}

/**
 * Returns the preference in a body that a server rejected by name; `undefined` for any other rejection.
 *
 * Some servers require a different name for the output limit and say so. In that case the field is renamed, not omitted
 * ({@link renamed}).
 */
const refusedIn = (body: object, reason: WorkerErrorReason, family: Family): string | undefined => {
  if (reason._tag !== "InvalidRequest") return undefined
  const words = reason.detail ?? ""
  if (!complaint.test(words)) return undefined
  const isOf = (row: Field) => applies(body, row) && isNamed(row, words)
  const field = family.preferences.find(isOf)?.name
  // An error names a cache hint together with its block: "messages.0.content.0.cache_control".
  return field === hints || !family.demands.some(isOf) ? field : undefined
}

const limitNames = ["max_tokens", "max_completion_tokens"] as const

/** Returns the alternative name for the output limit, if a server rejects one name and its error mentions the other. */
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

/** A pattern for an error stating that the output limit must be lower. */
interface Ceiling {
  readonly pattern: RegExp
  /** Returns the accepted maximum, computed from the numbers that the pattern matched. */
  readonly most: (first: number, second: number, third: number) => number
  /** Whether the maximum applies only to this prompt. */
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
    pattern:
      /maximum context length is (\d{1,12}) tokens\. [^.]{0,40}requested (?:about )?(\d{1,12}) tokens \([^.)]{0,120}\b(\d{1,12}) in the output\)/i,
    most: (context, all, output) => context - (all - output),
    isOfPrompt: true,
    source: "OpenRouter, openclaw/openclaw#85921"
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

/** Minimum useful output limit in tokens. If less remains, the prompt is too long. */
const shortest = 256

/**
 * Returns the output limit that a server requires to be lower, with the accepted maximum. Lowering is allowed, because
 * the limit is only an upper bound for the answer.
 */
const loweredIn = (body: object, { detail = "", _tag }: WorkerErrorReason, { limits }: Family): Lesson | undefined => {
  if (_tag !== "InvalidRequest" && _tag !== "ContextTooLong") return undefined
  for (const { isOfPrompt = false, most, pattern } of ceilings) {
    const [, first, second, third] = pattern.exec(detail) ?? []
    const value = most(Number(first), Number(second), Number(third))
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

/** Matches rejections of a combination: "temperature may only be 1 when thinking is enabled". */
const conditional = /\b(?:when|while|if|unless)\b[^.]{0,40}\b(?:thinking|reasoning|tools?|stream\w*|effort)\b/i

/** Returns the part of an error message that starts shortly before a field's name. */
const saidOf = ({ pattern }: Valued, words: string): string | undefined => {
  const at = words.search(pattern)
  return at === -1 ? undefined : words.slice(Math.max(0, at - 40))
}

/** Returns the field whose value the server rejected, and the values that the server accepts. */
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

/** A server's learned limits: fields to omit, fields to rename, and accepted values. */
export interface Learned {
  readonly left: Set<string>
  /** Fields to omit if another one, the value, is sent. */
  readonly pairs: Map<string, string>
  readonly names: Map<string, string>
  /** The accepted values for each field, keyed by the field's path. */
  readonly bounds: Map<string, Bounds.Bound>
}

/** Maximum number of server and model pairs that are remembered; the oldest is removed first. */
const mostRemembered = 1_000

const remembered = new Map<string, Learned>()

/**
 * Returns empty limits, for a worker with an unknown server address, or for a single call.
 *
 * @internal
 */
export const nothingLearned = (): Learned => ({
  left: new Set(),
  pairs: new Map(),
  names: new Map(),
  bounds: new Map()
})

/**
 * Returns the limits learned in this process for a model on a server; `place` is the server's address and the model's
 * name.
 */
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

/** Information about a field, learned from a rejection. */
type Lesson = (
  | { readonly type: "left"; readonly field: string }
  | { readonly type: "pair"; readonly field: string; readonly beside: string }
  | { readonly type: "name"; readonly field: string; readonly to: string }
  | { readonly type: "bound"; readonly field: string; readonly bound: Bounds.Bound }
) & {
  /** Whether it applies only to this call, for example because it depends on the prompt. */
  readonly isOfCall: boolean
}

/** Matches rejections of two fields that exclude each other: "`temperature` and `top_p` cannot both be specified". */
const exclusive = /\bcannot both be\b|\b(?:use|specify|set) (?:only|either) one\b|\bmutually exclusive\b/i

/** Returns the less important of two preferences that exclude each other, in the order of the family's fields. */
const excludedIn = (
  body: object,
  { detail = "", _tag }: WorkerErrorReason,
  { preferences }: Family
): Lesson | undefined => {
  if (_tag !== "InvalidRequest" || !exclusive.test(detail)) return undefined
  const [beside, field] = preferences.filter((row) => applies(body, row) && isNamed(row, detail))
  return field && { type: "pair", field: field.name, beside: beside!.name, isOfCall: false }
}

/** Reads why a server rejected a body. Returns `undefined` if the cause is not a preference or cannot be changed. */
const learn = (body: object, reason: WorkerErrorReason, family: Family): Lesson | undefined => {
  const name = family.name === openai.name ? renamed(body as Node, reason) : undefined
  if (name !== undefined) return { type: "name", field: name.from, to: name.to, isOfCall: false }
  const value = loweredIn(body, reason, family) ?? excludedIn(body, reason, family) ?? boundIn(body, reason, family)
  if (value !== undefined) return value
  const field = refusedIn(body, reason, family)
  return field === undefined ? undefined : { type: "left", field, isOfCall: conditional.test(reason.detail ?? "") }
}

/** Stores the information from a rejection. */
const remember = ({ bounds, left, names, pairs }: Learned, lesson: Lesson): void => {
  if (lesson.type === "left") left.add(lesson.field)
  else if (lesson.type === "pair") pairs.set(lesson.field, lesson.beside)
  else if (lesson.type === "name") names.set(lesson.field, lesson.to)
  else bounds.set(lesson.field, Bounds.both(bounds.get(lesson.field), lesson.bound))
}

// -------------------------------------------------------------------------------------------------------------------
// Adapting
// -------------------------------------------------------------------------------------------------------------------

/** A body adapted to a server, with a notice for each omitted or changed field. */
interface Adapted<Body> {
  readonly body: Body
  readonly notices: ReadonlyArray<string>
}

const leftOut = (field: string): string => `${field}: not supported by the server, so it was left out`

const noticeOf = (path: string, bound: Bounds.Bound, before: unknown, after: unknown): string => {
  const taken = `${path}: the server accepts ${Bounds.describe(bound)}, so it was`
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
const adapt = <Body extends object>(body: Body, { bounds, left, names, pairs }: Learned): Adapted<Body> => {
  if (left.size + pairs.size + names.size + bounds.size === 0) return { body, notices: [] }
  const second = [...pairs].flatMap(([field, beside]) => (has(body, beside) ? [field] : []))
  const omitted = [...new Set([...left, ...second])].filter((field) => has(body, field))
  const whole = omitted.reduce(without, body as object)
  // Servers reject stream options in requests without a stream.
  const rest = omitted.includes("stream") ? without(whole, "stream_options") : whole
  const entries = Object.entries(rest).map(([name, value]) => [names.get(name) ?? name, value] as const)
  const named: object = Object.fromEntries(entries)
  const start: Adapted<object> = { body: named, notices: omitted.map(leftOut) }
  return [...bounds].reduce((adapted, [path, bound]) => within(adapted, path, bound), start) as Adapted<Body>
}

// -------------------------------------------------------------------------------------------------------------------
// Sending
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of rejected preferences per call; beyond it, the call fails. */
const mostRefusals = 16

/** Sends requests to a server, applying its learned limits. */
export interface Sender<Body extends object, Sent> {
  readonly family: Family
  readonly learned: Learned
  /** Sends a body. Throws if the server rejects it. */
  readonly send: (body: Body) => Promise<Sent>
  /** Converts a value thrown by `send` to a reason. */
  readonly reason: (error: unknown) => WorkerErrorReason
  /** Called with a notice for each omitted or changed field. */
  readonly omit: (notice: string) => void
}

/**
 * The attempts of one call. Each attempt applies the information from previous rejections.
 *
 * @internal
 */
export class Attempts<Body extends object> {
  readonly #whole: Body
  readonly #family: Family
  readonly #learned: Learned
  /** Lessons that hold for this call only. */
  #ofCall: Learned | undefined
  #refusals = 0
  #adapted: Adapted<Body>

  constructor(whole: Body, { family, learned }: Pick<Sender<Body, unknown>, "family" | "learned">) {
    this.#whole = whole
    this.#family = family
    this.#learned = learned
    this.#adapted = adapt(whole, learned)
  }

  /** The adapted body for this attempt. */
  get adapted(): Adapted<Body> {
    return this.#adapted
  }

  /** Learns from a rejection. Returns `false` if a retry would not help. */
  refused(reason: WorkerErrorReason): boolean {
    const { body } = this.#adapted
    const lesson = this.#refusals === mostRefusals ? undefined : learn(body, reason, this.#family)
    if (lesson === undefined) return false
    this.#refusals += 1
    this.#ofCall ??= nothingLearned()
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

/** Returns a function that collects notices, and the list of distinct notices. */
export const collector = (): { readonly notices: ReadonlyArray<string>; readonly omit: (notice: string) => void } => {
  const notices: Array<string> = []
  return { notices, omit: (notice) => void (notices.includes(notice) || notices.push(notice)) }
}

/** Returns the answer parts that carry notices. */
export const partsOf = (notices: ReadonlyArray<string>): ReadonlyArray<WorkerPart> =>
  notices.map((notice) => ({ type: "notice", notice }))
