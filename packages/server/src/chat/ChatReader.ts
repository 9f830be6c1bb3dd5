/** Reads requests of Chat Completions. */
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "@divisi/core/Message"
import { kindOf } from "@divisi/core/Options"
import { isArrayNonEmpty } from "effect/Array"
import { invalid } from "../wire/ApiError.ts"
import * as Choice from "../wire/Choice.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import * as Preferences from "../wire/Preferences.ts"
import * as Reading from "../wire/Reading.ts"
import * as Shape from "../wire/Shape.ts"
import * as Tools from "../wire/Tools.ts"
import type { Request } from "../wire/Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

/** The name and arguments of a call; a custom tool has an input of any text. */
const calledOf = (call: Json.JsonObject, field: string): Pick<ToolCall, "name" | "arguments"> => {
  const of = call.type === "custom" ? "custom" : "function"
  const called = Json.object(call[of], `${field}.${of}`)
  return {
    name: Json.name(called.name, `${field}.${of}.name`),
    arguments: of === "custom" ? Tools.inputArguments(called.input) : Tools.argumentsOf(called.arguments)
  }
}

const callOf = (value: unknown, field: string): ToolCall => {
  const call = Json.object(value, field)
  return { id: Json.optional(call.id, `${field}.id`, Json.name) ?? field, ...calledOf(call, field) }
}

/** The calls of an assistant's message. The legacy `function_call` has no id, so its place stands for it. */
const callsOf = (message: Json.JsonObject, field: string): ReadonlyArray<ToolCall> => {
  const isNone = Json.isObject(message.tool_calls) && Object.keys(message.tool_calls).length === 0
  const calls = isNone ? [] : (Json.optional(message.tool_calls, `${field}.tool_calls`, Json.list) ?? [])
  if (calls.length > 0) return calls.map((call, at) => callOf(call, `${field}.tool_calls[${at}]`))
  const legacy = Json.optional(message.function_call, `${field}.function_call`, Json.object)
  if (legacy === undefined) return []
  const name = Json.name(legacy.name, `${field}.function_call.name`)
  return [{ id: field, name, arguments: Tools.argumentsOf(legacy.arguments) }]
}

const assistantOf = (message: Json.JsonObject, field: string, reading: Reading.Reading): AssistantMessage => {
  const content = Content.textOf(message.content ?? message.refusal, `${field}.content`, reading, "assistant")
  const toolCalls = callsOf(message, field)
  return toolCalls.length === 0 ? { role: "assistant", content } : { role: "assistant", content, toolCalls }
}

/** The calls so far. */
interface Calls {
  /** The id of each with its tool. */
  readonly tools: Map<string, string>
  /** The last call of each tool: messages of the role `function`, and of some servers, name the tool instead of the call. */
  readonly last: Map<unknown, string>
  /** The ids of those without a result, in order: a result that names neither answers the first of them. */
  readonly open: Set<string>
}

const resultOf = (message: Json.JsonObject, field: string, reading: Reading.Reading, calls: Calls): ToolMessage => {
  const given = Json.optional(message.tool_call_id, `${field}.tool_call_id`, Json.name)
  const [first] = calls.open
  const callId = given ?? calls.last.get(message.name) ?? (message.name == null ? first : undefined)
  const name = callId === undefined ? undefined : calls.tools.get(callId)
  if (callId === undefined || name === undefined) {
    throw invalid(
      field,
      `${field} answers the tool call ${given ?? kindOf(message.name)}, which no message before it makes.`
    )
  }
  calls.open.delete(callId)
  return { role: "tool", callId, name, content: Content.read(message.content, `${field}.content`, reading, "tool") }
}

/** Roles by the names of other vendors and of LangChain. */
const roles: Readonly<Record<string, string>> = { human: "user", ai: "assistant", model: "assistant", bot: "assistant" }

const roleOf = (role: unknown): unknown => {
  const name = typeof role === "string" ? role.toLowerCase() : role
  return typeof name === "string" && Object.hasOwn(roles, name) ? roles[name] : name
}

const messageOf = (value: unknown, field: string, reading: Reading.Reading, calls: Calls): Message => {
  const message = Json.object(value, field)
  const role = roleOf(message.role)
  switch (role) {
    case "system":
    case "developer":
      return { role, content: Content.textOf(message.content, `${field}.content`, reading, "system") }
    case "user":
      return { role: "user", content: Content.read(message.content, `${field}.content`, reading, "user") }
    case "assistant":
      return assistantOf(message, field, reading)
    case "tool":
    case "function":
      return resultOf(message, field, reading, calls)
    default:
      throw invalid(`${field}.role`, `${field}.role must be system, developer, user, assistant or tool.`)
  }
}

const messagesOf = (value: unknown, reading: Reading.Reading): Request["messages"] => {
  const calls: Calls = { tools: new Map(), last: new Map(), open: new Set() }
  const messages = Json.list(value, "messages").flatMap((one, at): ReadonlyArray<Message> => {
    if (one === null) return []
    const message = messageOf(one, reading.at("messages", at), reading, calls)
    if (message.role !== "assistant") return [message]
    for (const { id, name } of message.toolCalls ?? []) {
      calls.tools.set(id, name)
      calls.last.set(name, id)
      calls.open.add(id)
    }
    return [message]
  })
  if (!isArrayNonEmpty(messages)) throw invalid("messages", "messages must have at least one message.")
  return messages
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Reads a request. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  const reading = Reading.make(Reading.bracketed)
  const model = Json.name(body.model, "model")
  const { toolChoice, tools } = Tools.read(body, reading)
  return {
    model,
    messages: messagesOf(body.messages, reading),
    tools: tools.map(({ definition }) => definition),
    toolChoice,
    // The legacy form has one call in an answer.
    parallelToolCalls: Tools.isLegacy(body) ? false : Preferences.parallelToolCalls(body, reading),
    output: Shape.read(body),
    settings: Preferences.read(body, reading, 2),
    choice: Choice.read(model, body, headers),
    // Nothing in a message of this wire comes back as it was.
    seals: [],
    carriesState: false,
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    notices: reading.notices
  }
}
