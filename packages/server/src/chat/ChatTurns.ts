/** Reads the messages of Chat Completions. */
import type { ToolCall } from "@divisi/core/Message"
import * as Conversation from "../turns/Conversation.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import * as Tools from "../wire/Tools.ts"

/** The name and arguments of a call, nested or flat; a custom tool has an input of any text. */
const calledOf = (call: Json.JsonObject, field: string): Pick<ToolCall, "name" | "arguments"> => {
  const of = call.type === "custom" ? "custom" : "function"
  const isFlat = call[of] === undefined && call.name !== undefined
  const called = isFlat ? call : Json.object(call[of], `${field}.${of}`)
  return {
    name: Json.name(called.name, isFlat ? `${field}.name` : `${field}.${of}.name`),
    arguments: of === "custom" ? Tools.inputArguments(called.input) : Tools.argumentsOf(called.arguments)
  }
}

/** The calls of an assistant's message. The legacy `function_call` has no id, so its place stands for it. */
const callsOf = (
  { names }: Conversation.Conversation,
  message: Json.JsonObject,
  field: string
): ReadonlyArray<ToolCall> => {
  const isNone = Json.isObject(message.tool_calls) && Object.keys(message.tool_calls).length === 0
  const calls = isNone ? [] : (Json.optional(message.tool_calls, `${field}.tool_calls`, Json.list) ?? [])
  const callOf = (value: unknown, place: string): ToolCall => {
    const call = Json.object(value, place)
    const { arguments: given, name } = calledOf(call, place)
    const id = Json.optional(call.id, `${place}.id`, Json.name) ?? place
    return { id, name: Tools.workerName(names, name), arguments: given }
  }
  const given = calls.flatMap((call, at) => (call === null ? [] : [callOf(call, `${field}.tool_calls[${at}]`)]))
  if (given.length > 0) return given
  const legacy = Json.optional(message.function_call, `${field}.function_call`, Json.object)
  if (legacy === undefined) return []
  const name = Json.name(legacy.name, `${field}.function_call.name`)
  return [{ id: field, name: Tools.workerName(names, name), arguments: Tools.argumentsOf(legacy.arguments) }]
}

const addResult = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string): void =>
  Conversation.addResult(
    conversation,
    {
      callId: Json.optional(message.tool_call_id ?? message.tool_use_id, `${field}.tool_call_id`, Json.name),
      tool: Json.optional(message.name, `${field}.name`, Json.name),
      content: Content.read(message.content, `${field}.content`, conversation.reading, "tool")
    },
    field,
    (call) => `${field} answers tool call ${call}, but no earlier message contains that call.`
  )

/** Roles by the names of other vendors and of LangChain. */
const roles: Readonly<Record<string, string>> = { human: "user", ai: "assistant", model: "assistant", bot: "assistant" }

const roleOf = (role: unknown): unknown => {
  const name = typeof role === "string" ? role.toLowerCase() : role
  return typeof name === "string" && Object.hasOwn(roles, name) ? roles[name] : name
}

/** Adds a message. Throws an `ApiError`. */
export const add = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string): void => {
  const { messages, reading } = conversation
  const { content, refusal } = message
  const role = roleOf(message.role)
  switch (role) {
    case "system":
    case "developer":
      messages.push({ role, content: Content.textOf(content, `${field}.content`, reading, "system") })
      return
    case "user":
      messages.push({ role: "user", content: Content.read(content, `${field}.content`, reading, "user") })
      return
    case "assistant": {
      const said = Content.textOf(content ?? refusal, `${field}.content`, reading, "assistant")
      Conversation.addAssistant(conversation, said, callsOf(conversation, message, field))
      return
    }
    case "tool":
    case "function":
      addResult(conversation, message, field)
      return
    default:
      throw invalid(`${field}.role`, `${field}.role must be system, developer, user, assistant or tool.`)
  }
}
