/** Sets of real numbers as unions of intervals, in one form for equal sets. */

import { approximate, exact } from "./Evaluate.ts"
import type { Comparison, Expression } from "./Expression.ts"

interface Bound {
  readonly at: number
  readonly isClosed: boolean
}

/** From a lower to an upper bound; a single point is closed at both. */
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

/** Where a bound lies, to the digits of a double. */
const position = (expression: Expression): number | undefined => {
  const at = infinite(expression)
  if (at !== undefined) return at
  const fraction = exact(expression)
  if (fraction !== undefined) return Number(fraction.numerator) / Number(fraction.denominator)
  const value = approximate(expression)
  return value?.im.isZero() === true ? value.re.toNumber() : undefined
}

const interval = (
  low: number | undefined,
  lowClosed: boolean,
  high: number | undefined,
  highClosed: boolean
): Intervals => {
  if (low === undefined || high === undefined || Number.isNaN(low) || Number.isNaN(high) || low > high) return undefined
  if (low === high && !(lowClosed && highClosed)) return undefined
  return [
    {
      low: { at: low, isClosed: lowClosed && Number.isFinite(low) },
      high: { at: high, isClosed: highClosed && Number.isFinite(high) }
    }
  ]
}

const everything: Interval = {
  low: { at: Number.NEGATIVE_INFINITY, isClosed: false },
  high: { at: Number.POSITIVE_INFINITY, isClosed: false }
}

const points = (items: ReadonlyArray<Expression>): Intervals => {
  const found = items.map(position)
  return found.every((at) => at !== undefined && Number.isFinite(at))
    ? found.map((at) => ({ low: { at: at!, isClosed: true }, high: { at: at!, isClosed: true } }))
    : undefined
}

/** Sorted, with what touches joined. */
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
  a.at === b.at ? { at: a.at, isClosed: a.isClosed || b.isClosed } : a.at > b.at ? a : b

/** Takes points out. */
const without = (intervals: ReadonlyArray<Interval>, holes: ReadonlyArray<Interval>): Intervals => {
  if (holes.some(({ high, low }) => low.at !== high.at)) return undefined
  return holes.reduce<ReadonlyArray<Interval>>(
    (left, { low: { at } }) =>
      left.flatMap((one) => {
        if (at < one.low.at || at > one.high.at) return [one]
        const open = { at, isClosed: false }
        return [
          { low: one.low, high: open },
          { low: open, high: one.high }
        ].filter(({ high, low }) => low.at < high.at)
      }),
    intervals
  )
}

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

/** What a comparison of a variable with a value allows. */
const ray = (comparison: Comparison, at: number | undefined): Intervals => {
  switch (comparison) {
    case "<":
    case "<=":
      return interval(Number.NEGATIVE_INFINITY, false, at, comparison === "<=")
    case ">":
    case ">=":
      return interval(at, comparison === ">=", Number.POSITIVE_INFINITY, false)
    case "!=":
      return at === undefined
        ? undefined
        : without([everything], [{ low: { at, isClosed: true }, high: { at, isClosed: true } }])
    default:
      return undefined
  }
}

const flipped: Readonly<Partial<Record<Comparison, Comparison>>> = { "<": ">", ">": "<", "<=": ">=", ">=": "<=" }

/** The comparison read from its other side. */
export const flip = (comparison: Comparison): Comparison => flipped[comparison] ?? comparison

/** A set of numbers that is said by relations of one variable, e.g. `1 < x \leq 2`; with the variable's name. */
export const ofRelation = (
  expression: Expression
): { readonly variable: string; readonly intervals: ReadonlyArray<Interval> } | undefined => {
  if (expression.type === "list" && expression.isUnordered) {
    const parts = expression.items.map(ofRelation)
    const variable = parts[0]?.variable
    if (variable === undefined || parts.some((part) => part?.variable !== variable)) return undefined
    return { variable, intervals: merge(parts.flatMap((part) => part?.intervals ?? [])) }
  }
  if (expression.type !== "relation") return undefined
  const { comparisons, operands } = expression
  const at = operands.findIndex((operand) => operand.type === "symbol" && position(operand) === undefined)
  const variable = operands[at]
  if (variable?.type !== "symbol" || operands.length > 3 || comparisons.includes("=")) return undefined
  const sides = operands.flatMap((operand, index): ReadonlyArray<Intervals> => {
    if (index === at) return []
    if (Math.abs(index - at) !== 1) return [undefined]
    const comparison = comparisons[Math.min(index, at)]!
    if (comparison === "in") return [index > at ? of(operand) : undefined]
    return [ray(index > at ? comparison : flip(comparison), position(operand))]
  })
  if (sides.some((side) => side === undefined)) return undefined
  const intervals = sides.reduce((a, b) => intersect(a ?? [], b ?? []), [everything])
  return { variable: variable.name, intervals: intervals ?? [] }
}

/** The set that an interval, a union, a difference or `\mathbb{R}` is; `undefined` for what is no such set. */
export const of = (expression: Expression): Intervals => {
  switch (expression.type) {
    case "symbol":
      return expression.name === "reals" ? [everything] : undefined
    case "tuple": {
      const [low, high] = expression.items
      if (low === undefined || high === undefined || expression.items.length !== 2) return undefined
      return interval(position(low), expression.open === "[", position(high), expression.close === "]")
    }
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

const isSameBound = (a: Bound, b: Bound): boolean =>
  a.isClosed === b.isClosed && (a.at === b.at || Math.abs(a.at - b.at) <= 1e-12 * Math.max(1, Math.abs(a.at)))

/** Whether two sets are the same. */
export const equals = (a: ReadonlyArray<Interval>, b: ReadonlyArray<Interval>): boolean => {
  const [left, right] = [merge(a), merge(b)]
  return (
    left.length === right.length &&
    left.every(({ high, low }, index) => isSameBound(low, right[index]!.low) && isSameBound(high, right[index]!.high))
  )
}
