/** A dialect: the request and response formats of one vendor, as data and pure functions. Served by `WireServer`. */
import type { Allowance, Tool } from "@divisi/core"
import type { ContentPart, ToolCall } from "@divisi/core/Message"
import type { Reasoning } from "@divisi/core/Worker"
import type { Answer, Refusal } from "./Script.ts"

/** A request as received over the socket. */
export interface Captured {
  readonly method: string
  /** Path, including the query. */
  readonly path: string
  /** Headers, with lowercase names. */
  readonly headers: Readonly<Record<string, string>>
  /** Body as text. */
  readonly text: string
  /** Body as JSON. `undefined` if it is not JSON. */
  readonly body: unknown
}

/** A turn as sent, in a vendor-independent format. */
export interface SentMessage {
  readonly role: "system" | "user" | "assistant" | "tool"
  /** The text. Text from several parts is concatenated. */
  readonly content: string
  /** Parts in order, including text. Set only if there are images or files. */
  readonly parts?: ReadonlyArray<ContentPart> | undefined
  /** Tool calls in an assistant turn. Set only if there are any. */
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  /** Id of the call to which this is the result. */
  readonly callId?: string | undefined
  /** Whether the tool failed. Not set if the vendor's format cannot express it. */
  readonly isError?: boolean | undefined
}

/** The content of a request in a vendor-independent format. Fields that were not sent are omitted. */
export interface Sent {
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly isStream: boolean
  /** All turns, starting with the system prompt, regardless of its position in the vendor's format. */
  readonly messages: ReadonlyArray<SentMessage>
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
  readonly tools?: ReadonlyArray<Tool.ToolDefinition> | undefined
  readonly toolChoice?: Tool.ToolChoice | undefined
  readonly parallelToolCalls?: boolean | undefined
  readonly output?: Tool.OutputFormat | undefined
  /** Signatures that were sent back with earlier turns, in order. Set only if there are any. */
  readonly signatures?: ReadonlyArray<string> | undefined
}

/** A streamed answer: the data before the deltas, for each delta, and after them. */
export interface Streamed {
  readonly opening: ReadonlyArray<string>
  readonly deltas: ReadonlyArray<string>
  readonly closing: ReadonlyArray<string>
}

/** An HTTP response that is not a stream. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
}

/** The request and response formats of one vendor. */
export interface Dialect {
  readonly name: string
  /** Vendor pages or published types on which this dialect is based. */
  readonly sources: ReadonlyArray<string>
  readonly read: (request: Captured) => Sent
  /** Content type of a stream. */
  readonly contentType: string
  readonly stream: (answer: Answer, model: string) => Streamed
  /** Returns the JSON of an answer that is not streamed. */
  readonly whole: (answer: Answer, model: string) => unknown
  /**
   * Returns the response for a refusal. `undefined` if the vendor has no such refusal. `isStream`: whether the request
   * asked for a stream.
   */
  readonly refuse: (refusal: Refusal, isStream: boolean) => Reply | undefined
  /** Returns the event for a refusal in the middle of a stream. `undefined` if the vendor has no such event. */
  readonly refuseInStream: (refusal: Refusal) => string | undefined
  /** An event that is not JSON. */
  readonly malformed: string
  /**
   * Whether answers contain a `signature` that must be sent back. If not, cases about signatures are skipped. Default:
   * `false`.
   */
  readonly signs?: boolean | undefined
  /** Whether each request must have an output limit. Default: `false`. */
  readonly needsOutputLimit?: boolean | undefined
  /** Format of a call's arguments in an answer: JSON text (the default), or JSON, which is always valid. */
  readonly argumentsAs?: "text" | "json" | undefined
  /** Headers that report the remaining rate limits, and their meaning. Not set if the vendor does not send them. */
  readonly allowance?:
    | { readonly headers: Readonly<Record<string, string>>; readonly means: Allowance.Allowance }
    | undefined
}

/** Returns one server-sent event, including its name if the vendor names events. */
export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

/** Returns the fields of a JSON object. Empty for any other value. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}

/** Returns the items in a JSON array. Empty for any other value. */
export const items = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** Returns a record without `undefined` and null entries. */
export const present = <A extends Record<string, unknown>>(
  record: A
): { [K in keyof A]?: NonNullable<A[K]> | undefined } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null)) as never

/**
 * Parses JSON text. Returns the text itself if it is not valid JSON.
 *
 * @internal
 */
export const parsed = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text))
  } catch {
    return text
  }
}

const dataUrl = /^data:([^;,]*);base64,(.*)$/s

/**
 * Parses a URL, which may be a data URL.
 *
 * @internal
 */
export const sourceOf = (url: unknown): { readonly data: string; readonly mediaType: string } | { url: string } => {
  const [, mediaType, data] = dataUrl.exec(String(url)) ?? []
  return data === undefined || mediaType === undefined ? { url: String(url) } : { data, mediaType }
}

/**
 * Returns a list, or `undefined` if it is empty.
 *
 * @internal
 */
export const some = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | undefined => (list.length === 0 ? undefined : list)

/**
 * Returns the text in message content: a string, or a list of parts with a `text` field each.
 *
 * @internal
 */
export const contentText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : items(content)
        .map((part) => fields(part).text)
        .filter((text) => typeof text === "string")
        .join("")

/** Returns the bearer token of a request. */
export const bearer = ({ headers }: Captured): string | undefined =>
  /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1]
