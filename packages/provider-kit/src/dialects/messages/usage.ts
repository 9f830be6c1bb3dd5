/** Reads the usage fields of Messages and merges the figures of several events. */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import * as Json from "../../VendorJson.ts"
import { reportOf } from "../usage.ts"

/** The merged usage figures. Anthropic does not count cached tokens as input. */
export interface Counts {
  readonly input?: number | undefined
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly output?: number | undefined
  readonly thinking?: number | undefined
}

const sum = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0)

/** Converts OpenAI's field names, which proxies also use in this protocol. There, the input includes cached tokens. */
const inOpenAiNames = (reported: Json.Fields): Counts => {
  const prompt = Json.number(reported.prompt_tokens)
  const cacheRead = Json.number(Json.fields(reported.prompt_tokens_details).cached_tokens)
  return {
    input: prompt === undefined ? undefined : prompt - (cacheRead ?? 0),
    cacheRead,
    output: Json.number(reported.completion_tokens),
    thinking: Json.number(Json.fields(reported.completion_tokens_details).reasoning_tokens)
  }
}

/** Converts Bedrock's field names; Bedrock adds a separate report to the last event. */
const inBedrockNames = (reported: Json.Fields): Counts => ({
  input: Json.number(reported.inputTokenCount),
  cacheRead: Json.number(reported.cacheReadInputTokenCount),
  cacheWrite: Json.number(reported.cacheWriteInputTokenCount),
  output: Json.number(reported.outputTokenCount)
})

const inOwnNames = (reported: Json.Fields): Counts => {
  const { ephemeral_1h_input_tokens, ephemeral_5m_input_tokens } = Json.fields(reported.cache_creation)
  return {
    input: Json.number(reported.input_tokens),
    cacheRead: Json.number(reported.cache_read_input_tokens),
    cacheWrite:
      Json.number(reported.cache_creation_input_tokens) ??
      sum(Json.number(ephemeral_5m_input_tokens), Json.number(ephemeral_1h_input_tokens)),
    output: Json.number(reported.output_tokens),
    thinking: Json.number(Json.fields(reported.output_tokens_details).thinking_tokens)
  }
}

const inputOf = ({ cacheRead, cacheWrite, input }: Counts): number =>
  (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0)

/**
 * Merges the usage figures of an event. Figures are cumulative, so a later one replaces an earlier one.
 *
 * The input figures are replaced together, because a server may first count tokens as input and later as cached
 * (Moonshot). Servers that know the input only at the start, or only at the end, report zeros in the other event
 * (zai-org/GLM-5#139, sgl-project/sglang#20678), so zeros do not replace other figures.
 *
 * @internal
 */
export const counted = (counts: Counts, usage: unknown): Counts => {
  const reported = Json.fields(reportOf(usage))
  const next = {
    ...defined(inOpenAiNames(reported)),
    ...defined(inBedrockNames(reported)),
    ...defined(inOwnNames(reported))
  } as Counts
  const { output, thinking, ...input } = next
  return {
    ...counts,
    ...(inputOf(input) === 0 && inputOf(counts) > 0 ? {} : input),
    output: output === 0 ? (counts.output ?? 0) : (output ?? counts.output),
    thinking: thinking ?? counts.thinking
  }
}

/** Returns the usage of the answer. `undefined` until the vendor reports the input. */
export const usageOf = (counts: Counts): Usage | undefined => {
  const { cacheRead, cacheWrite, output = 0, thinking } = counts
  const inputTokens = inputOf(counts)
  if (inputTokens === 0) return undefined
  return defined({
    inputTokens,
    outputTokens: output,
    cachedInputTokens: cacheRead || undefined,
    cacheWriteTokens: cacheWrite || undefined,
    reasoningTokens: thinking
  })
}

/** Converts usage to the Messages format, in which the input excludes cached tokens. */
export const reported = ({
  cachedInputTokens = 0,
  cacheWriteTokens = 0,
  inputTokens,
  outputTokens,
  reasoningTokens = 0
}: Usage) => ({
  input_tokens: inputTokens - cachedInputTokens - cacheWriteTokens,
  cache_creation_input_tokens: cacheWriteTokens,
  cache_read_input_tokens: cachedInputTokens,
  output_tokens: outputTokens,
  output_tokens_details: { thinking_tokens: reasoningTokens }
})
