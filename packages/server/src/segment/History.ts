/** Finds runs in a conversation: the tool results at its end, and the suspended run that they belong to. */
import type { Message, ToolMessage } from "@divisi/core/Message"
import * as CallId from "./CallId.ts"

/** Tool results for a suspended run. */
export interface Results {
  readonly runId: string
  /** Tool results, with the call ids that the client uses. */
  readonly results: ReadonlyArray<ToolMessage>
}

const lastCalls = (messages: ReadonlyArray<Message>): number =>
  messages.findLastIndex((message) => message.role === "assistant" && (message.toolCalls ?? []).length > 0)

/**
 * Returns the run whose tool calls the user skipped by continuing the conversation, or `undefined` if an answer
 * followed the calls.
 */
export const leftIn = (messages: ReadonlyArray<Message>): string | undefined => {
  const at = lastCalls(messages)
  const asked = messages[at]
  const after = messages.slice(at + 1)
  const isLeft = after.some(({ role }) => role === "user") && after.every(({ role }) => role !== "assistant")
  if (asked?.role !== "assistant" || !isLeft) return undefined
  return CallId.runOf(asked.toolCalls?.[0]?.id ?? "")
}

/**
 * Returns the tool results at the end of a conversation if they all belong to one run. Otherwise returns `undefined`,
 * and the request starts a new turn.
 */
export const resultsIn = (messages: ReadonlyArray<Message>): Results | undefined => {
  const at = lastCalls(messages)
  if (at < 0) return undefined
  const after = messages.slice(at + 1)
  const asked = messages[at]!
  const calls = asked.role === "assistant" ? (asked.toolCalls ?? []) : []
  const runs = new Set(calls.map(({ id }) => CallId.runOf(id)))
  const [runId] = runs
  if (runs.size !== 1 || runId === undefined) return undefined
  const results = after.filter((message) => message.role === "tool")
  return results.length === after.length ? { runId, results } : undefined
}
