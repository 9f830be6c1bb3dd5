/**
 * Detects housekeeping requests from agents and chat apps, which use the same model for titles, topics, tags or
 * one-line summaries. Running a team for them is not worth its cost.
 *
 * They are recognized by text that programs generate: the instructions in a `system` message, or the format of the
 * request. Requests with tools or with long outputs are never housekeeping.
 */
import { type Message, parts } from "@divisi/core/Message"
import type { Request } from "./Wire.ts"

/** Matches instructions to name or classify a conversation. */
const instructions: ReadonlyArray<RegExp> = [
  /\b(?:title|topic|tag) generator\b/i,
  /\b(?:generate|write|create|provide|extract|suggest|come up with)\b[^.\n]{0,60}\b(?:title|topic|tags|follow-?ups?|follow-up questions)\b/i,
  /\bnew conversation topic\b/i,
  /\bsummari[sz]e\b[^.\n]{0,60}\b(?:in|under|at most|up to)\b[^.\n]{0,20}\b\d+ (?:characters|words)\b/i
]

/** Matches the start of a housekeeping request in a user message. */
const form = /^#{1,3} Task:\s/

/** Maximum output limit of a housekeeping request, in tokens. Titles are shorter. */
const mostTokens = 4_096

/** Maximum length of the instructions, in characters. Longer instructions ask for more than a title. */
const mostCharacters = 4_000

/** Maximum length of a message with the conversation that a title is for, in characters. */
const mostOfConversation = 2 ** 17

/** Returns the text of a message, up to the part in which it exceeds the maximum length. */
const beginning = ({ content }: Message): string => {
  let words = ""
  for (const part of parts(content)) {
    if (words.length > mostCharacters) return words
    if (part.type === "text") words += words === "" ? part.text : `\n${part.text}`
  }
  return words
}

/** Whether a request is housekeeping. */
export const isHousekeeping = ({ messages, settings, tools }: Request): boolean => {
  const isMore = tools.length > 0 || (settings.maxOutputTokens ?? 0) > mostTokens || messages.at(-1)?.role === "tool"
  if (isMore) return false
  // An availability probe.
  if (settings.maxOutputTokens === 1) return true
  return messages.some((message) => {
    const words = beginning(message)
    const isInstruction = message.role === "system" || message.role === "developer"
    const isMeant = isInstruction
      ? words.length <= mostCharacters
      : message.role === "user" && words.length <= mostOfConversation && form.test(words)
    return isMeant && instructions.some((instruction) => instruction.test(words.slice(0, mostCharacters)))
  })
}
