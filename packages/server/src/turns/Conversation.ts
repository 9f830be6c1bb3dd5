/**
 * A conversation while it is read: its messages so far, and the calls of tools in them. Each wire adds messages in its own
 * form; calls and results are the same on all.
 *
 * Agents send calls without results after an interruption, results without calls after they have shortened their
 * history, and results behind other messages. Vendors refuse all of these, so they are repaired.
 */

import type { Content, Message, ToolCall, ToolMessage } from "@divisi/core/Message"
import type { Reading } from "../wire/Reading.ts"
import * as Tools from "../wire/Tools.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A conversation that is being read. There may be very many messages, so they are added to one list. */
export interface Conversation {
  readonly messages: Array<Message>
  readonly reading: Reading
  /** The names of the tools of the request: calls go by those that workers know. */
  readonly names: Tools.Names
  /** The id of each call with its tool. */
  readonly calls: Map<string, string>
  /** The last call of each tool: a message of the role `function` names the tool instead of the call. */
  readonly last: Map<string, string>
  /** The ids of the calls without a result, in order: a result that names neither answers the first of them. */
  readonly open: Set<string>
}

/** Starts to read a conversation. */
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

/** Adds a turn of the assistant. */
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

/** Adds a call to its turn: to the message of the assistant before it, and the calls next to it. */
export const addCall = (conversation: Conversation, call: ToolCall): void => {
  const { messages } = conversation
  const last = messages.at(-1)
  if (last?.role !== "assistant") {
    addAssistant(conversation, "", [call])
    return
  }
  note(conversation, call)
  if (last.toolCalls === undefined) messages[messages.length - 1] = { ...last, toolCalls: [call] }
  // The list was made here, for the call before.
  else (last.toolCalls as Array<ToolCall>).push(call)
}

/** A result as a client sends it: it names its call, or its tool. */
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

/** The tool of a result that names none and whose call is not in the conversation. */
const unknownTool = "earlier_tool"

/**
 * Adds a call for a result without one: agents that shorten their history leave results behind, and vendors refuse
 * them.
 */
const addLostCall = (conversation: Conversation, id: string, tool: string | undefined, field: string): string => {
  const name = Tools.workerName(conversation.names, tool ?? unknownTool)
  addAssistant(conversation, "", [{ id, name, arguments: "{}" }])
  conversation.reading.notice(
    `${field} is the result of tool call ${id.slice(0, 80)}, which is not in the conversation. Workers see a call without arguments.`
  )
  return name
}

/** Adds a result. One whose call is not in the conversation gets a call, with a notice. */
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

/** The result that a worker sees for a call without one. */
const noResult = "No result: the call was interrupted, or its result was lost."

/** A turn that calls tools, with the results that have come for it. */
interface Turn {
  readonly calls: ReadonlyArray<ToolCall>
  readonly results: Array<ToolMessage>
  readonly open: Set<string>
}

const turnOf = (message: Message): Turn | undefined =>
  message.role === "assistant" && message.toolCalls !== undefined
    ? { calls: message.toolCalls, results: [], open: new Set(message.toolCalls.map(({ id }) => id)) }
    : undefined

/** Finds the turn of each result: the last one before it with an open call of its id, else with any. */
const turnsOf = (messages: ReadonlyArray<Message>): ReadonlyArray<Turn | undefined> => {
  const byId = new Map<string, Turn>()
  return messages.map((message) => {
    if (message.role === "tool") {
      const turn = byId.get(message.callId)
      turn?.results.push(message)
      turn?.open.delete(message.callId)
      return undefined
    }
    const turn = turnOf(message)
    for (const { id } of turn?.calls ?? []) byId.set(id, turn!)
    return turn
  })
}

const missing = ({ id, name }: ToolCall): ToolMessage => ({
  role: "tool",
  callId: id,
  name,
  content: noResult,
  isError: true
})

/** The messages of a conversation: each turn that calls tools is followed by a result for each of its calls. */
export const messagesOf = ({ messages, reading }: Conversation): ReadonlyArray<Message> => {
  const turns = turnsOf(messages)
  return messages.flatMap((message, at): ReadonlyArray<Message> => {
    if (message.role === "tool") return []
    const turn = turns[at]
    if (turn === undefined) return [message]
    const unanswered = turn.calls.filter(({ id }) => turn.open.has(id))
    for (const { id, name } of unanswered) {
      reading.notice(`Tool call ${id.slice(0, 80)} (${name}) has no result. Workers get a note instead.`)
    }
    return [message, ...turn.results, ...unanswered.map(missing)]
  })
}
