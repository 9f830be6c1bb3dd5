/**
 * Computes a deduplication key, which is equal for equal requests regardless of formatting. A client that repeats a
 * request after a lost connection is attached to the run that the first request started.
 *
 * Two requests are equal if they have the same owner, parse to the same request, and agree in the plain values of all
 * other fields (`user`, `store`) and of objects among those fields (`metadata`). Key order, cache hints, and text sent
 * as a list with one block make no difference. Nothing deeper is compared, so computing the key takes as long as
 * hashing the parsed request.
 *
 * A large body is compared by its bytes, which are hashed as they arrive. A body that refers to stored content is compared
 * as it is, because the content may be large.
 */
import { hash } from "node:crypto"
import type { Headers } from "../wire/Choice.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { Request, Wire } from "../wire/Wire.ts"

/** Headers in which clients send a request id. */
const identifying = ["idempotency-key", "x-client-request-id"]

/** Maximum number of unparsed fields that are compared, and of values in each object among them. */
const maxFields = 100

/** Longer strings are hashed separately, which avoids copying them into a larger string. */
const longCharacters = 4_096

const shortened = (text: string): string =>
  text.length > longCharacters ? `#${text.length} ${hash("sha256", text, "base64")}` : text

const withoutLong = (_: string, value: unknown): unknown => (typeof value === "string" ? shortened(value) : value)

const isPlain = (value: unknown): boolean => typeof value !== "object" && value !== undefined

/** Returns the plain values of an object for the given names, in order. */
const plainOf = (fields: JsonObject, names: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const plain: Array<unknown> = []
  for (const name of names) {
    const value = fields[name]
    if (isPlain(value)) plain.push([name, typeof value === "string" ? shortened(value) : value])
  }
  return plain
}

const sorted = (names: Array<string>): ReadonlyArray<string> => names.slice(0, maxFields).sort()

/** Returns the fields that are not parsed into the request. A field with value `null` is treated as omitted. */
const restOf = (body: JsonObject, said: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const names = sorted(
    Object.keys(body).filter((name) => body[name] !== null && name !== "cache_control" && !said.includes(name))
  )
  const objects: Array<unknown> = []
  for (const name of names) {
    const value = body[name]
    if (isObject(value)) objects.push([name, plainOf(value, sorted(Object.keys(value)))])
  }
  return [plainOf(body, names), objects]
}

/**
 * Returns the deduplication key for a request, given its parsed form, its body, and the size of the body in bytes.
 * `whole` stands for a body that is compared as a whole.
 */
export const make = (
  owner: string,
  { name, said }: Pick<Wire<unknown>, "name" | "said">,
  headers: Headers,
  request: Request,
  body: JsonObject,
  bytes: number,
  whole?: string
): string => {
  const ids = identifying.map((header) => headers[header] ?? "")
  if (whole !== undefined) return hash("sha256", JSON.stringify([owner, name, ids, whole]), "base64")
  const parts = [owner, name, ids, request, restOf(body, said)]
  // A small body cannot contain a long string.
  const text = bytes <= longCharacters ? JSON.stringify(parts) : JSON.stringify(parts, withoutLong)
  return hash("sha256", text, "base64")
}

/** Whether the client marked the request as a retry or sent a request id. */
export const isRepeated = (headers: Headers): boolean =>
  identifying.some((header) => headers[header] !== undefined) || Number(headers["x-stainless-retry-count"] ?? 0) > 0
