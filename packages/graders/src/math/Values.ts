/** Decides whether two formulas have the same value: exactly, to 80 digits, or at sample points. */
import { type Decision, no, open, verdict, yes } from "./Decision.ts"
import { agree, approximate, type Bindings, exact, isReal, isRounding } from "./Evaluate.ts"
import type { Expression } from "./Expression.ts"
import { children, some, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"

const isDecimal = (expression: Expression) => some(expression, (node) => node.type === "number" && node.isDecimal)

const isRepeating = (node: Expression) => node.type === "number" && node.isRepeating === true

/**
 * Whether a decimal is a rounding of a fraction to at least six places. A decimal that could have been exact is not
 * accepted.
 */
const isRounded = (gold: Expression, answer: Expression): boolean => {
  if (some(gold, isRepeating) || some(answer, isRepeating)) return false
  if (isDecimal(gold) === isDecimal(answer)) return false
  const precise = exact(isDecimal(gold) ? answer : gold)
  if (precise !== undefined && Rational.terminatesWithin(precise, 6)) return false
  const [a, b] = [approximate(gold), approximate(answer)]
  return a !== undefined && b !== undefined && isRounding(a, b)
}

const byValue = (gold: Expression, answer: Expression): Decision => {
  const [a, b] = [exact(gold), exact(answer)]
  if (a !== undefined && b !== undefined) {
    if (Rational.equals(a, b)) return yes("rational")
    return isRounded(gold, answer) ? yes("numeric") : no("rational")
  }
  const [x, y] = [approximate(gold), approximate(answer)]
  if (x === undefined || y === undefined) return open
  return verdict(agree(x, y) || isRounded(gold, answer), "numeric")
}

// -------------------------------------------------------------------------------------------------------------------
// Points
// -------------------------------------------------------------------------------------------------------------------

type Point = readonly [top: bigint, bottom: bigint]

/** Generic sample points of both signs and various sizes. */
const samples: ReadonlyArray<Point> = [
  [7n, 5n],
  [-11n, 7n],
  [13n, 17n],
  [-5n, 13n],
  [31n, 11n],
  [-1n, 71n],
  [3n, 23n],
  [43n, 9n],
  [-997n, 37n],
  [1213n, 11n]
]

/** Sizes of sample points for piecewise formulas. */
const sizes: ReadonlyArray<Point> = [
  [1n, 1009n],
  [1n, 13n],
  [2n, 7n],
  [5n, 11n],
  [3n, 5n],
  [17n, 19n],
  [19n, 17n],
  [5n, 3n],
  [41n, 17n],
  [37n, 11n],
  [53n, 11n],
  [67n, 11n],
  [86n, 11n],
  [118n, 11n],
  [173n, 11n],
  [263n, 11n],
  [397n, 11n],
  [606n, 11n],
  [1103n, 11n],
  [5003n, 11n],
  [11_027n, 11n],
  [1_100_017n, 11n]
]

const wholes = [2n, 3n, 4n, 5n, 7n, 9n, 12n, 17n, 24n, 41n]

export const bindingsAt = (names: ReadonlyArray<string>, round: number): Bindings =>
  new Map(
    names.map((name, index) => {
      const [top, bottom] = samples[(round + index * 3) % samples.length]!
      const shift = BigInt(index * 2 + 1)
      return [name, Rational.make(top * 10n + shift, bottom * 10n + shift)!] as const
    })
  )

/** Whether an operation is piecewise, so that different formulas apply on each side of some point. */
const isPieced = (node: Expression): boolean =>
  (node.type === "call" && /^(?:abs|sqrt|floor|ceil|arc\w+|ln)$/.test(node.name)) ||
  node.type === "root" ||
  node.type === "log" ||
  node.type === "remainder" ||
  (node.type === "power" &&
    !isWhole(node.right) &&
    (variables(node.left).length > 0 || variables(node.right).length === 0))

const isWhole = (expression: Expression): boolean => exact(expression)?.denominator === 1n

const countsOnly = new Set(["factorial", "double-factorial", "binomial", "permutations"])

/**
 * Returns the variables that stand for integers: those used for counting and, in rounded expressions, those with
 * typical integer names. `\lceil n/2 \rceil` equals `\lfloor (n+1)/2 \rfloor`.
 */
const counted = (expression: Expression): ReadonlySet<string> => {
  const names = new Set<string>()
  visit(expression, (node) => {
    const isRounded = isRounder(node)
    if (isRounded || countsOnly.has(node.type)) {
      for (const name of variables(node)) if (!isRounded || /^[kmn]$/.test(name)) names.add(name)
    }
  })
  return names
}

const isCostly = (node: Expression): boolean =>
  (node.type === "call" && !/^(?:abs|sqrt|floor|ceil)$/.test(node.name)) ||
  node.type === "log" ||
  (node.type === "power" && !isWhole(node.right))

const isRounder = (node: Expression): boolean => node.type === "call" && /^(?:floor|ceil)$/.test(node.name)

const visit = (expression: Expression, look: (node: Expression) => void): void => {
  look(expression)
  for (const child of children(expression)) visit(child, look)
}

const numberAt = (expression: Expression, name: string, x: Rational.Rational): number | undefined => {
  const value = exact(expression, new Map([[name, x]]))
  return value === undefined ? undefined : Number(value.numerator) / Number(value.denominator)
}

/** Returns the zeros of a formula of degree at most two. */
const roots = (expression: Expression, name: string): ReadonlyArray<number> => {
  const at = (x: number) => numberAt(expression, name, Rational.integer(x))
  const [zero, one, two] = [at(0), at(1), at(2)]
  if (zero === undefined || one === undefined || two === undefined) return []
  const a = (two - 2 * one + zero) / 2
  const b = one - zero - a
  const root = Math.sqrt(b * b - 4 * a * zero)
  const found = a === 0 ? [-zero / b] : [(-b - root) / (2 * a), (-b + root) / (2 * a)]
  return found.filter((one) => Number.isFinite(one))
}

/** Returns the points at which a formula changes sign, accurate to a quarter. */
const signChanges = (expression: Expression, name: string): ReadonlyArray<number> => {
  const found: Array<number> = []
  let last: number | undefined
  for (let quarter = -120; quarter <= 120; quarter++) {
    const value = numberAt(expression, name, Rational.make(BigInt(quarter), 4n)!)
    if (value === undefined) continue
    if (last !== undefined && value * last <= 0) found.push(quarter / 4)
    last = value
  }
  return found
}

/**
 * Returns the points at which pieces of formulas may meet: zeros of the piecewise arguments, and quotients of the
 * constants.
 */
const corners = (expressions: ReadonlyArray<Expression>, names: ReadonlyArray<string>): ReadonlyArray<number> => {
  const numbers = new Set<number>()
  const zeros: Array<number> = []
  for (const expression of expressions) {
    visit(expression, (node) => {
      const value = node.type === "symbol" ? undefined : exact(node)
      if (value !== undefined) numbers.add(Math.abs(Number(value.numerator) / Number(value.denominator)))
      const [inner] = isPieced(node) ? children(node) : []
      if (inner !== undefined && names.length === 1 && variables(inner).length === 1 && zeros.length < 60) {
        zeros.push(...roots(inner, names[0]!), ...signChanges(inner, names[0]!))
      }
    })
  }
  const found = [...numbers].filter((one) => one > 0 && one < 1e30).slice(0, 8)
  // There are many quotients. If each point requires logarithms and sines to 80 digits, only the constants are tried.
  const quotients = expressions.some((one) => some(one, isCostly))
    ? []
    : found.flatMap((one) => found.map((other) => one / other))
  const derived = [...found, ...found.map(Math.sqrt), ...quotients]
  const all = [0, ...zeros, ...derived.flatMap((one) => [one, -one])]
  const [low, high] = [Math.min(...all), Math.max(...all)]
  return [...new Set([3 * low - 7, ...all, 3 * high + 7])].sort((x, y) => x - y)
}

/** Returns a fraction close to a double. */
const near = (x: number): Rational.Rational => Rational.make(BigInt(Math.round(x * 1e9)), 1_000_000_000n)!

/** Returns points between each pair of adjacent corners, and integers where formulas round. */
const between = (
  expressions: ReadonlyArray<Expression>,
  names: ReadonlyArray<string>
): ReadonlyArray<Rational.Rational> => {
  const found = corners(expressions, names)
  const middle = found.slice(1).map((corner, index) => near(0.47 * corner + 0.53 * found[index]!))
  const isAnyRounded = expressions.some((one) => some(one, isRounder))
  return [...(isAnyRounded ? [-3, -1, 0, 1, 2, 7].map((one) => Rational.integer(one)) : []), ...middle.slice(0, 160)]
}

/**
 * Step lengths through the sizes. They differ by variable, so that each variable is sometimes larger and sometimes
 * smaller than the others.
 */
const strides = [5, 9, 13, 17, 19, 21, 3]

/** Returns the value of a variable in a round. All combinations of signs occur. */
const sizeAt = (round: number, index: number): Rational.Rational => {
  const [top, bottom] = sizes[(index === 0 ? round >> 1 : round * strides[index - 1]! + index) % sizes.length]!
  const shift = BigInt(index * 2 + 1)
  const isNegative = ((index < 5 ? round >> index : Math.imul(round, 0x9e3779b1) >>> (20 + index)) & 1) === 1
  return Rational.make((isNegative ? -1n : 1n) * (top * 1000n + shift), bottom * 1000n + shift)!
}

/**
 * Returns an integer value. Counted variables are not negative, unless a formula such as `|x|!` is defined for negative
 * values.
 */
const wholeAt = (round: number, index: number, isSigned: boolean, isRounded: boolean): Rational.Rational => {
  // For rounded variables, use consecutive integers, because two formulas may differ for a single remainder.
  if (isRounded) return Rational.integer(((round * (index === 0 ? 1 : 7)) % 44) - 9)
  const size = wholes[(round * 3 + index * 4) % wholes.length]!
  return Rational.integer(isSigned && (round + index) % 5 === 4 ? -size : size)
}

/** Generates the points at which two formulas are compared. */
const trials = function* (a: Expression, b: Expression, names: ReadonlyArray<string>): Generator<Bindings> {
  const whole = new Set([...counted(a), ...counted(b)])
  const isAnyPieced = some(a, isPieced) || some(b, isPieced)
  const isAnyRounded = some(a, isRounder) || some(b, isRounder)
  const withWholes = (bindings: Bindings, round: number): Bindings =>
    new Map(
      [...bindings].map(([name, value], index) => [
        name,
        whole.has(name) ? wholeAt(round, index, isAnyPieced, isAnyRounded) : value
      ])
    )
  if (!isAnyPieced) {
    for (const round of samples.keys()) yield withWholes(bindingsAt(names, round), round)
    return
  }
  const rounds = 2 * sizes.length * (names.length > 1 ? 2 : 1)
  const sized = (round: number) => names.map((name, index) => [name, sizeAt(round, index)] as const)
  for (let round = 0; round < rounds; round++) yield withWholes(new Map(sized(round)), round)
  for (const [round, point] of between([a, b], names).entries()) {
    yield withWholes(new Map([...sized(round), [names[round % names.length]!, point]]), round)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Formulas
// -------------------------------------------------------------------------------------------------------------------

/**
 * Whether two formulas agree at a point. Returns `undefined` if either has no value there: `(n+1)!/n!` is undefined at
 * -3, but still equals `n + 1`.
 */
const agreeAt = (a: Expression, b: Expression, bindings: Bindings) => {
  const [p, q] = [exact(a, bindings), exact(b, bindings)]
  if (p !== undefined && q !== undefined) return Rational.equals(p, q)
  const [x, y] = [approximate(a, bindings), approximate(b, bindings)]
  if (x === undefined || y === undefined)
    return isSizeCounted(a, b) && (x === undefined) !== (y === undefined) ? false : undefined
  if (agree(x, y)) return true
  // Outside the reals, values depend on convention, as for `\sqrt{x}\sqrt[3]{x}` and `x^{5/6}` with negative x.
  return !isReal(x) && !isReal(y) && !isComplex(a) && !isComplex(b) ? undefined : false
}

const isComplex = (expression: Expression): boolean =>
  some(expression, (node) => node.type === "symbol" && node.name === "i")

/** Whether a formula counts by an absolute value. `|x|!` is defined where `x!` is not. */
const isSizeCounted = (a: Expression, b: Expression): boolean => {
  const isSize = (node: Expression) =>
    countsOnly.has(node.type) && children(node).some((child) => some(child, isPieced))
  return some(a, isSize) || some(b, isSize)
}

const most = 4

/**
 * Decides by comparing values at generic points. A false match would require a formula constructed for exactly these
 * points.
 */
export const byIdentity = (gold: Expression, answer: Expression): Decision => {
  const names = [...new Set([...variables(gold), ...variables(answer)])].sort()
  if (names.length === 0 || names.length > 8) return open
  let agreed = 0
  for (const bindings of trials(gold, answer, names)) {
    const isEqual = agreeAt(gold, answer, bindings)
    if (isEqual === false) return no("identity")
    if (isEqual === true) agreed++
  }
  return agreed >= most ? yes("identity") : open
}

const containers = new Set([
  "tuple",
  "list",
  "set",
  "union",
  "difference",
  "matrix",
  "cases",
  "relation",
  "text",
  "based",
  "ratio",
  "modular",
  "set-builder"
])

export const isValue = (expression: Expression): boolean => !some(expression, ({ type }) => containers.has(type))

export const compareValues = (gold: Expression, answer: Expression): Decision => {
  if (!isValue(gold) || !isValue(answer)) return open
  const isClosed = variables(gold).length === 0 && variables(answer).length === 0
  return isClosed ? byValue(gold, answer) : byIdentity(gold, answer)
}
