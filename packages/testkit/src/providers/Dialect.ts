/**
 * A dialect: how one vendor writes answers and refusals down, and how it is asked. Data and pure functions; the server
 * that speaks it is `WireServer`.
 */
import type { Allowance, Tool } from "@divisi/core"
import type { ContentPart, ToolCall } from "@divisi/core/Message"
import type { Reasoning } from "@divisi/core/Worker"
import type { Answer, Refusal } from "./Script.ts"

/** A request as it came in over the socket. */
export interface Captured {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as text. */
  readonly text: string
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly body: unknown
}

/** A turn as it was sent, in words that fit every vendor. */
export interface SentMessage {
  readonly role: "system" | "user" | "assistant" | "tool"
  /** Its text; that of several parts without anything between them. */
  readonly content: string
  /** Its parts in order, texts included; absent where it has neither pictures nor files. */
  readonly parts?: ReadonlyArray<ContentPart> | undefined
  /** The tools that an assistant asked for; absent for none. */
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  /** The call that this is the result of. */
  readonly callId?: string | undefined
  /** Whether the tool failed; absent where the vendor has no word for it. */
  readonly isError?: boolean | undefined
}

/** A request's content, in words that fit every vendor. Fields that were not sent are absent. */
export interface Sent {
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly isStream: boolean
  /** Every turn, system text first, wherever the vendor puts it. */
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
  /** The signatures that came back with earlier turns, in order; absent for none. */
  readonly signatures?: ReadonlyArray<string> | undefined
}

/** A streamed answer in pieces: what comes before, one piece for each delta, and what comes after. */
export interface Streamed {
  readonly opening: ReadonlyArray<string>
  readonly deltas: ReadonlyArray<string>
  readonly closing: ReadonlyArray<string>
}

/** An HTTP answer that is not a stream. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body: string
}

/** How one vendor is asked and answers. */
export interface Dialect {
  readonly name: string
  /** The vendor's pages, or published types, that this follows. */
  readonly sources: ReadonlyArray<string>
  readonly read: (request: Captured) => Sent
  /** The content type of a stream. */
  readonly contentType: string
  readonly stream: (answer: Answer, model: string) => Streamed
  /** The JSON of an answer that is not streamed. */
  readonly whole: (answer: Answer, model: string) => unknown
  /** `undefined` where the vendor has no such refusal. `isStream` says whether a stream was asked for. */
  readonly refuse: (refusal: Refusal, isStream: boolean) => Reply | undefined
  /** Returns the event of a refusal inside a stream; `undefined` if the vendor has no such event. */
  readonly refuseInStream: (refusal: Refusal) => string | undefined
  /** An event that is not JSON. */
  readonly malformed: string
  /**
   * Whether it writes down a `signature` and wants it back; false when absent. Then cases about signatures are passed
   * over.
   */
  readonly signs?: boolean | undefined
  /** The form of a call's arguments in an answer: JSON text (the default), or JSON, which then is always valid. */
  readonly argumentsAs?: "text" | "json" | undefined
  /** Headers that say what is left of the rate limits, and what they say; absent where the vendor sends none. */
  readonly allowance?:
    | { readonly headers: Readonly<Record<string, string>>; readonly means: Allowance.Allowance }
    | undefined
}

/** One server-sent event, with a name where the vendor names its events. */
export const event = (data: unknown, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

/** Fields of a JSON object; none where it is something else. */
export const fields = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}

/** The items of a JSON array; none where it is something else. */
export const items = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

/** A record without the entries that are `undefined` or null. */
export const present = <A extends Record<string, unknown>>(
  record: A
): { [K in keyof A]?: NonNullable<A[K]> | undefined } =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined && value !== null)) as never

/** JSON that a text holds; the text itself where it holds none. */
export const parsed = (text: unknown): unknown => {
  try {
    return JSON.parse(String(text))
  } catch {
    return text
  }
}

const dataUrl = /^data:([^;,]*);base64,(.*)$/s

/** Parses a URL, which may hold the data itself. */
export const sourceOf = (url: unknown): { readonly data: string; readonly mediaType: string } | { url: string } => {
  const [, mediaType, data] = dataUrl.exec(String(url)) ?? []
  return data === undefined || mediaType === undefined ? { url: String(url) } : { data, mediaType }
}

/** A list that is not empty, or nothing. */
export const some = <A>(list: ReadonlyArray<A>): ReadonlyArray<A> | undefined => (list.length === 0 ? undefined : list)

/** The text of a content that is a text, or a list of parts with a `text` each. */
export const contentText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : items(content)
        .map((part) => fields(part).text)
        .filter((text) => typeof text === "string")
        .join("")

/** A bearer token. */
export const bearer = ({ headers }: Captured): string | undefined =>
  /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1]
