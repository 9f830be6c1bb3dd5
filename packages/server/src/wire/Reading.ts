/**
 * Lenient reading of requests. Parts that this server does not know, and preferences that it cannot follow, are
 * omitted, and a notice in the response lists them.
 */
import { ApiError } from "./ApiError.ts"

/** One request while it is read. */
export interface Reading {
  /** The name of an element of a list, as the wire writes it: `messages[2]` or `messages.2`. */
  readonly at: (field: string, index: number) => string
  /** Adds a notice. Repeated ones are dropped, and so are those beyond the limit. */
  readonly notice: (text: string) => void
  /** The notices so far. */
  readonly notices: ReadonlyArray<string>
}

/** Maximum number of notices of one request. */
const maxNotices = 16

/** Maximum number of characters of one notice: it may quote the request. */
const maxCharacters = 200

/** How OpenAI's wires name an element of a list. */
export const bracketed = (field: string, index: number): string => `${field}[${index}]`

/** How Anthropic's wire names an element of a list. */
export const dotted = (field: string, index: number): string => `${field}.${index}`

/** Starts to read a request. */
export const make = (at: Reading["at"]): Reading => {
  const notices: Array<string> = []
  const notice = (text: string) => {
    const short = text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text
    if (notices.length < maxNotices && !notices.includes(short)) notices.push(short)
  }
  return { at, notice, notices }
}

/**
 * Reads a field that says how to answer. A value that cannot be read is left out with a notice: a preference never fails
 * a request.
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

/** The notices as the value of a response header: printable ASCII, at most 1,000 characters; absent without notices. */
export const headerOf = (notices: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  notices.length === 0
    ? {}
    : {
        "x-divisi-notices": notices
          .join("; ")
          .replace(/[^\x20-\x7e]/g, "?")
          .slice(0, 1_000)
      }
