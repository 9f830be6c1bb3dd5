/**
 * The wire format of OpenAI's Chat Completions (`POST /chat/completions`), and of the many servers that speak it with
 * small differences: {@link compatible} writes those down.
 */
import type { PlainMessage } from "@divisi/core/Message"
import type { Usage } from "@divisi/core/Usage"
import type { Reasoning } from "@divisi/core/Worker"
import {
  bearer,
  type Captured,
  contentText,
  type Dialect,
  event,
  fields,
  items,
  present,
  type Sent
} from "./Dialect.ts"
import * as OpenAiErrors from "./internal/openAiErrors.ts"
import { reasoningOf as effortOf } from "./OpenAiResponses.ts"
import { type Answer, type Delta, type Refusal, reasoningText, text } from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** In what a compatible server differs. */
export interface Deviations {
  readonly name?: string | undefined
  readonly sources?: ReadonlyArray<string> | undefined
  /**
   * When usage is sent: in a chunk of its own if the request asks for it (`stream-options`), with the last chunk
   * whether asked or not (`final`), or never.
   */
  readonly usage?: "stream-options" | "final" | "none" | undefined
  /** Whether it says what is left of its rate limits, as OpenAI does; false by default. */
  readonly hasRateLimits?: boolean | undefined
  /** The field of reasoning text; OpenAI itself sends none. */
  readonly reasoningField?: "reasoning_content" | "reasoning" | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const roles: Readonly<Record<string, PlainMessage["role"]>> = {
  developer: "system",
  system: "system",
  assistant: "assistant"
}

const turn = (item: unknown): PlainMessage => {
  const { content, role } = fields(item)
  return { role: roles[String(role)] ?? "user", content: contentText(content) }
}

const reasoningOf = (body: Readonly<Record<string, unknown>>): Reasoning | undefined => {
  const { effort, enabled, max_tokens: tokens } = fields(body.reasoning)
  const isOff =
    enabled === false ||
    fields(body.chat_template_kwargs).enable_thinking === false ||
    fields(body.thinking).type === "disabled"
  if (isOff) return { type: "off" }
  return typeof tokens === "number" ? { type: "budget", tokens } : effortOf(body.reasoning_effort ?? effort)
}

const read = (request: Captured): Sent => {
  const body = fields(request.body)
  const stop = typeof body.stop === "string" ? [body.stop] : (body.stop as ReadonlyArray<string>)
  return {
    isStream: body.stream === true,
    messages: items(body.messages).map(turn),
    ...present({
      key: bearer(request),
      model: body.model as string,
      maxOutputTokens: (body.max_completion_tokens ?? body.max_tokens) as number,
      temperature: body.temperature as number,
      seed: body.seed as number,
      stopSequences: stop,
      reasoning: reasoningOf(body)
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const finishReasons: Readonly<Record<Answer["ending"], string>> = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  refusal: "content_filter",
  unknown: "moon_phase"
}

const usageOf = (usage: Usage) => ({
  prompt_tokens: usage.inputTokens,
  completion_tokens: usage.outputTokens,
  total_tokens: usage.inputTokens + usage.outputTokens,
  prompt_tokens_details: {
    cached_tokens: usage.cachedInputTokens ?? 0,
    audio_tokens: 0,
    ...present({ cache_write_tokens: usage.cacheWriteTokens })
  },
  completion_tokens_details: {
    reasoning_tokens: usage.reasoningTokens ?? 0,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0
  }
})

const chunk = (model: string, choices: ReadonlyArray<unknown>, more: Readonly<Record<string, unknown>> = {}) => ({
  id: "chatcmpl-01",
  object: "chat.completion.chunk",
  created: 1_763_600_000,
  model,
  service_tier: "default",
  system_fingerprint: "fp_0123456789",
  choices,
  ...more
})

const choice = (delta: unknown, finish_reason: string | null = null) => ({
  index: 0,
  delta,
  logprobs: null,
  finish_reason
})

const stream = (answer: Answer, model: string, { reasoningField, usage = "stream-options" }: Deviations) => {
  const isNoisy = answer.noise !== false
  const opening = [event(chunk(model, [choice({ role: "assistant", content: "", refusal: null })]))]
  if (isNoisy) opening.push(": a comment\n\n", event(chunk(model, [choice({ mood: "sunny" })], { a_field: "new" })))
  const deltas = answer.deltas.map((delta: Delta) => {
    if (delta.type === "text") return event(chunk(model, [choice({ content: delta.text })], { obfuscation: "x1" }))
    return reasoningField === undefined ? "" : event(chunk(model, [choice({ [reasoningField]: delta.text })]))
  })
  const reported = answer.usage === undefined || usage === "none" ? undefined : usageOf(answer.usage)
  const last = chunk(model, [choice({}, finishReasons[answer.ending])])
  const closing =
    usage === "final" && reported !== undefined
      ? [event({ ...last, usage: reported })]
      : [event(last), ...(reported === undefined ? [] : [event(chunk(model, [], { usage: reported }))])]
  return { opening, deltas, closing: [...closing, event("[DONE]")] }
}

const whole = (answer: Answer, model: string, { reasoningField, usage }: Deviations) => ({
  id: "chatcmpl-01",
  object: "chat.completion",
  created: 1_763_600_000,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: text(answer),
        refusal: null,
        annotations: [],
        ...(reasoningField === undefined ? {} : { [reasoningField]: reasoningText(answer) })
      },
      logprobs: null,
      finish_reason: finishReasons[answer.ending]
    }
  ],
  service_tier: "default",
  usage: answer.usage === undefined || usage === "none" ? undefined : usageOf(answer.usage)
})

const refuseInStream = (refusal: Refusal): string => event({ error: OpenAiErrors.errorOf(refusal) })

// -------------------------------------------------------------------------------------------------------------------
// The dialects
// -------------------------------------------------------------------------------------------------------------------

/**
 * A server that speaks Chat Completions with deviations.
 *
 * **Example**
 *
 * ```ts
 * import { OpenAiChat } from "@divisi/testkit/providers"
 *
 * const dialect = OpenAiChat.compatible({ name: "llama-server", usage: "final", reasoningField: "reasoning_content" })
 * dialect.name // => "llama-server"
 * ```
 */
export const compatible = (deviations: Deviations): Dialect => ({
  name: deviations.name ?? "OpenAI Chat Completions",
  sources: [
    "https://platform.openai.com/docs/api-reference/chat-streaming",
    "https://platform.openai.com/docs/guides/error-codes",
    "https://github.com/openai/openai-openapi (schema CreateChatCompletionStreamResponse)",
    "npm openai 7.55.0, resources/chat/completions/completions.d.ts",
    ...(deviations.sources ?? [])
  ],
  read,
  contentType: "text/event-stream; charset=utf-8",
  stream: (answer, model) => stream(answer, model, deviations),
  whole: (answer, model) => whole(answer, model, deviations),
  refuse: OpenAiErrors.refuse,
  refuseInStream,
  allowance: deviations.hasRateLimits ? OpenAiErrors.allowance : undefined,
  malformed: 'data: {"id":"chatcmpl-01","choices":[{"delta":{"content":"br\n\n'
})

/** OpenAI's own Chat Completions. */
export const dialect: Dialect = compatible({ hasRateLimits: true })
