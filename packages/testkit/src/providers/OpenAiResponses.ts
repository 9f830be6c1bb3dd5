/** The wire format of OpenAI's Responses API (`POST /responses`). */

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
import { type Answer, calls, type Delta, type Refusal, reasoningText, text } from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const roles: Readonly<Record<string, SentMessage["role"]>> = {
  developer: "system",
  system: "system",
  assistant: "assistant"
}

/** Returns a content part. Unknown parts become text. */
const partOf = (part: unknown): ContentPart => {
  const { file_data: data, file_url: url, filename, image_url: image, text, type } = fields(part)
  if (type === "input_image") return { type: "image", ...sourceOf(image) }
  if (type !== "input_file") return { type: "text", text: String(text) }
  const source = sourceOf(data ?? url)
  return typeof filename === "string" ? { type: "file", name: filename, ...source } : { type: "file", ...source }
}

const contentOf = (content: unknown): Pick<SentMessage, "content" | "parts"> => {
  const parts = items(content).map(partOf)
  return {
    content: contentText(content),
    ...present({ parts: parts.some(({ type }) => type !== "text") ? parts : undefined })
  }
}

const callOf = (item: Readonly<Record<string, unknown>>): ToolCall => ({
  id: String(item.call_id),
  name: String(item.name),
  arguments: String(item.arguments)
})

/** Adds a call to its turn. In this format, calls are separate items outside of the turn. */
const withCall = (turns: ReadonlyArray<SentMessage>, call: ToolCall): ReadonlyArray<SentMessage> => {
  const last = turns.at(-1)
  if (last?.role !== "assistant") return [...turns, { role: "assistant", content: "", toolCalls: [call] }]
  return [...turns.slice(0, -1), { ...last, toolCalls: [...(last.toolCalls ?? []), call] }]
}

const withItem = (turns: ReadonlyArray<SentMessage>, value: unknown): ReadonlyArray<SentMessage> => {
  const item = fields(value)
  switch (item.type) {
    case "reasoning":
      return turns
    case "function_call":
      return withCall(turns, callOf(item))
    case "function_call_output":
      return [...turns, { role: "tool", callId: String(item.call_id), ...contentOf(item.output) }]
    default:
      return [...turns, { role: roles[String(item.role)] ?? "user", ...contentOf(item.content) }]
  }
}

const turns = (body: Readonly<Record<string, unknown>>): ReadonlyArray<SentMessage> => [
  ...(typeof body.instructions === "string" ? [{ role: "system", content: body.instructions } as const] : []),
  ...(typeof body.input === "string"
    ? [{ role: "user", content: body.input } as const]
    : items(body.input).reduce<ReadonlyArray<SentMessage>>(withItem, []))
]

const signaturesOf = (input: unknown): ReadonlyArray<string> | undefined =>
  some(
    items(input).flatMap((item) => {
      const { encrypted_content: signature, type } = fields(item)
      return type === "reasoning" && typeof signature === "string" ? [signature] : []
    })
  )

const toolOf = (tool: unknown): Tool.ToolDefinition => {
  const { description, name, parameters, strict } = fields(tool)
  return {
    name: String(name),
    input: fields(parameters),
    ...present({ description: description as string, strict: strict as boolean })
  }
}

const choiceOf = (choice: unknown): Tool.ToolChoice | undefined =>
  typeof choice === "object" ? { name: String(fields(choice).name) } : (choice as Tool.ToolChoice | undefined)

const outputOf = (format: unknown): Tool.OutputFormat | undefined => {
  const { description, name, schema, strict, type } = fields(format)
  if (type === "text") return { type }
  if (type === "json_object") return { type: "json" }
  if (type !== "json_schema") return undefined
  return {
    type: "json-schema",
    name: String(name),
    schema: fields(schema),
    ...present({ description: description as string, strict: strict as boolean })
  }
}

/**
 * Converts an effort in OpenAI's notation.
 *
 * @internal
 */
export const reasoningOf = (effort: unknown): Reasoning | undefined => {
  if (typeof effort !== "string") return undefined
  return effort === "none" ? { type: "off" } : { type: "effort", effort: effort as "low" }
}

const read = (request: Captured): Sent => {
  const body = fields(request.body)
  return {
    isStream: body.stream === true,
    messages: turns(body),
    ...present({
      key: bearer(request),
      model: body.model as string,
      maxOutputTokens: body.max_output_tokens as number,
      temperature: body.temperature as number,
      seed: body.seed as number,
      stopSequences: body.stop as ReadonlyArray<string>,
      reasoning: reasoningOf(fields(body.reasoning).effort),
      tools: body.tools === undefined ? undefined : items(body.tools).map(toolOf),
      toolChoice: choiceOf(body.tool_choice),
      parallelToolCalls: body.parallel_tool_calls as boolean,
      output: outputOf(fields(body.text).format),
      signatures: signaturesOf(body.input)
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const usageOf = (usage: Usage) => ({
  input_tokens: usage.inputTokens,
  input_tokens_details: {
    cached_tokens: usage.cachedInputTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0
  },
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
  total_tokens: usage.inputTokens + usage.outputTokens
})

const messageItem = (content: string, status: string) => ({
  id: "msg_01",
  type: "message",
  status,
  role: "assistant",
  content: content === "" ? [] : [{ type: "output_text", text: content, annotations: [], logprobs: [] }]
})

const reasoningItem = (summary: string, signature?: string | undefined) => ({
  id: "rs_01",
  type: "reasoning",
  summary: summary === "" ? [] : [{ type: "summary_text", text: summary }],
  ...present({ encrypted_content: signature })
})

const callItem = ({ arguments: text, id, name }: ToolCall, status: string) => ({
  id: `fc_${id}`,
  type: "function_call",
  status,
  arguments: text,
  call_id: id,
  name
})

const outcomes: Readonly<Record<Answer["ending"], { status: string; reason?: string | undefined }>> = {
  stop: { status: "completed" },
  "stop-sequence": { status: "completed" },
  "tool-calls": { status: "completed" },
  length: { status: "incomplete", reason: "max_output_tokens" },
  refusal: { status: "incomplete", reason: "content_filter" },
  unknown: { status: "incomplete", reason: "moon_phase" }
}

const responseObject = (model: string, status: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id: "resp_01",
  object: "response",
  created_at: 1_763_600_000,
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model,
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
  usage: null,
  metadata: {},
  ...more
})

const whole = (answer: Answer, model: string) => {
  const { reason, status } = outcomes[answer.ending]
  const thought = reasoningText(answer)
  const asked = calls(answer)
  return responseObject(model, status, {
    incomplete_details: reason === undefined ? null : { reason },
    output: [
      ...(thought === "" ? [] : [reasoningItem(thought, answer.signature)]),
      ...(text(answer) === "" && asked.length > 0 ? [] : [messageItem(text(answer), status)]),
      ...asked.map((call) => callItem(call, "completed"))
    ],
    usage: answer.usage === undefined ? null : usageOf(answer.usage),
    a_field_of_tomorrow: answer.noise === false ? undefined : { nested: [1] }
  })
}

/** Returns the key of the item that a delta belongs to. */
const keyOf = (delta: Delta): string => (delta.type === "tool-call" ? delta.id : delta.type)

/** Writes numbered events, and opens and closes output items between deltas. */
class Writer {
  readonly #signature: string | undefined
  #sequence = 0
  #open: Delta | undefined
  #index = -1
  #said = ""

  constructor(signature?: string | undefined) {
    this.#signature = signature
  }

  write(type: string, data: Readonly<Record<string, unknown>>): string {
    return event({ type, sequence_number: this.#sequence++, ...data }, type)
  }

  delta(delta: Delta): string {
    const isOpen = this.#open !== undefined && keyOf(this.#open) === keyOf(delta)
    const before = isOpen ? "" : this.close() + this.#begin(delta)
    const piece = delta.type === "tool-call" ? delta.arguments : delta.text
    this.#said += piece
    return before + this.#piece(delta, piece)
  }

  close(): string {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return ""
    const said = this.#said
    this.#said = ""
    if (open.type === "tool-call") return this.#closeCall(open, said)
    return open.type === "reasoning" ? this.#closeReasoning(said) : this.#closeText(said)
  }

  #done(item: unknown): string {
    return this.write("response.output_item.done", { output_index: this.#index, item })
  }

  #closeText(said: string): string {
    const at = { item_id: "msg_01", output_index: this.#index, content_index: 0 }
    const part = { type: "output_text", text: said, annotations: [], logprobs: [] }
    return (
      this.write("response.output_text.done", { ...at, text: said, logprobs: [] }) +
      this.write("response.content_part.done", { ...at, part }) +
      this.#done(messageItem(said, "completed"))
    )
  }

  #closeReasoning(said: string): string {
    const at = { item_id: "rs_01", output_index: this.#index, summary_index: 0 }
    const part = { type: "summary_text", text: said }
    return (
      this.write("response.reasoning_summary_text.done", { ...at, text: said }) +
      this.write("response.reasoning_summary_part.done", { ...at, part }) +
      this.#done(reasoningItem(said, this.#signature))
    )
  }

  #closeCall(call: ToolCall, said: string): string {
    const item = callItem({ ...call, arguments: said }, "completed")
    const at = { item_id: item.id, output_index: this.#index }
    return this.write("response.function_call_arguments.done", { ...at, arguments: said }) + this.#done(item)
  }

  #begin(delta: Delta): string {
    this.#open = delta
    this.#index += 1
    const added = (item: unknown) => this.write("response.output_item.added", { output_index: this.#index, item })
    if (delta.type === "tool-call") return added(callItem({ ...delta, arguments: "" }, "in_progress"))
    const output_index = this.#index
    if (delta.type === "text") {
      const part = { type: "output_text", text: "", annotations: [], logprobs: [] }
      const at = { item_id: "msg_01", output_index, content_index: 0 }
      return added(messageItem("", "in_progress")) + this.write("response.content_part.added", { ...at, part })
    }
    const part = { type: "summary_text", text: "" }
    const at = { item_id: "rs_01", output_index, summary_index: 0 }
    return added(reasoningItem("")) + this.write("response.reasoning_summary_part.added", { ...at, part })
  }

  #piece(delta: Delta, piece: string): string {
    const output_index = this.#index
    switch (delta.type) {
      case "tool-call": {
        const at = { item_id: `fc_${delta.id}`, output_index }
        return piece === ""
          ? ""
          : this.write("response.function_call_arguments.delta", { ...at, delta: piece, obfuscation: "k" })
      }
      case "text": {
        const at = { item_id: "msg_01", output_index, content_index: 0 }
        return this.write("response.output_text.delta", { ...at, delta: piece, logprobs: [], obfuscation: "aB3xY9" })
      }
      case "reasoning": {
        const at = { item_id: "rs_01", output_index, summary_index: 0 }
        return this.write("response.reasoning_summary_text.delta", { ...at, delta: piece, obfuscation: "q" })
      }
    }
  }
}

const stream = (answer: Answer, model: string) => {
  const writer = new Writer(answer.signature)
  const isNoisy = answer.noise !== false
  const opening = ["created", "in_progress"].map((name) =>
    writer.write(`response.${name}`, { response: responseObject(model, "in_progress") })
  )
  if (isNoisy) opening.push(writer.write("response.something_of_tomorrow", { delta: "not text", weather: "mild" }))
  const deltas = answer.deltas.map((delta) => writer.delta(delta))
  const { status } = outcomes[answer.ending]
  const closing = [writer.close(), writer.write(`response.${status}`, { response: whole(answer, model) })]
  return { opening, deltas, closing: closing.filter((piece) => piece !== "") }
}

const refuseInStream = (refusal: Refusal): string => {
  const { message } = OpenAiErrors.errorOf(refusal)
  const error = { code: OpenAiErrors.streamCode(refusal.kind), message }
  return event(
    { type: "response.failed", sequence_number: 99, response: responseObject("unknown", "failed", { error }) },
    "response.failed"
  )
}

// -------------------------------------------------------------------------------------------------------------------
// The dialect
// -------------------------------------------------------------------------------------------------------------------

/** OpenAI's Responses API. */
export const dialect: Dialect = {
  name: "OpenAI Responses",
  sources: [
    "https://platform.openai.com/docs/api-reference/responses-streaming",
    "https://platform.openai.com/docs/guides/error-codes",
    "https://github.com/openai/openai-openapi (schemas Response, ResponseStreamEvent)",
    "npm openai 7.59.0, resources/responses/responses.d.ts"
  ],
  read,
  contentType: "text/event-stream; charset=utf-8",
  stream,
  whole,
  refuse: OpenAiErrors.refuse,
  refuseInStream,
  signs: true,
  allowance: OpenAiErrors.allowance,
  malformed: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"br\n\n'
}
