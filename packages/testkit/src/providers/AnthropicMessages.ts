/** The wire format of Anthropic's Messages API (`POST /v1/messages`). */
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
  type Reply,
  type Sent
} from "./Dialect.ts"
import { type Answer, type Refusal, type RefusalKind, reasoningText, type Spoken, spoken, text } from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const reasoningOf = (body: Readonly<Record<string, unknown>>): Reasoning | undefined => {
  const { budget_tokens: tokens, type } = fields(body.thinking)
  const { effort } = fields(body.output_config)
  if (type === "disabled") return { type: "off" }
  if (typeof tokens === "number") return { type: "budget", tokens }
  return typeof effort === "string" ? { type: "effort", effort: effort as "low" } : undefined
}

const read = (request: Captured): Sent => {
  const body = fields(request.body)
  const system = contentText(body.system)
  const turns = items(body.messages).map((item): PlainMessage => {
    const { content, role } = fields(item)
    // System turns between others are a beta: mid-conversation-system-2026-04-07.
    return { role: role === "assistant" || role === "system" ? role : "user", content: contentText(content) }
  })
  return {
    isStream: body.stream === true,
    messages: system === "" ? turns : [{ role: "system", content: system }, ...turns],
    ...present({
      key: request.headers["x-api-key"] ?? bearer(request),
      model: body.model as string,
      maxOutputTokens: body.max_tokens as number,
      temperature: body.temperature as number,
      stopSequences: body.stop_sequences as ReadonlyArray<string>,
      reasoning: reasoningOf(body)
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const stopReasons: Readonly<Record<Answer["ending"], string>> = {
  stop: "end_turn",
  "stop-sequence": "stop_sequence",
  "tool-calls": "tool_use",
  length: "max_tokens",
  refusal: "refusal",
  unknown: "moon_phase"
}

/** Anthropic counts the tokens read from the cache, and those written to it, beside the input tokens. */
const inputOf = (usage: Usage) => {
  const cached = usage.cachedInputTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  return {
    input_tokens: usage.inputTokens - cached - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: 0 },
    service_tier: "standard"
  }
}

const outputOf = (usage: Usage) => ({
  output_tokens: usage.outputTokens,
  output_tokens_details: usage.reasoningTokens === undefined ? undefined : { thinking_tokens: usage.reasoningTokens }
})

const message = (model: string, more: Readonly<Record<string, unknown>>) => ({
  id: "msg_01",
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  ...more
})

const stopOf = ({ ending }: Answer) => ({
  stop_reason: stopReasons[ending],
  stop_sequence: ending === "stop-sequence" ? "END" : null
})

const signature = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk="

const whole = (answer: Answer, model: string) => {
  const thinking = reasoningText(answer)
  return message(model, {
    content: [
      ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature }]),
      ...(answer.noise === false ? [] : [{ type: "block_of_tomorrow", secret: 1 }]),
      { type: "text", text: text(answer), citations: null }
    ],
    ...stopOf(answer),
    usage: answer.usage && { ...inputOf(answer.usage), ...outputOf(answer.usage) }
  })
}

const named = (type: string, data: Readonly<Record<string, unknown>>) => event({ type, ...data }, type)

/** Opens and closes content blocks between deltas. */
class Writer {
  #open: Spoken["type"] | undefined
  #index = -1

  delta({ text, type }: Spoken): string {
    const before = this.#open === type ? "" : this.close() + this.#begin(type)
    const delta = type === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text }
    return before + named("content_block_delta", { index: this.#index, delta })
  }

  close(): string {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return ""
    const index = this.#index
    const signed = named("content_block_delta", { index, delta: { type: "signature_delta", signature } })
    return (open === "reasoning" ? signed : "") + named("content_block_stop", { index })
  }

  /** A whole block of a kind that no client knows. */
  strange(): string {
    const index = ++this.#index
    return (
      named("content_block_start", { index, content_block: { type: "block_of_tomorrow" } }) +
      named("content_block_delta", { index, delta: { type: "delta_of_tomorrow", text: "not text" } }) +
      named("content_block_stop", { index })
    )
  }

  #begin(type: Spoken["type"]): string {
    this.#open = type
    const content_block = type === "text" ? { type, text: "" } : { type: "thinking", thinking: "", signature: "" }
    return named("content_block_start", { index: ++this.#index, content_block })
  }
}

const stream = (answer: Answer, model: string) => {
  const writer = new Writer()
  const usage = answer.usage === undefined ? undefined : { ...inputOf(answer.usage), output_tokens: 1 }
  const opening = [
    named("message_start", { message: message(model, { usage: usage ?? { input_tokens: 0, output_tokens: 0 } }) }),
    named("ping", {})
  ]
  if (answer.noise !== false) opening.push(writer.strange(), named("event_of_tomorrow", { weather: "mild" }))
  const deltas = answer.deltas.map((delta) => writer.delta(spoken(delta)))
  const reported =
    answer.usage === undefined ? { output_tokens: 0 } : { ...inputOf(answer.usage), ...outputOf(answer.usage) }
  const closing = [
    writer.close(),
    named("message_delta", { delta: stopOf(answer), usage: reported }),
    named("message_stop", {})
  ]
  return { opening, deltas, closing: closing.filter((piece) => piece !== "") }
}

// -------------------------------------------------------------------------------------------------------------------
// Refusing
// -------------------------------------------------------------------------------------------------------------------

const words: Readonly<Record<RefusalKind, { status: number; type: string; message: string }>> = {
  "rate-limited": {
    status: 429,
    type: "rate_limit_error",
    message: "This request would exceed your organization's rate limit of 50 requests per minute."
  },
  overloaded: { status: 529, type: "overloaded_error", message: "Overloaded" },
  unavailable: { status: 503, type: "api_error", message: "Service unavailable" },
  "server-error": { status: 500, type: "api_error", message: "Internal server error" },
  timeout: { status: 504, type: "timeout_error", message: "Request timeout" },
  authentication: { status: 401, type: "authentication_error", message: "invalid x-api-key" },
  permission: {
    status: 403,
    type: "permission_error",
    message: "Your API key does not have permission to use the specified resource."
  },
  quota: {
    status: 402,
    type: "billing_error",
    message: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."
  },
  "invalid-request": {
    status: 400,
    type: "invalid_request_error",
    message: "messages: roles must alternate between user and assistant"
  },
  "unknown-model": { status: 404, type: "not_found_error", message: "model: claude-nope" },
  "context-too-long": {
    status: 400,
    type: "invalid_request_error",
    message: "prompt is too long: 208310 tokens > 200000 maximum"
  },
  "content-filtered": {
    status: 400,
    type: "invalid_request_error",
    message: "Output blocked by content filtering policy"
  }
}

const errorOf = ({ echo, kind }: Refusal) => {
  const { message, type } = words[kind]
  return {
    type: "error",
    error: { type, message: echo === undefined ? message : `${message} ${echo}` },
    request_id: "req_01"
  }
}

const refuse = (refusal: Refusal): Reply => ({
  status: words[refusal.kind].status,
  headers: { "request-id": "req_01" },
  body: JSON.stringify(errorOf(refusal))
})

// -------------------------------------------------------------------------------------------------------------------
// The dialect
// -------------------------------------------------------------------------------------------------------------------

/** Anthropic's Messages API. */
export const dialect: Dialect = {
  name: "Anthropic Messages",
  sources: [
    "https://platform.claude.com/docs/en/build-with-claude/streaming",
    "https://platform.claude.com/docs/en/api/errors",
    "https://platform.claude.com/docs/en/api/rate-limits",
    "npm @anthropic-ai/sdk, resources/messages/messages.d.ts"
  ],
  read,
  contentType: "text/event-stream; charset=utf-8",
  stream,
  whole,
  refuse,
  allowance: {
    headers: {
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-11-20T10:00:12Z",
      "anthropic-ratelimit-tokens-limit": "90000",
      "anthropic-ratelimit-tokens-remaining": "80000",
      "anthropic-ratelimit-tokens-reset": "2026-11-20T10:00:30Z",
      date: "Fri, 20 Nov 2026 10:00:00 GMT"
    },
    means: {
      requests: { limit: 50, remaining: 49, resetMillis: 12_000 },
      tokens: { limit: 90_000, remaining: 80_000, resetMillis: 30_000 }
    }
  },
  refuseInStream: (refusal) => event(errorOf(refusal), "error"),
  malformed: 'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"ty\n\n'
}
