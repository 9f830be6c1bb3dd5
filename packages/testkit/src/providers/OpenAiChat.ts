/**
 * The wire format of OpenAI's Chat Completions (`POST /chat/completions`), and of the many servers that implement it
 * with small differences, which are described by {@link compatible}.
 */

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
  type Sent,
  type SentMessage,
  some,
  sourceOf
} from "./Dialect.ts"
import * as OpenAiErrors from "./internal/openAiErrors.ts"
import { reasoningOf as effortOf } from "./OpenAiResponses.ts"
import { type Answer, type CallPiece, calls, type Refusal, reasoningText, text } from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Differences between a compatible server and OpenAI. */
export interface Deviations {
  readonly name?: string | undefined
  readonly sources?: ReadonlyArray<string> | undefined
  /**
   * When usage is sent: in a separate chunk if the request asks for it (`stream-options`), always with the last chunk
   * (`final`), or never.
   */
  readonly usage?: "stream-options" | "final" | "none" | undefined
  /** Whether the server reports its remaining rate limits, as OpenAI does. Default: `false`. */
  readonly hasRateLimits?: boolean | undefined
  /** Name of the field with reasoning text. OpenAI does not send reasoning. */
  readonly reasoningField?: "reasoning_content" | "reasoning" | undefined
  /**
   * Whether reasoning is also sent as signed details, which must be sent back with a turn that called tools. Default:
   * `false`.
   */
  readonly hasReasoningDetails?: boolean | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const roles: Readonly<Record<string, SentMessage["role"]>> = {
  developer: "system",
  system: "system",
  assistant: "assistant",
  tool: "tool"
}

/** Returns a content part. Unknown parts become text. */
const partOf = (part: unknown): ContentPart => {
  const { file, image_url: image, text, type } = fields(part)
  if (type === "image_url") return { type: "image", ...sourceOf(fields(image).url) }
  if (type !== "file") return { type: "text", text: String(text) }
  const { file_data: data, filename } = fields(file)
  const source = sourceOf(data)
  return typeof filename === "string" ? { type: "file", name: filename, ...source } : { type: "file", ...source }
}

const callOf = (call: unknown): ToolCall => {
  const { function: called, id } = fields(call)
  const { arguments: text, name } = fields(called)
  return { id: String(id), name: String(name), arguments: String(text) }
}

const turn = (item: unknown): SentMessage => {
  const { content, role, tool_call_id: callId, tool_calls: asked } = fields(item)
  const parts = items(content).map(partOf)
  return {
    role: roles[String(role)] ?? "user",
    content: contentText(content),
    ...present({
      parts: parts.some(({ type }) => type !== "text") ? parts : undefined,
      toolCalls: some(items(asked).map(callOf)),
      callId: callId as string
    })
  }
}

const toolOf = (tool: unknown): Tool.ToolDefinition => {
  const { description, name, parameters, strict } = fields(fields(tool).function)
  return {
    name: String(name),
    input: fields(parameters),
    ...present({ description: description as string, strict: strict as boolean })
  }
}

const choiceOf = (choice: unknown): Tool.ToolChoice | undefined => {
  if (typeof choice !== "object") return choice as Tool.ToolChoice | undefined
  return { name: String(fields(fields(choice).function).name) }
}

const outputOf = (format: unknown): Tool.OutputFormat | undefined => {
  const { json_schema: shape, type } = fields(format)
  if (type === "text") return { type }
  if (type === "json_object") return { type: "json" }
  if (type !== "json_schema") return undefined
  const { description, name, schema, strict } = fields(shape)
  return {
    type: "json-schema",
    name: String(name),
    schema: fields(schema),
    ...present({ description: description as string, strict: strict as boolean })
  }
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

const signaturesOf = (item: unknown): ReadonlyArray<string> =>
  items(fields(item).reasoning_details).flatMap((detail) => {
    const { signature } = fields(detail)
    return typeof signature === "string" ? [signature] : []
  })

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
      reasoning: reasoningOf(body),
      tools: body.tools === undefined ? undefined : items(body.tools).map(toolOf),
      toolChoice: choiceOf(body.tool_choice),
      parallelToolCalls: body.parallel_tool_calls as boolean,
      output: outputOf(body.response_format),
      signatures: some(items(body.messages).flatMap(signaturesOf))
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const finishReasons: Readonly<Record<Answer["ending"], string>> = {
  stop: "stop",
  "stop-sequence": "stop",
  "tool-calls": "tool_calls",
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

/** Writes the start of a call with its name, followed by chunks of its arguments that contain only the call's index. */
const writeCalls = (answer: Answer, write: (delta: unknown) => string) => {
  const order = calls(answer).map(({ id }) => id)
  const begun = new Set<string>()
  return ({ arguments: piece, id, name }: CallPiece): string => {
    const index = order.indexOf(id)
    const head = { index, id, type: "function", function: { name, arguments: "" } }
    const beginning = begun.has(id) ? "" : write({ tool_calls: [head] })
    begun.add(id)
    return piece === "" ? beginning : beginning + write({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
}

const detail = (more: Readonly<Record<string, string>>) => ({
  reasoning_details: [{ type: "reasoning.text", format: "unknown", index: 0, ...more }]
})

const stream = (answer: Answer, model: string, deviations: Deviations) => {
  const { hasReasoningDetails, reasoningField, usage = "stream-options" } = deviations
  const isNoisy = answer.noise !== false
  const opening = [event(chunk(model, [choice({ role: "assistant", content: "", refusal: null })]))]
  if (isNoisy) opening.push(": a comment\n\n", event(chunk(model, [choice({ mood: "sunny" })], { a_field: "new" })))
  const write = (delta: unknown) => event(chunk(model, [choice(delta)], { obfuscation: "x1" }))
  const writeCall = writeCalls(answer, write)
  const deltas = answer.deltas.map((delta) => {
    if (delta.type === "tool-call") return writeCall(delta)
    if (delta.type === "text") return write({ content: delta.text })
    const details = hasReasoningDetails ? detail({ text: delta.text }) : {}
    return reasoningField === undefined ? "" : write({ [reasoningField]: delta.text, ...details })
  })
  const reported = answer.usage === undefined || usage === "none" ? undefined : usageOf(answer.usage)
  const last = chunk(model, [choice({}, finishReasons[answer.ending])])
  const closing =
    usage === "final" && reported !== undefined
      ? [event({ ...last, usage: reported })]
      : [event(last), ...(reported === undefined ? [] : [event(chunk(model, [], { usage: reported }))])]
  const signed = hasReasoningDetails && answer.signature !== undefined
  const signature = signed ? [write(detail({ signature: answer.signature ?? "" }))] : []
  return { opening, deltas, closing: [...signature, ...closing, event("[DONE]")] }
}

const callsOf = (answer: Answer) => {
  const all = calls(answer).map(({ id, ...called }) => ({ id, type: "function", function: called }))
  return all.length === 0 ? {} : { tool_calls: all }
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
        ...callsOf(answer),
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
 * Returns the dialect of a server that implements Chat Completions with deviations.
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
    "npm openai 7.59.0, resources/chat/completions/completions.d.ts",
    ...(deviations.sources ?? [])
  ],
  read,
  contentType: "text/event-stream; charset=utf-8",
  stream: (answer, model) => stream(answer, model, deviations),
  whole: (answer, model) => whole(answer, model, deviations),
  refuse: OpenAiErrors.refuse,
  refuseInStream,
  signs: deviations.hasReasoningDetails,
  allowance: deviations.hasRateLimits ? OpenAiErrors.allowance : undefined,
  malformed: 'data: {"id":"chatcmpl-01","choices":[{"delta":{"content":"br\n\n'
})

/** OpenAI's Chat Completions. */
export const dialect: Dialect = compatible({ hasRateLimits: true })
