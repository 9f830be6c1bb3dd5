/**
 * Collects the messages and tool calls of a conversation during parsing. Each wire parses messages in its own format;
 * tool calls and results are handled here for all wires.
 *
 * Agents send calls without results after an interruption, results without calls after truncating their history, and
 * results that do not directly follow their call. Vendors reject all of these, so they are repaired.
 */

import type { Content, Message, ToolCall, ToolMessage } from "@divisi/core/Message"
import type { Reading } from "../wire/Reading.ts"
import type { Steps } from "../wire/Steps.ts"
import * as Tools from "../wire/Tools.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A conversation that is being parsed. Messages are appended to one mutable list, since there may be very many. */
export interface Conversation {
  readonly messages: Array<Message>
  readonly reading: Reading
  /** Maps the request's tool names to the names that workers use. */
  readonly names: Tools.Names
  /** Tool names by call id. */
  readonly calls: Map<string, string>
  /** The last call of each tool. A message with the role `function` names the tool instead of the call. */
  readonly last: Map<string, string>
  /**
   * Ids of the calls without a result, in order. A result that names neither a call nor a tool answers the first of
   * them.
   */
  readonly open: Set<string>
}

/** Creates an empty conversation. */
export const make = (reading: Reading, tools: ReadonlyArray<Tools.Offered>): Conversation => ({
  messages: [],
  reading,
  names: Tools.namesOf(tools),
  calls: new Map(),
  last: new Map(),
  open: new Set()
})

// -------------------------------------------------------------------------------------------------------------------
// Adding
// -------------------------------------------------------------------------------------------------------------------

const note = ({ calls, last, open }: Conversation, { id, name }: ToolCall): void => {
  calls.set(id, name)
  last.set(name, id)
  open.add(id)
}

/** Appends an assistant message. */
export const addAssistant = (
  conversation: Conversation,
  content: string,
  toolCalls: ReadonlyArray<ToolCall> = []
): void => {
  for (const call of toolCalls) note(conversation, call)
  conversation.messages.push(
    toolCalls.length === 0 ? { role: "assistant", content } : { role: "assistant", content, toolCalls }
  )
}

/** Adds a tool call to the preceding assistant message, or to a new one. */
export const addCall = (conversation: Conversation, call: ToolCall): void => {
  const { messages } = conversation
  const last = messages.at(-1)
  if (last?.role !== "assistant") {
    addAssistant(conversation, "", [call])
    return
  }
  note(conversation, call)
  if (last.toolCalls === undefined) messages[messages.length - 1] = { ...last, toolCalls: [call] }
  // This list was created above, for the previous call.
  else (last.toolCalls as Array<ToolCall>).push(call)
}

/** A tool result as sent by a client. It refers to its call by id or by tool name. */
export interface Result {
  readonly callId?: string | undefined
  readonly tool?: string | undefined
  readonly content: Content
  readonly isError?: boolean | undefined
}

const idOf = ({ last, names, open }: Conversation, { callId, tool }: Result): string | undefined => {
  if (callId !== undefined) return callId
  if (tool !== undefined) return last.get(Tools.workerName(names, tool))
  const [first] = open
  return first
}

/** Placeholder for the tool name of a result if its call is not in the conversation. */
const unknownTool = "earlier_tool"

/**
 * Adds a call for a result without one. Agents that truncate their history leave such results behind, and vendors
 * reject them.
 */
const addLostCall = (conversation: Conversation, id: string, tool: string | undefined, field: string): string => {
  const name = Tools.workerName(conversation.names, tool ?? unknownTool)
  addAssistant(conversation, "", [{ id, name, arguments: "{}" }])
  conversation.reading.notice(
    `${field} is the result of tool call ${id.slice(0, 80)}, which is not in the conversation. Workers see a call without arguments.`
  )
  return name
}

/** Appends a tool result. If its call is not in the conversation, a call is added, with a notice. */
export const addResult = (conversation: Conversation, result: Result, field: string): void => {
  const { calls, messages, open } = conversation
  const callId = idOf(conversation, result) ?? field
  const name = calls.get(callId) ?? addLostCall(conversation, callId, result.tool, field)
  open.delete(callId)
  const { content, isError } = result
  const message: ToolMessage = { role: "tool", callId, name, content }
  messages.push(isError === true ? { ...message, isError } : message)
}

// -------------------------------------------------------------------------------------------------------------------
// Repairing
// -------------------------------------------------------------------------------------------------------------------

/** The result inserted for a call without one. */
const noResult = "No result: the call was interrupted, or its result was lost."

/** An assistant turn with tool calls, and the results received for it. */
interface Turn {
  readonly calls: ReadonlyArray<ToolCall>
  readonly results: Array<ToolMessage>
  readonly open: Set<string>
}

const turnOf = (message: Message): Turn | undefined =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? { calls: message.toolCalls, results: [], open: new Set(message.toolCalls.map(({ id }) => id)) }
    : undefined

/** Number of messages and tool calls repaired in one step. */
const stepMessages = 256

/**
 * Matches each result to a turn: the last preceding turn with an open call of that id, or else with any call of that
 * id.
 */
function* turnsOf(messages: ReadonlyArray<Message>): Steps<ReadonlyArray<Turn | undefined>> {
  const byId = new Map<string, Turn>()
  const turns: Array<Turn | undefined> = []
  for (const [at, message] of messages.entries()) {
    if (at % stepMessages === stepMessages - 1) yield
    const turn = turnOf(message)
    turns.push(turn)
    for (const { id } of turn?.calls ?? []) byId.set(id, turn!)
    if (message.role !== "tool") continue
    const asked = byId.get(message.callId)
    asked?.results.push(message)
    asked?.open.delete(message.callId)
  }
  return turns
}

const missing = ({ id, name }: ToolCall): ToolMessage => ({
  role: "tool",
  callId: id,
  name,
  content: noResult,
  isError: true
})

/** Returns the repaired messages, in which each tool call is followed by its result, in steps. */
export function* messagesOf({ messages, reading }: Conversation): Steps<ReadonlyArray<Message>> {
  const turns = yield* turnsOf(messages)
  const repaired: Array<Message> = []
  for (const [at, message] of messages.entries()) {
    if (at % stepMessages === stepMessages - 1) yield
    if (message.role === "tool") continue
    repaired.push(message)
    const turn = turns[at]
    if (turn === undefined) continue
    for (const result of turn.results) repaired.push(result)
    for (const [index, call] of turn.calls.entries()) {
      if (index % stepMessages === stepMessages - 1) yield
      const { id, name } = call
      if (!turn.open.has(id)) continue
      reading.notice(`Tool call ${id.slice(0, 80)} (${name}) has no result. Workers get a note instead.`)
      repaired.push(missing(call))
    }
  }
  return repaired
}
