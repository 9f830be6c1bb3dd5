/**
 * Reads JSON sent by clients. A required field that is missing or has the wrong type throws an `ApiError` that names
 * it; unknown fields are ignored.
 */
import { Options } from "@divisi/core"
import { invalid } from "./ApiError.ts"

/** An object as it came. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is an object, and no list. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether an object has a field of some names. Objects have few fields, and there are many names. */
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

/** An object. */
export const object = (value: unknown, field: string): JsonObject =>
  isObject(value) ? value : wrong(field, "an object", value)

/** A list. */
export const list = (value: unknown, field: string): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : wrong(field, "a list", value)

/** A text. */
export const text = (value: unknown, field: string): string =>
  typeof value === "string" ? value : wrong(field, "a text", value)

/** The longest name or id. */
const maxNameCharacters = 1_000

/** Whether a text can be stored and looked for: not too long, without NUL, and well-formed Unicode. */
export const isName = (text: string): boolean =>
  text.length <= maxNameCharacters && !text.includes("\0") && text.isWellFormed()

/** A name or an id; some clients number their ids. */
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

/** How large a value is, in characters, about as JSON: without writing it. */
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

/** A field that may be left out, or `null`. */
export const optional = <A>(
  value: unknown,
  field: string,
  read: (value: unknown, field: string) => A
): A | undefined => (value === undefined || value === null ? undefined : read(value, field))

/** The value of a JSON text; the text itself if it is not JSON. */
export const parsed = (text: string): unknown => {
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

/** Yes or no in one of the forms that {@link flag} reads; `undefined` for anything else. */
export const asFlag = (value: unknown): boolean | undefined => flags.get(value)

/** Yes or no, which some clients write as texts or numbers. */
export const flag = (value: unknown, field: string): boolean => flags.get(value) ?? wrong(field, "true or false", value)

/** A finite number from `least` to `most`. */
export const number =
  (least: number, most: number) =>
  (value: unknown, field: string): number =>
    typeof value === "number" && value >= least && value <= most
      ? value
      : wrong(field, `a number from ${least} to ${most}`, value)

/** A whole number from `least` on. */
export const whole =
  (least: number) =>
  (value: unknown, field: string): number =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? (value as number)
      : wrong(field, `a whole number of at least ${least}`, value)
