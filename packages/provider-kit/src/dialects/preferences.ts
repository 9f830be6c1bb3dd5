/**
 * Which fields of a request to a vendor say how to answer, and which say what the caller must get. A preference that a
 * server refuses is left out, and the server is remembered; a demand never is.
 */
import type { WorkerErrorReason } from "@divisi/core/Worker"

/** A field of a body of the OpenAI family. */
export interface Row {
  readonly field: string
  readonly kind: "preference" | "demand"
  /** Whether the name is a common word, which an error may use for something else. */
  readonly isWord?: boolean | undefined
}

const rows = (kind: Row["kind"], fields: ReadonlyArray<string>, isWord = false): ReadonlyArray<Row> =>
  fields.map((field) => ({ field, kind, isWord }))

/** The fields of Chat Completions and Responses. One that is not here counts as a demand. */
export const table: ReadonlyArray<Row> = [
  ...rows("preference", [
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
    "preference",
    ["reasoning", "thinking", "seed", "store", "metadata", "user", "include", "truncation", "options", "usage"],
    true
  ),
  ...rows(
    "demand",
    ["tools", "tool_choice", "response_format", "text", "n", "messages", "input", "model", "stop"],
    true
  ),
  ...rows("demand", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
]

// -------------------------------------------------------------------------------------------------------------------
// Refusals
// -------------------------------------------------------------------------------------------------------------------

/** What an error says of a field that a server does not take. */
const complaint =
  /unsupport|support|unknown|unrecogni[sz]|unexpected|not (?:permitted|allowed|recogni[sz]ed|valid|available)|extra|invalid|must be|\bonly\b|deprecat|forbid|does(?: not|n't) (?:take|accept|have)|cannot|disallow|no such|additional propert/i

const isNamed = ({ field, isWord }: Row, words: string): boolean => {
  const near =
    isWord === true
      ? `['"\`]${field}['"\`.]|\\b(?:parameters?|arguments?|fields?|supplied):? ${field}\\b|^${field}:`
      : `\\b${field}\\b`
  return new RegExp(near, "im").test(words)
}

/**
 * The preference of a body that a server has refused by name; nothing for a refusal of anything else.
 *
 * Servers that take the other name of an output limit say so: it is replaced, and not left out ({@link renamed}).
 */
export const refusedIn = (body: Readonly<Record<string, unknown>>, reason: WorkerErrorReason): string | undefined => {
  if (reason._tag !== "InvalidRequest") return undefined
  const words = reason.detail ?? ""
  if (!complaint.test(words)) return undefined
  return table.find((row) => row.kind === "preference" && body[row.field] !== undefined && isNamed(row, words))?.field
}

const limits = ["max_tokens", "max_completion_tokens"] as const

/** The output limit's other name, where a server refuses one of them and the error names the other. */
export const renamed = (
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

/** What is known of a server's model in this process; `place` is its address and its name. */
export const learnedOf = (place: string): Learned => {
  const known = remembered.get(place)
  if (known !== undefined) return known
  const learned: Learned = { left: new Set(), names: new Map() }
  remembered.set(place, learned)
  for (const oldest of remembered.keys()) {
    if (remembered.size <= mostRemembered) break
    remembered.delete(oldest)
  }
  return learned
}

/** A body as a server takes it, and the fields that it has that the server does not take. */
export const adapted = <Body extends object>(
  body: Body,
  { left, names }: Learned
): { readonly body: Body; readonly omitted: ReadonlyArray<string> } => {
  if (left.size === 0 && names.size === 0) return { body, omitted: [] }
  const entries = Object.entries(body)
  return {
    body: Object.fromEntries(
      entries.filter(([name]) => !left.has(name)).map(([name, value]) => [names.get(name) ?? name, value])
    ) as Body,
    omitted: entries.flatMap(([name]) => (left.has(name) ? [name] : []))
  }
}
