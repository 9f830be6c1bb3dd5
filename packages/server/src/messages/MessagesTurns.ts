/** Parses the messages of a Messages request, which consist of content blocks. */
import type { ContentPart, Message, ToolCall } from "@divisi/core/Message"
import * as Conversation from "../turns/Conversation.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import * as Tools from "../wire/Tools.ts"

type Blocks = ReadonlyArray<Json.JsonObject>

/** Returns content as a list of blocks. A string becomes one block, `null` an empty list. */
const blocksOf = (content: unknown, field: string): Blocks => {
  if (content === undefined || content === null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (Json.isObject(content) && typeof content.type === "string") return [content]
  return Json.items(content, field).flatMap((block, at) => {
    if (block === null) return []
    return [typeof block === "string" ? { type: "text", text: block } : Json.object(block, `${field}.${at}`)]
  })
}

const isResult = ({ type }: Json.JsonObject): boolean => type === "tool_result"

const callOf = ({ names }: Conversation.Conversation, block: Json.JsonObject, field: string): ToolCall => ({
  id: Json.optional(block.id, `${field}.id`, Json.name) ?? field,
  name: Tools.workerName(names, Json.name(block.name, `${field}.name`)),
  arguments: Tools.argumentsOf(block.input)
})

/** Converts the result of a vendor-executed tool to text, so that the next worker can read it. */
const vendorResult = (block: Json.JsonObject): string => {
  const text = typeof block.content === "string" ? block.content : JSON.stringify(block.content ?? null)
  return `[${block.type}]\n${text}`
}

const isVendorResult = ({ type }: Json.JsonObject): boolean => typeof type === "string" && type.endsWith("_tool_result")

/**
 * Block types for calls of vendor-executed tools. The calls are skipped, because their results are included as text.
 */
const vendorCalls = new Set<unknown>(["server_tool_use", "mcp_tool_use"])

const addAssistant = (conversation: Conversation.Conversation, content: unknown, field: string): void => {
  const { reading } = conversation
  const blocks = blocksOf(content, field)
  const said = blocks.flatMap((block, at) => {
    if (block.type === "tool_use") return []
    if (isVendorResult(block)) return [vendorResult(block)]
    if (vendorCalls.has(block.type)) return []
    return Content.textOf([block], `${field}.${at}`, reading, "assistant") || []
  })
  const calls = blocks.flatMap((block, at) =>
    block.type === "tool_use" ? [callOf(conversation, block, `${field}.${at}`)] : []
  )
  Conversation.addAssistant(conversation, said.join("\n"), calls)
}

const addResult = (conversation: Conversation.Conversation, block: Json.JsonObject, field: string): void =>
  Conversation.addResult(
    conversation,
    {
      callId: Json.optional(block.tool_use_id, `${field}.tool_use_id`, Json.name),
      tool: Json.optional(block.name, `${field}.name`, Json.name),
      content: Content.read(block.content, `${field}.content`, conversation.reading, "tool"),
      isError: Json.optional(block.is_error, `${field}.is_error`, Json.flag)
    },
    field
  )

/** Whether a part is a reminder that an agent inserted for the model, rather than text written by the user. */
const isReminder = (part: ContentPart): boolean =>
  part.type === "text" && /^\s*<system-reminder>[\s\S]*<\/system-reminder>\s*$/.test(part.text)

/** Appends parts to the preceding tool result. Returns `false` if the last message is not a tool result. */
const addBeside = (messages: Array<Message>, more: ReadonlyArray<ContentPart>): boolean => {
  const last = messages.at(-1)
  if (last?.role !== "tool") return false
  const added = Content.contentOf(more)
  const content =
    typeof last.content === "string" && typeof added === "string"
      ? // One after another, so that many of them are not written again and again.
        `${last.content}\n${added}`
      : Content.contentOf([...Content.listOf(last.content), ...more])
  messages[messages.length - 1] = { ...last, content }
  return true
}

/** Appends a user turn, which may contain tool results and text. */
const addUser = (conversation: Conversation.Conversation, content: unknown, field: string): void => {
  const { messages, reading } = conversation
  const blocks = blocksOf(content, field)
  const said: Array<ContentPart> = []
  let results = 0
  for (const [at, block] of blocks.entries()) {
    if (!isResult(block)) said.push(...Content.partOf(block, `${field}.${at}`, reading, "user"))
    else {
      addResult(conversation, block, `${field}.${at}`)
      results += 1
    }
  }
  if (said.length === 0 && results > 0) return
  const isReminded = results > 0 && said.length > 0 && said.every(isReminder)
  if (!isReminded || !addBeside(messages, said)) messages.push({ role: "user", content: Content.contentOf(said) })
}

/** Inserts a system message before the last user message, so that the worker still reads the user's message last. */
const addRules = (messages: Array<Message>, content: string): void => {
  const isAsked = messages.at(-1)?.role === "user"
  messages.splice(isAsked ? messages.length - 1 : messages.length, 0, { role: "system", content })
}

/** Appends a message to the conversation. Throws an `ApiError` if the message is invalid. */
export const add = (conversation: Conversation.Conversation, message: Json.JsonObject, field: string): void => {
  const { messages, reading } = conversation
  const { content, role } = message
  switch (role) {
    case "user":
    case "tool":
    case "function":
      addUser(conversation, content, `${field}.content`)
      return
    case "assistant":
      addAssistant(conversation, content, `${field}.content`)
      return
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
