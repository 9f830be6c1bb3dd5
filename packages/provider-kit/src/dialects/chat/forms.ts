/**
 * Answers and events in the forms of other vendors, as chunks of Chat Completions: proxies pass them on, and base URLs lead
 * to a vendor's own API. They are read only where a chunk has no choices.
 */
import { defined } from "@divisi/core/Fields"
import * as Json from "../../VendorJson.ts"

/** A form: returns a chunk with choices, or nothing for an event in another form. */
interface Form {
  readonly source: string
  readonly read: (event: Json.Fields) => Json.Fields | undefined
}

/** A chunk with one choice. Usage stays where it is: the event is searched for it. */
const chunk = (event: Json.Fields, name: "delta" | "message", message: unknown, finish: unknown): Json.Fields => ({
  ...event,
  choices: [{ index: 0, [name]: message, finish_reason: finish }]
})

/** A piece of an answer; with an ending, all of it. */
const answer = (event: Json.Fields, message: unknown, finish: unknown): Json.Fields =>
  chunk(event, finish === undefined || finish === null ? "delta" : "message", message, finish)

/** Whether a value is a message of the assistant, with a text, a list of parts or calls. */
const isMessage = (value: unknown): boolean => {
  const { content, role = "assistant", tool_calls } = Json.fields(value)
  return role === "assistant" && (content !== undefined || tool_calls !== undefined)
}

/** An answer of one message. */
const ofMessage = (event: Json.Fields): Json.Fields | undefined => {
  const message = isMessage(event.message) ? event.message : Json.fields(event.output).message
  if (!isMessage(message)) return undefined
  const finish = event.done_reason ?? event.finish_reason ?? event.stopReason
  const isPiece = typeof event.done === "boolean" || finish === undefined
  return chunk(event, isPiece ? "delta" : "message", message, finish ?? (event.done === true ? "stop" : undefined))
}

/** A text next to its ending. */
const ofText =
  (name: string, ending: string) =>
  (event: Json.Fields): Json.Fields | undefined =>
    typeof event[name] === "string" && event[ending] !== undefined
      ? answer(event, { content: event[name] }, event[ending])
      : undefined

/** Pieces of Cohere: a message within the delta, with calls and contents that are numbered by the event. */
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

/** The events of Bedrock's stream, each under its name or flat. */
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

/** Cloudflare's own answer: a text, and calls next to it. */
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

/** The events of Cohere's first API. The last one repeats the answer. */
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

/** Fields in which gateways put an answer. Usage may be outside of it (DashScope). */
const wrappers = ["output", "data", "result", "response", "results"] as const

const formed = (event: Json.Fields): Json.Fields | undefined => {
  if (event.choices !== undefined) return event
  for (const { read } of forms) {
    const chunk = read(event)
    if (chunk !== undefined) return chunk
  }
  return undefined
}

/** The first of a list, or the value itself. */
const firstOf = (value: unknown): Json.Fields => Json.fields(Array.isArray(value) ? value[0] : value)

/** An event as a chunk of Chat Completions; the event itself if its form is not known. */
export const chunkOf = (event: Json.Fields): Json.Fields => {
  const own = formed(event)
  if (own !== undefined) return own
  for (const name of wrappers) {
    const inner = typeof event[name] === "object" ? formed(firstOf(event[name])) : undefined
    if (inner !== undefined) return { usage: event.usage, ...defined(inner) }
  }
  return event
}

/** Whether an answer in the form of this event has no ending of its own: `[DONE]`, or the end of its JSON, is one. */
export const endsWithDone = (event: Json.Fields): boolean =>
  event.choices === undefined && response(Json.fields(event.result ?? event)) !== undefined && event.done === undefined
