/**
 * The rate limit of one provider: the vendor's last report of its remaining allowance, extrapolated until the next one.
 *
 * The report in an answer does not include calls that were admitted after the answered call, because they may have
 * reached the vendor later, so they are subtracted. The report of an earlier call never replaces that of a later one.
 */
import type { Allowance } from "@divisi/core"

/** The state of a limit at the time `at`. */
interface Bucket {
  level: number
  at: number
  /** Capacity of a token bucket. `Infinity` for a fixed window, which ends instead of refilling. */
  readonly limit: number
  readonly perMilli: number
  /** Time at which a window ends, after which the limit is unknown. `Infinity` for a bucket. */
  readonly endsAt: number
  /** Time at which the report is too old to delay calls. */
  readonly holdsUntil: number
}

const kinds = ["requests", "tokens"] as const

type Kind = (typeof kinds)[number]

/** Admits calls to one provider. Times are in milliseconds on a single clock. */
export interface Pace {
  /** Returns how long a call must wait. 0 if it can run now. */
  readonly wait: (tokens: number, now: number) => number
  /** Admits a call, and returns the listener for its allowance. */
  readonly admit: (tokens: number, now: number) => (allowance: Allowance.Allowance, now: number) => void
}

const bucketOf = (
  level: Allowance.Level,
  before: Bucket | undefined,
  now: number,
  longestWait: number
): Bucket | undefined => {
  const { limit, remaining, resetMillis } = level
  const told = { level: remaining, at: now, holdsUntil: now + longestWait }
  if (limit === undefined) {
    return { ...told, limit: Number.POSITIVE_INFINITY, perMilli: 0, endsAt: now + resetMillis }
  }
  const isTelling = remaining < limit && resetMillis > 0
  const perMilli = isTelling ? (limit - remaining) / resetMillis : before?.perMilli
  // A full bucket does not show how fast it refills.
  if (perMilli === undefined || perMilli === 0 || limit === 0) return undefined
  return { ...told, limit, perMilli, endsAt: Number.POSITIVE_INFINITY }
}

const fill = (bucket: Bucket, now: number): void => {
  bucket.level = Math.min(bucket.limit, bucket.level + bucket.perMilli * Math.max(0, now - bucket.at))
  bucket.at = now
}

/**
 * Creates the rate limit for a provider without reports: all calls can run. A report delays calls for at most
 * `longestWait` milliseconds. After that, calls are sent, and their answers contain new reports.
 */
export const make = (longestWait: number): Pace => {
  const buckets: { [K in Kind]?: Bucket | undefined } = {}
  const admitted = { calls: 0, requests: 0, tokens: 0 }
  let spoken = 0

  const current = (kind: Kind, now: number): Bucket | undefined => {
    const bucket = buckets[kind]
    if (bucket === undefined) return undefined
    if (now >= bucket.endsAt) buckets[kind] = undefined
    else fill(bucket, now)
    return buckets[kind]
  }

  const waitFor = (kind: Kind, amount: number, now: number): number => {
    const bucket = current(kind, now)
    if (bucket === undefined) return 0
    const missing = Math.min(amount, bucket.limit) - bucket.level
    // Prevents rounding errors from delaying a call repeatedly for no reason.
    if (missing <= 1e-6) return 0
    const wait = bucket.perMilli === 0 ? bucket.endsAt - now : missing / bucket.perMilli
    return Math.max(0, Math.min(wait, bucket.holdsUntil - now))
  }

  return {
    wait: (tokens, now) => Math.max(waitFor("requests", 1, now), waitFor("tokens", tokens, now)),
    admit: (tokens, now) => {
      const amounts = { requests: 1, tokens }
      for (const kind of kinds) {
        const bucket = current(kind, now)
        if (bucket !== undefined) bucket.level = Math.max(0, bucket.level - amounts[kind])
        admitted[kind] += amounts[kind]
      }
      admitted.calls += 1
      const own = { ...admitted }
      return (allowance, now) => {
        if (own.calls < spoken) return
        spoken = own.calls
        for (const kind of kinds) {
          const level = allowance[kind]
          if (level === undefined) continue
          const bucket = bucketOf(level, buckets[kind], now, longestWait)
          if (bucket !== undefined) bucket.level = Math.max(0, bucket.level - (admitted[kind] - own[kind]))
          buckets[kind] = bucket
        }
      }
    }
  }
}
