/** Converts exceptions of `@google/generative-ai` to a `WorkerErrorReason`. */
import type { WorkerErrorReason } from "@divisi/core/Worker"
import { VendorJson as Json, VendorError } from "@divisi/provider-kit"
import * as Gemini from "@divisi/provider-kit/Gemini"

/** Before Google's words: the SDK's name, the address, the status with its text. */
const prefix = /^\[GoogleGenerativeAI Error\]: (?:Error fetching from \S+ )?(?:\[\d{3} [^\]]{0,100}\] )?/

/** The words of Google alone; the SDK puts the details after them as JSON. */
const messageOf = (message: string, details: unknown): string => {
  const own = message.replace(prefix, "")
  const suffix = details === undefined ? "" : ` ${JSON.stringify(details)}`
  return suffix !== "" && own.endsWith(suffix) ? own.slice(0, -suffix.length) : own
}

/** The SDK's words for an answer that it could not read; its errors of the connection have the same class. */
const unreadable = /^(?:Failed to parse stream|Error parsing JSON response)/

/** The reason of an error of the SDK: of its status and the vendor's details, of the network, or of what was read. */
export const reasonOf = (error: unknown, secrets: ReadonlyArray<string>): WorkerErrorReason => {
  const { errorDetails: details, message: text, status, statusText } = Json.fields(error)
  const message = messageOf(Json.text(text) ?? "", details)
  if (typeof status === "number") return Gemini.reasonOf({ status, body: { message: message || statusText, details } })
  // It wraps what `fetch` throws, so that a bare TypeError is of its own code, at an answer without a body.
  if (unreadable.test(message) || error instanceof TypeError) {
    return { _tag: "Malformed", detail: "the response is not an event stream" }
  }
  return { _tag: "Network", detail: VendorError.detail(message, secrets) }
}
