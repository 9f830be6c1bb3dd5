/**
 * Handles the settings in a request. A preference is passed to workers that support it; for other workers it is
 * dropped, with a notice. A request with a demand that no worker can meet is rejected. Clients send one vendor's fields
 * on another vendor's wire, so every wire accepts all fields.
 */

import { Options } from "@divisi/core"
import type { Reasoning } from "@divisi/core/Worker"
import { Dialects } from "@divisi/provider-kit"
import { invalid } from "./ApiError.ts"
import * as Canonical from "./Canonical.ts"
import * as Choice from "./Choice.ts"
import * as FieldNames from "./FieldNames.ts"
import * as Json from "./Json.ts"
import * as OpenAi from "./OpenAi.ts"
import { preference, type Reading } from "./Reading.ts"
import * as Shape from "./Shape.ts"
import * as Tools from "./Tools.ts"
import type { Settings } from "./Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Handling of each field
// -------------------------------------------------------------------------------------------------------------------

/**
 * How a field is handled. It is passed to workers as a setting, parsed elsewhere (`read`), ignored because it does not
 * affect the answer (`silent`), dropped with a notice (`omitted`), or rejected with a reason.
 */
type Fate = { readonly setting: keyof Settings } | "read" | "silent" | "omitted" | { readonly refusal: string }

const another = "must be 1, because a team returns one answer. Repeat the request for another."
const noProbabilities = "a team has no token probabilities."
const noGrammars = "is not supported: only JSON schemas can constrain answers. Use response_format."

const limit = { setting: "maxOutputTokens" } as const
const stopping = { setting: "stopSequences" } as const
const thought = { setting: "reasoning" } as const

/** Each field of the dialects' table must have an entry here, or the code does not compile. */
const fates: { readonly [Name in Dialects.Fields.Name]: Fate } = {
  max_tokens: limit,
  max_completion_tokens: limit,
  max_output_tokens: limit,
  stop: stopping,
  stop_sequences: stopping,
  temperature: { setting: "temperature" },
  seed: { setting: "seed" },
  reasoning_effort: thought,
  reasoning: thought,
  thinking: thought,
  thinking_budget: thought,
  enable_thinking: thought,
  chat_template_kwargs: thought,
  "output_config.effort": thought,
  top_p: "omitted",
  top_k: "omitted",
  min_p: "omitted",
  typical_p: "omitted",
  frequency_penalty: "omitted",
  presence_penalty: "omitted",
  repetition_penalty: "omitted",
  logit_bias: "omitted",
  verbosity: "omitted",
  service_tier: "omitted",
  prediction: "omitted",
  max_tool_calls: "omitted",
  truncation: "omitted",
  context_management: "omitted",
  web_search_options: "omitted",
  mcp_servers: "omitted",
  container: "omitted",
  cache_control: "silent",
  stream: "read",
  stream_options: "read",
  parallel_tool_calls: "read",
  include: "read",
  safety_identifier: "silent",
  prompt_cache_key: "silent",
  prompt_cache_retention: "silent",
  store: "read",
  metadata: "read",
  user: "silent",
  options: "silent",
  usage: "silent",
  tools: "read",
  tool_choice: "read",
  response_format: "read",
  "text.format": "read",
  "output_config.format": "read",
  output_format: "read",
  structured_outputs: "read",
  guided_json: "read",
  json_schema: "read",
  guided_regex: { refusal: `guided_regex ${noGrammars}` },
  guided_choice: { refusal: `guided_choice ${noGrammars}` },
  guided_grammar: { refusal: `guided_grammar ${noGrammars}` },
  grammar: { refusal: `grammar ${noGrammars}` },
  regex: { refusal: `regex ${noGrammars}` },
  ebnf: { refusal: `ebnf ${noGrammars}` },
  n: { refusal: `n ${another}` },
  best_of: { refusal: `best_of ${another}` },
  logprobs: { refusal: `logprobs must be false: ${noProbabilities}` },
  top_logprobs: { refusal: `top_logprobs must be 0: ${noProbabilities}` },
  audio: { refusal: "audio is not supported: this server returns text. Remove the field." },
  modalities: "read",
  prompt: { refusal: "prompt is not supported: this server stores no prompts. Send instructions and input." },
  messages: "read",
  input: "read",
  instructions: "read",
  system: "read"
}

/** Fields that are neither passed on as settings nor parsed elsewhere. */
const reviewed = new Map(
  Dialects.Fields.fields.flatMap((field: Dialects.Fields.Field) => {
    const fate = fates[field.name as Dialects.Fields.Name]
    if (fate === "read" || fate === "silent") return []
    if (typeof fate === "object" && "setting" in fate) return []
    return [[field.name, { ...field, refusal: fate === "omitted" ? undefined : fate.refusal }]]
  })
)

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (Json.isObject(value) && Object.keys(value).length === 0)

const isNeutral = ({ neutral = [] }: Dialects.Fields.Field, value: unknown): boolean =>
  isNothing(value) || neutral.includes(value)

/** How the Responses API requests log probabilities. */
const probabilities = "message.output_text.logprobs"

/** Other vendors' names for settings, which {@link read} also parses. */
const otherSettings = ["think", "thinking_config"] as const

/** Fields that refer to a stored conversation. */
const stored = ["conversation", "previous_response_id", "background", "thread"] as const

/** Fields about the client and its connection that do not affect the answer. */
const ofClient = [
  "id",
  "user_id",
  "client_metadata",
  "betas",
  "anthropic_version",
  "anthropic_beta",
  "keep_alive",
  "stream_reasoning",
  "cache_prompt",
  "trace",
  "session_id",
  "chat_id",
  "idempotency_key"
] as const

/** Fields with a known meaning, including those that do not affect the answer. All others cause a notice. */
const known: ReadonlySet<string> = new Set([
  "model",
  ...Dialects.Fields.fields.map(({ name }) => name.split(".")[0]!),
  ...Canonical.fields,
  ...Choice.fields,
  ...Shape.fields,
  ...Tools.fields,
  ...otherSettings,
  ...stored,
  ...ofClient
])

/** Maximum number of characters of a field name to quote in a notice. */
const longestQuoted = 80

/** Rejects demands that no worker can meet, and adds notices for preferences that are dropped. Throws an `ApiError`. */
const review = (body: Json.JsonObject, reading: Reading): void => {
  for (const name of Object.keys(body)) {
    const value = body[name]
    const field = reviewed.get(name)
    if (field === undefined) {
      // An unknown field may contain content or demands, so it causes a notice.
      if (known.has(name) || isNothing(value) || value === false || value === "") continue
      reading.notice(`${name.slice(0, longestQuoted)} is not known and was ignored.`)
      continue
    }
    // An empty object enables web search.
    const isAsked = name === "web_search_options" && Json.isObject(value)
    if (!isAsked && isNeutral(field, value)) continue
    if (field.refusal !== undefined) throw invalid(name, field.refusal)
    reading.notice(`${name} is not supported and was ignored.`)
  }
  const modes = typeof body.modalities === "string" ? [body.modalities] : body.modalities
  if (Array.isArray(modes) && modes.some((mode) => String(mode).toLowerCase() !== "text")) {
    throw invalid("modalities", 'modalities must be ["text"], because this server returns only text.')
  }
  if (Array.isArray(body.include) && body.include.includes(probabilities)) {
    throw invalid("include", `include must not contain ${probabilities}: ${noProbabilities}`)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** Converts a number sent as a string. */
const numeric = (value: unknown): unknown =>
  typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value

/** Matches values that mean "no limit". */
const endless = /^(?:|inf(?:inity)?|none|auto)$/i

/**
 * Parses a token limit. For "no limit", clients send -1, 0 or various strings, and some send fractions instead of
 * integers.
 */
const tokens = (value: unknown, field: string): number | undefined => {
  if (typeof value === "string" && endless.test(value.trim())) return undefined
  const given = numeric(value)
  const limit = given === -1 ? 0 : Json.number(0, Number.MAX_VALUE)(given, field)
  return limit < 1 ? undefined : Math.min(Math.floor(limit), Number.MAX_SAFE_INTEGER)
}

const number =
  (least: number, most: number) =>
  (value: unknown, field: string): number =>
    Json.number(least, most)(numeric(value), field)

const seed = (value: unknown, field: string): number => Json.whole(Number.MIN_SAFE_INTEGER)(numeric(value), field)

const stops = (value: unknown, field: string): ReadonlyArray<string> =>
  (typeof value === "string" ? [value] : Json.list(value, field))
    .map((stop, at) => Json.optional(stop, `${field}[${at}]`, Json.text) ?? "")
    .filter((stop) => stop !== "")

/** Parses a thinking budget in tokens. In Gemini's API, 0 disables thinking and -1 leaves the amount to the model. */
const budget = (value: unknown, field: string): Reasoning | undefined => {
  const tokens = Json.whole(-1)(numeric(value), field)
  if (tokens === -1) return undefined
  return tokens === 0 ? { type: "off" } : { type: "budget", tokens }
}

/** Words that enable or disable thinking. Any other word must be an effort level. */
const thinkingWords: Readonly<Record<string, Reasoning | undefined>> = {
  ...Object.fromEntries(["disabled", "none", "off"].map((word) => [word, { type: "off" }])),
  ...Object.fromEntries(["enabled", "adaptive", "auto", "on"].map((word) => [word, undefined]))
}

const efforts: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high", "xhigh", "max"])

const thinkingWord = (word: string, field: string): Reasoning | undefined => {
  if (Object.hasOwn(thinkingWords, word)) return thinkingWords[word]
  if (efforts.has(word)) return OpenAi.reasoningOf(word)
  throw invalid(field, `${field} must be an object, an effort, enabled or disabled, not ${Options.kindOf(word)}.`)
}

/** Parses `thinking` from the Messages API and compatible servers. */
const thinking = (value: unknown, field: string): Reasoning | undefined => {
  if (typeof value === "boolean") return value ? undefined : { type: "off" }
  if (typeof value === "string") return thinkingWord(value.toLowerCase(), field)
  const { budget_tokens, type } = Json.object(value, field)
  if (typeof type === "string" && thinkingWords[type.toLowerCase()]?.type === "off") return { type: "off" }
  return budget_tokens === undefined || budget_tokens === null
    ? undefined
    : budget(budget_tokens, `${field}.budget_tokens`)
}

const effort = (value: unknown, field: string): Reasoning | undefined => {
  const level = Json.isObject(value) ? value.effort : value
  return level === "" ? undefined : OpenAi.reasoningOf(Json.text(level, field).toLowerCase())
}

/** Parses `reasoning` from the Responses API and OpenRouter. */
const reasoning = (value: unknown, field: string): Reasoning | undefined => {
  if (typeof value === "boolean" || typeof value === "string") return thinking(value, field)
  const { effort: level, enabled, max_tokens } = Json.object(value, field)
  if (enabled === false) return { type: "off" }
  if (max_tokens !== undefined && max_tokens !== null) return budget(max_tokens, `${field}.max_tokens`)
  return Json.optional(level, `${field}.effort`, effort)
}

/** Parses Gemini's `thinking_config`, which contains a budget or a level. */
const thinkingConfig = (value: unknown, field: string): Reasoning | undefined => {
  const config = Json.object(value, field)
  return (
    Json.optional(config.thinking_budget ?? config.thinkingBudget, `${field}.thinking_budget`, budget) ??
    Json.optional(config.thinking_level ?? config.thinkingLevel, `${field}.thinking_level`, effort)
  )
}

/** Parses a switch for chat templates (Qwen, GLM, DeepSeek and others in vLLM and SGLang). */
const switched = (value: unknown): Reasoning | undefined => (Json.asFlag(value) === false ? { type: "off" } : undefined)

/** Returns the reasoning setting from any vendor's field. A token budget takes precedence over a level. */
const reasoningIn = (body: Json.JsonObject, reading: Reading): Reasoning | undefined => {
  const output = Json.isObject(body.output_config) ? body.output_config : {}
  const template = Json.isObject(body.chat_template_kwargs) ? body.chat_template_kwargs : {}
  return (
    preference(reading, body.thinking, "thinking", thinking) ??
    preference(reading, body.think, "think", thinking) ??
    preference(reading, body.reasoning, "reasoning", reasoning) ??
    preference(reading, body.reasoning_effort, "reasoning_effort", effort) ??
    preference(reading, output.effort, "output_config.effort", effort) ??
    preference(reading, body.thinking_budget, "thinking_budget", budget) ??
    preference(reading, body.thinking_config, "thinking_config", thinkingConfig) ??
    switched(body.enable_thinking) ??
    switched(template.enable_thinking ?? template.thinking)
  )
}

/** Parses a demand from the first field that is set. Unlike a preference, an invalid demand fails the request. */
const demand = <A>(
  body: Json.JsonObject,
  names: ReadonlyArray<Dialects.Fields.Name>,
  read: (value: unknown, field: string) => A | undefined
): A | undefined => {
  for (const name of names) {
    const given = body[name]
    const value = given === undefined ? undefined : Json.optional(given, name, read)
    if (value !== undefined) return value
  }
  return undefined
}

/** Whether a tool choice disables parallel calls. */
const parallelIn = (choice: unknown): boolean | undefined =>
  Json.isObject(choice) && choice.disable_parallel_tool_use === true ? false : undefined

/** Parses the settings of a request. `mostTemperature` is 1 for the Messages API and 2 for OpenAI's APIs. */
export const read = (body: Json.JsonObject, reading: Reading, mostTemperature: number): Settings => {
  review(body, reading)
  return {
    maxOutputTokens: demand(body, FieldNames.limits, tokens),
    temperature: preference(reading, body.temperature, "temperature", number(0, mostTemperature)),
    seed: preference(reading, body.seed, "seed", seed),
    stopSequences: demand(body, ["stop", "stop_sequences"], stops),
    reasoning: reasoningIn(body, reading)
  }
}

/** Whether the model may call several tools in one turn. Returns `undefined` if the request does not specify it. */
export const parallelToolCalls = (body: Json.JsonObject, reading: Reading): boolean | undefined =>
  parallelIn(body.tool_choice) ??
  preference(reading, body.parallel_tool_calls, "parallel_tool_calls", (value, field) =>
    Json.flag(value === "true" || value === "false" ? value === "true" : value, field)
  )
