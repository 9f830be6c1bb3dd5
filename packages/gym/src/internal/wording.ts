/** How generators write numbers. */
import type { Draw } from "./draw.ts"

/** A whole number with commas between thousands: 12,345. */
export const grouped = (value: number | bigint): string => String(value).replace(/\B(?=(?:\d{3})+(?!\d))/g, ",")

/** A number as people write it: large ones with or without commas. */
export const number = (draw: Draw, value: number | bigint): string =>
  value >= 10_000 && draw.chance(0.5) ? grouped(value) : String(value)

/** 1st, 2nd, 3rd, 4th. */
export const ordinal = (value: number): string => {
  const teen = value % 100 >= 11 && value % 100 <= 13
  const ending = teen ? "th" : (["th", "st", "nd", "rd"][value % 10] ?? "th")
  return `${value}${ending}`
}

/** Returns an earlier answer as an integer, if it is within bounds. */
export const integerWithin = (
  given: { readonly kind: string; readonly value: string },
  min: number,
  max: number
): number | undefined => {
  if (given.kind !== "integer") return undefined
  const value = Number(given.value)
  return Number.isSafeInteger(value) && value >= min && value <= max ? value : undefined
}

/** A list as text, joined by commas. */
export const list = (values: ReadonlyArray<number | string>): string => values.join(", ")
