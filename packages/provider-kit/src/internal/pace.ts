/**
 * The rate limit of one provider: the vendor's last report of its remaining allowance, extrapolated until the next one.
 *
 * An answer's report does not count the calls that were admitted after its own, as they may have reached the vendor
 * later, so they are subtracted. The report of an earlier call never replaces that of a later one.
 */
import type { Allowance } from "@divisi/core"

/** A limit as it is at `at`. */
interface Bucket {
  level: number
  at: number
  /** Its capacity; `Infinity` for a window, which ends instead of refilling. */
  readonly limit: number
  readonly perMilli: number
  /** When a window ends and nothing is known any more; `Infinity` for a bucket. */
  readonly endsAt: number
}

const kinds = ["requests", "tokens"] as const

type Kind = (typeof kinds)[number]

/** How calls are admitted to one provider. Times are milliseconds of one clock. */
export interface Pace {
  /** How long a call has to wait; 0 when it may run. */
  readonly wait: (tokens: number, now: number) => number
  /** Admits a call, and returns the listener for its allowance. */
  readonly admit: (tokens: number, now: number) => (allowance: Allowance.Allowance, now: number) => void
}

const bucketOf = (level: Allowance.Level, before: Bucket | undefined, now: number): Bucket | undefined => {
  const { limit, remaining, resetMillis } = level
  if (limit === undefined) {
    return { level: remaining, at: now, limit: Number.POSITIVE_INFINITY, perMilli: 0, endsAt: now + resetMillis }
  }
  const isTelling = remaining < limit && resetMillis > 0
  const perMilli = isTelling ? (limit - remaining) / resetMillis : before?.perMilli
  // A full bucket does not show how fast it refills.
  if (perMilli === undefined || perMilli === 0 || limit === 0) return undefined
  return { level: remaining, at: now, limit, perMilli, endsAt: Number.POSITIVE_INFINITY }
}

const fill = (bucket: Bucket, now: number): void => {
  bucket.level = Math.min(bucket.limit, bucket.level + bucket.perMilli * Math.max(0, now - bucket.at))
  bucket.at = now
}

/** Creates the rate limit of a provider that has reported nothing yet: every call can run. */
export const make = (): Pace => {
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
    // Rounding must not make a call wait for nothing, again and again.
    if (missing <= 1e-6) return 0
    return bucket.perMilli === 0 ? bucket.endsAt - now : missing / bucket.perMilli
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
          const bucket = bucketOf(level, buckets[kind], now)
          if (bucket !== undefined) bucket.level = Math.max(0, bucket.level - (admitted[kind] - own[kind]))
          buckets[kind] = bucket
        }
      }
    }
  }
}
