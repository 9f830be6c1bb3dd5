/**
 * Reads the JSON that a vendor sends: every field is of any type until it has been looked at, and nothing is cast. For
 * authors of providers.
 *
 * Readers that return `undefined`, or nothing, are for what an answer can do without: figures, codes, words of an
 * error. {@link said} and {@link object} are for the answer itself, and fail with a {@link VendorError.Failure}: an
 * answer that cannot be read is never a shorter answer.
 */
import { unreadable } from "./VendorError.ts"

/** The fields of an object. */
export type Fields = Readonly<Record<string, unknown>>

const noFields: Fields = Object.freeze({})
const noItems: ReadonlyArray<unknown> = Object.freeze([])

/** The fields of an object; none of anything else. */
export const fields = (value: unknown): Fields =>
  typeof value === "object" && value !== null ? (value as Fields) : noFields

/** The items of an array; none of anything else. */
export const items = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : noItems)

/** Characters around a JSON text that say nothing: NUL, the separator of records (RFC 7464), a byte order mark. */
const isEmpty = (code: number): boolean => code <= 0x20 || code === 0x7f || code === 0xfeff

/** A JSON text without the characters around it that say nothing. */
export const trimmed = (text: string): string => {
  let start = 0
  let end = text.length
  while (start < end && isEmpty(text.charCodeAt(start))) start += 1
  while (end > start && isEmpty(text.charCodeAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/** A text that is not empty; `undefined` for anything else. */
export const text = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined

/** A whole number of at least 0; `undefined` for anything else. */
export const count = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : undefined

/**
 * Returns a number of any kind, or its digits in a text, as in usage reports. Core checks and reports implausible
 * figures.
 */
export const number = (value: unknown): number | undefined => {
  if (typeof value === "string" && /^\d{1,15}$/.test(value)) return Number(value)
  return typeof value === "number" ? value : undefined
}

/** Returns a table's entry for a vendor's word; `undefined` if it is missing, also for words such as `constructor`. */
export const meaning = <A>(table: Readonly<Record<string, A>>, word: unknown): A | undefined =>
  typeof word === "string" && Object.hasOwn(table, word) ? table[word] : undefined

/**
 * Returns a piece of an answer's text: empty for `null` and `undefined`. Any other value that is not a text fails;
 * `name` describes it.
 */
export const said = (value: unknown, name: string): string => {
  if (typeof value === "string") return value
  if (value === undefined || value === null) return ""
  throw unreadable(`${name} is not a string`)
}

/** Returns the fields of an object; empty if it is absent. Other values, also `null`, fail; `name` describes them. */
export const object = (value: unknown, name: string): Fields => {
  if (value === undefined) return noFields
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields
  throw unreadable(`${name} is not an object`)
}

/** Returns the items of an array; empty if it is absent. Other values, also `null`, fail; `name` describes them. */
export const array = (value: unknown, name: string): ReadonlyArray<unknown> => {
  if (value === undefined) return noItems
  if (Array.isArray(value)) return value
  throw unreadable(`${name} is not a list`)
}
