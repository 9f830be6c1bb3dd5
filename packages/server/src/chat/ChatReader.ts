/** Reads requests of Chat Completions. */
import type { AssistantMessage, Content, ContentPart, Message, ToolCall } from "@divisi/core/Message"
import { kindOf } from "@divisi/core/Options"
import type { Output, ToolChoice, ToolDefinition } from "@divisi/core/Tool"
import { isArrayNonEmpty } from "effect/Array"
import { invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import type { Request } from "../wire/Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Content
// -------------------------------------------------------------------------------------------------------------------

const partOf = (value: unknown, field: string): ContentPart => {
  const part = Json.object(value, field)
  switch (part.type) {
    case "text":
      return { type: "text", text: Json.text(part.text, `${field}.text`) }
    case "refusal":
      return { type: "text", text: Json.text(part.refusal, `${field}.refusal`) }
    case "image_url": {
      const image = Json.object(part.image_url, `${field}.image_url`)
      const url = Json.text(image.url, `${field}.image_url.url`)
      return { type: "image", ...OpenAi.sourceOf(url, `${field}.image_url.url`) }
    }
    case "file":
      return OpenAi.fileOf(Json.object(part.file, `${field}.file`), `${field}.file`)
    default:
      throw invalid(`${field}.type`, `${field}.type must be text, image_url or file: ${kindOf(part.type)} is not read.`)
  }
}

const contentOf = (value: unknown, field: string): Content => {
  if (typeof value === "string") return value
  const parts = Json.list(value, field).map((part, at) => partOf(part, `${field}[${at}]`))
  if (parts.every((part) => part.type === "text")) return parts.map(({ text }) => text).join("\n")
  return isArrayNonEmpty(parts) ? parts : ""
}

/** A content of text alone; nothing at all is an empty one. */
const textOf = (value: unknown, field: string): string => {
  const content = value === undefined || value === null ? "" : contentOf(value, field)
  return typeof content === "string"
    ? content
    : content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
}

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

/** The name and arguments of a call; a custom tool has an input of any text. */
const calledOf = (call: Json.JsonObject, field: string) => {
  const of = call.type === "custom" ? "custom" : "function"
  const called = Json.object(call[of], `${field}.${of}`)
  const name = Json.text(called.name, `${field}.${of}.name`)
  const given = of === "custom" ? JSON.stringify({ input: called.input }) : called.arguments
  return { name, arguments: Json.text(given, `${field}.${of}.arguments`) }
}

const callOf = (value: unknown, field: string): ToolCall => {
  const call = Json.object(value, field)
  return { id: Json.text(call.id, `${field}.id`), ...calledOf(call, field) }
}

const assistantOf = (message: Json.JsonObject, field: string): AssistantMessage => {
  const content = textOf(message.content ?? message.refusal, `${field}.content`)
  const calls = Json.optional(message.tool_calls, `${field}.tool_calls`, Json.list) ?? []
  const toolCalls = calls.map((call, at) => callOf(call, `${field}.tool_calls[${at}]`))
  return toolCalls.length === 0 ? { role: "assistant", content } : { role: "assistant", content, toolCalls }
}

const messageOf = (value: unknown, field: string, tools: ReadonlyMap<string, string>): Message => {
  const message = Json.object(value, field)
  switch (message.role) {
    case "system":
    case "developer":
      return { role: message.role, content: textOf(message.content, `${field}.content`) }
    case "user":
      return { role: "user", content: contentOf(message.content, `${field}.content`) }
    case "assistant":
      return assistantOf(message, field)
    case "tool": {
      const callId = Json.text(message.tool_call_id, `${field}.tool_call_id`)
      const name = tools.get(callId)
      if (name === undefined) {
        throw invalid(field, `${field} answers the tool call ${callId}, which no message before it makes.`)
      }
      return { role: "tool", callId, name, content: contentOf(message.content, `${field}.content`) }
    }
    default:
      throw invalid(`${field}.role`, `${field}.role must be system, developer, user, assistant or tool.`)
  }
}

const messagesOf = (value: unknown): Request["messages"] => {
  const tools = new Map<string, string>()
  const messages = Json.list(value, "messages").map((one, at) => {
    const message = messageOf(one, `messages[${at}]`, tools)
    if (message.role === "assistant") for (const { id, name } of message.toolCalls ?? []) tools.set(id, name)
    return message
  })
  if (!isArrayNonEmpty(messages)) throw invalid("messages", "messages must have at least one message.")
  return messages
}

// -------------------------------------------------------------------------------------------------------------------
// Tools and shapes
// -------------------------------------------------------------------------------------------------------------------

const noInput = { type: "object", properties: {} }

/** A tool that this server can pass on; others, such as a vendor's own search, are left out. */
const toolOf = (value: unknown, field: string): ReadonlyArray<ToolDefinition> => {
  const tool = Json.object(value, field)
  if (tool.type !== "function") return []
  const of = `${field}.function`
  const definition = Json.object(tool.function, of)
  return [
    {
      name: Json.text(definition.name, `${of}.name`),
      description: Json.optional(definition.description, `${of}.description`, Json.text),
      input: Json.optional(definition.parameters, `${of}.parameters`, Json.object) ?? noInput,
      strict: Json.optional(definition.strict, `${of}.strict`, Json.flag)
    }
  ]
}

const toolChoiceOf = (value: unknown, field: string): ToolChoice => {
  if (value === "auto" || value === "none" || value === "required") return value
  const choice = Json.object(value, field)
  if (choice.type === "allowed_tools")
    return Json.isObject(choice.allowed_tools) && choice.allowed_tools.mode === "required" ? "required" : "auto"
  const named = Json.object(choice.function, `${field}.function`)
  return { name: Json.text(named.name, `${field}.function.name`) }
}

/** The tools that a choice leaves. */
const allowed = (tools: ReadonlyArray<ToolDefinition>, choice: unknown): ReadonlyArray<ToolDefinition> => {
  if (!Json.isObject(choice) || choice.type !== "allowed_tools") return tools
  const of = "tool_choice.allowed_tools"
  const left = Json.list(Json.object(choice.allowed_tools, of).tools, `${of}.tools`)
  const names = left.map((tool, at) => {
    const named = Json.object(tool, `${of}.tools[${at}]`)
    return Json.isObject(named.function) ? named.function.name : undefined
  })
  return tools.filter(({ name }) => names.includes(name))
}

const outputOf = (value: unknown, field: string): Output | undefined => {
  const format = Json.object(value, field)
  switch (format.type) {
    case "text":
      return undefined
    case "json_object":
      return { type: "json" }
    case "json_schema": {
      const of = `${field}.json_schema`
      const shape = Json.object(format.json_schema, of)
      return {
        type: "json-schema",
        name: Json.text(shape.name, `${of}.name`),
        description: Json.optional(shape.description, `${of}.description`, Json.text),
        schema: Json.optional(shape.schema, `${of}.schema`, Json.object) ?? {},
        strict: Json.optional(shape.strict, `${of}.strict`, Json.flag)
      }
    }
    default:
      throw invalid(`${field}.type`, `${field}.type must be text, json_object or json_schema.`)
  }
}

const stopsOf = (value: unknown, field: string): ReadonlyArray<string> =>
  (typeof value === "string"
    ? [value]
    : Json.list(value, field).map((stop, at) => Json.text(stop, `${field}[${at}]`))
  ).filter((stop) => stop !== "")

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Reads a request. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  const model = Json.text(body.model, "model")
  const answers = Json.optional(body.n, "n", Json.whole(1)) ?? 1
  if (answers > 1) throw invalid("n", "n must be 1: a team gives one answer. Send the request again for another.")
  if (body.logprobs === true) {
    throw invalid("logprobs", "logprobs must be false: a team has no probabilities of its answer's tokens.")
  }
  const tools = Json.optional(body.tools, "tools", Json.list) ?? []
  return {
    model,
    messages: messagesOf(body.messages),
    tools: allowed(
      tools.flatMap((tool, at) => toolOf(tool, `tools[${at}]`)),
      body.tool_choice
    ),
    toolChoice: Json.optional(body.tool_choice, "tool_choice", toolChoiceOf),
    parallelToolCalls: Json.optional(body.parallel_tool_calls, "parallel_tool_calls", Json.flag),
    output: Json.optional(body.response_format, "response_format", outputOf),
    settings: {
      maxOutputTokens:
        Json.optional(body.max_completion_tokens, "max_completion_tokens", Json.whole(1)) ??
        Json.optional(body.max_tokens, "max_tokens", Json.whole(1)),
      temperature: Json.optional(body.temperature, "temperature", Json.number(0, 2)),
      seed: Json.optional(body.seed, "seed", Json.whole(Number.MIN_SAFE_INTEGER)),
      stopSequences: Json.optional(body.stop, "stop", stopsOf),
      reasoning: OpenAi.reasoningOf(Json.optional(body.reasoning_effort, "reasoning_effort", Json.text))
    },
    choice: Choice.read(model, body, headers),
    // Nothing in a message of this wire comes back as it was.
    seals: [],
    carriesState: false,
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false
  }
}
