/**
 * Errors of requests on all wires. Each wire has its own format; the meaning of a kind, and whether a retry can help,
 * are the same on all.
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
  /** For people, with what to do about it. It holds no secret. */
  readonly message: string
  /** The field of the request that it is about, e.g. `messages[2].content`. */
  readonly field?: string | undefined
  /** When trying again makes sense, in milliseconds. */
  readonly retryAfterMillis?: number | undefined
  /** For the operator's log, never sent: what a provider said. */
  readonly providerMessage?: string | undefined
  /** For the operator's log, never sent: why this server failed. */
  readonly cause?: unknown
}

/** A request that gets no answer. */
export class ApiError extends Data.TaggedError("ApiError")<Fields> {
  constructor(fields: Fields) {
    super({ ...fields, message: short(fields.message) })
  }

  /** The status of its HTTP response. */
  get status(): number {
    return Dialects.Failures.forms[this.kind].status
  }
}

/** A request that cannot be read: names the field. */
export const invalid = (field: string, message: string): ApiError =>
  new ApiError({ kind: "invalid-request", message, field })

/** A retry cannot help: SDKs of OpenAI and Anthropic, which retry every status of 500 and above, read this header. */
const final: ReadonlySet<Kind> = new Set(["upstream-account"])

/** The headers that go with an error. */
export const headers = ({ kind, retryAfterMillis }: ApiError): Readonly<Record<string, string>> => ({
  ...(retryAfterMillis !== undefined && { "retry-after": `${Math.max(1, Math.ceil(retryAfterMillis / 1000))}` }),
  ...(final.has(kind) && { "x-should-retry": "false" })
})
