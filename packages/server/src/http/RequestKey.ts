/**
 * What the same request has the same of, however it is written: a client whose connection broke off sends it again, and is
 * to find what it has begun.
 *
 * Two requests are the same where they are of one owner, are read the same, and have all other fields of their bodies the
 * same. So the order of keys counts for nothing, and neither does a text that is a list of one block, or where caching is
 * hinted at. What says for whom it is (`user`, `metadata`) counts, as does the order of a schema's properties, which is
 * the order in which models write them.
 */
import { hash } from "node:crypto"
import type { Headers } from "../wire/Choice.ts"
import { isObject, type JsonObject } from "../wire/Json.ts"
import type { Request, Wire } from "../wire/Wire.ts"

/** By these a client says which request it is; the header of each name is in lower case. */
const identifying = ["idempotency-key", "x-client-request-id"]

/** Objects with their keys in order, without hints of where to cache. */
const ordered = (_: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => name !== "cache_control")
          .toSorted(([left], [right]) => (left < right ? -1 : 1))
      )
    : value

/** The fields that are not read into the request; `null` is as good as none. */
const restOf = (body: JsonObject, said: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null && !said.includes(name)))

/** The key of a request, as it was read and as its body came. */
export const make = (
  owner: string,
  { name, said }: Pick<Wire<unknown>, "name" | "said">,
  headers: Headers,
  request: Request,
  body: JsonObject
): string => {
  const ids = identifying.map((header) => headers[header] ?? "")
  return hash(
    "sha256",
    JSON.stringify([owner, name, ids, request]) + JSON.stringify(restOf(body, said), ordered),
    "base64"
  )
}

/** Whether a client says that it has sent this request before, or names it so that it can be told. */
export const isRepeated = (headers: Headers): boolean =>
  identifying.some((header) => headers[header] !== undefined) || Number(headers["x-stainless-retry-count"] ?? 0) > 0
