/**
 * Deduplication key: it is equal for equal requests, regardless of formatting. A client that repeats a request after a
 * lost connection is attached to the run that it started.
 *
 * Two requests are the same if they are of one owner, are read the same, and agree in the plain values of the fields that
 * are not read (`user`, `store`), and of the objects among them (`metadata`). So the order of keys counts for nothing, and
 * neither does a text that is a list of one block, or a hint for caching. Nothing deeper is looked at: the time that the
 * key takes is that of hashing what was read.
 */
import { hash } from "node:crypto"
import type { Headers } from "../wire/Choice.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { Request, Wire } from "../wire/Wire.ts"

/** By these a client says which request it is; the header of each name is in lower case. */
const identifying = ["idempotency-key", "x-client-request-id"]

/** How many fields that are not read count, and how many of each object among them. */
const maxFields = 100

/** Longer texts are hashed on their own, and are never copied into a larger one. */
const longCharacters = 4_096

const shortened = (text: string): string =>
  text.length > longCharacters ? `#${text.length} ${hash("sha256", text, "base64")}` : text

const withoutLong = (_: string, value: unknown): unknown => (typeof value === "string" ? shortened(value) : value)

const isPlain = (value: unknown): boolean => typeof value !== "object" && value !== undefined

/** The plain values of an object by their names, in order. */
const plainOf = (fields: JsonObject, names: ReadonlyArray<string>): ReadonlyArray<unknown> => {
  const plain: Array<unknown> = []
  for (const name of names) {
    const value = fields[name]
    if (isPlain(value)) plain.push([name, typeof value === "string" ? shortened(value) : value])
  }
  return plain
}

const sorted = (names: Array<string>): ReadonlyArray<string> => names.slice(0, maxFields).sort()

/** Returns the fields that are not read into the request; `null` counts as absent. */
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
 * The key of a request, as it was read and as its body came. `bytes` is the size of all that was read: infinite for a body
 * that refers to stored contents.
 */
export const make = (
  owner: string,
  { name, said }: Pick<Wire<unknown>, "name" | "said">,
  headers: Headers,
  request: Request,
  body: JsonObject,
  bytes: number
): string => {
  const ids = identifying.map((header) => headers[header] ?? "")
  const parts = [owner, name, ids, request, restOf(body, said)]
  // A small body has no long text.
  const text = bytes <= longCharacters ? JSON.stringify(parts) : JSON.stringify(parts, withoutLong)
  return hash("sha256", text, "base64")
}

/** Whether the client marked the request as a retry or named it. */
export const isRepeated = (headers: Headers): boolean =>
  identifying.some((header) => headers[header] !== undefined) || Number(headers["x-stainless-retry-count"] ?? 0) > 0
