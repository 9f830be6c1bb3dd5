/** Compares equations, inequalities, and the values that they imply. */
import { type Decision, no, open, type Rung, verdict, yes } from "./Decision.ts"
import { exact } from "./Evaluate.ts"
import type { Comparison, Expression } from "./Expression.ts"
import { print, some, variables } from "./Expression.ts"
import * as IntervalSet from "./IntervalSet.ts"
import { rowsOf } from "./Matrices.ts"
import * as Rational from "./Rational.ts"
import { bindingsAt, byIdentity, isValue } from "./Values.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Rules that differ between benchmarks. */
export interface Rules {
  /** Whether comma-separated values may be in any order, as values in `{…}` always may. */
  readonly anyOrder: boolean
  /** Whether `5` is correct if the gold answer is `x = 5`. */
  readonly bareValues: boolean
  /** Whether `4:18` is a time of day. By default, it is a ratio. */
  readonly isClock?: boolean | undefined
}

/** Compares two trees of any type. */
export type Decide = (gold: Expression, answer: Expression, rules: Rules) => Decision

type Relation = Extract<Expression, { readonly type: "relation" }>

type List = Extract<Expression, { readonly type: "list" }>

// -------------------------------------------------------------------------------------------------------------------
// Names of values
// -------------------------------------------------------------------------------------------------------------------

/**
 * Whether an expression is the name of a derivative: `\frac{dy}{dx}`, `\frac{d}{dx} f(x)`, `\frac{\partial z}{\partial
 * x}`.
 */
const isDifferential = (expression: Expression): boolean =>
  expression.type === "symbol"
    ? /^(?:d|partial)$/.test(expression.name)
    : expression.type === "multiply" &&
      expression.items.length === 2 &&
      expression.items[0]!.type === "symbol" &&
      /^(?:d|partial)$/.test(expression.items[0]!.name) &&
      expression.items[1]!.type === "symbol"

const isFunctionName = (expression: Expression): boolean =>
  expression.type === "symbol" && /^(?:[fghuFGHPEVST]|Pr)(?:_\w+)?'*$/.test(expression.name)

/** Whether an expression is a name: `x`, `AB`, `f(2)`, `|AB|`, `m\angle A`, `boys : girls`. */
export const isLabel = (expression: Expression): boolean => {
  switch (expression.type) {
    case "symbol":
      return variables(expression).length === 1
    case "text":
      return true
    case "call":
      return /^(?:abs|sin|cos|tan|det)$/.test(expression.name) && isLabel(expression.of)
    case "tuple":
    case "ratio":
      return expression.items.every(isLabel)
    case "multiply": {
      const [first, ...rest] = expression.items
      return (isFunctionName(first!) && rest.length === 1) || expression.items.every(isLabel)
    }
    case "divide":
      return isDifferential(expression.left) && isDifferential(expression.right) && expression.right.type === "multiply"
    default:
      return false
  }
}

/** Whether an expression is a sum of different unknowns that was asked for as a whole: `m + n = 3 + 4 = 7`. */
const isTotal = (expression: Expression): boolean =>
  expression.type === "add" &&
  expression.items.every((item) => isLabel(item.type === "negate" ? item.of : item)) &&
  variables(expression).length === expression.items.length

/** Whether a relation equates an expression of named matrices with a matrix: `A^{-1}`, `AB`, `\mathbf{v}^T`. */
const isOfMatrix = ({ operands: [left, ...values] }: Relation): boolean =>
  rowsOf(left!) === undefined && values.every((value) => rowsOf(value) !== undefined)

const isAssignment = ({ comparisons, operands }: Relation): boolean =>
  comparisons.length === 1 && (comparisons[0] === "=" || comparisons[0] === "in") && isLabel(operands[0]!)

/** Removes the formula from a chain of equations that starts with it: `V = lwh = 8 \\cdot 8 \\cdot 10 = 640`. */
const withoutFormula = (values: ReadonlyArray<Expression>): ReadonlyArray<Expression> => {
  const isKnown = (value: Expression) => variables(value).length === 0 && !some(value, ({ type }) => type === "text")
  const from = values.findIndex(isKnown)
  return from > 0 && values.slice(from).every(isKnown) ? values.slice(from) : values
}

/** Returns the values that a chain of equations assigns. `x = 2 + 3 = 5` assigns two equal ones. */
const assigned = (relation: Relation): ReadonlyArray<Expression> | undefined => {
  const { comparisons, operands } = relation
  if (comparisons.length === 1 && comparisons[0] === "in" && isLabel(operands[0]!)) return [operands[1]!]
  if (comparisons.some((comparison) => comparison !== "=")) return undefined
  if (isLabel(operands[0]!) || isTotal(operands[0]!) || isOfMatrix(relation)) return withoutFormula(operands.slice(1))
  return isLabel(operands.at(-1)!) && variables(operands[0]!).length === 0 ? operands.slice(0, -1) : operands
}

/** Returns the name that an equation assigns a value to, if it does so. */
export const nameOf = (expression: Expression): string | undefined =>
  expression.type === "relation" && isAssignment(expression) ? print(expression.operands[0]!) : undefined

/** Expands `(x, y) = (1, 2)` to `x = 1 and y = 2`. */
const expanded = (expression: Expression): Expression => {
  if (expression.type !== "relation" || expression.operands.length !== 2 || expression.comparisons[0] !== "=") {
    return expression
  }
  const [left, right] = expression.operands
  if (left?.type !== "tuple" || right?.type !== "tuple" || left.items.length !== right.items.length) return expression
  const items = left.items.map(
    (item, index): Expression => ({ type: "relation", operands: [item, right.items[index]!], comparisons: ["="] })
  )
  return items.length > 1 && left.items.every(isLabel) ? { type: "list", join: "and", items } : expression
}

/** Whether `x = 1, y = 2` states the coordinates of the point `(1, 2)`, in the order of the names. */
export const isCoordinates = (gold: ReadonlyArray<Expression>, answer: List, rules: Rules, decide: Decide): boolean => {
  if (answer.join === "or" || gold.length !== answer.items.length) return false
  const named = answer.items.flatMap((item): ReadonlyArray<readonly [string, Expression]> => {
    const name = nameOf(item)
    return name === undefined || item.type !== "relation" ? [] : [[name, item.operands.at(-1)!]]
  })
  if (named.length !== gold.length || new Set(named.map(([name]) => name)).size !== named.length) return false
  const sorted = [...named].sort(([a], [b]) => (a < b ? -1 : 1))
  return gold.every((item, index) => decide(item, sorted[index]![1], rules).correct)
}

// -------------------------------------------------------------------------------------------------------------------
// "And" and "or"
// -------------------------------------------------------------------------------------------------------------------

/** Whether an expression is a number or a point, as opposed to a name that could stand for anything. */
const isNumber = (expression: Expression): boolean =>
  variables(expression).length === 0 && !some(expression, ({ type }) => type === "text" || type === "relation")

/** Returns the name of an unknown without the number of its solution: `x` for `x_1`. */
export const unknownOf = (expression: Expression): string | undefined => nameOf(expression)?.replace(/_[\d,]+(?=")/, "")

/** Whether equations assign several values to the same name. They can only be alternatives. */
const isOneUnknown = (items: ReadonlyArray<Expression>): boolean => {
  const names = items.map(unknownOf)
  return names[0] !== undefined && names.every((name) => name === names[0])
}

/** Whether equations assign values to several unknowns: `x = 1, y = 2`. */
export const isOfSeveral = (expression: Expression): boolean =>
  expression.type === "list" && new Set(expression.items.map(unknownOf).filter((name) => name !== undefined)).size > 1

/**
 * Whether two conjunctions are compatible. Values of one unknown may be joined with "and" or "or". However, two numbers
 * are not the same as one of two, and two statements are not the same as one of them.
 */
export const joinsAgree = (gold: Expression, answer: Expression): boolean => {
  if (gold.type !== "list" || answer.type !== "list" || gold.join === answer.join) return true
  if (isOneUnknown(answer.items)) return true
  if (gold.items.every(isNumber) || isOneUnknown(gold.items)) return !(gold.join === "and" && answer.join === "or")
  return gold.join !== "or" && answer.join !== "or"
}

// -------------------------------------------------------------------------------------------------------------------
// Pairs of sides
// -------------------------------------------------------------------------------------------------------------------

interface Pair {
  readonly left: Expression
  readonly comparison: Comparison
  readonly right: Expression
}

const pairs = ({ comparisons, operands }: Relation): ReadonlyArray<Pair> =>
  comparisons.map((comparison, index) => {
    const pair = { left: operands[index]!, comparison, right: operands[index + 1]! }
    const isDown = comparison === ">" || comparison === ">="
    return isDown ? { left: pair.right, comparison: IntervalSet.flip(comparison), right: pair.left } : pair
  })

const minus = (left: Expression, right: Expression): Expression => ({
  type: "add",
  items: [left, { type: "negate", of: right }]
})

/**
 * Whether one side is a lone variable and the other is constant. In that case, the answer must be solved for the
 * variable as well.
 */
const isSolved = ({ left, right }: Pair): boolean =>
  (left.type === "symbol" && variables(right).length === 0) || (right.type === "symbol" && variables(left).length === 0)

/**
 * Whether two relations describe the same line, plane or half-space: the differences of their sides are in a constant
 * ratio.
 */
const isProportional = (gold: Pair, answer: Pair): boolean => {
  const [a, b] = [minus(gold.left, gold.right), minus(answer.left, answer.right)]
  if (!isValue(a) || !isValue(b)) return false
  const names = variables(a)
  if (names.length === 0 || names.join() !== variables(b).join()) return false
  const first = ratioAt(a, b, names)
  if (first === undefined) return false
  const isSigned = gold.comparison === "<" || gold.comparison === "<="
  if (first.numerator === 0n || (isSigned && first.numerator < 0n)) return false
  const scaledAnswer: Expression = {
    type: "multiply",
    items: [{ type: "number", value: first, isDecimal: false }, b]
  }
  return byIdentity(a, scaledAnswer).correct
}

const ratioAt = (a: Expression, b: Expression, names: ReadonlyArray<string>): Rational.Rational | undefined => {
  const bindings = bindingsAt(names, 5)
  const [p, q] = [exact(a, bindings), exact(b, bindings)]
  return p === undefined || q === undefined ? undefined : Rational.divide(p, q)
}

const isSamePair = (gold: Pair, answer: Pair, rules: Rules, decide: Decide): boolean => {
  if (gold.comparison !== answer.comparison) return false
  const isSame = (a: Expression, b: Expression) => decide(a, b, rules).correct
  if (isSame(gold.left, answer.left) && isSame(gold.right, answer.right)) return true
  const isSymmetric = gold.comparison === "=" || gold.comparison === "!="
  if (isSymmetric && isSame(gold.left, answer.right) && isSame(gold.right, answer.left)) return true
  if (gold.comparison === "in" || isSolved(gold)) return false
  return isProportional(gold, answer)
}

/**
 * Whether a chain such as `x = 5 + 6 = 11` answers `x = 11`: one side appears once, and all other members equal the
 * other side.
 */
const isChain = (gold: Relation, answer: Relation, rules: Rules, decide: Decide): boolean => {
  if (gold.operands.length !== 2 || answer.operands.length < 3) return false
  if ([...gold.comparisons, ...answer.comparisons].some((comparison) => comparison !== "=")) return false
  const [name, value] = gold.operands
  return (
    decide(name!, answer.operands[0]!, rules).correct &&
    answer.operands.slice(1).every((operand) => decide(value!, operand, rules).correct)
  )
}

const compareRelations = (gold: Relation, answer: Relation, rules: Rules, decide: Decide): Decision => {
  const [a, b] = [pairs(gold), pairs(answer)]
  const isSame =
    a.length === b.length &&
    a.every((pair) => b.some((other) => isSamePair(pair, other, rules, decide))) &&
    b.every((other) => a.some((pair) => isSamePair(pair, other, rules, decide)))
  return verdict(isSame || isChain(gold, answer, rules, decide), "relation")
}

/** Compares a gold inequality or membership with an answer given as a set or as other inequalities. */
export const relationAsSet = (gold: Expression, answer: Expression): Decision => {
  const a = IntervalSet.ofRelation(gold)
  if (a === undefined) return open
  const relation = IntervalSet.ofRelation(answer)
  if (relation !== undefined && relation.variable !== a.variable) return no("relation")
  const b = relation?.intervals ?? IntervalSet.of(answer)
  return b === undefined ? open : verdict(IntervalSet.equals(a.intervals, b), "relation")
}

/** Compares a gold set with an answer given by relations in one variable: `2 < x \le 5` for `(2, 5]`. */
export const setAsRelation = (gold: Expression, answer: Expression): Decision => {
  const b = IntervalSet.ofRelation(answer)
  const a = b === undefined ? undefined : IntervalSet.of(gold)
  return a !== undefined && b !== undefined && IntervalSet.equals(a, b.intervals) ? yes("interval") : open
}

const asRelation = (rung: Rung): Rung => (rung === "none" ? "none" : "relation")

const compareGoldRelation = (gold: Relation, answer: Expression, rules: Rules, decide: Decide): Decision => {
  const asSet = relationAsSet(gold, answer)
  const equations = expanded(gold)
  if (asSet.rung === "none" && equations !== gold && answer.type === "list") return decide(equations, answer, rules)
  if (asSet.rung !== "none" || !rules.bareValues || !isAssignment(gold)) return asSet
  const bare = decide(gold.operands.at(-1)!, answer, rules)
  return verdict(bare.correct, asRelation(bare.rung))
}

/** Compares two trees of which at least one is a relation or a list of relations. */
export const compareWithRelation = (gold: Expression, answer: Expression, rules: Rules, decide: Decide): Decision => {
  if (gold.type === "relation" && answer.type === "relation") {
    const same = compareRelations(gold, answer, rules, decide)
    if (same.correct) return same
    const asSet = relationAsSet(gold, answer)
    return asSet.rung === "none" ? same : asSet
  }
  if (gold.type === "relation") return compareGoldRelation(gold, answer, rules, decide)
  if (gold.type === "list" && answer.type !== "relation") {
    const asSet = relationAsSet(gold, answer)
    if (asSet.rung !== "none" || answer.type !== "tuple" || !rules.bareValues) return asSet
    return verdict(
      isCoordinates(answer.items, gold, rules, (a, b) => decide(b, a, rules)),
      "relation"
    )
  }
  if (answer.type !== "relation") return open
  if (gold.type === "list") {
    const equations = expanded(answer)
    if (equations !== answer) return decide(gold, equations, rules)
    const asSet = relationAsSet(gold, answer)
    if (asSet.rung !== "none") return asSet
  }
  const values = assigned(answer)
  if (values === undefined) return no("relation")
  const decisions = values.map((value) => decide(gold, value, rules))
  if (decisions.some(({ rung }) => rung === "none")) return open
  return verdict(
    decisions.every(({ correct }) => correct),
    "relation"
  )
}
