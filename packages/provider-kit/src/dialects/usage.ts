/**
 * Where vendors report what an answer used, and under which names. Figures are read as they came: which of them can be
 * true is judged by core.
 */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import * as Json from "../VendorJson.ts"

/** A figure of our usage, and the fields that hold it: paths in the vendor's object, the first that is a number counts. */
export interface Row {
  readonly figure: keyof Usage
  readonly paths: ReadonlyArray<string>
}

/**
 * The fields of the OpenAI family. `prompt_n`, `cache_n` and `predicted_n` are of llama.cpp's `timings`, `prompt_eval_count`
 * and `eval_count` of Ollama, `prompt_cache_hit_tokens` of DeepSeek, `cached_tokens` of Moonshot.
 */
export const openAi: ReadonlyArray<Row> = [
  {
    figure: "inputTokens",
    paths: ["prompt_tokens", "input_tokens", "promptTokens", "inputTokens", "prompt_eval_count"]
  },
  {
    figure: "outputTokens",
    paths: ["completion_tokens", "output_tokens", "completionTokens", "outputTokens", "predicted_n", "eval_count"]
  },
  {
    figure: "cachedInputTokens",
    paths: [
      "prompt_tokens_details.cached_tokens",
      "input_tokens_details.cached_tokens",
      "prompt_cache_hit_tokens",
      "cached_tokens",
      "cache_n"
    ]
  },
  {
    figure: "cacheWriteTokens",
    paths: ["prompt_tokens_details.cache_write_tokens", "input_tokens_details.cache_write_tokens"]
  },
  {
    figure: "reasoningTokens",
    paths: ["completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "reasoning_tokens"]
  }
]

const at = (value: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((inner, name) => Json.fields(inner)[name], value)

/** llama.cpp counts what it processed of a prompt, and what it had in its cache, apart. */
const withTimings = (counts: Json.Fields): Json.Fields =>
  counts.prompt_tokens === undefined && typeof counts.prompt_n === "number"
    ? { ...counts, prompt_tokens: counts.prompt_n + (Json.number(counts.cache_n) ?? 0) }
    : counts

/** Reads a usage by a table; `undefined` where it does not say how many tokens went in and came out. */
export const usageOf = (reported: unknown, rows: ReadonlyArray<Row> = openAi): Usage | undefined => {
  const counts = withTimings(Json.fields(reported))
  const figures = Object.fromEntries(
    rows.map(({ figure, paths }) => [figure, paths.map((path) => Json.number(at(counts, path))).find(isKnown)])
  )
  const { inputTokens, outputTokens } = figures
  return inputTokens === undefined || outputTokens === undefined
    ? undefined
    : defined({ ...figures, inputTokens, outputTokens })
}

const isKnown = (value: number | undefined): boolean => value !== undefined

const hasFigures = (value: unknown): boolean => usageOf(value) !== undefined

/**
 * The places of an event of Chat Completions where usage can be: the chunk itself, its choice (Moonshot), its delta, and
 * the vendors' own fields.
 */
const placesOf = (chunk: Json.Fields): ReadonlyArray<unknown> => {
  const choice = Json.fields(Json.items(chunk.choices)[0])
  return [
    chunk.usage,
    choice.usage,
    Json.fields(choice.delta).usage,
    Json.fields(choice.message).usage,
    Json.fields(chunk.x_groq).usage,
    chunk.token_usage,
    chunk.timings
  ]
}

/** The usage of a chunk, as it came; `undefined` where it has none. */
export const reportedIn = (chunk: Json.Fields): unknown => {
  const places = placesOf(chunk)
  return places.find(hasFigures) ?? (typeof chunk.usage === "object" ? (chunk.usage ?? undefined) : undefined)
}
