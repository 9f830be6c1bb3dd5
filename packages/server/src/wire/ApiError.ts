/**
 * Errors of requests. Each API has its own format; the kinds and whether a retry can help are the same for all.
 */
import { Dialects } from "@divisi/provider-kit"
import * as Data from "effect/Data"

/** Kinds of errors. */
export type Kind = Dialects.Failures.Kind

/** The longest message of an error: it may quote what a client, or a worker, has sent. */
const maxCharacters = 2_000

const short = (text: string): string => (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text)

interface Fields {
  readonly kind: Kind
  /** The message for display, with a remedy. It contains no secrets. */
  readonly message: string
  /** The invalid field of the request, e.g. `messages[2].content`. */
  readonly field?: string | undefined
  /** The delay after which a retry makes sense, in milliseconds. */
  readonly retryAfterMillis?: number | undefined
  /** Whether a retry cannot help. Default: according to the kind. */
  readonly isFinal?: boolean | undefined
  /** The provider's message, for the operator's log. Never sent to the client. */
  readonly providerMessage?: string | undefined
  /** The cause of a server error, for the operator's log. Never sent to the client. */
  readonly cause?: unknown
}

/** The error response to a request. */
export class ApiError extends Data.TaggedError("ApiError")<Fields> {
  constructor(fields: Fields) {
    super({ ...fields, message: short(fields.message) })
  }

  /** The HTTP status of the response. */
  get status(): number {
    return Dialects.Failures.forms[this.kind].status
  }
}

/** Makes the error for an invalid request, with the name of the field. */
export const invalid = (field: string, message: string): ApiError =>
  new ApiError({ kind: "invalid-request", message, field })

/** A retry cannot help: SDKs of OpenAI and Anthropic, which retry 429 and every status from 500, read this header. */
const final: ReadonlySet<Kind> = new Set(["upstream-account", "quota"])

/** Returns the headers of an error response. */
export const headers = ({ isFinal, kind, retryAfterMillis }: ApiError): Readonly<Record<string, string>> => ({
  ...(retryAfterMillis !== undefined && { "retry-after": `${Math.max(1, Math.ceil(retryAfterMillis / 1000))}` }),
  ...((isFinal ?? final.has(kind)) && { "x-should-retry": "false" })
})
