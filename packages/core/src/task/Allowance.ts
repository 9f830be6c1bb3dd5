/**
 * Rate limit allowances: how much of a vendor's rate limits is left, as reported by the vendor.
 *
 * Vendors report their allowance in response headers. A worker emits it as a part of its stream, and `ProviderGate`
 * then delays calls that the vendor would reject. Header names differ between vendors, so workers supply the names;
 * this module parses the values.
 */
import { durationMillis } from "./vendorWords.ts"

/** The remaining allowance for a single limit. */
export interface Level {
  /** Amount that can still be used now. */
  readonly remaining: number
  /** Time until the limit is fully replenished, in milliseconds. */
  readonly resetMillis: number
  /**
   * Total size of the limit, if it is replenished continuously (token bucket). If undefined, nothing is replenished
   * before the reset (fixed window).
   */
  readonly limit?: number | undefined
}

/** The remaining allowance for each of a vendor's limits. Undefined limits are unknown. */
export interface Allowance {
  readonly requests?: Level | undefined
  readonly tokens?: Level | undefined
}

/** Names of the headers that describe a limit. Specify `limit` only if the limit is replenished continuously. */
export interface LevelHeaders {
  readonly remaining: string
  readonly reset: string
  readonly limit?: string | undefined
}

/** Names of the headers that a vendor sends. */
export interface HeaderNames {
  readonly requests?: LevelHeaders | undefined
  readonly tokens?: LevelHeaders | undefined
}

/** Any object with a `get` method for headers, such as a fetch `Headers`. */
export interface HeaderSource {
  readonly get: (name: string) => string | null | undefined
}

/**
 * Parses the value of a reset header. Returns the time until the reset in milliseconds, or `undefined` if the value is
 * invalid.
 *
 * **Details**
 *
 * Accepts a duration (`6m0s`, `17ms`), a number of seconds (`30`, `0.5`), a date (`2026-01-01T00:00:10Z`), and Unix
 * timestamps in seconds or milliseconds; numbers of at least one billion are treated as timestamps. Returns 0 for times
 * in the past.
 *
 * **Example**
 *
 * ```ts
 * import { Allowance } from "@divisi/core"
 *
 * const now = Date.parse("2026-01-01T00:00:00Z")
 * Allowance.readReset("6m0.5s", now) // => 360500
 * Allowance.readReset("30", now) // => 30000
 * Allowance.readReset("2026-01-01T00:00:10Z", now) // => 10000
 * ```
 */
export const readReset = (text: string, now: number): number | undefined => {
  const value = text.trim()
  const duration = durationMillis(value)
  if (duration !== undefined) return duration
  const number = /^-?[\d.]+$/.test(value) ? Number(value) : Number.NaN
  if (number >= 1e11) return Math.max(0, number - now)
  if (number >= 1e9) return Math.max(0, number * 1_000 - now)
  if (number >= 0) return number * 1_000
  const time = Number.isNaN(number) ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : Math.max(0, time - now)
}

const readCount = (text: string | null | undefined): number | undefined => {
  const count = text === null || text === undefined || text.trim() === "" ? Number.NaN : Number(text)
  return Number.isFinite(count) && count >= 0 ? count : undefined
}

const readLevel = (headers: HeaderSource, names: LevelHeaders | undefined, now: number): Level | undefined => {
  if (names === undefined) return undefined
  const remaining = readCount(headers.get(names.remaining))
  const resetMillis = readReset(headers.get(names.reset) ?? "", now)
  if (remaining === undefined || resetMillis === undefined || !Number.isFinite(resetMillis)) return undefined
  const limit = names.limit === undefined ? undefined : readCount(headers.get(names.limit))
  return limit === undefined ? { remaining, resetMillis } : { remaining, resetMillis, limit }
}

/**
 * Parses the allowance from response headers. Returns `undefined` if the headers do not contain one. `now`, in
 * milliseconds since the Unix epoch, is the reference for absolute reset times if there is no `date` header.
 *
 * **Example**
 *
 * ```ts
 * import { Allowance } from "@divisi/core"
 *
 * const names = { requests: { remaining: "x-left", reset: "x-reset", limit: "x-limit" } }
 * const headers = new Headers({ "x-left": "59", "x-reset": "1s", "x-limit": "60" })
 * Allowance.fromHeaders(headers, names, 0) // => { requests: { remaining: 59, resetMillis: 1000, limit: 60 } }
 * ```
 */
export const fromHeaders = (headers: HeaderSource, names: HeaderNames, now: number): Allowance | undefined => {
  const date = Date.parse(headers.get("date") ?? "")
  const vendorNow = Number.isNaN(date) ? now : date
  const requests = readLevel(headers, names.requests, vendorNow)
  const tokens = readLevel(headers, names.tokens, vendorNow)
  if (requests === undefined && tokens === undefined) return undefined
  return { ...(requests && { requests }), ...(tokens && { tokens }) }
}
