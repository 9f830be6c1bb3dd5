/** Sets of real numbers as canonical unions of intervals. */

import { approximate, exact } from "./Evaluate.ts"
import type { Comparison, Expression } from "./Expression.ts"
import { variables } from "./Expression.ts"
import * as Rational from "./Rational.ts"

interface Bound {
  readonly at: number
  /** The bound as a fraction, if it is one. */
  readonly exact?: Rational.Rational | undefined
  readonly isClosed: boolean
}

/** An interval between two bounds. A single point is closed at both ends. */
interface Interval {
  readonly low: Bound
  readonly high: Bound
}

type Intervals = ReadonlyArray<Interval> | undefined

const infinite = (expression: Expression): number | undefined => {
  if (expression.type === "symbol" && expression.name === "infinity") return Number.POSITIVE_INFINITY
  if (expression.type === "negate") {
    const inner = infinite(expression.of)
    return inner === undefined ? undefined : -inner
  }
  return expression.type === "add" && expression.items.length === 1 ? infinite(expression.items[0]!) : undefined
}

/** The position of a bound: in double precision, and exactly if it is a fraction. */
type Position = Pick<Bound, "at" | "exact">

const fromFraction = (fraction: Rational.Rational): Position => ({
  at: Number(fraction.numerator) / Number(fraction.denominator),
  exact: fraction
})

const position = (expression: Expression): Position | undefined => {
  const at = infinite(expression)
  if (at !== undefined) return { at }
  const fraction = exact(expression)
  if (fraction !== undefined) return fromFraction(fraction)
  const value = approximate(expression)
  return value?.im.isZero() === true ? { at: value.re.toNumber() } : undefined
}

const lowest: Position = { at: Number.NEGATIVE_INFINITY }
const highest: Position = { at: Number.POSITIVE_INFINITY }

const interval = (
  low: Position | undefined,
  lowClosed: boolean,
  high: Position | undefined,
  highClosed: boolean
): Intervals => {
  if (low === undefined || high === undefined || Number.isNaN(low.at) || Number.isNaN(high.at)) return undefined
  if (low.at > high.at || (low.at === high.at && !(lowClosed && highClosed))) return undefined
  return [
    {
      low: { ...low, isClosed: lowClosed && Number.isFinite(low.at) },
      high: { ...high, isClosed: highClosed && Number.isFinite(high.at) }
    }
  ]
}

const everything: Interval = {
  low: { at: Number.NEGATIVE_INFINITY, isClosed: false },
  high: { at: Number.POSITIVE_INFINITY, isClosed: false }
}

const point = (one: Position): Interval => ({ low: { ...one, isClosed: true }, high: { ...one, isClosed: true } })

const points = (items: ReadonlyArray<Expression>): Intervals => {
  const found = items.map(position)
  return found.every((one) => one !== undefined && Number.isFinite(one.at))
    ? found.map((one) => point(one!))
    : undefined
}

/** Sorts intervals and merges those that touch. */
const merge = (intervals: ReadonlyArray<Interval>): ReadonlyArray<Interval> => {
  const sorted = [...intervals].sort((a, b) => a.low.at - b.low.at || Number(b.low.isClosed) - Number(a.low.isClosed))
  const merged: Array<Interval> = []
  for (const next of sorted) {
    const last = merged.at(-1)
    const touches =
      last !== undefined &&
      (next.low.at < last.high.at || (next.low.at === last.high.at && (next.low.isClosed || last.high.isClosed)))
    if (!touches) merged.push(next)
    else merged[merged.length - 1] = { low: last.low, high: further(last.high, next.high) }
  }
  return merged
}

const further = (a: Bound, b: Bound): Bound =>
  a.at === b.at ? { ...a, isClosed: a.isClosed || b.isClosed } : a.at > b.at ? a : b

/** Subtracts points and intervals from a set. */
const without = (intervals: ReadonlyArray<Interval>, holes: ReadonlyArray<Interval>): ReadonlyArray<Interval> =>
  holes.reduce((left, { high, low }) => {
    const outside = [
      { low: everything.low, high: { ...low, isClosed: !low.isClosed } },
      { low: { ...high, isClosed: !high.isClosed }, high: everything.high }
    ].filter(({ high, low }) => low.at < high.at)
    return intersect(left, outside)
  }, intervals)

const intersect = (a: ReadonlyArray<Interval>, b: ReadonlyArray<Interval>): ReadonlyArray<Interval> =>
  a.flatMap((x) =>
    b.flatMap((y) => {
      const low = x.low.at === y.low.at ? (x.low.isClosed ? y.low : x.low) : x.low.at > y.low.at ? x.low : y.low
      const high =
        x.high.at === y.high.at ? (x.high.isClosed ? y.high : x.high) : x.high.at < y.high.at ? x.high : y.high
      const isSome = low.at < high.at || (low.at === high.at && low.isClosed && high.isClosed)
      return isSome ? [{ low, high }] : []
    })
  )

const all = (found: ReadonlyArray<Intervals>): Intervals =>
  found.every((one) => one !== undefined) ? merge(found.flatMap((one) => one ?? [])) : undefined

/** Returns the values of a variable that satisfy a comparison with a constant. */
const ray = (comparison: Comparison, at: Position | undefined): Intervals => {
  switch (comparison) {
    case "<":
    case "<=":
      return interval(lowest, false, at, comparison === "<=")
    case ">":
    case ">=":
      return interval(at, comparison === ">=", highest, false)
    case "!=":
      return at === undefined ? undefined : without([everything], [point(at)])
    default:
      return undefined
  }
}

const flipped: Readonly<Partial<Record<Comparison, Comparison>>> = { "<": ">", ">": "<", "<=": ">=", ">=": "<=" }

/** Returns the comparison with its sides swapped. */
export const flip = (comparison: Comparison): Comparison => flipped[comparison] ?? comparison

/** Returns slope and intercept of a linear expression in one variable, or `undefined` for any other expression. */
const linear = (
  expression: Expression,
  variable: string
): readonly [Rational.Rational, Rational.Rational] | undefined => {
  const at = (x: number) => exact(expression, new Map([[variable, Rational.integer(x)]]))
  const [start, first, second, back] = [at(0), at(1), at(2), at(-3)]
  if (start === undefined || first === undefined || second === undefined || back === undefined) return undefined
  const slope = Rational.add(first, Rational.negate(start))
  const isLine = (x: number, y: Rational.Rational) => {
    const rise = slope === undefined ? undefined : Rational.multiply(slope, Rational.integer(x))
    const value = rise === undefined ? undefined : Rational.add(start, rise)
    return value !== undefined && Rational.equals(value, y)
  }
  return slope !== undefined && isLine(2, second) && isLine(-3, back) ? [slope, start] : undefined
}

/** Returns the values of a variable that satisfy a comparison of two expressions. */
const allowed = (left: Expression, comparison: Comparison, right: Expression, variable: string): Intervals => {
  const isAlone = (side: Expression) => side.type === "symbol" && side.name === variable
  if (comparison === "in") return isAlone(left) ? of(right) : undefined
  if (isAlone(left) && variables(right).length === 0) return ray(comparison, position(right))
  if (isAlone(right) && variables(left).length === 0) return ray(flip(comparison), position(left))
  if (left.type === "call" && left.name === "abs") return within(left.of, comparison, right, variable)
  if (right.type === "call" && right.name === "abs") return within(right.of, flip(comparison), left, variable)
  const line = linear({ type: "add", items: [left, { type: "negate", of: right }] }, variable)
  if (line === undefined || line[0].numerator === 0n) return undefined
  const zero = Rational.divide(Rational.negate(line[1]), line[0])
  return zero === undefined
    ? undefined
    : ray(line[0].numerator > 0n ? comparison : flip(comparison), fromFraction(zero))
}

/** Handles comparisons such as `|x - 3| < 2`, which stand for two inequalities. */
const within = (of: Expression, comparison: Comparison, size: Expression, variable: string): Intervals => {
  const bound = exact(size)
  if (bound === undefined || bound.numerator <= 0n || comparison === "!=") return undefined
  const upper = allowed(of, comparison, size, variable)
  const lower = allowed(of, flip(comparison), { type: "negate", of: size }, variable)
  if (upper === undefined || lower === undefined) return undefined
  return comparison === "<" || comparison === "<=" ? intersect(upper, lower) : merge([...upper, ...lower])
}

/**
 * Combines the sets of a list of relations. Joined by commas, all relations must hold. If no number satisfies all of
 * them, any may hold.
 */
const joined = (join: "," | "and" | "or", parts: ReadonlyArray<ReadonlyArray<Interval>>): ReadonlyArray<Interval> => {
  const both = parts.reduce((a, b) => intersect(a, b))
  return join === "or" || (join === "," && both.length === 0) ? merge(parts.flat()) : both
}

/** Converts relations in one variable, such as `1 < x \leq 2`, to a set. Also returns the name of the variable. */
export const ofRelation = (
  expression: Expression
): { readonly variable: string; readonly intervals: ReadonlyArray<Interval> } | undefined => {
  if (expression.type === "list") {
    const parts = expression.items.map(ofRelation)
    const variable = parts[0]?.variable
    if (variable === undefined || parts.some((part) => part?.variable !== variable)) return undefined
    return {
      variable,
      intervals: joined(
        expression.join,
        parts.map((part) => part?.intervals ?? [])
      )
    }
  }
  if (expression.type !== "relation") return undefined
  const { comparisons, operands } = expression
  const [variable, other] = variables(expression)
  if (variable === undefined || other !== undefined || comparisons.some((one) => one === "=" || one === "~")) {
    return undefined
  }
  const sides = comparisons.map((comparison, index) =>
    allowed(operands[index]!, comparison, operands[index + 1]!, variable)
  )
  if (sides.some((side) => side === undefined)) return undefined
  const intervals = sides.reduce((a, b) => intersect(a ?? [], b ?? []), [everything])
  return { variable, intervals: intervals ?? [] }
}

/** Converts an interval, a union, a difference or `\mathbb{R}` to a set. Returns `undefined` for anything else. */
export const of = (expression: Expression): Intervals => {
  switch (expression.type) {
    case "symbol":
      return expression.name === "reals" ? [everything] : undefined
    case "tuple": {
      const [low, high] = expression.items
      if (low === undefined || high === undefined || expression.items.length !== 2) return undefined
      return interval(position(low), expression.open === "[", position(high), expression.close === "]")
    }
    case "set-builder":
      return ofRelation(expression.of)?.intervals
    case "set":
      return points(expression.items)
    case "union":
      return all(expression.items.map(of))
    case "difference": {
      const [left, right] = [of(expression.left), of(expression.right)]
      return left === undefined || right === undefined ? undefined : without(left, right)
    }
    default:
      return undefined
  }
}

const isSameBound = (a: Bound, b: Bound): boolean => {
  if (a.isClosed !== b.isClosed) return false
  if (a.exact !== undefined && b.exact !== undefined) return Rational.equals(a.exact, b.exact)
  if (!Number.isFinite(a.at) || !Number.isFinite(b.at)) return a.at === b.at
  return Math.abs(a.at - b.at) <= 1e-12 * Math.max(1, Math.abs(a.at))
}

/** Whether two sets are equal. */
export const equals = (a: ReadonlyArray<Interval>, b: ReadonlyArray<Interval>): boolean => {
  const [left, right] = [merge(a), merge(b)]
  return (
    left.length === right.length &&
    left.every(({ high, low }, index) => isSameBound(low, right[index]!.low) && isSameBound(high, right[index]!.high))
  )
}
