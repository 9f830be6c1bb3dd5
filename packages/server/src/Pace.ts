/**
 * Enforces rate limits on requests and tokens per minute. Each limit is a token bucket with a capacity of one minute.
 * Usage that is known only after the fact, such as output tokens, can overdraw a bucket; further requests are then
 * rejected until the bucket has refilled.
 */

import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ApiError } from "./wire/ApiError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Limits per minute. An omitted limit means unlimited. */
export interface Limits {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
}

/** The limit that was exceeded and the time to wait before retrying, in milliseconds. */
export interface Refusal {
  readonly of: "requests" | "tokens"
  readonly waitMillis: number
}

/** Rate limit counters for all callers, either local to this server or shared between servers. */
export interface Paces {
  /** Counts one request for a caller. If a limit is exceeded, returns a refusal and does not count the request. */
  readonly take: (name: string, limits: Limits) => Effect.Effect<Refusal | undefined, ApiError>
  /** Records tokens used by a caller at a given time, in milliseconds since 1970. */
  readonly use: (name: string, limits: Limits, tokens: number, at: number) => void
}

// -------------------------------------------------------------------------------------------------------------------
// A bucket
// -------------------------------------------------------------------------------------------------------------------

interface Bucket {
  readonly perMinute: number
  level: number
  at: number
}

const minute = 60_000

const full = (perMinute: number | undefined, now: number): Bucket | undefined =>
  perMinute === undefined ? undefined : { perMinute, level: perMinute, at: now }

const fill = (bucket: Bucket, now: number): void => {
  const { at, level, perMinute } = bucket
  bucket.level = Math.min(perMinute, level + (Math.max(0, now - at) * perMinute) / minute)
  bucket.at = now
}

/**
 * Returns the milliseconds until the bucket holds `amount`, or 0 if it already does. An amount of 0 means: until the
 * bucket is no longer overdrawn.
 */
const waitFor = (bucket: Bucket, amount: number, now: number): number => {
  fill(bucket, now)
  const missing = amount - bucket.level
  const isThere = amount === 0 ? bucket.level > 0 : missing <= 0
  return isThere ? 0 : Math.max(1, Math.ceil((missing * minute) / bucket.perMinute))
}

/** Removes `amount` from the bucket. The level may become negative. */
const takeFrom = (bucket: Bucket, amount: number, now: number): void => {
  fill(bucket, now)
  bucket.level -= amount
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates rate limits that are counted in this process only. If a caller's limits change, its buckets are refilled.
 *
 * @internal
 */
export const memory = (): Paces => {
  const known = new Map<
    string,
    { readonly of: string; readonly requests: Bucket | undefined; readonly tokens: Bucket | undefined }
  >()

  const bucketsOf = (name: string, { requestsPerMinute, tokensPerMinute }: Limits, now: number) => {
    const of = `${requestsPerMinute} ${tokensPerMinute}`
    const before = known.get(name)
    if (before?.of === of) return before
    const made = { of, requests: full(requestsPerMinute, now), tokens: full(tokensPerMinute, now) }
    known.set(name, made)
    return made
  }

  return {
    take: (name, limits) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const { requests, tokens } = bucketsOf(name, limits, now)
        const ofTokens = tokens === undefined ? 0 : waitFor(tokens, 0, now)
        if (ofTokens > 0) return { of: "tokens", waitMillis: ofTokens }
        const ofRequests = requests === undefined ? 0 : waitFor(requests, 1, now)
        if (ofRequests > 0) return { of: "requests", waitMillis: ofRequests }
        if (requests !== undefined) takeFrom(requests, 1, now)
        return undefined
      }),
    use: (name, limits, tokens, at) => {
      const bucket = bucketsOf(name, limits, at).tokens
      if (bucket !== undefined) takeFrom(bucket, tokens, at)
    }
  }
}
