/** Evaluates expressions: exactly as fractions, or to 80 digits as complex numbers. */
import { Decimal } from "decimal.js"
import { type Expression, type FunctionName, print, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"

// -------------------------------------------------------------------------------------------------------------------
// Exact values
// -------------------------------------------------------------------------------------------------------------------

/** The values of variables. */
export type Bindings = ReadonlyMap<string, Rational.Rational>

type Exact = Rational.Rational | undefined

const fold = (
  items: ReadonlyArray<Expression>,
  bindings: Bindings,
  join: (a: Rational.Rational, b: Rational.Rational) => Exact
): Exact =>
  items
    .map((item) => exact(item, bindings))
    .reduce((a, b) => (a === undefined || b === undefined ? undefined : join(a, b)))

const both = (
  left: Expression,
  right: Expression,
  bindings: Bindings,
  join: (a: Rational.Rational, b: Rational.Rational) => Exact
): Exact => fold([left, right], bindings, join)

const hundred = Rational.integer(100)

const exactCall = (name: FunctionName, value: Rational.Rational): Exact => {
  switch (name) {
    case "abs":
      return value.numerator < 0n ? Rational.negate(value) : value
    case "floor":
      return Rational.floor(value)
    case "ceil":
      return Rational.negate(Rational.floor(Rational.negate(value)))
    case "sqrt":
      return Rational.root(value, Rational.integer(2))
    default:
      return undefined
  }
}

const exactPower = (base: Rational.Rational, exponent: Rational.Rational): Exact => {
  if (exponent.denominator === 1n) return Rational.power(base, exponent)
  const root = Rational.root(base, Rational.integer(exponent.denominator))
  return root === undefined ? undefined : Rational.power(root, Rational.integer(exponent.numerator))
}

const mapExact = (of: Expression, bindings: Bindings, change: (value: Rational.Rational) => Exact): Exact => {
  const value = exact(of, bindings)
  return value === undefined ? undefined : change(value)
}

/**
 * Evaluates an expression as a fraction. Returns `undefined` if it is not a fraction, or cannot be proven to be one.
 */
export const exact = (expression: Expression, bindings: Bindings = new Map()): Exact => {
  switch (expression.type) {
    case "number":
      return expression.value
    case "symbol":
      return bindings.get(expression.name)
    case "add":
      return fold(expression.items, bindings, Rational.add)
    case "multiply":
      return fold(expression.items, bindings, Rational.multiply)
    case "divide":
      return both(expression.left, expression.right, bindings, Rational.divide)
    case "binomial":
      return both(expression.left, expression.right, bindings, Rational.binomial)
    case "permutations":
      return both(expression.left, expression.right, bindings, Rational.permutations)
    case "remainder":
      return both(expression.left, expression.right, bindings, Rational.remainder)
    case "power":
      return both(expression.left, expression.right, bindings, exactPower)
    case "root":
      return both(expression.of, expression.degree, bindings, Rational.root)
    case "negate":
      return mapExact(expression.of, bindings, Rational.negate)
    case "factorial":
      return mapExact(expression.of, bindings, Rational.factorial)
    case "double-factorial":
      return mapExact(expression.of, bindings, Rational.doubleFactorial)
    case "percent":
      return mapExact(expression.of, bindings, (value) => Rational.divide(value, hundred))
    case "call":
      return mapExact(expression.of, bindings, (value) => exactCall(expression.name, value))
    default:
      return undefined
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Values to 80 digits
// -------------------------------------------------------------------------------------------------------------------

const D = Decimal.clone({ precision: 80, maxE: 200_000, minE: -200_000, defaults: true })

const pi = D.acos(-1)
const euler = D.exp(1)

/**
 * A complex number. `spread` is the size of the summed terms and is propagated through later operations. After
 * cancellation, it shows how many digits are left.
 */
export interface Approximate {
  readonly re: Decimal
  readonly im: Decimal
  readonly spread: Decimal
}

type Value = Approximate | undefined

const zero = new D(0)

const size = ({ im, re }: Approximate): Decimal => (im.isZero() ? re.abs() : re.times(re).plus(im.times(im)).sqrt())

const value = (re: Decimal, im: Decimal, ...from: ReadonlyArray<Approximate>): Value => {
  if (!re.isFinite() || !im.isFinite()) return undefined
  return { re, im, spread: from.reduce((most, { spread }) => D.max(most, spread), zero) }
}

const real = (re: Decimal, ...from: ReadonlyArray<Approximate>): Value => value(re, zero, ...from)

const plus = (a: Approximate, b: Approximate): Value => {
  const sum = value(a.re.plus(b.re), a.im.plus(b.im), a, b)
  return sum === undefined ? undefined : { ...sum, spread: D.max(sum.spread, size(a), size(b)) }
}

export const isReal = ({ im }: Approximate): boolean => im.isZero()

const times = (a: Approximate, b: Approximate): Value => {
  const grown = { ...a, spread: D.max(a.spread.times(size(b)), b.spread.times(size(a))) }
  if (isReal(a) && isReal(b)) return real(a.re.times(b.re), grown)
  return value(a.re.times(b.re).minus(a.im.times(b.im)), a.re.times(b.im).plus(a.im.times(b.re)), grown)
}

/** Whether a number resulted from cancellation and may be 0. */
const isLost = (a: Approximate): boolean => size(a).lte(a.spread.times("1e-60"))

const inverse = (a: Approximate): Value => {
  const square = a.re.times(a.re).plus(a.im.times(a.im))
  if (square.isZero() || isLost(a)) return undefined
  const grown = { ...a, spread: a.spread.dividedBy(square) }
  return value(a.re.dividedBy(square), a.im.negated().dividedBy(square), grown)
}

const exponential = (a: Approximate): Value => {
  if (a.re.abs().gt(100_000) || a.im.abs().gt(1_000_000)) return undefined
  const length = D.exp(a.re)
  const grown = { ...a, spread: a.spread.times(length) }
  return isReal(a) ? real(length, grown) : value(length.times(D.cos(a.im)), length.times(D.sin(a.im)), grown)
}

const logarithm = (a: Approximate): Value => {
  if (size(a).isZero() || isLost(a)) return undefined
  const grown = { ...a, spread: a.spread.dividedBy(size(a)) }
  if (isReal(a) && a.re.isPositive()) return real(D.ln(a.re), grown)
  return value(D.ln(size(a)), D.atan2(a.im, a.re), grown)
}

/**
 * Returns the distance of a number from 1 in powers of 10. Uses double precision, which is a hundred times cheaper than
 * 80 digits.
 */
const magnitude = (a: Decimal): number => {
  const rough = a.toNumber()
  return Math.abs(rough === 0 || !Number.isFinite(rough) ? a.e : Math.log10(rough))
}

const power = (base: Approximate, exponent: Approximate): Value => {
  if (size(base).isZero()) return exponent.re.gt(0) && isReal(exponent) ? real(zero) : undefined
  const isWhole = isReal(exponent) && exponent.re.isInteger()
  if (isReal(base) && isReal(exponent) && (base.re.isPositive() || isWhole)) {
    if (
      size(exponent)
        .times(magnitude(size(base)))
        .gt(100_000)
    )
      return undefined
    const result = base.re.pow(exponent.re)
    const lost = D.max(base.spread.times(size(exponent)).dividedBy(size(base)), exponent.spread)
    return real(result, { ...base, spread: lost.times(result.abs()) })
  }
  if (isWhole && size(exponent).lte(64)) return wholePower(base, exponent.re.toNumber())
  const log = logarithm(base)
  const scaled = log === undefined ? undefined : times(log, exponent)
  return scaled === undefined ? undefined : exponential(scaled)
}

/**
 * Computes a power such as `x^{2/3}` with a variable base. Returns the real root if there is one, as for
 * `\sqrt[3]{x^2}`.
 */
const realPower = (base: Approximate, exponent: Approximate, fraction: Exact): Value => {
  if (fraction === undefined || fraction.denominator === 1n || fraction.denominator % 2n === 0n) {
    return power(base, exponent)
  }
  const root = rootOf(base, fromRational(Rational.integer(fraction.denominator)))
  return root && power(root, fromRational(Rational.integer(fraction.numerator))!)
}

const wholePower = (base: Approximate, exponent: number): Value => {
  let result = real(new D(1))
  for (let index = 0; index < Math.abs(exponent); index++) result = result && times(result, base)
  return exponent < 0 && result !== undefined ? inverse(result) : result
}

const realFunctions: Readonly<Partial<Record<FunctionName, (x: Decimal) => Decimal | undefined>>> = {
  sin: (x) => D.sin(x),
  cos: (x) => D.cos(x),
  tan: (x) => ratio(D.sin(x), D.cos(x)),
  cot: (x) => ratio(D.cos(x), D.sin(x)),
  sec: (x) => ratio(new D(1), D.cos(x)),
  csc: (x) => ratio(new D(1), D.sin(x)),
  arcsin: (x) => (x.abs().lte(1) ? D.asin(x) : undefined),
  arccos: (x) => (x.abs().lte(1) ? D.acos(x) : undefined),
  arctan: (x) => D.atan(x),
  sinh: (x) => (x.abs().lt(1000) ? D.sinh(x) : undefined),
  cosh: (x) => (x.abs().lt(1000) ? D.cosh(x) : undefined),
  tanh: (x) => (x.abs().lt(1000) ? D.tanh(x) : undefined)
}

const ratio = (top: Decimal, bottom: Decimal): Decimal | undefined =>
  bottom.abs().lt("1e-60") ? undefined : top.dividedBy(bottom)

/** Rounds a number. Returns `undefined` close to an integer, where an error would change the result by one. */
const rounded = (a: Approximate, round: (x: Decimal) => Decimal): Value => {
  if (!isReal(a)) return undefined
  const nearest = a.re.round()
  if (!a.re.equals(nearest) && a.re.minus(nearest).abs().lt("1e-40")) return undefined
  return real(round(a.re), a)
}

const call = (name: FunctionName, a: Approximate): Value => {
  switch (name) {
    case "abs":
      return real(size(a), a)
    case "conjugate":
      return { ...a, im: a.im.negated() }
    case "floor":
      return rounded(a, (x) => x.floor())
    case "ceil":
      return rounded(a, (x) => x.ceil())
    case "exp":
      return exponential(a)
    case "ln":
      return logarithm(a)
    case "sqrt":
      return rootOf(a, real(new D(2)))
    default: {
      if (!isReal(a) || a.re.abs().gt(1_000_000)) return undefined
      const result = realFunctions[name]?.(a.re)
      return result === undefined ? undefined : { re: result, im: zero, spread: D.max(a.spread, 1) }
    }
  }
}

/** Computes the principal root or, for a negative number and an odd degree, the real root. */
const rootOf = (a: Approximate, degree: Value): Value => {
  if (degree === undefined || !isReal(degree) || degree.re.isZero()) return undefined
  if (size(a).isZero()) return real(zero, a)
  // A value lost to cancellation has no digits left to compute a root from.
  if (isLost(a)) return undefined
  const part = real(new D(1).dividedBy(degree.re))
  if (isReal(a) && a.re.isNegative() && degree.re.isInteger() && degree.re.mod(2).abs().equals(1)) {
    const positive = power({ ...a, re: a.re.negated() }, part!)
    return positive === undefined ? undefined : { ...positive, re: positive.re.negated() }
  }
  if (isReal(a) && degree.re.equals(2)) {
    const root = a.re.abs().sqrt()
    const grown = { ...a, spread: a.spread.dividedBy(root) }
    return a.re.isNegative() ? value(zero, root, grown) : real(root, grown)
  }
  return power(a, part!)
}

const fromRational = ({ denominator, numerator }: Rational.Rational): Value =>
  real(new D(numerator.toString()).dividedBy(denominator.toString()))

const two = (
  left: Expression,
  right: Expression,
  bindings: Bindings,
  join: (a: Approximate, b: Approximate) => Value
): Value => {
  const a = approximate(left, bindings)
  const b = a === undefined ? undefined : approximate(right, bindings)
  return a === undefined || b === undefined ? undefined : join(a, b)
}

const quotient = (a: Approximate, b: Approximate): Value => {
  const inverted = inverse(b)
  return inverted === undefined ? undefined : times(a, inverted)
}

const many = (
  items: ReadonlyArray<Expression>,
  bindings: Bindings,
  join: (a: Approximate, b: Approximate) => Value
): Value =>
  items
    .map((item) => approximate(item, bindings))
    .reduce((a, b) => (a === undefined || b === undefined ? undefined : join(a, b)))

const symbolValue = (name: string, bindings: Bindings): Value => {
  if (name === "pi") return real(pi)
  if (name === "e") return real(euler)
  if (name === "i") return value(zero, new D(1))
  const bound = bindings.get(name)
  return bound === undefined ? undefined : fromRational(bound)
}

const one = (of: Expression, bindings: Bindings, change: (a: Approximate) => Value): Value => {
  const inner = approximate(of, bindings)
  return inner === undefined ? undefined : change(inner)
}

const scaled = (of: Expression, bindings: Bindings, factor: Decimal): Value =>
  one(of, bindings, (a) => times(a, { re: factor, im: zero, spread: zero }))

const constant = new WeakMap<Expression, { readonly value: Value }>()

/** The values of costly subexpressions at a point, which both formulas of a comparison often contain. */
const atPoint = new WeakMap<Bindings, Map<string, Value>>()

/** Evaluates an expression to 80 digits. Returns `undefined` if there is no value or it is too large to compute. */
export const approximate = (expression: Expression, bindings: Bindings = new Map()): Value => {
  if (!isCostly(expression)) return reckoned(expression, bindings)
  if (variables(expression).length > 0) {
    const known = atPoint.get(bindings) ?? new Map<string, Value>()
    atPoint.set(bindings, known)
    const key = print(expression)
    if (!known.has(key)) known.set(key, reckoned(expression, bindings))
    return known.get(key)
  }
  // Constant subexpressions are evaluated once for all sample points.
  const before = constant.get(expression)
  if (before !== undefined) return before.value
  const value = reckoned(expression, bindings)
  constant.set(expression, { value })
  return value
}

const isCostly = ({ type }: Expression): boolean =>
  type === "power" || type === "root" || type === "log" || type === "call"

const reckoned = (expression: Expression, bindings: Bindings): Value => {
  switch (expression.type) {
    case "number":
      return fromRational(expression.value)
    case "symbol":
      return symbolValue(expression.name, bindings)
    case "add":
      return many(expression.items, bindings, plus)
    case "multiply":
      return many(expression.items, bindings, times)
    case "divide":
      return two(expression.left, expression.right, bindings, quotient)
    case "power":
      return two(expression.left, expression.right, bindings, (base, exponent) =>
        isReal(base) && base.re.isNegative() && variables(expression.left).length > 0
          ? realPower(base, exponent, exact(expression.right))
          : power(base, exponent)
      )
    case "root":
      return one(expression.of, bindings, (a) => rootOf(a, approximate(expression.degree, bindings)))
    case "log":
      return logTo(expression.of, expression.base, bindings)
    case "call":
      return one(expression.of, bindings, (a) => call(expression.name, a))
    case "negate":
      return scaled(expression.of, bindings, new D(-1))
    case "percent":
      return scaled(expression.of, bindings, new D("0.01"))
    case "degree":
      return scaled(expression.of, bindings, pi.dividedBy(180))
    case "factorial":
    case "double-factorial":
    case "permutations":
    case "remainder":
    case "binomial": {
      const found = exact(expression, bindings)
      return found === undefined ? undefined : fromRational(found)
    }
    default:
      return undefined
  }
}

const logTo = (of: Expression, base: Expression, bindings: Bindings): Value =>
  two(of, base, bindings, (a, b) => {
    const [top, bottom] = [logarithm(a), logarithm(b)]
    return top === undefined || bottom === undefined ? undefined : quotient(top, bottom)
  })

/** Whether two values agree in all significant digits. */
export const agree = (a: Approximate, b: Approximate): boolean => {
  const difference = size({ re: a.re.minus(b.re), im: a.im.minus(b.im), spread: zero })
  if (difference.isZero()) return true
  return difference.lte(D.max(D.max(size(a), size(b)).times("1e-50"), D.max(a.spread, b.spread).times("1e-60")))
}

/** Whether a decimal is a rounding of the other value: to at least six decimals and six digits. */
export const isRounding = (a: Approximate, b: Approximate): boolean => {
  const difference = size({ re: a.re.minus(b.re), im: a.im.minus(b.im), spread: zero })
  return difference.lte("5.000001e-7") && difference.lte(D.min(size(a), size(b)).times("5e-6"))
}
