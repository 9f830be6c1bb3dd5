/** Converts a complete message to the events of an equivalent stream, so that one parser handles both. */

import * as Json from "../../VendorJson.ts"
import { events } from "./events.ts"

/** Returns a block; some servers send a plain string. */
const blockOf = (block: unknown): Json.Fields =>
  typeof block === "string" ? { type: "text", text: block } : Json.object(block, "a block")

/** Returns the stream events for complete blocks. */
export const blockEvents = (content: unknown): ReadonlyArray<Json.Fields> => {
  if (typeof content === "string") return blockEvents([{ type: "text", text: content }])
  return Json.array(content ?? undefined, "content").flatMap((block, index) => [
    { type: events.blockStart, index, content_block: blockOf(block) },
    { type: events.blockStop, index }
  ])
}

/** Returns the stream events for a complete message. */
export const eventsOf = (message: Json.Fields): ReadonlyArray<Json.Fields> => [
  { type: events.messageStart, message: { ...message, content: [], stop_reason: null } },
  ...blockEvents(message.content),
  { type: events.messageDelta, delta: { stop_reason: message.stop_reason }, usage: message.usage },
  { type: events.messageStop }
]
