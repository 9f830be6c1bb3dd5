/** The distributions that tests and intervals need, to at least ten digits. */

const coefficients = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7
]

/** The logarithm of the gamma function of a positive number (Lanczos). */
const logGamma = (x: number): number => {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x)
  const shifted = x - 1
  const base = shifted + 7.5
  const sum = coefficients.reduce((total, value, index) => total + (index === 0 ? value : value / (shifted + index)), 0)
  return 0.5 * Math.log(2 * Math.PI) + (shifted + 0.5) * Math.log(base) - base + Math.log(sum)
}

const tiny = 1e-300

const away = (value: number) => (Math.abs(value) < tiny ? tiny : value)

/** The continued fraction of the incomplete beta function, by Lentz's method. */
const betaFraction = (x: number, a: number, b: number): number => {
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let result = d
  for (let m = 1; m <= 500; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    result *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    result *= d * c
    if (Math.abs(d * c - 1) < 1e-15) break
  }
  return result
}

/** The regularised incomplete beta function. */
const incompleteBeta = (x: number, a: number, b: number): number => {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  return x < (a + 1) / (a + b + 2) ? (front * betaFraction(x, a, b)) / a : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** The logarithm of the probability of exactly `successes` out of `total`. */
export const logBinomial = (successes: number, total: number, share: number): number => {
  if (share <= 0) return successes === 0 ? 0 : -Infinity
  if (share >= 1) return successes === total ? 0 : -Infinity
  const ways = logGamma(total + 1) - logGamma(successes + 1) - logGamma(total - successes + 1)
  return ways + successes * Math.log(share) + (total - successes) * Math.log1p(-share)
}

/** The probability of at most this number of successes out of `total`. */
export const binomialTail = (most: number, total: number, share: number): number => {
  if (most < 0) return 0
  return most >= total ? 1 : incompleteBeta(1 - share, total - most, most + 1)
}

/** The chance that Student's t with so many degrees of freedom is at least this far from 0, on both sides. */
const studentTwoSided = (t: number, degrees: number): number =>
  Number.isFinite(t) ? incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) : 0

const bisect = (isBelow: (x: number) => boolean): number => {
  let [low, high] = [0, 1]
  while (isBelow(high) && high < 1e12) high *= 2
  for (let step = 0; step < 200; step++) {
    const middle = (low + high) / 2
    if (isBelow(middle)) low = middle
    else high = middle
  }
  return (low + high) / 2
}

/**
 * Returns the quantile that Student's t exceeds in absolute value with a probability of `1 - confidence`, e.g. 2.776
 * for 0.95 and 4.
 */
export const studentQuantile = (confidence: number, degrees: number): number =>
  bisect((t) => studentTwoSided(t, degrees) > 1 - confidence)

/** The regularised lower incomplete gamma function of one half, which is the error function of the root. */
const errorFunction = (x: number): number => {
  if (x > 6) return 1
  let term = x
  let sum = x
  for (let n = 1; n < 300 && Math.abs(term) > 1e-18 * Math.abs(sum); n++) {
    term *= (2 * x * x) / (2 * n + 1)
    sum += term
  }
  return ((2 * Math.exp(-x * x)) / Math.sqrt(Math.PI)) * sum
}

/** The normal quantile of a probability of at least one half, e.g. 1.96 for 0.975. */
export const normalQuantile = (probability: number): number =>
  bisect((z) => (1 + errorFunction(z / Math.SQRT2)) / 2 < probability)
