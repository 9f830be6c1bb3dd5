/**
 * An exact number: a fraction of arbitrary-size integers. Numbers that are not fractions, such as the square root of 2,
 * are stored as a double.
 */

export interface Exact {
  readonly numerator: bigint
  /** Always positive. */
  readonly denominator: bigint
  /** The value if it is not a fraction. The fraction is 0 in that case. */
  readonly inexact?: number | undefined
}

/** Maximum number of digits. More would exceed the limit on a worker's answer. */
const mostDigits = 2_000
const mostBits = Math.floor(mostDigits * Math.log2(10))

const greatest = (left: bigint, right: bigint): bigint => {
  let [a, b] = [left < 0n ? -left : left, right < 0n ? -right : right]
  while (b !== 0n) [a, b] = [b, a % b]
  return a
}

const bits = (value: bigint): number => value.toString(16).length * 4

export const fraction = (numerator: bigint, denominator = 1n): Exact | undefined => {
  if (denominator === 0n) return undefined
  const shared = greatest(numerator, denominator) * (denominator < 0n ? -1n : 1n)
  const made = { numerator: numerator / shared, denominator: denominator / shared }
  return bits(made.numerator) > mostBits + 8 || bits(made.denominator) > mostBits + 8 ? undefined : made
}

const inexact = (value: number): Exact | undefined =>
  Number.isFinite(value) ? { numerator: 0n, denominator: 1n, inexact: value } : undefined

export const pi: Exact = { numerator: 0n, denominator: 1n, inexact: Math.PI }

export const whole = (value: bigint | number): Exact => ({ numerator: BigInt(value), denominator: 1n })

/** Parses a decimal number such as -12.50. */
export const parse = (text: string): Exact | undefined => {
  const match = /^(-?)(\d*)(?:\.(\d+))?$/.exec(text)
  if (match === null || (match[2] === "" && match[3] === undefined)) return undefined
  const [, sign, integer = "", decimals = ""] = match
  const size = BigInt(`${integer}${decimals}` || "0")
  return fraction(sign === "-" ? -size : size, 10n ** BigInt(decimals.length))
}

export const integer = ({ denominator, inexact, numerator }: Exact): bigint | undefined =>
  inexact === undefined && denominator === 1n ? numerator : undefined

export const toNumber = (value: Exact): number => {
  if (value.inexact !== undefined) return value.inexact
  const excess = Math.max(bits(value.numerator), bits(value.denominator)) - 1_000
  if (excess <= 0) return Number(value.numerator) / Number(value.denominator)
  // Scale both sides to avoid overflowing a double.
  const scaled = (value.numerator << 1_100n) / value.denominator
  return bits(scaled) > 2_000 ? Number.NaN : Number(scaled / (1n << 1_000n)) / 2 ** 100
}

type Operation = (left: Exact, right: Exact) => Exact | undefined

const operation =
  (exact: Operation, rough: (left: number, right: number) => number): Operation =>
  (left, right) =>
    left.inexact === undefined && right.inexact === undefined
      ? exact(left, right)
      : inexact(rough(toNumber(left), toNumber(right)))

export const add = operation(
  (a, b) => fraction(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator),
  (a, b) => a + b
)
export const multiply = operation(
  (a, b) => fraction(a.numerator * b.numerator, a.denominator * b.denominator),
  (a, b) => a * b
)
export const divide = operation(
  (a, b) => fraction(a.numerator * b.denominator, a.denominator * b.numerator),
  (a, b) => a / b
)
export const negate = (value: Exact): Exact => ({
  numerator: -value.numerator,
  denominator: value.denominator,
  ...(value.inexact === undefined ? {} : { inexact: -value.inexact })
})
export const subtract: Operation = (left, right) => add(left, negate(right))

/** Compares two numbers. Returns -1, 0 or 1. */
export const compare = (left: Exact, right: Exact): number | undefined => {
  const difference = subtract(left, right)
  if (difference === undefined) return undefined
  return difference.inexact === undefined
    ? Number(difference.numerator > 0n) - Number(difference.numerator < 0n)
    : Math.sign(difference.inexact)
}

const root = (value: bigint, degree: 2n | 3n): bigint | undefined => {
  if (value < 0n) return undefined
  let low = 0n
  let high = 1n << BigInt(Math.ceil(bits(value) / Number(degree)) + 1)
  while (low < high) {
    const middle = (low + high + 1n) / 2n
    if (middle ** degree <= value) low = middle
    else high = middle - 1n
  }
  return low ** degree === value ? low : undefined
}

/** Returns the square or cube root, as a fraction if it is rational. */
export const rootOf = (value: Exact, degree: 2 | 3): Exact | undefined => {
  if (degree === 2 && (value.numerator < 0n || (value.inexact ?? 0) < 0)) return undefined
  const size = value.numerator < 0n ? -value.numerator : value.numerator
  const power = degree === 2 ? 2n : 3n
  const [top, bottom] = [root(size, power), root(value.denominator, power)]
  if (value.inexact === undefined && top !== undefined && bottom !== undefined)
    return fraction(value.numerator < 0n ? -top : top, bottom)
  const number = toNumber(value)
  return inexact(degree === 2 ? Math.sqrt(number) : Math.cbrt(number))
}

export const power: Operation = (base, exponent) => {
  const times = integer(exponent)
  if (times === undefined || base.inexact !== undefined) {
    const half = exponent.inexact === undefined && exponent.numerator === 1n && exponent.denominator === 2n
    return half ? rootOf(base, 2) : inexact(toNumber(base) ** toNumber(exponent))
  }
  const size = times < 0n ? -times : times
  const larger = Math.max(bits(base.numerator), bits(base.denominator))
  if (base.numerator === 0n) return times > 0n ? base : undefined
  const isUnit = base.denominator === 1n && base.numerator * base.numerator <= 1n
  if (!isUnit && (size > 10_000n || (larger - 4) * Number(size) > mostBits)) return undefined
  const count = isUnit ? size % 2n : size
  const [top, bottom] = [base.numerator ** count, base.denominator ** count]
  return times < 0n ? fraction(bottom, top) : fraction(top, bottom)
}

/** Returns the remainder of a division, with the sign of the divisor. */
export const modulo: Operation = (left, right) => {
  const [a, b] = [integer(left), integer(right)]
  if (a === undefined || b === undefined || b <= 0n || a < 0n) return undefined
  return whole(a % b)
}

export const factorial = (value: Exact): Exact | undefined => {
  const upTo = integer(value)
  if (upTo === undefined || upTo < 0n || upTo > 800n) return undefined
  let product = 1n
  for (let factor = 2n; factor <= upTo; factor++) product *= factor
  return fraction(product)
}

export const greatestDivisor: Operation = (left, right) => {
  const [a, b] = [integer(left), integer(right)]
  return a === undefined || b === undefined ? undefined : whole(greatest(a, b))
}

export const leastMultiple: Operation = (left, right) => {
  const [a, b] = [integer(left), integer(right)]
  if (a === undefined || b === undefined || a === 0n || b === 0n) return undefined
  const product = a * b < 0n ? -a * b : a * b
  return whole(product / greatest(a, b))
}

/** Largest number that trial division handles quickly. */
const largestTried = 1_000_000_000_000n

export const isPrime = (value: Exact): boolean | undefined => {
  const number = integer(value)
  if (number === undefined || number > largestTried) return undefined
  if (number < 2n) return false
  const size = Number(number)
  for (let factor = 2; factor * factor <= size; factor++) if (size % factor === 0) return false
  return true
}

export type Direction = "nearest" | "up" | "down"

/** Rounds a value to a multiple of `step`. Ties round away from 0. */
export const toMultiple = (value: Exact, step: Exact, direction: Direction = "nearest"): Exact | undefined => {
  const given = value.inexact === undefined ? value : parse(value.inexact.toFixed(20).slice(0, 100))
  const steps = given === undefined ? undefined : divide(given, step)
  if (steps === undefined || steps.inexact !== undefined) return undefined
  const isNegative = steps.numerator < 0n
  const size = isNegative ? -steps.numerator : steps.numerator
  const [floor, rest] = [size / steps.denominator, size % steps.denominator]
  const goesOut =
    direction === "nearest" ? rest * 2n >= steps.denominator : rest > 0n && (direction === "up") !== isNegative
  const count = goesOut ? floor + 1n : floor
  return multiply(whole(isNegative ? -count : count), step)
}

/** Rounds a value to a number of significant digits. Ties round away from 0. */
export const toDigits = (value: Exact, digits: number): Exact | undefined => {
  const number = Math.abs(toNumber(value))
  if (number === 0) return value
  if (!Number.isFinite(number)) return undefined
  const exponent = BigInt(Math.floor(Math.log10(number)) + 1 - digits)
  const step = exponent < 0n ? fraction(1n, 10n ** -exponent) : fraction(10n ** exponent)
  return step === undefined ? undefined : toMultiple(value, step)
}

const significantDigits = 12

/** Formats a value as a decimal: exact for integers and short decimals, otherwise with 12 significant digits. */
export const shown = (value: Exact): string | undefined => {
  const number = integer(value)
  if (number !== undefined) return number.toString().length > mostDigits ? undefined : number.toString()
  const short = value.inexact === undefined ? finite(value) : undefined
  if (short !== undefined) return short
  const double = toNumber(value)
  const text = String(Number(double.toPrecision(significantDigits)))
  return Number.isFinite(double) && !text.includes("e") ? text : undefined
}

/**
 * Formats a value as an exact decimal of at most 12 significant digits. Returns `undefined` if there is no such
 * decimal.
 */
const finite = (value: Exact): string | undefined => {
  let rest = value.denominator
  let places = 0
  for (const factor of [10n, 5n, 2n]) {
    while (rest % factor === 0n && places <= 40) {
      rest /= factor
      places += 1
    }
  }
  if (rest !== 1n || places > 40) return undefined
  const scaled = (value.numerator * 10n ** BigInt(places)) / value.denominator
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(places + 1, "0")
  if (digits.replace(/^0+/, "").length > 30) return undefined
  return `${scaled < 0n ? "-" : ""}${digits.slice(0, -places)}.${digits.slice(-places).replace(/0+$/, "")}`
}

/** Formats a value as a decimal of at most 12 significant digits, as in step-by-step calculations. */
export const rough = (value: Exact): string | undefined => {
  const number = integer(value)
  if (number !== undefined) return number.toString()
  const double = toNumber(value)
  return Number.isFinite(double) ? String(Number(double.toPrecision(significantDigits))) : undefined
}
