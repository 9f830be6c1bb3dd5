/**
 * Which fields of a request to a vendor say how to answer, and which say what the caller must get. A preference that a
 * server refuses is left out, and the server is remembered; a demand never is.
 */
import type { WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import * as VendorError from "../VendorError.ts"

/** A preference or a demand in the body of a request. */
export interface Row {
  /** Its place in the body: a name, or a path such as `generationConfig.seed`. */
  readonly field: string
  /** The names that errors use for it; by default the field's own. */
  readonly names?: ReadonlyArray<string> | undefined
  /** Whether the names are common words, which an error may use for something else. */
  readonly isWord?: boolean | undefined
  /** Whether the names are those of the object around it, and count only if that object has no other member. */
  readonly isContainer?: boolean | undefined
}

/** The fields of an API. A field that is not listed is a demand. */
export interface Family {
  readonly name: string
  readonly preferences: ReadonlyArray<Row>
  /** An error that names one of these in the body does not refuse a preference. */
  readonly demands: ReadonlyArray<Row>
}

const rows = (fields: ReadonlyArray<string>, isWord = false): ReadonlyArray<Row> =>
  fields.map((field) => ({ field, isWord }))

/** Chat Completions and Responses. */
export const openai: Family = {
  name: "openai",
  preferences: [
    ...rows([
      "reasoning_effort",
      "enable_thinking",
      "chat_template_kwargs",
      "thinking_budget",
      "service_tier",
      "parallel_tool_calls",
      "stream_options",
      "frequency_penalty",
      "presence_penalty",
      "repetition_penalty",
      "logit_bias",
      "top_p",
      "top_k",
      "min_p",
      "top_logprobs",
      "safety_identifier",
      "prompt_cache_key",
      "prompt_cache_retention",
      "temperature",
      "verbosity",
      "logprobs"
    ]),
    ...rows(
      ["reasoning", "thinking", "seed", "store", "metadata", "user", "include", "truncation", "options", "usage"],
      true
    )
  ],
  demands: []
}

/** The hints on blocks about which part of a prompt to cache: they are in several places of a body of Messages. */
const hints = "cache_control"

/** The Messages API. */
export const messages: Family = {
  name: "messages",
  preferences: [
    ...rows([hints, "context_management", "service_tier", "temperature", "top_p", "top_k"]),
    { field: "output_config.effort" },
    { field: "output_config.effort", names: ["output_config"], isContainer: true },
    { field: "output_config.effort", names: ["effort"], isWord: true },
    { field: "thinking", names: ["budget_tokens"] },
    ...rows(["thinking", "metadata"], true)
  ],
  demands: [
    ...rows(["max_tokens", "tool_choice", "output_config.format", "stop_sequences"]),
    ...rows(["tools", "messages", "system"], true)
  ]
}

const snake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const spelled = (names: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(names.flatMap((name) => [name, snake(name)]))
]

const generation = (name: string, isWord = false, others: ReadonlyArray<string> = []): Row => ({
  field: `generationConfig.${name}`,
  names: spelled([name, ...others]),
  isWord
})

/** The `generateContent` API. Google's errors spell names in either case. */
export const generateContent: Family = {
  name: "generateContent",
  preferences: [
    generation("thinkingConfig", false, ["thinkingBudget", "thinkingLevel", "includeThoughts"]),
    ...["temperature", "topP", "topK", "presencePenalty", "frequencyPenalty", "mediaResolution"].map((name) =>
      generation(name)
    ),
    ...["responseLogprobs", "logprobs"].map((name) => generation(name)),
    generation("seed", true)
  ],
  demands: [
    ...["maxOutputTokens", "stopSequences", "responseMimeType", "responseJsonSchema"].map((name) => generation(name)),
    { field: "toolConfig", names: [...spelled(["toolConfig"]), ...spelled(["functionCallingConfig"])] },
    { field: "systemInstruction", names: spelled(["systemInstruction"]) },
    { field: "tools", names: spelled(["tools", "functionDeclarations"]), isWord: true },
    ...rows(["contents"], true)
  ]
}

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
  /unsupport|support|unknown|unrecogni[sz]|unexpected|not (?:permitted|allowed|recogni[sz]ed|valid|available)|extra|invalid|must be|\bonly\b|deprecat|forbid|does(?: not|n't) (?:take|accept|have)|cannot|disallow|no such|additional propert/i

const isNamed = ({ field, isWord, names = [field] }: Row, words: string): boolean =>
  names.some((given) => {
    const name = given.replaceAll(".", "\\.")
    const near =
      isWord === true
        ? `['"\`]${name}['"\`.]|\\b(?:parameters?|arguments?|fields?|supplied):? ${name}\\b|(?:^|^\\d{3} |[-:] )${name}[:.]|\\bconfig\\.${name}\\b`
        : `\\b${name}\\b`
    return new RegExp(near, "im").test(words)
  })

/** Whether a row's names can mean it in this body. */
const applies = (body: object, { field, isContainer }: Row): boolean => {
  if (!has(body, field)) return false
  const [object] = containerOf(body, field)
  return isContainer !== true || Object.keys(object as object).length === 1
}

/**
 * The preference of a body that a server has refused by name; nothing for a refusal of anything else.
 *
 * Servers that take the other name of an output limit say so: it is replaced, and not left out ({@link renamed}).
 */
const refusedIn = (body: object, reason: WorkerErrorReason, family: Family): string | undefined => {
  if (reason._tag !== "InvalidRequest") return undefined
  const words = reason.detail ?? ""
  if (!complaint.test(words)) return undefined
  const isOf = (row: Row) => applies(body, row) && isNamed(row, words)
  const field = family.preferences.find(isOf)?.field
  // A hint is named with its block: "messages.0.content.0.cache_control".
  return field === hints || !family.demands.some(isOf) ? field : undefined
}

const limits = ["max_tokens", "max_completion_tokens"] as const

/** The output limit's other name, where a server refuses one of them and the error names the other. */
const renamed = (
  body: Readonly<Record<string, unknown>>,
  reason: WorkerErrorReason
): { readonly from: string; readonly to: string } | undefined => {
  if (reason._tag !== "InvalidRequest") return undefined
  const words = reason.detail ?? ""
  const from = limits.find((name) => body[name] !== undefined)
  const to = limits.find((name) => name !== from)
  if (from === undefined || to === undefined || !complaint.test(words)) return undefined
  return new RegExp(`\\b${from}\\b`).test(words) && new RegExp(`\\b${to}\\b`).test(words) ? { from, to } : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// What servers take
// -------------------------------------------------------------------------------------------------------------------

/** What a server was found not to take: fields that are left out, and fields that have another name there. */
export interface Learned {
  readonly left: Set<string>
  readonly names: Map<string, string>
}

/** More servers and models than this are not remembered: the oldest is forgotten. */
const mostRemembered = 1_000

const remembered = new Map<string, Learned>()

/** For a worker whose server has no known address. */
export const nothingLearned = (): Learned => ({ left: new Set(), names: new Map() })

/** What is known of a server's model in this process; `place` is its address and its name. */
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

/** A body as a server takes it, and the fields that it has that the server does not take. */
const adapted = <Body extends object>(
  body: Body,
  { left, names }: Learned
): { readonly body: Body; readonly omitted: ReadonlyArray<string> } => {
  if (left.size === 0 && names.size === 0) return { body, omitted: [] }
  const omitted = [...left].filter((field) => has(body, field))
  const rest = omitted.reduce(without, body as object)
  const entries = Object.entries(rest).map(([name, value]) => [names.get(name) ?? name, value] as const)
  return { body: Object.fromEntries(entries) as Body, omitted }
}

// -------------------------------------------------------------------------------------------------------------------
// Sending
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of refused preferences of one call: a server that refuses more is not understood. */
const mostRefusals = 16

/** A way to a server, and the known facts about it. */
export interface Sender<Body extends object, Sent> {
  readonly family: Family
  readonly learned: Learned
  /** Sends a body. A refusal is thrown. */
  readonly send: (body: Body) => Promise<Sent>
  /** The reason of a value that `send` has thrown. */
  readonly reason: (error: unknown) => WorkerErrorReason
  /** Takes a notice for each field that was left out. */
  readonly omit: (notice: string) => void
}

/**
 * Sends a body as the server takes it. If the server refuses a preference, the body is sent again without it: once for
 * each, as most servers name one field at a time. Demands are always sent.
 */
export const send = async <Body extends object, Sent>(whole: Body, sender: Sender<Body, Sent>): Promise<Sent> => {
  const { family, learned, omit, reason } = sender
  const first = adapted(whole, learned)
  const leave = (field: string) => omit(`${field}: the server does not take it: it was left out`)
  first.omitted.forEach(leave)
  let sent = first.body
  for (let refusals = 0; ; refusals += 1) {
    try {
      return await sender.send(sent)
    } catch (error) {
      if (refusals === mostRefusals) throw error
      const why = VendorError.fromThrown(error, reason)
      const name = family.name === openai.name ? renamed(sent as Readonly<Record<string, unknown>>, why) : undefined
      const field = name === undefined ? refusedIn(sent, why, family) : undefined
      if (name !== undefined) learned.names.set(name.from, name.to)
      else if (field !== undefined) learned.left.add(field)
      else throw error
      if (field !== undefined) leave(field)
      sent = adapted(whole, learned).body
    }
  }
}

/** Collects notices, each once. */
export const collector = (): { readonly notices: ReadonlyArray<string>; readonly omit: (notice: string) => void } => {
  const notices: Array<string> = []
  return { notices, omit: (notice) => void (notices.includes(notice) || notices.push(notice)) }
}

/** The parts of an answer that report notices. */
export const partsOf = (notices: ReadonlyArray<string>): ReadonlyArray<WorkerPart> =>
  notices.map((notice) => ({ type: "notice", notice }))
