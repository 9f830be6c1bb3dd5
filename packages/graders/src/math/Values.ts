/** Whether two formulas have the same value: exactly, to 80 digits, or at every point where they are tried. */
import { type Decision, no, open, verdict, yes } from "./Decision.ts"
import { agree, approximate, type Bindings, exact, isReal, isRounding } from "./Evaluate.ts"
import type { Expression } from "./Expression.ts"
import { children, some, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"

const isDecimal = (expression: Expression) => some(expression, (node) => node.type === "number" && node.isDecimal)

const isRepeating = (node: Expression) => node.type === "number" && node.isRepeating === true

/** A decimal may stand for a fraction that it rounds to six places; never for one that it could have said exactly. */
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

/** Points to try, none of them special: of both signs and every size. */
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

/** Sizes to try, for formulas that are pieced together of several. */
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

/** Operations whose formula is another one on each side of some point. */
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
 * The variables that stand for whole numbers, because they are counted with; in what is rounded, those that have the
 * names of whole numbers: `\lceil n/2 \rceil` is `\lfloor (n+1)/2 \rfloor`.
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

/** Where a formula of degree two at most is 0. */
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

/** Where a formula changes its sign, to a quarter. */
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

/** Where the pieces of formulas may meet: where what they are pieced by is 0, and at quotients of their numbers. */
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
  // Quotients are many; where each point takes 80 digits of logarithms and sines, the numbers themselves must do.
  const quotients = expressions.some((one) => some(one, isCostly))
    ? []
    : found.flatMap((one) => found.map((other) => one / other))
  const derived = [...found, ...found.map(Math.sqrt), ...quotients]
  const all = [0, ...zeros, ...derived.flatMap((one) => [one, -one])]
  const [low, high] = [Math.min(...all), Math.max(...all)]
  return [...new Set([3 * low - 7, ...all, 3 * high + 7])].sort((x, y) => x - y)
}

/** A fraction near a double. */
const near = (x: number): Rational.Rational => Rational.make(BigInt(Math.round(x * 1e9)), 1_000_000_000n)!

/** Points between each two corners that follow each other, and whole numbers where formulas round. */
const between = (
  expressions: ReadonlyArray<Expression>,
  names: ReadonlyArray<string>
): ReadonlyArray<Rational.Rational> => {
  const found = corners(expressions, names)
  const middle = found.slice(1).map((corner, index) => near(0.47 * corner + 0.53 * found[index]!))
  const isAnyRounded = expressions.some((one) => some(one, isRounder))
  return [...(isAnyRounded ? [-3, -1, 0, 1, 2, 7].map((one) => Rational.integer(one)) : []), ...middle.slice(0, 160)]
}

/** Steps through the sizes, another for each variable, so that each is now the greater and now the less. */
const strides = [5, 9, 13, 17, 19, 21, 3]

/** A value of a variable, all signs of all variables in turn. */
const sizeAt = (round: number, index: number): Rational.Rational => {
  const [top, bottom] = sizes[(index === 0 ? round >> 1 : round * strides[index - 1]! + index) % sizes.length]!
  const shift = BigInt(index * 2 + 1)
  const isNegative = ((index < 5 ? round >> index : Math.imul(round, 0x9e3779b1) >>> (20 + index)) & 1) === 1
  return Rational.make((isNegative ? -1n : 1n) * (top * 1000n + shift), bottom * 1000n + shift)!
}

/** Counted variables are no less than 0, unless a formula like `|x|!` gives the rest a value, too. */
const wholeAt = (round: number, index: number, isSigned: boolean, isRounded: boolean): Rational.Rational => {
  // One after the other where they are rounded: two formulas may differ for one remainder alone.
  if (isRounded) return Rational.integer(((round * (index === 0 ? 1 : 7)) % 44) - 9)
  const size = wholes[(round * 3 + index * 4) % wholes.length]!
  return Rational.integer(isSigned && (round + index) % 5 === 4 ? -size : size)
}

/** Where two formulas are tried. */
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

/** `undefined` where one has no value: `(n+1)!/n!` has none at -3, and is `n + 1` all the same. */
const agreeAt = (a: Expression, b: Expression, bindings: Bindings) => {
  const [p, q] = [exact(a, bindings), exact(b, bindings)]
  if (p !== undefined && q !== undefined) return Rational.equals(p, q)
  const [x, y] = [approximate(a, bindings), approximate(b, bindings)]
  if (x === undefined || y === undefined)
    return isSizeCounted(a, b) && (x === undefined) !== (y === undefined) ? false : undefined
  if (agree(x, y)) return true
  // Beyond the reals both are a matter of convention: `\sqrt{x}\sqrt[3]{x}` and `x^{5/6}` for negative x.
  return !isReal(x) && !isReal(y) && !isComplex(a) && !isComplex(b) ? undefined : false
}

const isComplex = (expression: Expression): boolean =>
  some(expression, (node) => node.type === "symbol" && node.name === "i")

/** `|x|!` has values where `x!` has none. */
const isSizeCounted = (a: Expression, b: Expression): boolean => {
  const isSize = (node: Expression) =>
    countsOnly.has(node.type) && children(node).some((child) => some(child, isPieced))
  return some(a, isSize) || some(b, isSize)
}

const most = 4

/** Equal at points that nothing singles out: a false "yes" would need a formula made for these very points. */
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
