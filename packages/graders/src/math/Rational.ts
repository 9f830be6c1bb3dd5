/** Exact fractions. Operations return `undefined` if the result would be too large to compute with. */

/** A fraction in lowest terms with a positive denominator. */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** Maximum size of a numerator or denominator, in bits. */
const maxBits = 65_536

const gcd = (a: bigint, b: bigint): bigint => {
  let [x, y] = [a < 0n ? -a : a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}

/** Returns an upper estimate of the number of bits. */
const bits = (value: bigint): number => value.toString(16).length * 4

/** Creates a fraction. Returns `undefined` if the denominator is 0. */
export const make = (numerator: bigint, denominator = 1n): Rational | undefined => {
  if (denominator === 0n) return undefined
  if (denominator === 1n) return { numerator, denominator }
  const [top, bottom] = denominator < 0n ? [-numerator, -denominator] : [numerator, denominator]
  const divisor = gcd(top, bottom)
  return { numerator: top / divisor, denominator: bottom / divisor }
}

export const integer = (value: bigint | number): Rational => ({ numerator: BigInt(value), denominator: 1n })

/** Parses digits with an optional decimal point and exponent. */
export const fromDecimal = (text: string): Rational | undefined => {
  const match = /^(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/.exec(text)
  if (match === null || (match[1] === "" && (match[2] ?? "") === "")) return undefined
  const fraction = match[2] ?? ""
  const exponent = Number(match[3] ?? 0) - fraction.length
  const digits = BigInt(`${match[1]}${fraction}`)
  return exponent >= 0 ? make(digits * 10n ** BigInt(exponent)) : make(digits, 10n ** BigInt(-exponent))
}

const limited = (value: Rational | undefined): Rational | undefined =>
  value === undefined || bits(value.numerator) > maxBits || bits(value.denominator) > maxBits ? undefined : value

export const add = (a: Rational, b: Rational): Rational | undefined =>
  limited(make(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator))

export const negate = (a: Rational): Rational => ({ numerator: -a.numerator, denominator: a.denominator })

export const multiply = (a: Rational, b: Rational): Rational | undefined =>
  limited(make(a.numerator * b.numerator, a.denominator * b.denominator))

export const divide = (a: Rational, b: Rational): Rational | undefined =>
  limited(make(a.numerator * b.denominator, a.denominator * b.numerator))

/** Raises a fraction to an integer power. */
export const power = (base: Rational, exponent: Rational): Rational | undefined => {
  if (exponent.denominator !== 1n) return undefined
  const size = exponent.numerator < 0n ? -exponent.numerator : exponent.numerator
  const isUnit = base.denominator === 1n && base.numerator >= -1n && base.numerator <= 1n
  if (base.numerator === 0n && exponent.numerator <= 0n) return undefined
  if (isUnit) return integer(size % 2n === 0n ? base.numerator * base.numerator : base.numerator)
  if (size > BigInt(maxBits)) return undefined
  if (BigInt(Math.max(bits(base.numerator), bits(base.denominator))) * size > BigInt(maxBits * 2)) return undefined
  const [top, bottom] = [base.numerator ** size, base.denominator ** size]
  return limited(exponent.numerator < 0n ? make(bottom, top) : { numerator: top, denominator: bottom })
}

/** Returns the exact root of an integer, or `undefined` if the root is not an integer. */
const wholeRoot = (value: bigint, degree: bigint): bigint | undefined => {
  if (value < 2n) return value
  let low = 1n
  let high = 1n << BigInt(Math.ceil(bits(value) / Number(degree)) + 1)
  while (low < high) {
    const middle = (low + high + 1n) >> 1n
    if (middle ** degree <= value) low = middle
    else high = middle - 1n
  }
  return low ** degree === value ? low : undefined
}

/** Returns the exact root, or `undefined` if it is not a fraction. Negative numbers are not supported. */
export const root = (value: Rational, degree: Rational): Rational | undefined => {
  if (degree.denominator !== 1n || degree.numerator < 2n || degree.numerator > 64n) return undefined
  if (value.numerator < 0n || bits(value.numerator) > 4096 || bits(value.denominator) > 4096) return undefined
  const top = wholeRoot(value.numerator, degree.numerator)
  const bottom = wholeRoot(value.denominator, degree.numerator)
  return top === undefined || bottom === undefined ? undefined : make(top, bottom)
}

/** Computes `n!` for integers up to 3000. */
export const factorial = (value: Rational): Rational | undefined => {
  if (value.denominator !== 1n || value.numerator < 0n || value.numerator > 3000n) return undefined
  let product = 1n
  for (let factor = 2n; factor <= value.numerator; factor++) product *= factor
  return integer(product)
}

/** Computes the binomial coefficient `n` choose `k` for integers up to 3000. */
export const binomial = (n: Rational, k: Rational): Rational | undefined => {
  if (n.denominator !== 1n || k.denominator !== 1n || k.numerator < 0n) return undefined
  if (n.numerator < k.numerator || n.numerator > 3000n) return undefined
  let result = 1n
  for (let index = 1n; index <= k.numerator; index++) result = (result * (n.numerator - k.numerator + index)) / index
  return integer(result)
}

/** Computes the double factorial `n!!`, the product of every second integer from `n` down. For integers up to 3000. */
export const doubleFactorial = (value: Rational): Rational | undefined => {
  if (value.denominator !== 1n || value.numerator < 0n || value.numerator > 3000n) return undefined
  let product = 1n
  for (let factor = value.numerator; factor > 1n; factor -= 2n) product *= factor
  return integer(product)
}

/** Computes the number of ordered selections of `k` out of `n` items. */
export const permutations = (n: Rational, k: Rational): Rational | undefined => {
  const [ways, orders] = [binomial(n, k), factorial(k)]
  return ways === undefined || orders === undefined ? undefined : multiply(ways, orders)
}

/** Computes the remainder of `a` divided by a positive `b`. */
export const remainder = (a: Rational, b: Rational): Rational | undefined => {
  if (b.numerator <= 0n) return undefined
  const quotient = divide(a, b)
  const whole = quotient === undefined ? undefined : multiply(floor(quotient), b)
  return whole === undefined ? undefined : add(a, negate(whole))
}

/** Converts a repeating decimal to a fraction. */
export const fromRepeating = (start: string, digits: string): Rational | undefined => {
  const [whole, places] = start.split(".")
  const [before, all] = [BigInt(`0${whole}${places}`), BigInt(`0${whole}${places}${digits}`)]
  return make(all - before, 10n ** BigInt(places!.length) * (10n ** BigInt(digits.length) - 1n))
}

/** Returns the largest integer that is not greater than the fraction. */
export const floor = ({ denominator, numerator }: Rational): Rational => {
  const quotient = numerator / denominator
  return integer(numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient)
}

export const equals = (a: Rational, b: Rational): boolean =>
  a.numerator === b.numerator && a.denominator === b.denominator

export const compare = (a: Rational, b: Rational): number => {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}

/** Whether a fraction can be written exactly with at most `places` decimals. */
export const terminatesWithin = (value: Rational, places: number): boolean =>
  10n ** BigInt(places) % value.denominator === 0n
