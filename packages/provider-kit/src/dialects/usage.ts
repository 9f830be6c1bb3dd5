/** Reads the usage fields of all vendors. Figures are returned unchanged; core decides which of them are plausible. */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import * as Json from "../VendorJson.ts"

/** A field in the vendor's object, or in a nested object. */
type Path = string | readonly [field: string, inner: string]

/** A usage figure with the paths where vendors report it; the first path with a number is used. */
export interface Row {
  readonly figure: keyof Usage
  readonly paths: ReadonlyArray<Path>
}

/**
 * The usage fields of the OpenAI family. Nonstandard fields: `prompt_n`, `cache_n` and `predicted_n` from llama.cpp's
 * `timings`, `prompt_eval_count` and `eval_count` from Ollama, `prompt_cache_hit_tokens` from DeepSeek, `cached_tokens`
 * from Moonshot, `num_cached_tokens` from Mistral, `billed_units`, `tokens` and `response_tokens` from Cohere,
 * `input_token_count` and `generated_token_count` from watsonx, `cache_read_input_tokens` from Anthropic models behind
 * LiteLLM and Databricks, and `promptTokenCount` from Gemini.
 */
const openAi: ReadonlyArray<Row> = [
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

/**
 * Returns the number at the first path that has one. Later paths are not read, because usage is read several times per
 * answer.
 */
const figureAt = (counts: Json.Fields, paths: Row["paths"]): number | undefined => {
  for (const path of paths) {
    const value = typeof path === "string" ? counts[path] : Json.fields(counts[path[0]])[path[1]]
    if (value === undefined) continue
    const figure = Json.number(value)
    if (figure !== undefined) return figure
  }
  return undefined
}

/**
 * Raises the output if the total is higher, because xAI and Gemini charge for reasoning but omit it from the output. If
 * the remainder equals the cached input, the vendor counts input as Anthropic does.
 */
const withTotal = (usage: Usage, total: number | undefined): Usage => {
  const { cachedInputTokens = 0, cacheWriteTokens = 0, inputTokens, outputTokens } = usage
  const rest = (total ?? 0) - inputTokens - outputTokens
  if (!(rest > 0)) return usage
  return rest === cachedInputTokens + cacheWriteTokens
    ? { ...usage, inputTokens: inputTokens + rest }
    : { ...usage, outputTokens: outputTokens + rest }
}

/** Derives a figure from the total and the other figure. */
const restOf = (total: number | undefined, other: number | undefined): number | undefined =>
  total === undefined || other === undefined || other > total ? undefined : total - other

/**
 * Adds cached tokens to the input for llama.cpp and Anthropic, which report processed and cached prompt tokens
 * separately.
 */
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
 * Returns a usage report. Some servers wrap it in a list; a list with several reports is ignored, because it is unclear
 * which one applies.
 *
 * @internal
 */
export const reportOf = (reported: unknown): unknown =>
  Array.isArray(reported) && reported.length === 1 ? reported[0] : reported

/**
 * Reads a usage report with a table of fields. Returns `undefined` unless at least two of input, output and total are
 * present.
 */
export const usageOf = (reported: unknown, rows: ReadonlyArray<Row> = openAi): Usage | undefined => {
  const counts = withCache(Json.fields(reportOf(reported)))
  const figures = Object.fromEntries(rows.map(({ figure, paths }) => [figure, figureAt(counts, paths)]))
  const total = Json.number(counts.total_tokens) ?? Json.number(counts.totalTokenCount)
  const inputTokens = figures.inputTokens ?? restOf(total, figures.outputTokens)
  const outputTokens = figures.outputTokens ?? restOf(total, inputTokens)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  return withTotal(defined({ ...figures, inputTokens, outputTokens }) as Usage, total)
}

/**
 * Returns the later of two reports, unless it contains a zero where the earlier one has a value.
 *
 * @internal
 */
export const later = (before: unknown, next: unknown): unknown => {
  if (next === undefined || before === undefined) return next ?? before
  const [known, said] = [usageOf(before), usageOf(next)]
  if (known === undefined || said === undefined) return said === undefined ? before : next
  const isLess = (figure: "inputTokens" | "outputTokens") => said[figure] === 0 && known[figure] > 0
  return isLess("inputTokens") || isLess("outputTokens") ? before : next
}

/**
 * Whether a value contains any number. Most chunks have no usage, and each of the hundreds of chunks in an answer is
 * checked.
 */
const hasFigures = (value: unknown): boolean =>
  typeof value === "object" && value !== null && usageOf(value) !== undefined

/**
 * Returns the objects of a Chat Completions event that may contain usage if the standard field does not: its choice
 * (Moonshot), its delta, and vendor-specific fields.
 */
const placesOf = (chunk: Json.Fields): ReadonlyArray<unknown> => {
  const choice = Json.fields(Json.items(chunk.choices)[0])
  return [
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

/**
 * Returns the usage of a chunk, unchanged; `undefined` if it has none.
 *
 * @internal
 */
export const reportedIn = (chunk: Json.Fields): unknown => {
  const { usage } = chunk
  if (hasFigures(usage)) return usage
  return placesOf(chunk).find(hasFigures) ?? (typeof usage === "object" ? (usage ?? undefined) : undefined)
}

// -------------------------------------------------------------------------------------------------------------------
// The way back
// -------------------------------------------------------------------------------------------------------------------

/** Converts usage to the format of Chat Completions. */
export const chatUsage = ({ cachedInputTokens = 0, inputTokens, outputTokens, reasoningTokens = 0 }: Usage) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
  prompt_tokens_details: { cached_tokens: cachedInputTokens },
  completion_tokens_details: { reasoning_tokens: reasoningTokens }
})

/** Converts usage to the format of Responses. */
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
