/**
 * The remaining part of a vendor's rate limits, as reported by the vendor.
 *
 * Vendors report it in response headers. A worker emits it as a part of its stream, and the `ProviderGate` delays calls
 * before the vendor would refuse them. Header names differ by vendor, so workers define them; the values are parsed
 * here.
 */

/** The remaining amount of one limit. */
export interface Level {
  /** The amount that can still be used now. */
  readonly remaining: number
  /** The time until the limit is fully restored, in milliseconds. */
  readonly resetMillis: number
  /**
   * The size of the limit, if it refills evenly until the reset (a token bucket). If absent, nothing refills before the
   * reset (a fixed window).
   */
  readonly limit?: number | undefined
}

/** The remaining amounts of a vendor's limits. An absent limit is unknown. */
export interface Allowance {
  readonly requests?: Level | undefined
  readonly tokens?: Level | undefined
}

/** The headers that describe one limit. Name `limit` only if the limit refills evenly. */
export interface LevelHeaders {
  readonly remaining: string
  readonly reset: string
  readonly limit?: string | undefined
}

/** The headers of one vendor. */
export interface HeaderNames {
  readonly requests?: LevelHeaders | undefined
  readonly tokens?: LevelHeaders | undefined
}

/** A source of headers, such as a `Headers` of the fetch API. */
export interface HeaderSource {
  readonly get: (name: string) => string | null | undefined
}

const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 } as const

const duration = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+$/

/**
 * Returns the number of milliseconds until a reset, or `undefined` if the value is unreadable.
 *
 * **Details**
 *
 * Vendors send a duration (`6m0s`, `17ms`), seconds (`30`, `0.5`), a time (`2026-01-01T00:00:10Z`), or seconds or
 * milliseconds since 1970; a number of at least a billion is interpreted as one of the latter. For a time in the past,
 * returns 0.
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
  if (duration.test(value)) {
    return [...value.matchAll(/([\d.]+)(h|ms|m|s|us|µs|ns)/g)].reduce(
      (sum, [, amount, unit]) => sum + Number(amount) * units[unit as keyof typeof units],
      0
    )
  }
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
 * Returns the allowance in the headers, or `undefined` if they do not contain one. `now`, in milliseconds since 1970,
 * is used if a reset is a time and the `date` header is missing.
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
