/**
 * Span attributes for events: `gen_ai.*` from the OpenTelemetry semantic conventions for generative AI, and custom
 * `divisi.*` attributes. This module needs no tracer, so runs without telemetry do not load one.
 */
import type { Message } from "../task/Message.ts"
import type { Paid } from "../task/Usage.ts"
import type { FinishReason } from "../task/Worker.ts"

/** The part of a span that events write to. */
export interface Attributes {
  attribute(key: string, value: unknown): void
}

const finishReasons: { readonly [Reason in FinishReason]: string } = {
  stop: "stop",
  length: "length",
  refusal: "content_filter",
  "tool-calls": "tool_calls",
  other: "other"
}

export const setFinishReason = (span: Attributes, reason: FinishReason): void =>
  span.attribute("gen_ai.response.finish_reasons", [finishReasons[reason]])

export const setPaid = (span: Attributes, { costUsd, usage }: Paid): void => {
  const { cachedInputTokens, cacheWriteTokens, inputTokens, outputTokens, reasoningTokens } = usage
  span.attribute("gen_ai.usage.input_tokens", inputTokens)
  span.attribute("gen_ai.usage.output_tokens", outputTokens)
  if (cachedInputTokens !== undefined) span.attribute("gen_ai.usage.cache_read.input_tokens", cachedInputTokens)
  if (cacheWriteTokens !== undefined) span.attribute("gen_ai.usage.cache_creation.input_tokens", cacheWriteTokens)
  if (reasoningTokens !== undefined) span.attribute("gen_ai.usage.reasoning.output_tokens", reasoningTokens)
  if (costUsd !== undefined) span.attribute("divisi.cost_usd", costUsd)
}

/** Serializes messages in the format of the semantic conventions. */
export const messagesText = (messages: ReadonlyArray<Message>, finishReason?: FinishReason): string =>
  JSON.stringify(
    messages.map(({ content, role }) => ({
      role,
      parts: [{ type: "text", content }],
      finish_reason: finishReason === undefined ? undefined : finishReasons[finishReason]
    }))
  )

export const setAnswer = (span: Attributes, content: string, finishReason: FinishReason): void =>
  span.attribute("gen_ai.output.messages", messagesText([{ role: "assistant", content }], finishReason))
