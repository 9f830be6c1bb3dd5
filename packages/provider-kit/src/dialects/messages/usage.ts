/** The usage fields of Messages, and how those of several events are merged. */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import * as Json from "../../VendorJson.ts"
import { reportOf } from "../usage.ts"

/** The usage figures of the events so far. Anthropic does not include cached tokens in the input. */
export interface Counts {
  readonly input?: number | undefined
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly output?: number | undefined
  readonly thinking?: number | undefined
}

const sum = (left: number | undefined, right: number | undefined): number | undefined =>
  left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0)

/** OpenAI's names, which proxies use on this protocol as well; there the input includes what was cached. */
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

/** The names of Bedrock, which puts its own report into the last event. */
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
 * Adds the usage figures of an event. They are cumulative, so a later figure replaces an earlier one.
 *
 * The input figures are replaced together, because a server may count the same tokens as input at first and as cached
 * later (Moonshot). Servers that know the input only at the beginning, or only at the end, report zeros in the other
 * event (zai-org/GLM-5#139, sgl-project/sglang#20678): zeros do not replace other figures.
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

/** Returns the usage of the answer so far; `undefined` until the vendor reports the input. */
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

/** Converts a usage to the format of Messages, in which the input does not include cached tokens. */
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
