/**
 * Converts input items of the Responses API to messages. Calls of tools that OpenAI executes, or that only OpenAI's
 * models support (`local_shell`, `apply_patch`, MCP), become regular tool calls and results with that name, so that
 * workers can read them. Source: https://developers.openai.com/api/reference/resources/responses.
 */

import { Options } from "@divisi/core"
import type { Message, ToolCall } from "@divisi/core/Message"
import * as SegmentParts from "../segment/SegmentParts.ts"
import * as Conversation from "../turns/Conversation.ts"
import { invalid } from "../wire/ApiError.ts"
import * as Content from "../wire/Content.ts"
import * as Json from "../wire/Json.ts"
import type { Reading } from "../wire/Reading.ts"
import * as Tools from "../wire/Tools.ts"
import { isTrigger, summaryOf } from "./CompactionItem.ts"

type Adding = Conversation.Conversation

// -------------------------------------------------------------------------------------------------------------------
// Messages
// -------------------------------------------------------------------------------------------------------------------

/**
 * Whether an item is a progress note from this server, which clients send back as part of the conversation. Notes are
 * not worker output, so they are skipped.
 */
const isOwnNote = ({ content, phase, role }: Json.JsonObject, field: string, reading: Reading): boolean =>
  role === "assistant" &&
  phase === "commentary" &&
  SegmentParts.isNote(Content.textOf(content, `${field}.content`, reading, "assistant"))

const messageOf = (item: Json.JsonObject, field: string, reading: Reading): Message => {
  const { content, role } = item
  switch (role) {
    case "user":
      return { role, content: Content.read(content, `${field}.content`, reading, "user") }
    case "system":
    case "developer":
    case "assistant": {
      const from = role === "assistant" ? "assistant" : "system"
      return { role, content: Content.textOf(content, `${field}.content`, reading, from) }
    }
    default:
      throw invalid(`${field}.role`, `${field}.role must be user, assistant, system or developer.`)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Tools of the client
// -------------------------------------------------------------------------------------------------------------------

const callOf = ({ names }: Adding, item: Json.JsonObject, field: string): ToolCall => {
  const namespace = Json.optional(item.namespace, `${field}.namespace`, Json.name)
  return {
    id: Json.optional(item.call_id ?? item.id, `${field}.call_id`, Json.name) ?? field,
    name: Tools.workerName(names, Json.name(item.name, `${field}.name`), namespace),
    arguments: item.type === "custom_tool_call" ? Tools.inputArguments(item.input) : Tools.argumentsOf(item.arguments)
  }
}

const addResult = (conversation: Adding, item: Json.JsonObject, output: unknown, field: string): void =>
  Conversation.addResult(
    conversation,
    {
      callId: Json.name(item.call_id ?? item.id, `${field}.call_id`),
      content: Content.read(output, `${field}.output`, conversation.reading, "tool")
    },
    field
  )

// -------------------------------------------------------------------------------------------------------------------
// Tools of the vendor
// -------------------------------------------------------------------------------------------------------------------

/** Fields that describe the item itself rather than its call. */
const aboutItem = new Set(["type", "id", "call_id", "status", "agent", "created_by", "name", "server_label"])

/** Fields that contain the result of a call, if it is part of the same item. */
const resultFields = ["output", "outputs", "results", "error"] as const

const without = (item: Json.JsonObject, names: ReadonlySet<string>): Json.JsonObject =>
  Object.fromEntries(Object.entries(item).filter(([name]) => !names.has(name)))

/**
 * Returns a name for a vendor tool that is valid for all vendors: letters, digits, `_` and `-`, up to 64 characters.
 */
const vendorName = ({ name, server_label, type }: Json.JsonObject): string =>
  [server_label, name ?? (type as string).replace(/_call$/, "")]
    .filter((part) => typeof part === "string")
    .join("__")
    .replace(/[^A-Za-z0-9_-]/g, "_")
    .slice(0, 64)

/** Adds the call of a vendor tool, and its result if the item contains one. */
const addVendorCall = (conversation: Adding, item: Json.JsonObject, field: string): void => {
  const { reading } = conversation
  const id = Json.optional(item.call_id ?? item.id, `${field}.call_id`, Json.name) ?? field
  const name = vendorName(item)
  const given = without(item, new Set([...aboutItem, ...resultFields]))
  const results = Object.fromEntries(resultFields.flatMap((key) => (item[key] == null ? [] : [[key, item[key]]])))
  const hasResult = Object.keys(results).length > 0
  if (item.call_id === undefined && !hasResult) {
    reading.notice(
      `${field} was omitted, because items of type ${Options.kindOf(item.type)} contain no content for workers.`
    )
    return
  }
  const args = typeof given.arguments === "string" ? given.arguments : JSON.stringify(given)
  Conversation.addCall(conversation, { id, name, arguments: args })
  if (!hasResult) return
  const [only] = Object.values(results)
  const output = Object.keys(results).length === 1 ? only : results
  const text = typeof output === "string" ? output : JSON.stringify(output)
  Conversation.addResult(conversation, { callId: id, content: text }, field)
}

/** Returns the result of a vendor tool that the client executed. */
const vendorOutput = (item: Json.JsonObject): unknown => {
  const { output } = item
  if (Json.isObject(output) && typeof output.image_url === "string") return [{ ...output, type: "input_image" }]
  const rest = without(item, new Set([...aboutItem, "output"]))
  return Object.keys(rest).length === 0 ? output : JSON.stringify({ ...rest, output })
}

// -------------------------------------------------------------------------------------------------------------------
// Items
// -------------------------------------------------------------------------------------------------------------------

/** Item types that workers do not need, and that clients send back in every request. */
const silent = new Set([
  "additional_tools",
  "reasoning",
  "item_reference",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response"
])

const addOther = (conversation: Adding, item: Json.JsonObject, field: string): void => {
  const type = typeof item.type === "string" ? item.type : ""
  if (silent.has(type)) return
  if (type.endsWith("_output")) addResult(conversation, item, vendorOutput(item), field)
  else if (type.endsWith("_call") && type !== "image_generation_call") addVendorCall(conversation, item, field)
  else
    conversation.reading.notice(
      `${field} was omitted, because items of type ${Options.kindOf(item.type)} are not supported.`
    )
}

/** Adds the summary that replaces all earlier items. Only the server that encrypted a summary can read it. */
const addSummary = ({ messages, reading }: Adding, item: Json.JsonObject, field: string): void => {
  const summary = summaryOf(item)
  if (summary === undefined) {
    reading.notice(`${field} was omitted, because it was encrypted by another server. Workers do not see its summary.`)
  } else messages.push({ role: "developer", content: `Summary of the conversation so far:\n${summary}` })
}

/** Adds an input item to the conversation. Throws an `ApiError` if the item is invalid. */
export const add = (conversation: Adding, item: Json.JsonObject, field: string): void => {
  const { messages, reading } = conversation
  switch (item.type ?? "message") {
    case "message":
      if (!isOwnNote(item, field, reading)) messages.push(messageOf(item, field, reading))
      return
    case "function_call":
    case "custom_tool_call":
      Conversation.addCall(conversation, callOf(conversation, item, field))
      return
    case "function_call_output":
    case "custom_tool_call_output":
      addResult(conversation, item, item.output ?? item.content, field)
      return
    case "compaction_trigger":
      return
    case "context_compaction":
      // Without content, the item is a request for compaction.
      if (!isTrigger(item)) addSummary(conversation, item, field)
      return
    case "compaction":
    // Codex uses both names for this item.
    case "compaction_summary":
      addSummary(conversation, item, field)
      return
    default:
      addOther(conversation, item, field)
  }
}
