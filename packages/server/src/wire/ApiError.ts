/** Request errors. Each API has its own error format; the kinds of errors and whether a retry can help are shared. */
import { Dialects } from "@divisi/provider-kit"
import * as Data from "effect/Data"

/** Kinds of errors. */
export type Kind = Dialects.Failures.Kind

/** Maximum length of an error message, in characters. It may quote text from a client or worker. */
const maxCharacters = 2_000

const short = (text: string): string => (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text)

interface Fields {
  readonly kind: Kind
  /** The message shown to the client, including how to fix the problem. Contains no secrets. */
  readonly message: string
  /** The invalid request field, e.g. `messages[2].content`. */
  readonly field?: string | undefined
  /** Recommended delay before a retry, in milliseconds. */
  readonly retryAfterMillis?: number | undefined
  /** Whether a retry cannot help. Defaults to the kind's usual behavior. */
  readonly isFinal?: boolean | undefined
  /** The provider's message, for the operator's log. Never sent to the client. */
  readonly providerMessage?: string | undefined
  /** The cause of a server error, for the operator's log. Never sent to the client. */
  readonly cause?: unknown
}

/** An error returned as the response to a request. */
export class ApiError extends Data.TaggedError("ApiError")<Fields> {
  constructor(fields: Fields) {
    super({ ...fields, message: short(fields.message) })
  }

  /** The HTTP status of the response. */
  get status(): number {
    return Dialects.Failures.forms[this.kind].status
  }
}

/**
 * Creates an error for an invalid request field.
 *
 * @internal
 */
export const invalid = (field: string, message: string): ApiError =>
  new ApiError({ kind: "invalid-request", message, field })

/**
 * Error kinds for which a retry cannot help. The OpenAI and Anthropic SDKs retry status 429 and all statuses from 500,
 * unless the `x-should-retry` header is `false`.
 */
const final: ReadonlySet<Kind> = new Set(["upstream-account", "quota"])

/**
 * Returns the headers for an error response.
 *
 * @internal
 */
export const headers = ({ isFinal, kind, retryAfterMillis }: ApiError): Readonly<Record<string, string>> => ({
  ...(retryAfterMillis !== undefined && { "retry-after": `${Math.max(1, Math.ceil(retryAfterMillis / 1000))}` }),
  ...((isFinal ?? final.has(kind)) && { "x-should-retry": "false" })
})
