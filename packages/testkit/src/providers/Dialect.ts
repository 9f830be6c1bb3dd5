/**
 * A dialect: how one vendor writes answers and refusals down, and how it is asked. Data and pure functions; the server
 * that speaks it is `WireServer`.
 */
import type { Allowance } from "@divisi/core/Allowance"
import type { PlainMessage } from "@divisi/core/Message"
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
  /** The body as JSON; `undefined` where it is none. */
  readonly body: unknown
}

/** What a request asks for, in words that fit every vendor. Absent is what was not sent. */
export interface Sent {
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly isStream: boolean
  /** Every turn, system text first, wherever the vendor puts it. */
  readonly messages: ReadonlyArray<PlainMessage>
  readonly maxOutputTokens?: number | undefined
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
}

/** A streamed answer in pieces: what comes before, one piece for each delta, and what comes after. */
export interface Streamed {
  readonly opening: ReadonlyArray<string>
  readonly deltas: ReadonlyArray<string>
  readonly closing: ReadonlyArray<string>
}

/** An HTTP answer that is no stream. */
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
  /** The event of a refusal inside a stream; `undefined` where the vendor has none. */
  readonly refuseInStream: (refusal: Refusal) => string | undefined
  /** An event that is not JSON. */
  readonly malformed: string
  /** Headers that say what is left of the rate limits, and what they say; absent where the vendor sends none. */
  readonly allowance?: { readonly headers: Readonly<Record<string, string>>; readonly means: Allowance } | undefined
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
