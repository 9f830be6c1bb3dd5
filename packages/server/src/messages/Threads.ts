/**
 * Server-side threads for the Messages API: the server stores the conversation, and the client sends only new messages.
 * A request with `thread: { type: "create" }` creates a thread; `{ type: "continue", previous_message_id }` continues
 * from one of its responses.
 */
import * as Effect from "effect/Effect"
import type * as Endpoint from "../http/Endpoint.ts"
import type { Segment } from "../segment/Segments.ts"
import { ApiError } from "../wire/ApiError.ts"
import { isObject, type JsonObject, name } from "../wire/Json.ts"
import * as Steps from "../wire/Steps.ts"
import { whole } from "./MessagesWriter.ts"

/** The data needed to continue from a response. */
interface Kept {
  readonly owner: string
  /** The request body, with the complete conversation, rules and tools. */
  readonly body: JsonObject
  readonly segment: Segment
  /** Size of the requests that made up the conversation. */
  readonly bytes: number
}

/** Options for the thread store. If the threads exceed `maxBytes` in total, the oldest are evicted. */
export interface Options {
  readonly maxBytes: number
}

const lost = (id: string): ApiError =>
  new ApiError({
    kind: "not-found",
    field: "thread.previous_message_id",
    message: `Message ${id} is not stored on this server. Send the whole conversation.`
  })

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const isKept = ({ thread }: JsonObject): boolean =>
  isObject(thread) && (thread.type === "create" || thread.type === "continue")

/** Creates a thread store. */
export const make = ({ maxBytes }: Options): Endpoint.Keeping => {
  /** Threads by the id of their last response, in insertion order. */
  const all = new Map<string, Kept>()
  let bytes = 0

  const forget = (id: string) => {
    bytes -= all.get(id)?.bytes ?? 0
    all.delete(id)
  }

  const recall = (body: JsonObject, owner: string): JsonObject => {
    const { thread } = body
    if (!isObject(thread) || thread.type !== "continue") return body
    const id = name(thread.previous_message_id, "thread.previous_message_id")
    const kept = all.get(id)
    const finished = kept?.segment.parts.at(-1)?.type === "finish"
    if (kept?.owner !== owner || !finished) throw lost(id)
    const { content } = whole(kept.segment.about, kept.segment.parts)
    const said = listOf(content).length === 0 ? [] : [{ role: "assistant", content }]
    const messages = [...listOf(kept.body.messages), ...said, ...listOf(body.messages)]
    return { ...body, system: kept.body.system, tools: kept.body.tools, messages }
  }

  /** Returns the size of the conversation before a request, in bytes. */
  const sizeBefore = ({ thread }: JsonObject): number =>
    (isObject(thread) && all.get(String(thread.previous_message_id))?.bytes) || 0

  const keep = (segment: Segment, body: JsonObject, owner: string, sent: number) =>
    Effect.sync(() => {
      const id = `msg_${segment.about.id}`
      if (!isKept(body) || all.has(id)) return
      const { messages, system, tools } = body
      const size = sent + sizeBefore(body)
      all.set(id, { owner, body: { messages, system, tools }, segment, bytes: size })
      bytes += size
      for (const oldest of all.keys()) {
        if (bytes <= maxBytes) return
        forget(oldest)
      }
    })

  return {
    recall: (body, owner) => Steps.attempt(() => recall(body, owner)),
    keep,
    atOnce: () => undefined
  }
}
