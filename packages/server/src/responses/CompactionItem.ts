/**
 * Compaction items, which contain a summary that replaces all earlier items, and requests that ask for one. Clients
 * request compaction through `/v1/responses/compact` or with a trigger item in the input of a response (Codex). The
 * compaction item is then the only output.
 *
 * Sources: https://developers.openai.com/api/docs/guides/compaction, and openai/codex#22809 and #20773.
 */
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { Request } from "../wire/Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** Whether an item requests compaction. The first versions of Codex sent an empty `context_compaction` item. */
export const isTrigger = ({ encrypted_content, type }: JsonObject): boolean =>
  type === "compaction_trigger" || (type === "context_compaction" && encrypted_content == null)

/** Whether an input contains a compaction trigger at any position. */
export const isTriggered = (input: unknown): boolean =>
  Array.isArray(input) && input.some((item) => isObject(item) && isTrigger(item))

const prompt =
  "Write down what this conversation comes to, for somebody who goes on with it and has not read it: what the user wants, word for word where that matters; what was found out, decided and done, with names, paths and figures; what is left to do. Write nothing else."

/**
 * Returns a request that asks a worker to summarize the conversation. Tool calls, output schema and stop sequences are
 * disabled.
 */
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

/**
 * Creates a compaction item for a summary. The summary is not encrypted, since it is based on the client's own
 * conversation.
 */
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

/**
 * Returns the summary in an item, either sealed by this server or in plain text. Returns `undefined` if another server
 * encrypted it.
 */
export const summaryOf = ({ content, encrypted_content, summary, text }: JsonObject): string | undefined => {
  const sealed = typeof encrypted_content === "string" ? opened(encrypted_content) : undefined
  if (isObject(sealed) && sealed.version === 1 && typeof sealed.summary === "string") return sealed.summary
  return [summary, content, text].map(plain).find((one) => one !== "")
}

/** Returns a string, or the concatenated text of a list of parts. */
const plain = (value: unknown): string => {
  if (typeof value === "string") return value
  const parts = Array.isArray(value) ? value : []
  return parts.flatMap((part) => (isObject(part) && typeof part.text === "string" ? [part.text] : [])).join("\n")
}
