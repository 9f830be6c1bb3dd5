/** Finds runs in a conversation: the tool results at its end, and the suspended run that they belong to. */
import type { Message, ToolMessage } from "@divisi/core/Message"
import * as CallId from "./CallId.ts"

/** Results that a run waits for. */
export interface Results {
  readonly runId: string
  /** The results by the client's call ids. */
  readonly results: ReadonlyArray<ToolMessage>
}

const lastCalls = (messages: ReadonlyArray<Message>): number =>
  messages.findLastIndex((message) => message.role === "assistant" && (message.toolCalls ?? []).length > 0)

/** Returns the run whose calls the user has skipped by continuing, if no answer came since. */
export const leftIn = (messages: ReadonlyArray<Message>): string | undefined => {
  const at = lastCalls(messages)
  const asked = messages[at]
  const after = messages.slice(at + 1)
  const isLeft = after.some(({ role }) => role === "user") && after.every(({ role }) => role !== "assistant")
  if (asked?.role !== "assistant" || !isLeft) return undefined
  return CallId.runOf(asked.toolCalls?.[0]?.id ?? "")
}

/**
 * Returns the results at the end of a conversation if one run waits for all of them; otherwise `undefined`, and a new
 * turn starts.
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
