/**
 * Whether two answers say the same, from the cheapest proof to the dearest, and which proof it was.
 *
 * The gold answer always comes first: an answer may say more than the gold one (`x = 5` for `5`), not less. All proofs
 * here run in bounded time; what they leave open goes to computer algebra.
 */
import { type Decision, no, open, type Rung, verdict, yes } from "./Decision.ts"
import { exact } from "./Evaluate.ts"
import type { Comparison, Expression } from "./Expression.ts"
import { print, some, variables } from "./Expression.ts"
import * as IntervalSet from "./IntervalSet.ts"
import { fold, normalise } from "./Notation.ts"
import { parse } from "./Parser.ts"
import * as Rational from "./Rational.ts"
import { isSameUnit } from "./Units.ts"
import { bindingsAt, byIdentity, compareValues, isValue } from "./Values.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What benchmarks differ in. */
export interface Rules {
  /** Whether values with commas between them count in any order, as those of `{…}` always do. */
  readonly anyOrder: boolean
  /** Whether `5` is right where the gold answer is `x = 5`. */
  readonly bareValues: boolean
}

/** Longer answers are compared as text alone. */
const maxLength = 2000

// -------------------------------------------------------------------------------------------------------------------
// Units
// -------------------------------------------------------------------------------------------------------------------

interface Measured {
  readonly value: Expression
  /** Empty when nothing is said. */
  readonly unit: string
}

const measured = (expression: Expression): Measured => {
  switch (expression.type) {
    case "quantity": {
      const inner = measured(expression.of)
      return { value: inner.value, unit: inner.unit === "" ? expression.unit : inner.unit }
    }
    case "degree":
      return { value: expression.of, unit: "degree" }
    case "percent":
      return { value: expression.of, unit: "percent" }
    case "negate": {
      const inner = measured(expression.of)
      return inner.unit === ""
        ? { value: expression, unit: "" }
        : { ...inner, value: { type: "negate", of: inner.value } }
    }
    default:
      return { value: expression, unit: "" }
  }
}

const hundred: Expression = { type: "number", value: Rational.integer(100), isDecimal: false }

const hundredth = (left: Expression): Expression => ({ type: "divide", left, right: hundred })

/** Below 1, a percentage is no other way to write the number: 0.5 % is not 0.5. */
const isFraction = (expression: Expression): boolean => {
  const value = exact(expression)
  const one = Rational.integer(1)
  return value !== undefined && Rational.compare(value, one) < 0 && Rational.compare(value, Rational.negate(one)) > 0
}

/** A unit that one side leaves out is passed over; 10 % is 10 and 0.1. */
const compareMeasured = (gold: Measured, answer: Measured, rules: Rules): Decision => {
  if (!isSameUnit(gold.unit, answer.unit)) return no("text")
  const plain = decide(gold.value, answer.value, rules)
  if (gold.unit === answer.unit) return plain
  if (gold.unit === "percent") return plain.correct ? plain : decide(hundredth(gold.value), answer.value, rules)
  if (answer.unit !== "percent" || (plain.correct && !isFraction(gold.value))) return plain
  return decide(gold.value, hundredth(answer.value), rules)
}

// -------------------------------------------------------------------------------------------------------------------
// Collections
// -------------------------------------------------------------------------------------------------------------------

const resolve = (expression: Expression, sign: 1 | -1): Expression => {
  switch (expression.type) {
    case "plus-minus": {
      const of = resolve(expression.of, sign)
      return (sign === 1) === expression.isFlipped ? { type: "negate", of } : of
    }
    case "add":
    case "multiply":
      return { ...expression, items: expression.items.map((item) => resolve(item, sign)) }
    case "divide":
    case "power":
      return { ...expression, left: resolve(expression.left, sign), right: resolve(expression.right, sign) }
    case "negate":
    case "degree":
      return { ...expression, of: resolve(expression.of, sign) }
    default:
      return expression
  }
}

const hasPlusMinus = (expression: Expression) => some(expression, ({ type }) => type === "plus-minus")

/** Both values of every `±`. */
const spread = (items: ReadonlyArray<Expression>): ReadonlyArray<Expression> =>
  items.flatMap((item) => (hasPlusMinus(item) ? [resolve(item, 1), resolve(item, -1)] : [item]))

/** The items of what counts as several values, and whether their order matters. */
const several = (
  expression: Expression,
  rules: Rules
): { readonly items: ReadonlyArray<Expression>; readonly isOrdered: boolean } | undefined => {
  if (expression.type === "set") return { items: spread(expression.items), isOrdered: false }
  if (expression.type === "list") {
    const isOrdered = !(rules.anyOrder || expression.isUnordered || expression.items.some(hasPlusMinus))
    return { items: spread(expression.items), isOrdered }
  }
  if (isValue(expression) && hasPlusMinus(expression)) return { items: spread([expression]), isOrdered: false }
  return undefined
}

const inOrder = (gold: ReadonlyArray<Expression>, answer: ReadonlyArray<Expression>, rules: Rules): boolean =>
  gold.length === answer.length && gold.every((item, index) => decide(item, answer[index]!, rules).correct)

/** Each value of one has its own match in the other; matches are equalities, so any match will do. */
const inAnyOrder = (gold: ReadonlyArray<Expression>, answer: ReadonlyArray<Expression>, rules: Rules): boolean => {
  if (gold.length !== answer.length || gold.length > 64) return false
  const left = [...answer]
  return gold.every((item) => {
    const at = left.findIndex((other) => decide(item, other, rules).correct)
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
}

const compareSeveral = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  const [a, b] = [several(gold, rules), several(answer, rules)]
  if (a !== undefined && b !== undefined) {
    const isOrdered = a.isOrdered && b.isOrdered
    return verdict(isOrdered ? inOrder(a.items, b.items, rules) : inAnyOrder(a.items, b.items, rules), "set")
  }
  if (a?.isOrdered === true && answer.type === "tuple" && isPoint(answer)) {
    return verdict(inOrder(a.items, answer.items, rules), "tuple")
  }
  return open
}

const isPoint = (expression: Expression): boolean =>
  expression.type === "tuple" && expression.open === "(" && expression.close === ")"

const compareTuples = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type !== "tuple") return open
  if (answer.type === "list") return verdict(isPoint(gold) && isCoordinates(gold.items, answer.items, rules), "tuple")
  if (answer.type !== "tuple") return open
  const isMixed = !(isPoint(gold) && isPoint(answer))
  const rung: Rung =
    isMixed || some(gold, (node) => node.type === "symbol" && node.name === "infinity") ? "interval" : "tuple"
  const brackets = gold.open === answer.open && gold.close === answer.close
  return verdict(brackets && inOrder(gold.items, answer.items, { ...rules, anyOrder: false }), rung)
}

/** `x = 1, y = 2` for the point `(1, 2)`. */
const isCoordinates = (gold: ReadonlyArray<Expression>, answer: ReadonlyArray<Expression>, rules: Rules): boolean => {
  const names = answer.map((item) => (item.type === "relation" && isAssignment(item) ? print(item.operands[0]!) : ""))
  if (names.includes("") || names.some((name, index) => index > 0 && name <= names[index - 1]!)) return false
  return inOrder(
    gold,
    answer.map((item) => (item.type === "relation" ? item.operands.at(-1)! : item)),
    rules
  )
}

const compareMatrices = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type !== "matrix" || answer.type !== "matrix") return open
  const isSame =
    gold.rows.length === answer.rows.length && gold.rows.every((row, index) => inOrder(row, answer.rows[index]!, rules))
  return verdict(isSame, "matrix")
}

const isIntervals = (expression: Expression): boolean =>
  expression.type === "union" ||
  expression.type === "difference" ||
  (expression.type === "symbol" && expression.name === "reals")

const compareIntervals = (gold: Expression, answer: Expression): Decision => {
  if (!isIntervals(gold) && !isIntervals(answer)) return open
  const [a, b] = [IntervalSet.of(gold), IntervalSet.of(answer)]
  return a === undefined || b === undefined ? open : verdict(IntervalSet.equals(a, b), "interval")
}

// -------------------------------------------------------------------------------------------------------------------
// Relations
// -------------------------------------------------------------------------------------------------------------------

type Relation = Extract<Expression, { readonly type: "relation" }>

/** The name of something: `x`, `AB`, `f(x)`. */
const isLabel = (expression: Expression): boolean =>
  (expression.type === "symbol" && variables(expression).length === 1) ||
  expression.type === "text" ||
  (expression.type === "tuple" && expression.items.every((item) => isLabel(item))) ||
  (expression.type === "multiply" && expression.items.every((item) => isLabel(item)))

const isAssignment = ({ comparisons, operands }: Relation): boolean =>
  comparisons.length === 1 && (comparisons[0] === "=" || comparisons[0] === "in") && isLabel(operands[0]!)

/** What a chain of equations says a value is: `x = 2 + 3 = 5` says it twice. */
const assigned = (relation: Relation): ReadonlyArray<Expression> | undefined => {
  const { comparisons, operands } = relation
  if (comparisons.length === 1 && comparisons[0] === "in" && isLabel(operands[0]!)) return [operands[1]!]
  if (comparisons.some((comparison) => comparison !== "=")) return undefined
  return isLabel(operands[0]!) ? operands.slice(1) : operands
}

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

/** Whether one side is a variable alone and the other has none: then the answer must be solved for it, too. */
const isSolved = ({ left, right }: Pair): boolean =>
  (left.type === "symbol" && variables(right).length === 0) || (right.type === "symbol" && variables(left).length === 0)

/** The same line, plane or half-space: the differences of the sides are in a constant ratio. */
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

const isSamePair = (gold: Pair, answer: Pair, rules: Rules): boolean => {
  if (gold.comparison !== answer.comparison) return false
  const isSame = (a: Expression, b: Expression) => decide(a, b, rules).correct
  if (isSame(gold.left, answer.left) && isSame(gold.right, answer.right)) return true
  const isSymmetric = gold.comparison === "=" || gold.comparison === "!="
  if (isSymmetric && isSame(gold.left, answer.right) && isSame(gold.right, answer.left)) return true
  if (gold.comparison === "in" || isSolved(gold)) return false
  return isProportional(gold, answer)
}

const compareRelations = (gold: Relation, answer: Relation, rules: Rules): Decision => {
  const [a, b] = [pairs(gold), pairs(answer)]
  const isSame =
    a.length === b.length &&
    a.every((pair) => b.some((other) => isSamePair(pair, other, rules))) &&
    b.every((other) => a.some((pair) => isSamePair(pair, other, rules)))
  return verdict(isSame, "relation")
}

/** A gold inequality, or membership, said as a set of numbers. */
const relationAsSet = (gold: Expression, answer: Expression): Decision => {
  const a = IntervalSet.ofRelation(gold)
  if (a === undefined) return open
  const relation = IntervalSet.ofRelation(answer)
  if (relation !== undefined && relation.variable !== a.variable) return no("relation")
  const b = relation?.intervals ?? IntervalSet.of(answer)
  return b === undefined ? open : verdict(IntervalSet.equals(a.intervals, b), "relation")
}

const asRelation = (rung: Rung): Rung => (rung === "none" ? "none" : "relation")

const compareWithRelation = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type === "relation" && answer.type === "relation") {
    const same = compareRelations(gold, answer, rules)
    return same.correct ? same : or(relationAsSet(gold, answer), () => same)
  }
  if (gold.type === "relation") {
    const asSet = relationAsSet(gold, answer)
    if (asSet.rung !== "none" || !rules.bareValues || !isAssignment(gold)) return asSet
    const bare = decide(gold.operands.at(-1)!, answer, rules)
    return verdict(bare.correct, asRelation(bare.rung))
  }
  if (gold.type === "list" && gold.isUnordered && isIntervals(answer)) return relationAsSet(gold, answer)
  if (answer.type !== "relation") return open
  const values = assigned(answer)
  if (values === undefined) return no("relation")
  const decisions = values.map((value) => decide(gold, value, rules))
  const undecided = decisions.some(({ rung }) => rung === "none")
  return undecided
    ? open
    : verdict(
        decisions.every(({ correct }) => correct),
        "relation"
      )
}

// -------------------------------------------------------------------------------------------------------------------
// The ladder
// -------------------------------------------------------------------------------------------------------------------

const or = (first: Decision, next: () => Decision): Decision => (first.rung === "none" ? next() : first)

/** Compares two trees. */
const decide = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (print(gold) === print(answer)) return yes("text")
  const [a, b] = [measured(gold), measured(answer)]
  if (a.value !== gold || b.value !== answer) return compareMeasured(a, b, rules)
  return [
    () => compareSeveral(gold, answer, rules),
    () => compareValues(gold, answer),
    () => compareTuples(gold, answer, rules),
    () => compareMatrices(gold, answer, rules),
    () => compareIntervals(gold, answer),
    () => compareWithRelation(gold, answer, rules)
  ].reduce((decision, next) => or(decision, next), mismatch(gold, answer))
}

/** Kinds that nothing else can equal. */
const mismatch = (gold: Expression, answer: Expression): Decision => {
  const kinds = [gold.type, answer.type]
  if (kinds.includes("relation") || kinds.includes("set")) return open
  if (kinds.includes("text") || kinds.includes("based")) return no("text")
  if (kinds.includes("matrix") && gold.type !== answer.type) return no("matrix")
  return open
}

/** What stands before an "about": `5\sqrt{3} ≈ 8.66` says `5\sqrt{3}`; but `x ≈ 8.66` says 8.66. */
const withoutApproximation = (expression: Expression): Expression => {
  if (expression.type !== "relation") return expression
  const { comparisons, operands } = expression
  const at = comparisons.indexOf("~")
  if (at === -1) return expression
  if (at === 0 && isLabel(operands[0]!)) {
    return { ...expression, comparisons: comparisons.map((comparison) => (comparison === "~" ? "=" : comparison)) }
  }
  return at === 0
    ? operands[0]!
    : { ...expression, operands: operands.slice(0, at + 1), comparisons: comparisons.slice(0, at) }
}

/** A set of one value, where the other side is no set: `{2}` for `2`. */
const compareTop = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  const [a, b] = [withoutApproximation(gold), withoutApproximation(answer)]
  if (a.type === "set" && b.type !== "set" && a.items.length === 1) return decide(a.items[0]!, b, rules)
  if (b.type === "set" && a.type !== "set" && b.items.length === 1) return decide(a, b.items[0]!, rules)
  return decide(a, b, rules)
}

/** The readings of a text: where commas within brackets can be read in two ways, the one of several values first. */
const readings = (normalised: string): ReadonlyArray<Expression> => {
  const isAmbiguous = /[([{].*\d,\d{3}(?!\d).*[)\]}]/.test(normalised)
  return [...(isAmbiguous ? [parse(normalised, true)] : []), parse(normalised)].filter((one) => one !== undefined)
}

/** A letter in brackets is that letter. */
const unwrapped = (folded: string): string => /^\(([a-zA-Z])\)$/.exec(folded)?.[1] ?? folded

/** Compares two answers as they are written. */
export const decideText = (gold: string, answer: string, rules: Rules): Decision => {
  if (gold.length > maxLength || answer.length > maxLength) return verdict(gold.trim() === answer.trim(), "text")
  const [a, b] = [normalise(gold), normalise(answer)]
  const [x, y] = [unwrapped(fold(a)), unwrapped(fold(b))]
  if (x === "" || y === "") return no("text")
  if (x === y) return yes("text")
  const decisions = readings(a).flatMap((left) => readings(b).map((right) => compareTop(left, right, rules)))
  return decisions.find(({ correct }) => correct) ?? decisions.find(({ rung }) => rung !== "none") ?? open
}
