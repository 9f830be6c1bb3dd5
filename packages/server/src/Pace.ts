/**
 * How much there may be in a minute: a bucket that fills evenly, and holds what is allowed in one minute. What is known
 * only afterwards, such as the tokens of an answer, may leave it in debt, which is waited off.
 */

/** A bucket. */
export interface Pace {
  readonly perMinute: number
  level: number
  at: number
}

const minute = 60_000

/** A full bucket. */
export const make = (perMinute: number, now: number): Pace => ({ perMinute, level: perMinute, at: now })

const fill = (pace: Pace, now: number): void => {
  const { at, level, perMinute } = pace
  pace.level = Math.min(perMinute, level + (Math.max(0, now - at) * perMinute) / minute)
  pace.at = now
}

/**
 * How long until the bucket holds `amount`, in milliseconds; 0 where it does. For an amount of 0: until it is out of
 * debt.
 */
export const wait = (pace: Pace, amount: number, now: number): number => {
  fill(pace, now)
  const missing = amount - pace.level
  const isThere = amount === 0 ? pace.level > 0 : missing <= 0
  return isThere ? 0 : Math.max(1, Math.ceil((missing * minute) / pace.perMinute))
}

/** Takes `amount`, which may leave the bucket in debt. */
export const take = (pace: Pace, amount: number, now: number): void => {
  fill(pace, now)
  pace.level -= amount
}
