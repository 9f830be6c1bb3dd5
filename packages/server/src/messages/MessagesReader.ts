/** Reads requests of Anthropic's Messages. */
import type {
  AssistantMessage,
  ContentPart,
  Message,
  Content as MessageContent,
  ToolCall,
  ToolMessage
} from "@divisi/core/Message"
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

type Blocks = ReadonlyArray<Json.JsonObject>

/** The blocks of a content; a text is one, and `null` is none. */
const blocksOf = (content: unknown, field: string): Blocks => {
  if (content === undefined || content === null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (Json.isObject(content) && typeof content.type === "string") return [content]
  return Json.list(content, field).flatMap((block, at) => {
    if (block === null) return []
    return [typeof block === "string" ? { type: "text", text: block } : Json.object(block, `${field}.${at}`)]
  })
}

const isResult = ({ type }: Json.JsonObject): boolean => type === "tool_result"

const callOf = (block: Json.JsonObject, field: string): ToolCall => ({
  id: Json.name(block.id, `${field}.id`),
  name: Json.name(block.name, `${field}.name`),
  arguments: Tools.argumentsOf(block.input)
})

/** Results of tools that the vendor has run, as text: a worker that continues needs to know them. */
const vendorResult = (block: Json.JsonObject): string => {
  const text = typeof block.content === "string" ? block.content : JSON.stringify(block.content ?? null)
  return `[${block.type}]\n${text}`
}

const isVendorResult = ({ type }: Json.JsonObject): boolean => typeof type === "string" && type.endsWith("_tool_result")

/** Calls of tools that the vendor has run: their results follow as text. */
const vendorCalls = new Set<unknown>(["server_tool_use", "mcp_tool_use"])

const assistantOf = (content: unknown, field: string, reading: Reading.Reading): AssistantMessage => {
  const blocks = blocksOf(content, field)
  const said = blocks.flatMap((block, at) => {
    if (block.type === "tool_use") return []
    if (isVendorResult(block)) return [vendorResult(block)]
    if (vendorCalls.has(block.type)) return []
    return Content.textOf([block], `${field}.${at}`, reading, "assistant") || []
  })
  const toolCalls = blocks.flatMap((block, at) => (block.type === "tool_use" ? [callOf(block, `${field}.${at}`)] : []))
  const message = { role: "assistant", content: said.join("\n") } as const
  return toolCalls.length === 0 ? message : { ...message, toolCalls }
}

const resultOf = (
  block: Json.JsonObject,
  field: string,
  reading: Reading.Reading,
  tools: ReadonlyMap<string, string>
): ToolMessage => {
  const callId = Json.name(block.tool_use_id, `${field}.tool_use_id`)
  const name = tools.get(callId)
  if (name === undefined) {
    throw invalid(field, `${field} is the result of the tool_use ${callId}, which no message before it has.`)
  }
  const content = Content.read(block.content, `${field}.content`, reading, "tool")
  const isError = Json.optional(block.is_error, `${field}.is_error`, Json.flag)
  return isError === true ? { role: "tool", callId, name, content, isError } : { role: "tool", callId, name, content }
}

/** What an agent says beside results for the model to know, and no person has said. */
const isReminder = (part: ContentPart): boolean =>
  part.type === "text" && /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/.test(part.text)

/** Adds what belongs to the result before it; `false` where no result is there. */
const addBeside = (messages: Array<Message>, more: ReadonlyArray<ContentPart>): boolean => {
  const last = messages.at(-1)
  if (last?.role !== "tool") return false
  const added = Content.contentOf(more)
  const content =
    typeof last.content === "string" && typeof added === "string"
      ? // One after another, so that many of them are not written again and again.
        `${last.content}\n${added}`
      : Content.contentOf([...partsOf(last.content), ...more])
  messages[messages.length - 1] = { ...last, content }
  return true
}

const partsOf = (content: MessageContent): ReadonlyArray<ContentPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content

/** Adds a user's turn: the results of tools, and what is said. */
const addUser = (
  messages: Array<Message>,
  content: unknown,
  field: string,
  reading: Reading.Reading,
  tools: ReadonlyMap<string, string>
): void => {
  const blocks = blocksOf(content, field)
  const results = blocks.flatMap((block, at) =>
    isResult(block) ? [resultOf(block, `${field}.${at}`, reading, tools)] : []
  )
  const said = blocks.flatMap((block, at) =>
    isResult(block) ? [] : Content.partOf(block, `${field}.${at}`, reading, "user")
  )
  for (const result of results) messages.push(result)
  if (said.length === 0 && results.length > 0) return
  const isReminded = results.length > 0 && said.length > 0 && said.every(isReminder)
  if (!isReminded || !addBeside(messages, said)) messages.push({ role: "user", content: Content.contentOf(said) })
}

/** Adds rules before what the user says, which is the last that a worker reads. */
const addRules = (messages: Array<Message>, content: string): void => {
  const isAsked = messages.at(-1)?.role === "user"
  messages.splice(isAsked ? messages.length - 1 : messages.length, 0, { role: "system", content })
}

/** Adds a message to those so far: there may be very many. */
const addMessage = (
  messages: Array<Message>,
  value: unknown,
  field: string,
  reading: Reading.Reading,
  tools: Map<string, string>
): void => {
  if (value === null) return
  const { content, role } = Json.object(value, field)
  switch (role) {
    case "user":
      addUser(messages, content, `${field}.content`, reading, tools)
      return
    case "assistant": {
      const message = assistantOf(content, `${field}.content`, reading)
      for (const { id, name } of message.toolCalls ?? []) tools.set(id, name)
      messages.push(message)
      return
    }
    case "developer":
    case "system": {
      const parts = Content.partsOf(content, `${field}.content`, reading, "system")
      const rules = Content.textOf(content, `${field}.content`, reading, "system")
      if (!addBeside(messages, parts)) addRules(messages, rules)
      return
    }
    default:
      throw invalid(`${field}.role`, `${field}.role must be user, assistant or system.`)
  }
}

const messagesOf = (body: Json.JsonObject, reading: Reading.Reading): Request["messages"] => {
  const system = Content.textOf(body.system, "system", reading, "system")
  const tools = new Map<string, string>()
  const said: Array<Message> = []
  for (const [at, message] of Json.list(body.messages, "messages").entries()) {
    addMessage(said, message, reading.at("messages", at), reading, tools)
  }
  if (!isArrayNonEmpty(said)) throw invalid("messages", "messages must have at least one message.")
  return system === "" ? said : [{ role: "system", content: system }, ...said]
}

/** The states of runs that blocks of thinking carry. */
const sealsIn = (messages: unknown): ReadonlyArray<string> =>
  (Array.isArray(messages) ? messages : [])
    .flatMap((message): ReadonlyArray<unknown> => (Array.isArray(message?.content) ? message.content : []))
    .flatMap((block) =>
      Json.isObject(block) && block.type === "redacted_thinking" && typeof block.data === "string" ? [block.data] : []
    )

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Reads what both a message and a count of tokens begin with. Throws an `ApiError`. */
export const readCounted = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  const reading = Reading.make(Reading.dotted)
  const model = Json.name(body.model, "model")
  const { toolChoice, tools } = Tools.read(body, reading)
  return {
    model,
    messages: messagesOf(body, reading),
    tools: tools.map(({ definition }) => definition),
    toolChoice,
    parallelToolCalls: Preferences.parallelToolCalls(body, reading),
    output: Shape.read(body),
    settings: Preferences.read(body, reading, 1),
    choice: Choice.read(model, body, headers),
    seals: sealsIn(body.messages),
    // Blocks of thinking come back as they are, also from clients that show nothing of it.
    carriesState: Json.isObject(body.thinking) && body.thinking.type !== "disabled",
    isStreamed: Json.optional(body.stream, "stream", Json.flag) ?? false,
    notices: reading.notices
  }
}

/** Reads a request. `max_tokens` has to be there, as at Anthropic. Throws an `ApiError`. */
export const read = (body: Json.JsonObject, headers: Choice.Headers): Request => {
  if (body.max_tokens === undefined || body.max_tokens === null) Json.whole(1)(body.max_tokens, "max_tokens")
  return readCounted(body, headers)
}
