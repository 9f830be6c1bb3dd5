/**
 * Fields by which a client says how to answer. They are preferences: a worker that has one gets it, any other worker
 * answers without it, and a notice says what was left out. Fields that say what the client must get (tools, a schema, an
 * image, `n`) are demands: without a worker that meets them, the request is refused.
 */

import { kindOf } from "@divisi/core/Options"
import type { Reasoning } from "@divisi/core/Worker"
import { invalid } from "./ApiError.ts"
import * as Json from "./Json.ts"
import * as OpenAi from "./OpenAi.ts"
import { preference, type Reading } from "./Reading.ts"
import type { Settings } from "./Wire.ts"

/** What becomes of a field. */
export interface Field {
  readonly name: string
  readonly kind: "preference" | "demand"
  /** The setting that it becomes; absent for a field that no worker gets. */
  readonly setting?: keyof Settings | undefined
  /** Values that ask for nothing beyond the default, e.g. `top_p: 1`. */
  readonly neutral?: ReadonlyArray<unknown> | undefined
  /** Why a demand is refused, with what to do. */
  readonly refusal?: string | undefined
}

const passed = (setting: keyof Settings, ...names: ReadonlyArray<string>): ReadonlyArray<Field> =>
  names.map((name) => ({ name, kind: "preference", setting }))

const dropped = (name: string, ...neutral: ReadonlyArray<unknown>): Field => ({ name, kind: "preference", neutral })

const refused = (name: string, neutral: ReadonlyArray<unknown>, refusal: string): Field => ({
  name,
  kind: "demand",
  neutral,
  refusal
})

/**
 * The fields of all wires: clients send those of one vendor to another's wire, too. A field that is in no row is read
 * elsewhere (messages, tools, shapes), or says nothing about the answer (`user`, `metadata`, `store`).
 */
export const fields: ReadonlyArray<Field> = [
  ...passed("maxOutputTokens", "max_completion_tokens", "max_output_tokens", "max_tokens"),
  ...passed("temperature", "temperature"),
  ...passed("seed", "seed"),
  ...passed("stopSequences", "stop", "stop_sequences"),
  ...passed(
    "reasoning",
    "reasoning_effort",
    "reasoning",
    "thinking",
    "output_config",
    "enable_thinking",
    "chat_template_kwargs"
  ),
  dropped("top_p", 1),
  dropped("top_k", 0, -1),
  dropped("min_p", 0),
  dropped("typical_p", 1),
  dropped("frequency_penalty", 0),
  dropped("presence_penalty", 0),
  dropped("repetition_penalty", 1),
  dropped("logit_bias"),
  dropped("verbosity", "medium"),
  dropped("service_tier", "auto", "default", "standard_only"),
  dropped("prediction"),
  dropped("top_logprobs", 0),
  dropped("max_tool_calls"),
  dropped("truncation", "disabled", "auto"),
  dropped("context_management"),
  dropped("web_search_options"),
  dropped("mcp_servers"),
  dropped("container"),
  refused("n", [1], "n must be 1: a team gives one answer. Send the request again for another."),
  refused("best_of", [1], "best_of must be 1: a team gives one answer. Send the request again for another."),
  refused("logprobs", [false, 0], "logprobs must be false: a team has no probabilities of its answer's tokens."),
  refused("audio", [], "audio must be absent: this server answers with text. Remove the field."),
  refused("prompt", [], "prompt must be absent: this server stores no prompts. Send instructions and input.")
]

const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (Array.isArray(value) && value.length === 0) ||
  (Json.isObject(value) && Object.keys(value).length === 0)

const isNeutral = ({ neutral = [] }: Field, value: unknown): boolean => isNothing(value) || neutral.includes(value)

/** Refuses demands that no worker can meet, and notes the preferences that no worker gets. Throws an `ApiError`. */
const review = (body: Json.JsonObject, reading: Reading): void => {
  for (const field of fields) {
    const value = body[field.name]
    if (field.setting !== undefined || isNeutral(field, value)) continue
    if (field.refusal !== undefined) throw invalid(field.name, field.refusal)
    reading.notice(`${field.name} was left out: no worker gets it.`)
  }
  if (Array.isArray(body.modalities) && body.modalities.some((mode) => mode !== "text")) {
    throw invalid("modalities", "modalities must be text alone: this server answers with text.")
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Settings
// -------------------------------------------------------------------------------------------------------------------

/** A number that some clients send as a text. */
const numeric = (value: unknown): unknown =>
  typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value

/** A limit of tokens. Clients send -1 and 0 for none, and whole numbers as fractions. */
const tokens = (value: unknown, field: string): number | undefined => {
  const limit = Json.number(-1, Number.MAX_VALUE)(numeric(value), field)
  return limit < 1 ? undefined : Math.min(Math.floor(limit), Number.MAX_SAFE_INTEGER)
}

const number =
  (least: number, most: number) =>
  (value: unknown, field: string): number =>
    Json.number(least, most)(numeric(value), field)

const seed = (value: unknown, field: string): number => Json.whole(Number.MIN_SAFE_INTEGER)(numeric(value), field)

const stops = (value: unknown, field: string): ReadonlyArray<string> =>
  (typeof value === "string" ? [value] : Json.list(value, field)).filter(
    (stop): stop is string => typeof stop === "string" && stop !== ""
  )

const budget = (value: unknown, field: string): Reasoning => ({
  type: "budget",
  tokens: Json.whole(1)(numeric(value), field)
})

/** `thinking` of Messages, and of the servers that took it over. */
const thinking = (value: unknown, field: string): Reasoning | undefined => {
  if (typeof value === "boolean") return value ? undefined : { type: "off" }
  const { budget_tokens, type } = Json.object(value, field)
  if (type === "disabled") return { type: "off" }
  return budget_tokens === undefined || budget_tokens === null
    ? undefined
    : budget(budget_tokens, `${field}.budget_tokens`)
}

const effort = (value: unknown, field: string): Reasoning | undefined => OpenAi.reasoningOf(Json.text(value, field))

/** `reasoning` of Responses and OpenRouter. */
const reasoning = (value: unknown, field: string): Reasoning | undefined => {
  const { effort: level, enabled, max_tokens } = Json.object(value, field)
  if (enabled === false) return { type: "off" }
  if (max_tokens !== undefined && max_tokens !== null) return budget(max_tokens, `${field}.max_tokens`)
  return Json.optional(level, `${field}.effort`, effort)
}

/** A switch of chat templates (Qwen, GLM and others in vLLM and SGLang). */
const switched = (value: unknown): Reasoning | undefined => (value === false ? { type: "off" } : undefined)

/** How much to think, in any vendor's field. An amount wins over a level. */
const reasoningIn = (body: Json.JsonObject, reading: Reading): Reasoning | undefined => {
  const output = Json.isObject(body.output_config) ? body.output_config : {}
  const template = Json.isObject(body.chat_template_kwargs) ? body.chat_template_kwargs : {}
  return (
    preference(reading, body.thinking, "thinking", thinking) ??
    preference(reading, body.reasoning, "reasoning", reasoning) ??
    preference(reading, body.reasoning_effort, "reasoning_effort", effort) ??
    preference(reading, output.effort, "output_config.effort", effort) ??
    switched(body.enable_thinking) ??
    switched(template.enable_thinking)
  )
}

const first = <A>(
  body: Json.JsonObject,
  names: ReadonlyArray<string>,
  reading: Reading,
  read: (value: unknown, field: string) => A | undefined
): A | undefined => {
  for (const name of names) {
    const value = preference(reading, body[name], name, read)
    if (value !== undefined) return value
  }
  return undefined
}

/** Whether an entry of the tool choice asks for one call at a time. */
const parallelIn = (choice: unknown): boolean | undefined =>
  Json.isObject(choice) && choice.disable_parallel_tool_use === true ? false : undefined

/** Reads the settings of a request. `mostTemperature` is 1 on Messages and 2 on OpenAI's wires. */
export const read = (body: Json.JsonObject, reading: Reading, mostTemperature: number): Settings => {
  review(body, reading)
  return {
    maxOutputTokens: first(body, ["max_completion_tokens", "max_output_tokens", "max_tokens"], reading, tokens),
    temperature: preference(reading, body.temperature, "temperature", number(0, mostTemperature)),
    seed: preference(reading, body.seed, "seed", seed),
    stopSequences: first(body, ["stop", "stop_sequences"], reading, stops),
    reasoning: reasoningIn(body, reading)
  }
}

/** Whether a model may call several tools in one turn. */
export const parallelToolCalls = (body: Json.JsonObject, reading: Reading): boolean | undefined =>
  parallelIn(body.tool_choice) ??
  preference(reading, body.parallel_tool_calls, "parallel_tool_calls", (value, field) =>
    Json.flag(value === "true" || value === "false" ? value === "true" : value, field)
  )

/** Refuses a shape of a type that no wire has. */
export const unknownShape = (type: unknown, field: string): never => {
  throw invalid(`${field}.type`, `${field}.type must be text, json_object or json_schema, and is ${kindOf(type)}.`)
}
