/**
 * Reads a vendor's JSON without casts: every field may have any type until it is checked. For authors of providers.
 *
 * Functions that return `undefined` or an empty value are for optional data such as numbers, codes and error messages.
 * {@link textChunk} and {@link object} are for the answer itself and fail with a {@link VendorError.Failure}, so that an
 * unreadable answer is never treated as a shorter one.
 */
import { unreadable } from "./VendorError.ts"

/** The fields of an object. */
export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = Object.freeze({})
const noItems: ReadonlyArray<unknown> = Object.freeze([])

/** Returns the fields of an object; empty for any other value. */
export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : noFields

/** Returns the items of an array; empty for any other value. */
export const items = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : noItems)

/** Whether a character around JSON is meaningless, such as NUL, a record separator (RFC 7464) or a byte order mark. */
const isEmpty = (code: number): boolean => code <= 0x20 || code === 0x7f || code === 0xfeff

/** Trims whitespace and other meaningless characters around a JSON text. */
export const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isEmpty(text.charCodeAt(start))) start += 1
  while (end > start && isEmpty(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** Returns a non-empty string; `undefined` for any other value. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** Returns an integer of at least 0; `undefined` for any other value. */
export const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

/**
 * Returns a number, or parses one from a string, as found in usage reports. Core checks for implausible values and
 * reports them.
 */
export const number = (value: unknown): number | undefined => {
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === "number" ? value : undefined
}

/** Looks up a vendor's term in a table. Returns `undefined` if it is missing, even for terms such as `constructor`. */
export const meaning = <A>(table: Readonly<Record<string, A>>, word: unknown): A | undefined =>
  typeof word === "string" && Object.hasOwn(table, word) ? table[word] : undefined

/**
 * Returns a chunk of an answer's text; empty for `null` and `undefined`. Fails for any other value that is not a
 * string; `name` describes it in the error.
 */
export const textChunk = (value: unknown, name: string): string => {
  if (typeof value === "string") return value
  if (value === undefined || value === null) return ""
  throw unreadable(`${name} is not a string`)
}

/**
 * Returns the fields of an object, or an empty object for `undefined`. Fails for other values, including `null`; `name`
 * describes the value in the error.
 */
export const object = (value: unknown, name: string): Fields => {
  if (value === undefined) return noFields
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields
  throw unreadable(`${name} is not an object`)
}

/**
 * Returns the items of an array, or an empty array for `undefined`. Fails for other values, including `null`; `name`
 * describes the value in the error.
 */
export const array = (value: unknown, name: string): ReadonlyArray<unknown> => {
  if (value === undefined) return noItems
  if (Array.isArray(value)) return value
  throw unreadable(`${name} is not a list`)
}
