/**
 * Housekeeping requests of agents and chat windows: besides answers, they request a title, a topic, tags or a one-line
 * summary from the same model. A team is not worth its cost for these.
 *
 * It is recognized by text that programs write: the instructions of a `system` message, or the form of such requests.
 * Requests with tools or with long outputs do not count.
 */
import { text } from "@divisi/core/Message"
import type { Request } from "./Wire.ts"

/** Instructions to name a conversation, or to sort it. */
const instructions: ReadonlyArray<RegExp> = [
  /\b(?:title|topic|tag) generator\b/i,
  /\b(?:generate|write|create|provide|extract|suggest|come up with)\b[^.\n]{0,60}\b(?:title|topic|tags|follow-?ups?|follow-up questions)\b/i,
  /\bnew conversation topic\b/i,
  /\bsummari[sz]e\b[^.\n]{0,60}\b(?:in|under|at most|up to)\b[^.\n]{0,20}\b\d+ (?:characters|words)\b/i
]

/** The start of such a request in the user's message. */
const form = /^#{1,3} Task:\s/

/** More than any title is. */
const mostTokens = 4_096

/** Instructions that are longer have more to say than what to call something. */
const mostCharacters = 4_000

/** Whether a request is housekeeping. */
export const isHousekeeping = ({ messages, settings, tools }: Request): boolean => {
  const isMore = tools.length > 0 || (settings.maxOutputTokens ?? 0) > mostTokens || messages.at(-1)?.role === "tool"
  if (isMore) return false
  // A probe for availability.
  if (settings.maxOutputTokens === 1) return true
  return messages.some((message) => {
    const words = text(message)
    const isInstruction = message.role === "system" || message.role === "developer"
    const isMeant = isInstruction ? words.length <= mostCharacters : message.role === "user" && form.test(words)
    return isMeant && instructions.some((instruction) => instruction.test(words.slice(0, mostCharacters)))
  })
}
