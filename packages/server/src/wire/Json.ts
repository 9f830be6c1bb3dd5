/**
 * Parses JSON values from clients. If a required field is missing or has the wrong type, an `ApiError` that names the
 * field is thrown. Unknown fields are ignored, except in objects of this server's own API ({@link checkNames}).
 */
import { Nearest, Options } from "@divisi/core"
import { invalid } from "./ApiError.ts"
import { JsonScan } from "./JsonScan.ts"
import { defaults } from "./Limits.ts"

/** A JSON object as received. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is an object and not an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * Whether an object has any of the given fields. Iterates over the object, which usually has fewer fields than there
 * are names.
 */
export const hasAny = (value: JsonObject, names: ReadonlySet<string>): boolean => {
  for (const name in value) if (names.has(name)) return true
  return false
}

const wrong = (field: string, what: string, value: unknown): never => {
  throw invalid(
    field,
    `${field} ${value === undefined ? `is missing; it must be ${what}` : `must be ${what}, not ${Options.kindOf(value)}`}.`
  )
}

/** Parses an object. */
export const object = (value: unknown, field: string): JsonObject =>
  isObject(value) ? value : wrong(field, "an object", value)

/**
 * Rejects an object with unknown fields; the error suggests the closest name. `inside` is the path of the object in the
 * request, with a final dot. Throws an `ApiError`.
 */
export const checkNames = (value: JsonObject, names: ReadonlyArray<string>, what: string, inside = ""): void => {
  const unknown = Object.keys(value).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const field = `${inside}${unknown.slice(0, 64)}`
  const meant = Nearest.nearest(unknown, names)
  const hint = Nearest.didYouMean(meant && `${inside}${meant}`, `Fields: ${names.join(", ")}.`)
  throw invalid(field, `${field} is not a field of ${what}.${hint}`)
}

/** Parses a list. `what` describes the accepted values in the error. */
export const list = (value: unknown, field: string, what = "a list"): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : wrong(field, what, value)

/** Maximum number of parts or tool calls in a message. */
const maxItems = 2_000

/** Parses a list within a message. Its length is limited, because a message is parsed in one event loop turn. */
export const items = (value: unknown, field: string): ReadonlyArray<unknown> => {
  const all = list(value, field)
  if (all.length <= maxItems) return all
  throw invalid(field, `${field} must have at most ${maxItems} elements.`)
}

/** Parses a string. */
export const text = (value: unknown, field: string): string =>
  typeof value === "string" ? value : wrong(field, "a string", value)

/** Maximum length of a name or id, in characters. */
const maxNameCharacters = 1_000

/** Whether a text can be stored and used for lookups: within the length limit, without NUL, and well-formed Unicode. */
export const isName = (text: string): boolean =>
  text.length <= maxNameCharacters && !text.includes("\0") && text.isWellFormed()

/** Parses a name or id. Numbers are converted, since some clients use numeric ids. */
export const name = (value: unknown, field: string): string => {
  const name = typeof value === "number" ? String(value) : text(value, field)
  if (isName(name)) return name
  throw invalid(
    field,
    name.length > maxNameCharacters
      ? `${field} must have at most ${maxNameCharacters} characters.`
      : `${field} must be well-formed Unicode without NUL.`
  )
}

/** Estimates the size of a value as JSON, in characters, without serializing it. */
export const sizeOf = (value: unknown): number => {
  let size = 0
  const pending: Array<unknown> = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    if (typeof next === "string") size += next.length + 3
    else if (typeof next !== "object" || next === null) size += 6
    else {
      size += 2
      for (const [key, child] of Object.entries(next)) {
        if (!Array.isArray(next)) size += key.length + 3
        pending.push(child)
      }
    }
  }
  return size
}

/** Parses a field that may be omitted or `null`. */
export const optional = <A>(
  value: unknown,
  field: string,
  read: (value: unknown, field: string) => A
): A | undefined => (value === undefined || value === null ? undefined : read(value, field))

/** Maximum length of JSON text within a request, in characters. */
const maxParsedCharacters = 2 ** 20

/** Parses JSON text within a request. Returns the text unchanged if it is not JSON, or exceeds the limits on requests. */
export const parsed = (text: string): unknown => {
  if (text.length > maxParsedCharacters || new JsonScan(defaults).push(Buffer.from(text)) !== undefined) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const flags: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  ["true", true],
  ["false", false],
  [1, true],
  [0, false]
])

/** Converts a value in any form accepted by {@link flag} to a boolean, or returns `undefined`. */
export const asFlag = (value: unknown): boolean | undefined => flags.get(value)

/** Parses a boolean, which some clients send as a string or number. */
export const flag = (value: unknown, field: string): boolean => flags.get(value) ?? wrong(field, "true or false", value)

/** Parses a finite number between `least` and `most`, inclusive. */
export const number =
  (least: number, most: number) =>
  (value: unknown, field: string): number =>
    typeof value === "number" && value >= least && value <= most
      ? value
      : wrong(
          field,
          most === Number.MAX_VALUE ? `a number of at least ${least}` : `a number from ${least} to ${most}`,
          value
        )

/** Parses an integer of at least `least`. */
export const whole =
  (least: number) =>
  (value: unknown, field: string): number =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? (value as number)
      : wrong(field, `a whole number of at least ${least}`, value)
