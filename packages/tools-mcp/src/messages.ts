/**
 * Converts messages from a server to a form that the SDK accepts. An invalid answer becomes an error, so that the
 * caller receives it.
 */
import { isRecord } from "@divisi/core/Fields"
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage
} from "@modelcontextprotocol/client"

/**
 * Maximum size of a message from a server, in bytes. A result of 10 MB is accepted and truncated later; an endless one
 * is aborted.
 */
export const maxBytes = 16 * 1024 * 1024

/** Creates the error for a message that exceeds the size limit. */
export const tooLarge = (): Error => new Error(`it sent more than ${maxBytes / 1024 / 1024} MB at once`)

/** The JSON-RPC code for internal errors. */
const internalError = -32_603

const maxShown = 100

type Id = string | number

/** Creates an error response to a request on behalf of the server. */
export const errorFor = (id: Id, message: string, code: number = internalError): JSONRPCMessage => ({
  jsonrpc: "2.0",
  id,
  error: { code, message }
})

const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (Array.isArray(value)) return "a list"
  if (typeof value === "string") return `the text ${JSON.stringify(value.slice(0, maxShown))}`
  return typeof value === "object" ? "an object" : `${value}`
}

const errorText = (error: unknown): string => {
  if (typeof error === "string" && error !== "") return error
  if (isRecord(error) && typeof error.message === "string") return error.message
  return "it returned an error without a message"
}

const answerOf = (id: Id, message: Readonly<Record<string, unknown>>): JSONRPCMessage => {
  const { error, result } = message
  if (error !== undefined && error !== null) {
    return errorFor(
      id,
      errorText(error),
      isRecord(error) && Number.isSafeInteger(error.code) ? Number(error.code) : undefined
    )
  }
  if (!isRecord(result)) {
    return errorFor(
      id,
      result === undefined
        ? "it sent a response without a result"
        : `it sent a result that is not an object: ${kindOf(result)}`
    )
  }
  // The SDK validates the metadata, which is not used here.
  const { _meta, ...rest } = result
  const bare = { jsonrpc: "2.0" as const, id, result: rest }
  return isJSONRPCResultResponse(bare) ? bare : errorFor(id, "it sent a response that cannot be read")
}

/** Returns the messages in a parsed JSON value; invalid ones are reported. */
export const messagesIn = (value: unknown, report: (error: Error) => void): ReadonlyArray<JSONRPCMessage> => {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : messagesIn(one, report)))
  if (isJSONRPCRequest(value) || isJSONRPCNotification(value)) return [value]
  if (isJSONRPCResultResponse(value) || (isJSONRPCErrorResponse(value) && value.id !== undefined)) return [value]
  if (isRecord(value) && (typeof value.id === "string" || typeof value.id === "number") && value.method === undefined) {
    return [answerOf(value.id, value)]
  }
  report(new Error(isRecord(value) && "error" in value ? errorText(value.error) : `it sent ${kindOf(value)}`))
  return []
}
