/** The power of McNemar's exact test, and the least difference that it finds. */
import { binomialTail, logBinomial } from "./distribution.ts"
import { mcnemar } from "./tests.ts"

/**
 * Returns the maximum number of `total` discordant questions that the worse policy may win for the test to detect a
 * difference. -1 if it never does.
 */
const critical = (total: number, significance: number): number => {
  let [low, high] = [-1, Math.floor(total / 2)]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (mcnemar(middle, total - middle) <= significance) low = middle
    else high = middle - 1
  }
  return low
}

/** Beyond so many standard deviations, counts of discordant questions do not matter. */
const reach = 6

/**
 * Returns the smallest true difference that the test detects with the given power among `questions`, if a share of them
 * is expected to be answered correctly by only one policy. `NaN` if there are too few questions to detect any.
 */
export const leastFound = (options: {
  readonly questions: number
  readonly discordant: number
  readonly power: number
  readonly significance: number
}): number => {
  const { discordant, power, questions, significance } = options
  const thresholds = new Map<number, number>()
  const threshold = (total: number) => {
    const known = thresholds.get(total) ?? critical(total, significance)
    thresholds.set(total, known)
    return known
  }
  const powerAt = (difference: number): number => {
    // A difference of this size requires at least as many discordant questions.
    const share = Math.min(1, Math.max(discordant, difference))
    const spread = Math.sqrt(questions * share * (1 - share))
    const from = Math.max(0, Math.floor(questions * share - reach * spread))
    const to = Math.min(questions, Math.ceil(questions * share + reach * spread))
    let found = 0
    for (let total = from; total <= to; total++) {
      const few = threshold(total)
      if (few < 0) continue
      const loses = Math.max(0, (1 - difference / share) / 2)
      const byChance = 1 - loses
      const chance = Math.exp(logBinomial(total, questions, share))
      found += chance * (binomialTail(few, total, loses) + binomialTail(few, total, byChance))
    }
    return found
  }
  if (powerAt(1) < power) return Number.NaN
  let [low, high] = [0, 1]
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2
    if (powerAt(middle) < power) low = middle
    else high = middle
  }
  return high
}
