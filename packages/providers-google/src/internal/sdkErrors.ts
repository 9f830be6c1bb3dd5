/** Maps exceptions of `@google/generative-ai` to a `WorkerErrorReason`. */
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { VendorJson as Json, VendorError } from "@divisi/provider-kit"
import * as Gemini from "@divisi/provider-kit/Gemini"

/** Matches the prefix before Google's message: the SDK's name, the URL, and the status with its text. */
const prefix = /^\[GoogleGenerativeAI Error\]: (?:Error fetching from \S+ )?(?:\[\d{3} [^\]]{0,100}\] )?/

/** Returns only Google's message; the SDK appends the details to it as JSON. */
const messageOf = (message: string, details: unknown): string => {
  const own = message.replace(prefix, "")
  const suffix = details === undefined ? "" : ` ${JSON.stringify(details)}`
  return suffix !== "" && own.endsWith(suffix) ? own.slice(0, -suffix.length) : own
}

/** Matches the SDK's messages for an answer that could not be parsed; its connection errors have the same class. */
const unreadable = /^(?:Failed to parse stream|Error parsing JSON response)/

/**
 * Returns the reason for an SDK exception: from the status and the vendor's details, the network error, or the parse
 * error.
 */
export const reasonOf = (error: unknown, secrets: ReadonlyArray<string>): WorkerErrorReason => {
  const { errorDetails: details, message: text, status, statusText } = Json.fields(error)
  const message = messageOf(Json.text(text) ?? "", details)
  if (typeof status === "number") return Gemini.reasonOf({ status, body: { message: message || statusText, details } })
  // The SDK wraps exceptions from `fetch`, so a plain TypeError comes from its own code, for an answer without a body.
  if (unreadable.test(message) || error instanceof TypeError) {
    return { _tag: "Malformed", detail: "the response is not an event stream" }
  }
  return { _tag: "Network", detail: VendorError.detail(message, secrets) }
}
