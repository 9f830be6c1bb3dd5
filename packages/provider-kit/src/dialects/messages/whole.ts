/** A whole message as the events that would have been streamed of it: there is one reader for both. */

import * as Json from "../../VendorJson.ts"
import { events } from "./events.ts"

/** A block; some servers give a text alone. */
const blockOf = (block: unknown): Json.Fields =>
  typeof block === "string" ? { type: "text", text: block } : Json.object(block, "a block")

/** The events of whole blocks. */
export const blockEvents = (content: unknown): ReadonlyArray<Json.Fields> => {
  if (typeof content === "string") return blockEvents([{ type: "text", text: content }])
  return Json.array(content ?? undefined, "content").flatMap((block, index) => [
    { type: events.blockStart, index, content_block: blockOf(block) },
    { type: events.blockStop, index }
  ])
}

/** The events of a whole message. */
export const eventsOf = (message: Json.Fields): ReadonlyArray<Json.Fields> => [
  { type: events.messageStart, message: { ...message, content: [], stop_reason: null } },
  ...blockEvents(message.content),
  { type: events.messageDelta, delta: { stop_reason: message.stop_reason }, usage: message.usage },
  { type: events.messageStop }
]
