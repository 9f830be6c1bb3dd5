/** The wire format of OpenAI's Responses API (`POST /responses`). */
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
import { type Answer, type Refusal, reasoningText, type Spoken, spoken, text } from "./Script.ts"

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

const turns = (body: Readonly<Record<string, unknown>>): ReadonlyArray<PlainMessage> => [
  ...(typeof body.instructions === "string" ? [{ role: "system", content: body.instructions } as const] : []),
  ...(typeof body.input === "string" ? [{ role: "user", content: body.input } as const] : items(body.input).map(turn))
]

/** An effort as OpenAI writes it. */
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
      reasoning: reasoningOf(fields(body.reasoning).effort)
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

const reasoningItem = (summary: string) => ({
  id: "rs_01",
  type: "reasoning",
  summary: summary === "" ? [] : [{ type: "summary_text", text: summary }]
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
  return responseObject(model, status, {
    incomplete_details: reason === undefined ? null : { reason },
    output: [...(thought === "" ? [] : [reasoningItem(thought)]), messageItem(text(answer), status)],
    usage: answer.usage === undefined ? null : usageOf(answer.usage),
    a_field_of_tomorrow: answer.noise === false ? undefined : { nested: [1] }
  })
}

/** Writes events with their numbers, and opens and closes output items between deltas. */
class Writer {
  #sequence = 0
  #open: Spoken["type"] | undefined
  #index = -1
  #said = ""

  write(type: string, data: Readonly<Record<string, unknown>>): string {
    return event({ type, sequence_number: this.#sequence++, ...data }, type)
  }

  delta(delta: Spoken): string {
    const before = this.#open === delta.type ? "" : this.close() + this.#begin(delta.type)
    this.#said += delta.text
    return before + this.write(...this.#piece(delta))
  }

  close(): string {
    const open = this.#open
    this.#open = undefined
    if (open === undefined) return ""
    const at = { item_id: open === "text" ? "msg_01" : "rs_01", output_index: this.#index }
    const said = this.#said
    this.#said = ""
    if (open === "reasoning") {
      const part = { type: "summary_text", text: said }
      return (
        this.write("response.reasoning_summary_text.done", { ...at, summary_index: 0, text: said }) +
        this.write("response.reasoning_summary_part.done", { ...at, summary_index: 0, part }) +
        this.write("response.output_item.done", { output_index: this.#index, item: reasoningItem(said) })
      )
    }
    const part = { type: "output_text", text: said, annotations: [], logprobs: [] }
    return (
      this.write("response.output_text.done", { ...at, content_index: 0, text: said, logprobs: [] }) +
      this.write("response.content_part.done", { ...at, content_index: 0, part }) +
      this.write("response.output_item.done", { output_index: this.#index, item: messageItem(said, "completed") })
    )
  }

  #begin(type: Spoken["type"]): string {
    this.#open = type
    this.#index += 1
    const item = type === "text" ? messageItem("", "in_progress") : reasoningItem("")
    const added = this.write("response.output_item.added", { output_index: this.#index, item })
    const at = { item_id: item.id, output_index: this.#index }
    return type === "text"
      ? added +
          this.write("response.content_part.added", {
            ...at,
            content_index: 0,
            part: { type: "output_text", text: "", annotations: [], logprobs: [] }
          })
      : added +
          this.write("response.reasoning_summary_part.added", {
            ...at,
            summary_index: 0,
            part: { type: "summary_text", text: "" }
          })
  }

  #piece({ text, type }: Spoken): [string, Readonly<Record<string, unknown>>] {
    const output_index = this.#index
    return type === "text"
      ? [
          "response.output_text.delta",
          { item_id: "msg_01", output_index, content_index: 0, delta: text, logprobs: [], obfuscation: "aB3xY9" }
        ]
      : [
          "response.reasoning_summary_text.delta",
          { item_id: "rs_01", output_index, summary_index: 0, delta: text, obfuscation: "q" }
        ]
  }
}

const stream = (answer: Answer, model: string) => {
  const writer = new Writer()
  const isNoisy = answer.noise !== false
  const opening = ["created", "in_progress"].map((name) =>
    writer.write(`response.${name}`, { response: responseObject(model, "in_progress") })
  )
  if (isNoisy) opening.push(writer.write("response.something_of_tomorrow", { delta: "not text", weather: "mild" }))
  const deltas = answer.deltas.map((delta) => writer.delta(spoken(delta)))
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
    "npm openai 7.55.0, resources/responses/responses.d.ts"
  ],
  read,
  contentType: "text/event-stream; charset=utf-8",
  stream,
  whole,
  refuse: OpenAiErrors.refuse,
  refuseInStream,
  allowance: OpenAiErrors.allowance,
  malformed: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"br\n\n'
}
