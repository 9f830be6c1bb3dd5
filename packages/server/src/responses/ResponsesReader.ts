/** Reads requests of Responses. */
import type { Content, ContentPart, Message, ToolCall } from "@divisi/core/Message"
import { kindOf } from "@divisi/core/Options"
import type { Output, ToolChoice } from "@divisi/core/Tool"
import { isReadonlyArrayNonEmpty } from "effect/Array"
import * as SegmentParts from "../segment/SegmentParts.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import type { Request } from "../wire/Wire.ts"
import { summaryOf } from "./CompactionItem.ts"
import * as ResponsesTools from "./ResponsesTools.ts"

// -------------------------------------------------------------------------------------------------------------------
// Content
// -------------------------------------------------------------------------------------------------------------------

const partOf = (value: unknown, field: string): ContentPart => {
  const part = Json.object(value, field)
  switch (part.type) {
    case "input_text":
    case "output_text":
    case "text":
      return { type: "text", text: Json.text(part.text, `${field}.text`) }
    case "refusal":
      return { type: "text", text: Json.text(part.refusal, `${field}.refusal`) }
    case "input_image": {
      if (typeof part.image_url !== "string") {
        throw invalid(field, `${field} must have image_url: this server keeps no uploaded files.`)
      }
      return { type: "image", ...OpenAi.sourceOf(part.image_url, `${field}.image_url`) }
    }
    case "input_file":
      return OpenAi.fileOf(part, field)
    default:
      throw invalid(
        `${field}.type`,
        `${field}.type must be input_text, output_text, input_image or input_file: ${kindOf(part.type)} is not read.`
      )
  }
}

const contentOf = (value: unknown, field: string): Content => {
  if (typeof value === "string") return value
  const parts: ReadonlyArray<ContentPart> = Json.list(value, field).map((part, at) => partOf(part, `${field}[${at}]`))
  if (parts.every((part) => part.type === "text")) return parts.map(({ text }) => text).join("\n")
  return isReadonlyArrayNonEmpty(parts) ? parts : ""
}

const textOf = (value: unknown, field: string): string => {
  const content = contentOf(value, field)
  return typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
}

// -------------------------------------------------------------------------------------------------------------------
// Items
// -------------------------------------------------------------------------------------------------------------------

/** Whether an item is one of this server's own notes, which clients send back as they are: no worker has said it. */
const isOwnNote = ({ content, phase, role }: Json.JsonObject, field: string): boolean =>
  role === "assistant" && phase === "commentary" && SegmentParts.isNote(textOf(content, `${field}.content`))

const messageOf = (item: Json.JsonObject, field: string): Message => {
  switch (item.role) {
    case "user":
      return { role: "user", content: contentOf(item.content, `${field}.content`) }
    case "system":
    case "developer":
    case "assistant":
      return { role: item.role, content: textOf(item.content, `${field}.content`) }
    default:
      throw invalid(`${field}.role`, `${field}.role must be user, assistant, system or developer.`)
  }
}

const callOf = (item: Json.JsonObject, field: string): ToolCall => {
  const namespace = Json.optional(item.namespace, `${field}.namespace`, Json.text)
  const name = ResponsesTools.nameOf(Json.text(item.name, `${field}.name`), namespace)
  const given =
    item.type === "custom_tool_call"
      ? JSON.stringify({ input: Json.text(item.input, `${field}.input`) })
      : Json.text(item.arguments, `${field}.arguments`)
  return { id: Json.text(item.call_id, `${field}.call_id`), name, arguments: given }
}

/** Adds a call to the turn that it is of: what was said before it, and the calls beside it. */
const withCall = (messages: ReadonlyArray<Message>, call: ToolCall): ReadonlyArray<Message> => {
  const last = messages.at(-1)
  if (last?.role !== "assistant") return [...messages, { role: "assistant", content: "", toolCalls: [call] }]
  return [...messages.slice(0, -1), { ...last, toolCalls: [...(last.toolCalls ?? []), call] }]
}

const resultOf = (item: Json.JsonObject, field: string, tools: ReadonlyMap<string, string>): Message => {
  const callId = Json.text(item.call_id, `${field}.call_id`)
  const name = tools.get(callId)
  if (name === undefined) {
    throw invalid(field, `No tool call found for function call output with call_id ${callId}.`)
  }
  return { role: "tool", callId, name, content: contentOf(item.output, `${field}.output`) }
}

/** The messages so far, and one more item. Reasoning is this server's own notes; what only a vendor knows is left out. */
const withItem = (
  messages: ReadonlyArray<Message>,
  value: unknown,
  field: string,
  tools: Map<string, string>
): ReadonlyArray<Message> => {
  const item = Json.object(value, field)
  switch (item.type ?? "message") {
    case "message":
      return isOwnNote(item, field) ? messages : [...messages, messageOf(item, field)]
    case "function_call":
    case "custom_tool_call": {
      const call = callOf(item, field)
      tools.set(call.id, call.name)
      return withCall(messages, call)
    }
    case "function_call_output":
    case "custom_tool_call_output":
      return [...messages, resultOf(item, field, tools)]
    case "compaction":
      return [...messages, { role: "developer", content: `What was said before, in short:\n${summaryOf(item, field)}` }]
    default:
      return messages
  }
}

const messagesOf = (body: Json.JsonObject): Request["messages"] => {
  const tools = new Map<string, string>()
  const input =
    typeof body.input === "string" ? [{ role: "user", content: body.input }] : Json.list(body.input, "input")
  const said = input.reduce<ReadonlyArray<Message>>(
    (messages, item, at) => withItem(messages, item, `input[${at}]`, tools),
    []
  )
  if (!isReadonlyArrayNonEmpty(said)) throw invalid("input", "input must have at least one message.")
  const instructions = Json.optional(body.instructions, "instructions", Json.text) ?? ""
  return instructions === "" ? said : [{ role: "system", content: instructions }, ...said]
}

/** The states that items of reasoning carry. */
const sealsIn = (input: unknown): ReadonlyArray<string> =>
  (Array.isArray(input) ? input : []).flatMap((item) =>
    Json.isObject(item) && item.type === "reasoning" && typeof item.encrypted_content === "string"
      ? [item.encrypted_content]
      : []
  )

// -------------------------------------------------------------------------------------------------------------------
// Tools and shapes
// -------------------------------------------------------------------------------------------------------------------

const toolChoiceOf = (value: unknown, field: string): ToolChoice => {
  if (value === "auto" || value === "none" || value === "required") return value
  const choice = Json.object(value, field)
  if (choice.type === "allowed_tools") return choice.mode === "required" ? "required" : "auto"
  return choice.type === "function" || choice.type === "custom"
    ? { name: Json.text(choice.name, `${field}.name`) }
    : "auto"
}

/** The tools that a choice leaves. */
const allowed = (
  tools: ReadonlyArray<ResponsesTools.Offered>,
  choice: unknown
): ReadonlyArray<ResponsesTools.Offered> => {
  if (!Json.isObject(choice) || choice.type !== "allowed_tools") return tools
  const names = Json.list(choice.tools, "tool_choice.tools").map((tool) => Json.object(tool, "tool_choice.tools").name)
  return tools.filter(({ name }) => names.includes(name))
}

const outputOf = (value: unknown, field: string): Output | undefined => {
  const format = Json.object(value, field)
  switch (format.type) {
    case "text":
      return undefined
    case "json_object":
      return { type: "json" }
    case "json_schema":
      return {
        type: "json-schema",
        name: Json.text(format.name, `${field}.name`),
        description: Json.optional(format.description, `${field}.description`, Json.text),
        schema: Json.optional(format.schema, `${field}.schema`, Json.object) ?? {},
        strict: Json.optional(format.strict, `${field}.strict`, Json.flag)
      }
    default:
      throw invalid(`${field}.type`, `${field}.type must be text, json_object or json_schema.`)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Reads a request whose input stands in it whole. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  const model = Json.text(body.model, "model")
  const tools = allowed(ResponsesTools.read(body.tools), body.tool_choice)
  const reasoning = Json.optional(body.reasoning, "reasoning", Json.object) ?? {}
  const text = Json.optional(body.text, "text", Json.object) ?? {}
  return {
    model,
    messages: messagesOf(body),
    tools: tools.map(({ definition }) => definition),
    toolChoice: Json.optional(body.tool_choice, "tool_choice", toolChoiceOf),
    parallelToolCalls: Json.optional(body.parallel_tool_calls, "parallel_tool_calls", Json.flag),
    output: Json.optional(text.format, "text.format", outputOf),
    settings: {
      maxOutputTokens: Json.optional(body.max_output_tokens, "max_output_tokens", Json.whole(1)),
      temperature: Json.optional(body.temperature, "temperature", Json.number(0, 2)),
      reasoning: OpenAi.reasoningOf(Json.optional(reasoning.effort, "reasoning.effort", Json.text))
    },
    choice: Choice.read(model, body, headers),
    seals: sealsIn(body.input),
    carriesState: Array.isArray(body.include) && body.include.includes("reasoning.encrypted_content"),
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    isCommented: Choice.isCommented(body, headers),
    isTagged: Choice.isTagged(body, headers)
  }
}
