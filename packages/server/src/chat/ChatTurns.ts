/** Parses the messages of a Chat Completions request. */
import type { ToolCall } from "@divisi/core/Message"
import * as Conversation from "../turns/Conversation.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import * as Tools from "../wire/Tools.ts"

/** Returns the name and arguments of a call, in nested or flat form. The input of a custom tool is free-form text. */
const calledOf = (call: Json.JsonObject, field: string): Pick<ToolCall, "name" | "arguments"> => {
  const of = call.type === "custom" ? "custom" : "function"
  const isFlat = call[of] === undefined && call.name !== undefined
  const called = isFlat ? call : Json.object(call[of], `${field}.${of}`)
  return {
    name: Json.name(called.name, isFlat ? `${field}.name` : `${field}.${of}.name`),
    arguments:
      of === "custom"
        ? Tools.inputArguments(called.input)
        : Tools.argumentsOf(called.arguments ?? called.args ?? called.input ?? called.parameters)
  }
}

/** Whether a value means "no call": an empty object, an empty string, or `false`. */
const isNone = (value: unknown): boolean =>
  value === "" || value === false || (Json.isObject(value) && Object.keys(value).length === 0)

/** Normalizes calls to a list. Some clients send a single call without a list. */
const listOf = (value: unknown, field: string): ReadonlyArray<unknown> =>
  isNone(value) ? [] : Json.isObject(value) ? [value] : Json.items(value, field)

/** Parses the calls in an assistant message. The legacy `function_call` has no id, so its position is used instead. */
const callsOf = (
  { names }: Conversation.Conversation,
  message: Json.JsonObject,
  field: string
): ReadonlyArray<ToolCall> => {
  const calls = Json.optional(message.tool_calls, `${field}.tool_calls`, listOf) ?? []
  const callOf = (value: unknown, place: string): ToolCall => {
    const call = Json.object(value, place)
    const { arguments: given, name } = calledOf(call, place)
    const id = Json.optional(call.id, `${place}.id`, Json.name) ?? place
    return { id, name: Tools.workerName(names, name), arguments: given }
  }
  const given = calls.flatMap((call, at) => (call === null ? [] : [callOf(call, `${field}.tool_calls[${at}]`)]))
  if (given.length > 0) return given
  if (isNone(message.function_call)) return []
  const legacy = Json.optional(message.function_call, `${field}.function_call`, Json.object)
  if (legacy === undefined) return []
  const name = Json.name(legacy.name, `${field}.function_call.name`)
  return [{ id: field, name: Tools.workerName(names, name), arguments: Tools.argumentsOf(legacy.arguments) }]
}

const addResult = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string): void =>
  Conversation.addResult(
    conversation,
    {
      callId: Json.optional(
        message.tool_call_id ?? message.tool_use_id ?? message.toolCallId ?? message.call_id,
        `${field}.tool_call_id`,
        Json.name
      ),
      tool: Json.optional(message.name, `${field}.name`, Json.name),
      content: Content.read(
        message.content ?? message.output ?? message.result,
        `${field}.content`,
        conversation.reading,
        "tool"
      )
    },
    field
  )

/** Appends a message to the conversation. Throws an `ApiError` if the message is invalid. */
export const add = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string): void => {
  const { messages, reading } = conversation
  const { content, refusal, role } = message
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
