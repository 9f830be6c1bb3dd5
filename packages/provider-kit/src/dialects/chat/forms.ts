/**
 * Converts answers and events in other vendors' formats to Chat Completions chunks. Proxies forward such formats, and a
 * base URL may point to a vendor's native API. They are read only if a chunk has no choices.
 */
import { defined } from "@divisi/core/Fields"
import * as Json from "../../VendorJson.ts"

/** A parser for one format: returns a chunk with choices, or `undefined` if the event has another format. */
interface Form {
  readonly source: string
  readonly read: (event: Json.Fields) => Json.Fields | undefined
}

/** Creates a chunk with one choice. Usage is not moved, because the whole event is searched for it. */
const chunk = (event: Json.Fields, name: "delta" | "message", message: unknown, finish: unknown): Json.Fields => ({
  ...event,
  choices: [{ index: 0, [name]: message, finish_reason: finish }]
})

/** Creates a chunk from part of an answer, or from a complete answer if it has a finish reason. */
const answer = (event: Json.Fields, message: unknown, finish: unknown): Json.Fields =>
  chunk(event, finish === undefined || finish === null ? "delta" : "message", message, finish)

/** Whether a value is an assistant message with a text, a list of parts, or calls. */
const isMessage = (value: unknown): boolean => {
  const { content, role = "assistant", tool_calls } = Json.fields(value)
  return role === "assistant" && (content !== undefined || tool_calls !== undefined)
}

/** Converts an answer that consists of one message. */
const ofMessage = (event: Json.Fields): Json.Fields | undefined => {
  const message = isMessage(event.message) ? event.message : Json.fields(event.output).message
  if (!isMessage(message)) return undefined
  const finish = event.done_reason ?? event.finish_reason ?? event.stopReason
  const isPiece = typeof event.done === "boolean" || finish === undefined
  return chunk(event, isPiece ? "delta" : "message", message, finish ?? (event.done === true ? "stop" : undefined))
}

/** Converts a text with an adjacent finish reason. */
const ofText =
  (name: string, ending: string) =>
  (event: Json.Fields): Json.Fields | undefined =>
    typeof event[name] === "string" && event[ending] !== undefined
      ? answer(event, { content: event[name] }, event[ending])
      : undefined

/** Converts Cohere's events: a message within the delta, with the index of its calls and contents in the event. */
const cohereEvent = ({ delta, index, type }: Json.Fields): Json.Fields | undefined => {
  if (typeof type !== "string" || !/^(?:message|content|tool-call|tool-plan)-/.test(type)) return undefined
  const { finish_reason, message, usage } = Json.fields(delta)
  const { content, tool_calls: call, ...rest } = Json.fields(message)
  const isCall = typeof call === "object" && call !== null && !Array.isArray(call)
  const piece = {
    ...rest,
    ...(Array.isArray(content) && content.length === 0 ? {} : { content }),
    ...(isCall ? { tool_calls: [{ index, ...call }] } : {})
  }
  return chunk({ usage }, "delta", piece, finish_reason)
}

/** Converts the events of Bedrock streams, nested under their name or flat. */
const bedrockEvent = (event: Json.Fields): Json.Fields | undefined => {
  const { contentBlockDelta, contentBlockStart, messageStop, metadata } = event
  if (messageStop) return chunk(event, "delta", {}, Json.fields(messageStop).stopReason)
  if (event.stopReason && event.output === undefined) return chunk(event, "delta", {}, event.stopReason)
  const { usage } = Json.fields(metadata)
  if (usage) return { choices: [], usage }
  const block = Json.fields(contentBlockDelta ?? contentBlockStart ?? event)
  const { contentBlockIndex: index } = block
  if (index === undefined) return undefined
  const { toolUse, ...said } = Json.fields(block.delta ?? block.start)
  const { input, name, toolUseId: id } = Json.fields(toolUse)
  const isEmpty = Object.keys(said).length === 0
  return chunk(
    event,
    "delta",
    toolUse
      ? { tool_calls: [{ index, id, function: { name, arguments: input } }] }
      : isEmpty
        ? {}
        : { content: [said] },
    undefined
  )
}

/** Converts Cloudflare's native response: a text with adjacent calls. */
const response = (event: Json.Fields): Json.Fields | undefined => {
  const { done, done_reason, response: text, tool_calls } = event
  if (typeof text !== "string" && (text !== null || tool_calls === undefined)) return undefined
  return chunk(event, "delta", { content: text, tool_calls }, done_reason ?? (done === true ? "stop" : undefined))
}

const candidates = (event: Json.Fields): Json.Fields | undefined => {
  const [first] = Json.items(event.candidates)
  if (first === undefined) return undefined
  const { content, finishReason } = Json.fields(first)
  return chunk(event, "delta", { content }, finishReason)
}

const generated = (event: Json.Fields): Json.Fields | undefined => {
  const { details, generated_text: text, token } = event
  if (token !== undefined) {
    const { special, text: piece } = Json.fields(token)
    return chunk(event, "delta", { content: special === true ? "" : piece }, Json.fields(details).finish_reason)
  }
  return typeof text === "string"
    ? chunk(event, "message", { content: text }, Json.fields(details).finish_reason ?? event.stop_reason ?? "stop")
    : undefined
}

/** Converts the events of Cohere's v1 API. The last event repeats the answer. */
const cohereFirst = (event: Json.Fields): Json.Fields | undefined => {
  const { event_type: type, finish_reason, response: last, text } = event
  if (type === "text-generation") return chunk(event, "delta", { content: text }, undefined)
  return type === "stream-end" ? chunk({ ...Json.fields(last) }, "delta", {}, finish_reason) : undefined
}

const forms: ReadonlyArray<Form> = [
  {
    source: "Ollama (message, done_reason), Cohere (message, finish_reason), Bedrock (output.message, stopReason)",
    read: ofMessage
  },
  { source: "https://docs.cohere.com/v2/docs/streaming", read: cohereEvent },
  { source: "https://docs.cohere.com/v1/docs/streaming", read: cohereFirst },
  {
    source: "https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html",
    read: bedrockEvent
  },
  {
    source: "https://developers.cloudflare.com/workers-ai/features/prompting; Ollama's /api/generate",
    read: response
  },
  { source: "https://ai.google.dev/api/generate-content", read: candidates },
  { source: "https://huggingface.co/docs/text-generation-inference; watsonx", read: generated },
  {
    source: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html",
    read: ofText("generation", "stop_reason")
  },
  {
    source: "https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-text.html",
    read: ofText("outputText", "completionReason")
  },
  {
    source: "https://help.aliyun.com/zh/model-studio/qwen-api-via-dashscope: result_format text",
    read: ofText("text", "finish_reason")
  },
  {
    source: "https://platform.claude.com/docs/en/api/messages: a whole message",
    read: (event) =>
      event.role === "assistant" && event.stop_reason && event.content !== undefined
        ? chunk(event, "message", event, event.stop_reason)
        : undefined
  }
]

/** Fields in which gateways nest an answer. Usage may be outside of them (DashScope). */
const wrappers = ["output", "data", "result", "response", "results"] as const

const formed = (event: Json.Fields): Json.Fields | undefined => {
  if (event.choices !== undefined) return event
  for (const { read } of forms) {
    const chunk = read(event)
    if (chunk !== undefined) return chunk
  }
  return undefined
}

/** Returns the first item of a list, or the value itself. */
const firstOf = (value: unknown): Json.Fields => Json.fields(Array.isArray(value) ? value[0] : value)

/** Converts an event to a Chat Completions chunk; returns the event unchanged if its format is unknown. */
export const chunkOf = (event: Json.Fields): Json.Fields => {
  const own = formed(event)
  if (own !== undefined) return own
  for (const name of wrappers) {
    const inner = typeof event[name] === "object" ? formed(firstOf(event[name])) : undefined
    if (inner !== undefined) return { usage: event.usage, ...defined(inner) }
  }
  return event
}

/**
 * Whether answers in the format of this event have no finish reason, so that `[DONE]` or the end of the JSON ends them.
 */
export const endsWithDone = (event: Json.Fields): boolean =>
  event.choices === undefined && response(Json.fields(event.result ?? event)) !== undefined && event.done === undefined
