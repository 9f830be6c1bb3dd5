/** The wire format of Anthropic's Messages API (`POST /v1/messages`). */

import type { Tool } from "@divisi/core"
import type { ContentPart, ToolCall } from "@divisi/core/Message"
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
  type Sent,
  type SentMessage,
  some
} from "./Dialect.ts"
import { type Answer, calls, type Delta, type Refusal, type RefusalKind, reasoningText, text } from "./Script.ts"

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

/** Returns an image or file part. Any other block becomes text. */
const partOf = (block: unknown): ContentPart => {
  const { source, text, title, type } = fields(block)
  if (type !== "image" && type !== "document") return { type: "text", text: String(text ?? "") }
  const { data, media_type: mediaType, type: kind, url } = fields(source)
  const encoded = kind === "text" ? Buffer.from(String(data)).toString("base64") : String(data)
  const place = kind === "url" ? { url: String(url) } : { data: encoded, mediaType: String(mediaType) }
  if (type === "image") return { type, ...place }
  return typeof title === "string" ? { type: "file", name: title, ...place } : { type: "file", ...place }
}

const partsOf = (content: unknown): ReadonlyArray<ContentPart> | undefined => {
  const parts = items(content).map(partOf)
  return parts.some(({ type }) => type !== "text") ? parts : undefined
}

const callOf = (block: unknown): ToolCall => {
  const { id, input, name } = fields(block)
  return { id: String(id), name: String(name), arguments: JSON.stringify(input) }
}

const isOf = (type: string) => (block: unknown) => fields(block).type === type

const resultOf = (block: unknown): SentMessage => {
  const { content, is_error: isError, tool_use_id: callId } = fields(block)
  const parts = partsOf(content)
  return {
    role: "tool",
    content: contentText(content),
    ...present({ parts, callId: callId as string, isError: isError as boolean })
  }
}

/** Returns the turns that correspond to one vendor turn. Tool results are placed at the start of user turns. */
const turnsOf = (item: unknown): ReadonlyArray<SentMessage> => {
  const { content, role } = fields(item)
  const results = items(content).filter(isOf("tool_result")).map(resultOf)
  const said = typeof content === "string" ? content : items(content).filter((block) => !isOf("tool_result")(block))
  if (results.length > 0 && said.length === 0) return results
  const asked = some(items(content).filter(isOf("tool_use")).map(callOf))
  const own: SentMessage = {
    // System turns between others are a beta: mid-conversation-system-2026-04-07.
    role: role === "assistant" || role === "system" ? role : "user",
    content: contentText(said),
    ...present({ parts: role === "assistant" ? undefined : partsOf(said), toolCalls: asked })
  }
  return [...results, own]
}

const toolOf = (tool: unknown): Tool.ToolDefinition => {
  const { description, input_schema: input, name, strict } = fields(tool)
  return {
    name: String(name),
    input: fields(input),
    ...present({ description: description as string, strict: strict as boolean })
  }
}

const choices: Readonly<Record<string, Tool.ToolChoice>> = { auto: "auto", none: "none", any: "required" }

const choiceOf = (choice: unknown): Tool.ToolChoice | undefined => {
  const { name, type } = fields(choice)
  return type === "tool" ? { name: String(name) } : choices[String(type)]
}

const parallelOf = (choice: unknown): boolean | undefined => {
  const { disable_parallel_tool_use: isOff } = fields(choice)
  return typeof isOff === "boolean" ? !isOff : undefined
}

/** Anthropic does not name output formats. */
const formatOf = (config: unknown): Tool.OutputFormat | undefined => {
  const { schema, type } = fields(fields(config).format)
  return type === "json_schema" ? { type: "json-schema", name: "", schema: fields(schema) } : undefined
}

const read = (request: Captured): Sent => {
  const body = fields(request.body)
  const system = contentText(body.system)
  const turns = items(body.messages)
  const blocks = turns.flatMap((turn) => items(fields(turn).content))
  const messages = turns.flatMap(turnsOf)
  return {
    isStream: body.stream === true,
    messages: system === "" ? messages : [{ role: "system", content: system }, ...messages],
    ...present({
      key: request.headers["x-api-key"] ?? bearer(request),
      model: body.model as string,
      maxOutputTokens: body.max_tokens as number,
      temperature: body.temperature as number,
      stopSequences: body.stop_sequences as ReadonlyArray<string>,
      reasoning: reasoningOf(body),
      tools: body.tools === undefined ? undefined : items(body.tools).map(toolOf),
      toolChoice: choiceOf(body.tool_choice),
      parallelToolCalls: parallelOf(body.tool_choice),
      output: formatOf(body.output_config),
      signatures: some(blocks.filter(isOf("thinking")).map((block) => String(fields(block).signature)))
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

/** Anthropic counts the tokens read from the cache, and those written to it, separately from the input tokens. */
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

/** The vendor signs all reasoning. */
const signatureOf = ({ signature = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk=" }: Answer) => signature

/** A complete answer contains arguments as JSON, so invalid JSON cannot be written. */
const callBlock = ({ arguments: text, id, name }: ToolCall) => ({
  type: "tool_use",
  id,
  name,
  input: text === "" ? {} : JSON.parse(text),
  caller: { type: "direct" }
})

const whole = (answer: Answer, model: string) => {
  const thinking = reasoningText(answer)
  return message(model, {
    content: [
      ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature: signatureOf(answer) }]),
      ...(answer.noise === false ? [] : [{ type: "block_of_tomorrow", secret: 1 }]),
      ...(text(answer) === "" ? [] : [{ type: "text", text: text(answer), citations: null }]),
      ...calls(answer).map(callBlock)
    ],
    ...stopOf(answer),
    usage: answer.usage && { ...inputOf(answer.usage), ...outputOf(answer.usage) }
  })
}

const named = (type: string, data: Readonly<Record<string, unknown>>) => event({ type, ...data }, type)

const pieceOf = (delta: Delta) => {
  if (delta.type === "tool-call") return { type: "input_json_delta", partial_json: delta.arguments }
  const { text, type } = delta
  return type === "text" ? { type: "text_delta", text } : { type: "thinking_delta", thinking: text }
}

const emptyBlock = (delta: Delta) => {
  if (delta.type === "tool-call") return callBlock({ ...delta, arguments: "" })
  return delta.type === "text" ? { type: "text", text: "" } : { type: "thinking", thinking: "", signature: "" }
}

/** Opens and closes content blocks between deltas. */
class Writer {
  readonly #signature: string
  /** Kind of the open block, or the id of the open call. */
  #open: string | undefined
  #index = -1

  constructor(answer: Answer) {
    this.#signature = signatureOf(answer)
  }

  delta(delta: Delta): string {
    const kind = delta.type === "tool-call" ? `call ${delta.id}` : delta.type
    const before = this.#open === kind ? "" : this.close() + this.#begin(kind, delta)
    return before + named("content_block_delta", { index: this.#index, delta: pieceOf(delta) })
  }

  close(): string {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return ""
    const index = this.#index
    const delta = { type: "signature_delta", signature: this.#signature }
    const signed = open === "reasoning" ? named("content_block_delta", { index, delta }) : ""
    return signed + named("content_block_stop", { index })
  }

  /** Writes a complete block of an unknown kind. */
  strange(): string {
    const index = ++this.#index
    return (
      named("content_block_start", { index, content_block: { type: "block_of_tomorrow" } }) +
      named("content_block_delta", { index, delta: { type: "delta_of_tomorrow", text: "not text" } }) +
      named("content_block_stop", { index })
    )
  }

  #begin(kind: string, delta: Delta): string {
    this.#open = kind
    return named("content_block_start", { index: ++this.#index, content_block: emptyBlock(delta) })
  }
}

const stream = (answer: Answer, model: string) => {
  const writer = new Writer(answer)
  const usage = answer.usage === undefined ? undefined : { ...inputOf(answer.usage), output_tokens: 1 }
  const opening = [
    named("message_start", { message: message(model, { usage: usage ?? { input_tokens: 0, output_tokens: 0 } }) }),
    named("ping", {})
  ]
  if (answer.noise !== false) opening.push(writer.strange(), named("event_of_tomorrow", { weather: "mild" }))
  const deltas = answer.deltas.map((delta) => writer.delta(delta))
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

const errorOf = ({ echo, kind, words: own }: Refusal) => {
  const { message, type } = words[kind]
  return {
    type: "error",
    error: { type, message: own ?? (echo === undefined ? message : `${message} ${echo}`) },
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
  signs: true,
  needsOutputLimit: true,
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
