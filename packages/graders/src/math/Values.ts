/** Whether two formulas have the same value: exactly, to 80 digits, or at every point where they are tried. */
import { type Decision, no, open, verdict, yes } from "./Decision.ts"
import { agree, approximate, type Bindings, exact, isRounding } from "./Evaluate.ts"
import type { Expression } from "./Expression.ts"
import { children, some, variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"

const isDecimal = (expression: Expression) => some(expression, (node) => node.type === "number" && node.isDecimal)

/** A decimal may stand for a fraction that it rounds to six places; never for one that it could have said exactly. */
const isRounded = (gold: Expression, answer: Expression): boolean => {
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

/** More of them, for formulas that are pieced together of several. */
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

const bothSigns = sizes.flatMap(
  ([top, bottom]): ReadonlyArray<Point> => [
    [top, bottom],
    [-top, bottom]
  ]
)

const wholes = [2n, 3n, 4n, 5n, 7n, 9n, 12n, 17n, 24n, 41n]

const at = (points: ReadonlyArray<Point>, round: number, index: number): Rational.Rational => {
  const [top, bottom] = points[(round + index * 3) % points.length]!
  const shift = BigInt(index * 2 + 1)
  return Rational.make(top * 10n + shift, bottom * 10n + shift)!
}

export const bindingsAt = (names: ReadonlyArray<string>, round: number): Bindings =>
  new Map(names.map((name, index) => [name, at(samples, round, index)] as const))

/** Operations whose formula is another one on each side of some point. */
const isPieced = (node: Expression): boolean =>
  (node.type === "call" && /^(?:abs|sqrt|floor|ceil|arc\w+|ln)$/.test(node.name)) ||
  node.type === "root" ||
  node.type === "log" ||
  node.type === "remainder" ||
  (node.type === "power" && !isWhole(node.right))

const isWhole = (expression: Expression): boolean => exact(expression)?.denominator === 1n

const countsOnly = new Set(["factorial", "double-factorial", "binomial", "permutations"])

/** The variables that stand for whole numbers, because they are counted with. */
const counted = (expression: Expression): ReadonlySet<string> => {
  const names = new Set<string>()
  const visit = (node: Expression) => {
    if (countsOnly.has(node.type)) for (const name of variables(node)) names.add(name)
    for (const child of children(node)) visit(child)
  }
  visit(expression)
  return names
}

/** Where the pieces of formulas may meet: at their numbers, and at the quotients and roots of these. */
const corners = (a: Expression, b: Expression): ReadonlyArray<number> => {
  const numbers = new Set<number>()
  const visit = (node: Expression) => {
    const value = exact(node)
    if (value !== undefined) numbers.add(Math.abs(Number(value.numerator) / Number(value.denominator)))
    for (const child of children(node)) visit(child)
  }
  visit(a)
  visit(b)
  const found = [...numbers].filter((one) => one > 0 && one < 1e9).slice(0, 8)
  const derived = found.flatMap((one) => [one, Math.sqrt(one), ...found.map((other) => one / other)])
  const signed = derived.flatMap((one) => [one, -one])
  return [...new Set([0, ...signed])].sort((x, y) => x - y)
}

/** A point in the middle of each two corners that follow each other. */
const between = (found: ReadonlyArray<number>): ReadonlyArray<Point> =>
  found
    .slice(1)
    .map((corner, index): Point => [BigInt(Math.round((0.47 * corner + 0.53 * found[index]!) * 1e9)), 1_000_000_000n])
    .slice(0, 80)

/** Counted variables are no less than 0, unless a formula like `|x|!` gives the rest a value, too. */
const wholeAt = (round: number, index: number, isSigned: boolean): Rational.Rational => {
  const size = wholes[(round * 3 + index * 4) % wholes.length]!
  return Rational.integer(isSigned && (round + index) % 5 === 4 ? -size : size)
}

/** Where two formulas are tried. */
const trials = (a: Expression, b: Expression, names: ReadonlyArray<string>): ReadonlyArray<Bindings> => {
  const whole = new Set([...counted(a), ...counted(b)])
  const isAnyPieced = some(a, isPieced) || some(b, isPieced)
  const points = isAnyPieced ? [...bothSigns, ...between(corners(a, b))] : samples
  const rounds = whole.size === 0 ? points.length : Math.max(points.length, wholes.length)
  return Array.from({ length: rounds }, (_, round) => {
    const spread = isAnyPieced ? round * 7 : round
    return new Map(
      names.map((name, index) => {
        if (whole.has(name)) return [name, wholeAt(round, index, isAnyPieced)] as const
        return [name, index === 0 ? at(points, round, 0) : at(points, spread * index + index, index)] as const
      })
    )
  })
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
  return agree(x, y)
}

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
