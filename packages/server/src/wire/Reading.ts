/**
 * Lenient parsing of requests. Unknown parts and unsupported preferences are dropped and listed in a notice in the
 * response.
 */
import { ApiError } from "./ApiError.ts"
import * as Json from "./Json.ts"

/** State of a request that is being parsed. */
export interface Reading {
  /** Formats the path of a list element for this wire: `messages[2]` or `messages.2`. */
  readonly at: (field: string, index: number) => string
  /** Adds a notice. Duplicates, and notices beyond the limit, are dropped. */
  readonly notice: (text: string) => void
  /**
   * Parses JSON text within the request. Returns the text unchanged if it is not JSON, or if all such texts together
   * exceed the limit.
   */
  readonly parsed: (text: string) => unknown
  /** The notices added during parsing. */
  readonly notices: ReadonlyArray<string>
}

/**
 * Maximum total length of JSON texts within a request, in characters. They are parsed in a single event loop turn, and a
 * million characters take 20 ms.
 */
const maxParsedCharacters = 2 ** 18

/** Maximum number of notices per request. */
const maxNotices = 16

/** Maximum length of a notice, in characters. It may quote the request. */
const maxCharacters = 200

/** Formats the path of a list element in the style of OpenAI. */
export const bracketed = (field: string, index: number): string => `${field}[${index}]`

/** Formats the path of a list element in the style of Anthropic. */
export const dotted = (field: string, index: number): string => `${field}.${index}`

/** Creates the parsing state for one request. */
export const make = (at: Reading["at"]): Reading => {
  const notices: Array<string> = []
  const notice = (text: string) => {
    const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
    if (notices.length < maxNotices && !notices.includes(short)) notices.push(short)
  }
  let left = maxParsedCharacters
  const parsed = (text: string) => {
    left -= text.length
    return left < 0 ? text : Json.parsed(text)
  }
  return { at, notice, parsed, notices }
}

/**
 * Parses a preference for how to answer. An invalid value is dropped with a notice; a preference never fails a request.
 */
export const preference = <A>(
  reading: Reading,
  value: unknown,
  field: string,
  read: (value: unknown, field: string) => A | undefined
): A | undefined => {
  if (value === undefined || value === null) return undefined
  try {
    return read(value, field)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    reading.notice(`${field} was omitted. ${error.message}`)
    return undefined
  }
}

/**
 * Returns the notices as a response header: printable ASCII, up to 1,000 characters. Returns no header if there are no
 * notices.
 */
export const headerOf = (notices: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  notices.length === 0
    ? {}
    : {
        "x-divisi-notices": notices
          .join("; ")
          .replace(/[^\x20-\x7e]/g, "?")
          .slice(0, 1_000)
      }
