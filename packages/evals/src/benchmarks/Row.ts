/** Reads the fields of a data set record with unknown content. */

import * as Result from "effect/Result"

/** A record as read: JSON values, or Parquet values including big integers. */
export type Row = Readonly<Record<string, unknown>>

/** Thrown if a record does not have the shape that its benchmark requires. */
export class RowError extends Error {}

const wrong = (row: Row, name: string, expected: string): RowError =>
  new RowError(
    name in row
      ? `field "${name}" must be ${expected}`
      : `it has no field "${name}"; fields found: ${Object.keys(row).slice(0, 20).join(", ")}`
  )

/** Returns the value read from a record. Throws a {@link RowError} if it could not be read. */
export const orThrow = <A>(read: Result.Result<A, string>): A =>
  Result.getOrThrowWith(read, (detail) => new RowError(detail))

/** Returns a required string field. */
export const text = (row: Row, name: string): string => {
  const value = row[name]
  if (typeof value !== "string") throw wrong(row, name, "a string")
  return value
}

/** Returns a string field that may be missing or null. */
export const optionalText = (row: Row, name: string): string | undefined => {
  const value = row[name]
  return value === undefined || value === null ? undefined : text(row, name)
}

/** Returns an integer field. */
export const integer = (row: Row, name: string): number => {
  const value = typeof row[name] === "bigint" ? Number(row[name]) : row[name]
  if (!Number.isSafeInteger(value)) throw wrong(row, name, "a whole number")
  return value as number
}

/** Returns a field with a list of strings. */
export const texts = (row: Row, name: string): ReadonlyArray<string> => {
  const value = row[name]
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string"))
    throw wrong(row, name, "a list of strings")
  return value
}

/** Returns a nested record. */
export const nested = (row: Row, name: string): Row => {
  const value = row[name]
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(row, name, "an object")
  return value as Row
}

/** Returns a list of nested records. */
export const list = (row: Row, name: string): ReadonlyArray<Row> => {
  const value = row[name]
  if (!Array.isArray(value) || !value.every((item) => typeof item === "object" && item !== null)) {
    throw wrong(row, name, "a list of objects")
  }
  return value
}
