/** Reads requests of Anthropic's Messages. */
import type { AssistantMessage, ContentPart, Message, ToolMessage } from "@divisi/core/Message"
import type { Output, ToolChoice, ToolDefinition } from "@divisi/core/Tool"
import type { Reasoning } from "@divisi/core/Worker"
import { isReadonlyArrayNonEmpty } from "effect/Array"
import { invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import type { Request } from "../wire/Wire.ts"
import { contentOf, partOf, partsOf } from "./MessagesContent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

/** The blocks of a content; a text is one. */
const blocksOf = (content: unknown, field: string): ReadonlyArray<Json.JsonObject> =>
  typeof content === "string"
    ? [{ type: "text", text: content }]
    : Json.list(content, field).map((block, at) => Json.object(block, `${field}.${at}`))

/** What was said and asked for. Thinking is this server's own notes, and a vendor's own tools have run: both are past. */
const assistantOf = (content: unknown, field: string): AssistantMessage => {
  const blocks = blocksOf(content, field)
  const said = blocks.flatMap((block, at) =>
    block.type === "text" ? [Json.text(block.text, `${field}.${at}.text`)] : []
  )
  const toolCalls = blocks.flatMap((block, at) => {
    if (block.type !== "tool_use") return []
    const id = Json.text(block.id, `${field}.${at}.id`)
    return [{ id, name: Json.text(block.name, `${field}.${at}.name`), arguments: JSON.stringify(block.input ?? {}) }]
  })
  const message = { role: "assistant", content: said.join("\n") } as const
  return toolCalls.length === 0 ? message : { ...message, toolCalls }
}

const resultOf = (block: Json.JsonObject, field: string, tools: ReadonlyMap<string, string>): ToolMessage => {
  const callId = Json.text(block.tool_use_id, `${field}.tool_use_id`)
  const name = tools.get(callId)
  if (name === undefined) {
    throw invalid(field, `${field} is the result of the tool_use ${callId}, which no message before it has.`)
  }
  const content = contentOf(Json.optional(block.content, `${field}.content`, partsOf) ?? [])
  const isError = Json.optional(block.is_error, `${field}.is_error`, Json.flag)
  return isError === true ? { role: "tool", callId, name, content, isError } : { role: "tool", callId, name, content }
}

/** What an agent says beside results for the model to know, and no person has said. */
const isReminder = (part: ContentPart): boolean =>
  part.type === "text" && /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/.test(part.text)

/** Adds what belongs to the result before it; `undefined` where no result is there. */
const besideResult = (
  messages: ReadonlyArray<Message>,
  more: ReadonlyArray<ContentPart>
): ReadonlyArray<Message> | undefined => {
  const last = messages.at(-1)
  if (last?.role !== "tool") return undefined
  const parts = typeof last.content === "string" ? [{ type: "text" as const, text: last.content }] : last.content
  return [...messages.slice(0, -1), { ...last, content: contentOf([...parts, ...more]) }]
}

/** A user's turn: the results of tools, and what is said. */
const userOf = (content: unknown, field: string, tools: ReadonlyMap<string, string>): ReadonlyArray<Message> => {
  const blocks = blocksOf(content, field)
  const results = blocks.flatMap((block, at) =>
    block.type === "tool_result" ? [resultOf(block, `${field}.${at}`, tools)] : []
  )
  const said = blocks.flatMap((block, at) => (block.type === "tool_result" ? [] : partOf(block, `${field}.${at}`)))
  if (said.length === 0 && results.length > 0) return results
  const isReminded = said.length > 0 && said.every(isReminder)
  const joined = isReminded ? besideResult(results, said) : undefined
  return joined ?? [...results, { role: "user", content: contentOf(said) }]
}

/** Rules stand before what the user says, which is the last that a worker reads. */
const withRules = (messages: ReadonlyArray<Message>, content: string): ReadonlyArray<Message> => {
  const last = messages.at(-1)
  return last?.role === "user"
    ? [...messages.slice(0, -1), { role: "system", content }, last]
    : [...messages, { role: "system", content }]
}

/** The messages so far, and one more. */
const withMessage = (
  messages: ReadonlyArray<Message>,
  value: unknown,
  field: string,
  tools: Map<string, string>
): ReadonlyArray<Message> => {
  const { content, role } = Json.object(value, field)
  switch (role) {
    case "user":
      return [...messages, ...userOf(content, `${field}.content`, tools)]
    case "assistant": {
      const message = assistantOf(content, `${field}.content`)
      for (const { id, name } of message.toolCalls ?? []) tools.set(id, name)
      return [...messages, message]
    }
    case "system": {
      const parts = partsOf(content, `${field}.content`)
      return besideResult(messages, parts) ?? withRules(messages, systemOf(content, `${field}.content`))
    }
    default:
      throw invalid(`${field}.role`, `${field}.role must be user, assistant or system.`)
  }
}

const systemOf = (value: unknown, field: string): string =>
  partsOf(value, field)
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("\n")

const messagesOf = (body: Json.JsonObject): Request["messages"] => {
  const system = Json.optional(body.system, "system", systemOf) ?? ""
  const tools = new Map<string, string>()
  const said = Json.list(body.messages, "messages").reduce<ReadonlyArray<Message>>(
    (messages, message, at) => withMessage(messages, message, `messages.${at}`, tools),
    []
  )
  if (!isReadonlyArrayNonEmpty(said)) throw invalid("messages", "messages must have at least one message.")
  return system === "" ? said : [{ role: "system", content: system }, ...said]
}

// -------------------------------------------------------------------------------------------------------------------
// Tools and shapes
// -------------------------------------------------------------------------------------------------------------------

/** A tool that this server can pass on; those whose schema a vendor's model alone knows are left out. */
const toolOf = (value: unknown, field: string): ReadonlyArray<ToolDefinition> => {
  const tool = Json.object(value, field)
  if ((tool.type ?? "custom") !== "custom") return []
  return [
    {
      name: Json.text(tool.name, `${field}.name`),
      description: Json.optional(tool.description, `${field}.description`, Json.text),
      input: Json.object(tool.input_schema, `${field}.input_schema`),
      strict: Json.optional(tool.strict, `${field}.strict`, Json.flag)
    }
  ]
}

const toolChoiceOf = (value: unknown, field: string): ToolChoice => {
  const choice = Json.object(value, field)
  switch (choice.type) {
    case "auto":
    case "none":
      return choice.type
    case "any":
      return "required"
    case "tool":
      return { name: Json.text(choice.name, `${field}.name`) }
    default:
      throw invalid(`${field}.type`, `${field}.type must be auto, any, tool or none.`)
  }
}

const parallelOf = (value: unknown): boolean | undefined =>
  Json.isObject(value) && value.disable_parallel_tool_use === true ? false : undefined

const outputOf = (value: unknown, field: string): Output => {
  const format = Json.object(value, field)
  if (format.type !== "json_schema") throw invalid(`${field}.type`, `${field}.type must be json_schema.`)
  return { type: "json-schema", name: "answer", schema: Json.object(format.schema, `${field}.schema`) }
}

/** The states of runs that blocks of thinking carry. */
const sealsIn = (messages: unknown): ReadonlyArray<string> =>
  (Array.isArray(messages) ? messages : [])
    .flatMap((message): ReadonlyArray<unknown> => (Array.isArray(message?.content) ? message.content : []))
    .flatMap((block) =>
      Json.isObject(block) && block.type === "redacted_thinking" && typeof block.data === "string" ? [block.data] : []
    )

// -------------------------------------------------------------------------------------------------------------------
// Thinking
// -------------------------------------------------------------------------------------------------------------------

const thinkingOf = (value: unknown, effort: string | undefined): Reasoning | undefined => {
  if (!Json.isObject(value)) return OpenAi.reasoningOf(effort)
  if (value.type === "disabled") return { type: "off" }
  if (value.type === "enabled") {
    return { type: "budget", tokens: Json.whole(1)(value.budget_tokens, "thinking.budget_tokens") }
  }
  return OpenAi.reasoningOf(effort)
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Reads what both a message and a count of tokens begin with. Throws an `ApiError`. */
export const readCounted = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  const model = Json.text(body.model, "model")
  const tools = Json.optional(body.tools, "tools", Json.list) ?? []
  const output = Json.isObject(body.output_config) ? body.output_config : {}
  const effort = Json.optional(output.effort, "output_config.effort", Json.text)
  return {
    model,
    messages: messagesOf(body),
    tools: tools.flatMap((tool, at) => toolOf(tool, `tools.${at}`)),
    toolChoice: Json.optional(body.tool_choice, "tool_choice", toolChoiceOf),
    parallelToolCalls: parallelOf(body.tool_choice),
    output: Json.optional(output.format, "output_config.format", outputOf),
    settings: {
      maxOutputTokens: Json.optional(body.max_tokens, "max_tokens", Json.whole(1)),
      temperature: Json.optional(body.temperature, "temperature", Json.number(0, 1)),
      stopSequences: Json.optional(body.stop_sequences, "stop_sequences", (stops, field) =>
        Json.list(stops, field).map((stop, at) => Json.text(stop, `${field}.${at}`))
      )?.filter((stop) => stop !== ""),
      reasoning: thinkingOf(body.thinking, effort)
    },
    choice: Choice.read(model, body, headers),
    seals: sealsIn(body.messages),
    // Blocks of thinking come back as they are, also from clients that show nothing of it.
    carriesState: Json.isObject(body.thinking) && body.thinking.type !== "disabled",
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false
  }
}

/** Reads a request. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  Json.whole(1)(body.max_tokens, "max_tokens")
  return readCounted(body, headers)
}
