/**
 * Compaction: the item that carries a conversation in short, instead of all that came before, and how it is asked for. A
 * client asks at `/v1/responses/compact`, or by a trigger in the input of a response (Codex), which then has that item as
 * its only output.
 *
 * Sources: https://developers.openai.com/api/docs/guides/compaction, and openai/codex#22809 and #20773.
 */
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { Request } from "../wire/Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Whether an item asks for compaction. The first versions of Codex sent an empty `context_compaction`. */
export const isTrigger = ({ encrypted_content, type }: JsonObject): boolean =>
  type === "compaction_trigger" || (type === "context_compaction" && encrypted_content == null)

/** Whether an input asks for compaction, wherever its trigger is. */
export const isTriggered = (input: unknown): boolean =>
  Array.isArray(input) && input.some((item) => isObject(item) && isTrigger(item))

const prompt =
  "Write down what this conversation comes to, for somebody who goes on with it and has not read it: what the user wants, word for word where that matters; what was found out, decided and done, with names, paths and figures; what is left to do. Write nothing else."

/** A request for a summary of its conversation. It calls no tools, and its shape and stops are those of other answers. */
export const summarizing = (request: Request): Request => {
  const [first, ...rest] = request.messages
  return {
    ...request,
    messages: [first, ...rest, { role: "user", content: prompt }],
    toolChoice: request.tools.length === 0 ? undefined : "none",
    output: undefined,
    settings: { ...request.settings, stopSequences: undefined }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Items
// -------------------------------------------------------------------------------------------------------------------

/** The item of a summary. It is of the client's own conversation, so it hides nothing. */
export const make = (id: string, summary: string): JsonObject => ({
  type: "compaction",
  id: `cmp_${id}`,
  encrypted_content: Buffer.from(JSON.stringify({ version: 1, summary })).toString("base64")
})

const opened = (content: string): unknown => {
  try {
    return JSON.parse(Buffer.from(content, "base64").toString("utf8"))
  } catch {
    return undefined
  }
}

/** The text that an item carries: sealed by this server, or in the open; `undefined` if another server encrypted it. */
export const summaryOf = ({ content, encrypted_content, summary, text }: JsonObject): string | undefined => {
  const sealed = typeof encrypted_content === "string" ? opened(encrypted_content) : undefined
  if (isObject(sealed) && sealed.version === 1 && typeof sealed.summary === "string") return sealed.summary
  return [summary, content, text].map(plain).find((one) => one !== "")
}

/** A text, or the texts of a list of parts. */
const plain = (value: unknown): string => {
  if (typeof value === "string") return value
  const parts = Array.isArray(value) ? value : []
  return parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : [])).join("\n")
}
