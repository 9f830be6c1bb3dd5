/**
 * The fields in which vendors report an answer's usage. Figures are read unchanged: core decides which of them are
 * plausible.
 */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import * as Json from "../VendorJson.ts"

/** A field of the vendor's object, or of an object in a field. */
type Path = string | readonly [field: string, inner: string]

/**
 * A figure of our usage with its fields: paths in the vendor's object, of which the first one with a number is used.
 */
export interface Row {
  readonly figure: keyof Usage
  readonly paths: ReadonlyArray<Path>
}

/**
 * The fields of the OpenAI family. `prompt_n`, `cache_n` and `predicted_n` are of llama.cpp's `timings`, `prompt_eval_count`
 * and `eval_count` of Ollama, `prompt_cache_hit_tokens` of DeepSeek, `cached_tokens` of Moonshot, `num_cached_tokens` of Mistral, `billed_units`, `tokens` and
 * `response_tokens` of Cohere, `input_token_count` and `generated_token_count` of watsonx,
 * `cache_read_input_tokens` of Anthropic's models behind LiteLLM and Databricks, `promptTokenCount` of Gemini.
 */
export const openAi: ReadonlyArray<Row> = [
  {
    figure: "inputTokens",
    paths: [
      "prompt_tokens",
      "input_tokens",
      "promptTokens",
      "inputTokens",
      "prompt_eval_count",
      "promptTokenCount",
      "inputTokenCount",
      "prompt_token_count",
      "input_token_count",
      "num_prompt_tokens",
      ["billed_units", "input_tokens"],
      ["tokens", "input_tokens"]
    ]
  },
  {
    figure: "outputTokens",
    paths: [
      "completion_tokens",
      "output_tokens",
      "completionTokens",
      "outputTokens",
      "predicted_n",
      "eval_count",
      "candidatesTokenCount",
      "outputTokenCount",
      "candidates_token_count",
      "generated_token_count",
      "num_completion_tokens",
      "response_tokens",
      ["billed_units", "output_tokens"],
      ["tokens", "output_tokens"]
    ]
  },
  {
    figure: "cachedInputTokens",
    paths: [
      ["prompt_tokens_details", "cached_tokens"],
      ["input_tokens_details", "cached_tokens"],
      "prompt_cache_hit_tokens",
      "cached_tokens",
      "num_cached_tokens",
      "cache_n",
      "cache_read_input_tokens",
      "cachedContentTokenCount"
    ]
  },
  {
    figure: "cacheWriteTokens",
    paths: [
      ["prompt_tokens_details", "cache_write_tokens"],
      ["input_tokens_details", "cache_write_tokens"],
      "cache_creation_input_tokens"
    ]
  },
  {
    figure: "reasoningTokens",
    paths: [
      ["completion_tokens_details", "reasoning_tokens"],
      ["output_tokens_details", "reasoning_tokens"],
      "reasoning_tokens",
      "thoughtsTokenCount"
    ]
  }
]

/** The first of some paths that leads to a number. The rest are not followed: usage is read several times in an answer. */
const figureAt = (counts: Json.Fields, paths: Row["paths"]): number | undefined => {
  for (const path of paths) {
    const value = typeof path === "string" ? counts[path] : Json.fields(counts[path[0]])[path[1]]
    const figure = Json.number(value)
    if (figure !== undefined) return figure
  }
  return undefined
}

/**
 * Raises the output if a total is higher: xAI and Gemini omit the reasoning from it, and charge for it. If the
 * remainder is the cached input, the vendor counts input as Anthropic does.
 */
const withTotal = (usage: Usage, total: number | undefined): Usage => {
  const { cachedInputTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens } = usage
  const rest = (total ?? 0) - inputTokens - outputTokens
  if (!(rest > 0)) return usage
  return rest === cachedInputTokens + cacheWriteTokens
    ? { ...usage, inputTokens: inputTokens + rest }
    : { ...usage, outputTokens: outputTokens + rest }
}

/** One of two figures, from the other and their total. */
const restOf = (total: number | undefined, other: number | undefined): number | undefined =>
  total === undefined || other === undefined || other > total ? undefined : total - other

/** llama.cpp and Anthropic count what was processed of a prompt, and what a cache had of it, apart. */
const withCache = (counts: Json.Fields): Json.Fields => {
  if (counts.prompt_tokens !== undefined) return counts
  const { cache_creation_input_tokens: written, cache_n: cached, cache_read_input_tokens: read } = counts
  const input =
    Json.number(counts.prompt_n) ?? (counts.input_tokens_details ? undefined : Json.number(counts.input_tokens))
  return input === undefined
    ? counts
    : {
        ...counts,
        prompt_tokens: [cached, read, written].reduce<number>((sum, one) => sum + (Json.number(one) ?? 0), input)
      }
}

/**
 * Returns a usage report. Some servers put it into a list; a list of several reports is ignored, because it is unknown
 * which one applies.
 */
export const reportOf = (reported: unknown): unknown =>
  Array.isArray(reported) && reported.length === 1 ? reported[0] : reported

/** Reads a usage by a table. Returns `undefined` unless it has two of input tokens, output tokens and total. */
export const usageOf = (reported: unknown, rows: ReadonlyArray<Row> = openAi): Usage | undefined => {
  const counts = withCache(Json.fields(reportOf(reported)))
  const figures = Object.fromEntries(rows.map(({ figure, paths }) => [figure, figureAt(counts, paths)]))
  const total = Json.number(counts.total_tokens) ?? Json.number(counts.totalTokenCount)
  const inputTokens = figures.inputTokens ?? restOf(total, figures.outputTokens)
  const outputTokens = figures.outputTokens ?? restOf(total, inputTokens)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  return withTotal(defined({ ...figures, inputTokens, outputTokens }) as Usage, total)
}

/** Returns the later of two reports, unless it has a zero where the earlier one has a figure. */
export const later = (before: unknown, next: unknown): unknown => {
  if (next === undefined || before === undefined) return next ?? before
  const [known, said] = [usageOf(before), usageOf(next)]
  if (known === undefined || said === undefined) return said === undefined ? before : next
  const isLess = (figure: "inputTokens" | "outputTokens") => said[figure] === 0 && known[figure] > 0
  return isLess("inputTokens") || isLess("outputTokens") ? before : next
}

/** Most chunks have nothing in any place: each is looked at hundreds of times in an answer. */
const hasFigures = (value: unknown): boolean =>
  typeof value === "object" && value !== null && usageOf(value) !== undefined

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
    chunk.usage_metadata,
    chunk.usageMetadata,
    chunk.meta,
    chunk.token_count,
    chunk["amazon-bedrock-invocationMetrics"],
    chunk.eval_count === undefined ? undefined : chunk,
    chunk.timings
  ]
}

/** Returns the usage of a chunk, unchanged; `undefined` if it has no usage. */
export const reportedIn = (chunk: Json.Fields): unknown => {
  const places = placesOf(chunk)
  return places.find(hasFigures) ?? (typeof chunk.usage === "object" ? (chunk.usage ?? undefined) : undefined)
}

// -------------------------------------------------------------------------------------------------------------------
// The way back
// -------------------------------------------------------------------------------------------------------------------

/** Converts a usage to the format of Chat Completions. */
export const chatUsage = ({ cachedInputTokens = 0, inputTokens, outputTokens, reasoningTokens = 0 }: Usage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedInputTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})

/** Converts a usage to the format of Responses. */
export const responsesUsage = ({
  cachedInputTokens = 0,
  cacheWriteTokens = 0,
  inputTokens,
  outputTokens,
  reasoningTokens = 0
}: Usage) => ({
  input_tokens: inputTokens,
  input_tokens_details: { cached_tokens: cachedInputTokens, cache_write_tokens: cacheWriteTokens },
  output_tokens: outputTokens,
  output_tokens_details: { reasoning_tokens: reasoningTokens },
  total_tokens: inputTokens + outputTokens
})
