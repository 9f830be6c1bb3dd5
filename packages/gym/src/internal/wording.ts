/** Number formatting for generators. */
import type { Draw } from "./draw.ts"

/** Formats an integer with thousands separators: 12,345. */
export const grouped = (value: number | bigint): string => String(value).replace(/\B(?=(?:\d{3})+(?!\d))/g, ",")

/** Formats a number. Large numbers randomly have thousands separators or not. */
export const number = (draw: Draw, value: number | bigint): string =>
  value >= 10_000 && draw.chance(0.5) ? grouped(value) : String(value)

/** Formats an ordinal: 1st, 2nd, 3rd, 4th. */
export const ordinal = (value: number): string => {
  const teen = value % 100 >= 11 && value % 100 <= 13
  const ending = teen ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th")
  return `${value}${ending}`
}

/** Parses an earlier answer as an integer. Returns `undefined` if it is out of bounds. */
export const integerWithin = (
  given: { readonly kind: string; readonly value: string },
  min: number,
  max: number
): number | undefined => {
  if (given.kind !== "integer") return undefined
  const value = Number(given.value)
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined
}

/** Joins values with commas. */
export const list = (values: ReadonlyArray<number | string>): string => values.join(", ")
