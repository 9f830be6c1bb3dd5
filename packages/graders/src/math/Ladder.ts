/**
 * Decides whether two answers are equivalent, trying proofs from cheapest to most expensive, and reports which one
 * decided.
 *
 * The gold answer always comes first. An answer may be more specific than the gold answer (`x = 5` for `5`), but not
 * less. All proofs here take bounded time; undecided cases are left to computer algebra.
 */
import { isNoSolution } from "../internal/nothing.ts"
import { numeralOf } from "../internal/numerals.ts"
import { repeats } from "./Conclusion.ts"
import { type Decision, no, open, type Rung, verdict, yes } from "./Decision.ts"
import { approximate, exact } from "./Evaluate.ts"
import type { Comparison, Expression } from "./Expression.ts"
import { print, some, variables } from "./Expression.ts"
import * as IntervalSet from "./IntervalSet.ts"
import { columnOf, rowsOf } from "./Matrices.ts"
import {
  asAngle,
  hundredth,
  inUnit,
  isFraction,
  isPercent,
  type Measured,
  measured,
  withLetterUnit
} from "./Measured.ts"
import { fold, normalise } from "./Notation.ts"
import { parse } from "./Parser.ts"
import { withLetterUnit as withUnitLetter } from "./Prose.ts"
import * as Rational from "./Rational.ts"
import {
  compareWithRelation,
  isCoordinates,
  isLabel,
  isOfSeveral,
  joinsAgree,
  nameOf,
  type Rules,
  relationAsSet,
  setAsRelation,
  unknownOf
} from "./Relations.ts"
import { isSameUnit } from "./Units.ts"
import { compareValues, isValue } from "./Values.ts"

/** Longer answers are only compared as text. */
const maxLength = 2000

// -------------------------------------------------------------------------------------------------------------------
// Units
// -------------------------------------------------------------------------------------------------------------------

const hasPi = (expression: Expression) => some(expression, (node) => node.type === "symbol" && node.name === "pi")

/**
 * Compares values with units. A unit that only one side has is ignored, and 10 % equals 10 and 0.1. In angles,
 * multiples of π are in radians.
 */
const compareMeasured = (gold: Measured, answer: Measured, rules: Rules): Decision => {
  const names = [gold.unit.name, answer.unit.name].sort().join()
  if (names === "degree,radian") return compareValues(asAngle(gold), asAngle(answer))
  if (names === ",degree" && (hasPi(gold.value) || hasPi(answer.value)))
    return compareValues(asAngle(gold), asAngle(answer))
  if (!isSameUnit(gold.unit, answer.unit)) return no("text")
  const plain = decide(gold.value, inUnit(answer.value, answer.unit, gold.unit), rules)
  if (gold.unit.name === answer.unit.name) return plain
  if (isPercent(gold)) return plain.correct ? plain : decide(hundredth(gold.value), answer.value, rules)
  if (!isPercent(answer) || (plain.correct && !isFraction(gold.value))) return plain
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

/** Expands every `±` to both values. */
const spread = (items: ReadonlyArray<Expression>): ReadonlyArray<Expression> =>
  items.flatMap((item) => (hasPlusMinus(item) ? [resolve(item, 1), resolve(item, -1)] : [item]))

/**
 * Whether all items assign values to the same name: `x = 3, x = 5`. `x_1` and `x_2` may be different unknowns, whose
 * order matters.
 */
const isNamedAlike = (items: ReadonlyArray<Expression>): boolean =>
  items.length > 1 && nameOf(items[0]!) !== undefined && items.every((item) => nameOf(item) === nameOf(items[0]!))

/** Whether every item of a list assigns a value to a name: `y = 2, x = 1`. */
const isNamed = (expression: Expression): boolean =>
  expression.type === "list" && expression.items.every((item) => nameOf(item) !== undefined)

/** Returns the items of an expression with several values, and whether their order matters. */
const several = (
  expression: Expression,
  rules: Rules
): { readonly items: ReadonlyArray<Expression>; readonly isOrdered: boolean } | undefined => {
  if (expression.type === "set") return { items: spread(expression.items), isOrdered: false }
  if (expression.type === "list") {
    const isOrdered =
      expression.join === "," &&
      !rules.anyOrder &&
      !expression.items.some(hasPlusMinus) &&
      !isNamedAlike(expression.items)
    return { items: spread(expression.items), isOrdered }
  }
  if (isValue(expression) && hasPlusMinus(expression)) return { items: spread([expression]), isOrdered: false }
  return undefined
}

const inOrder = (gold: ReadonlyArray<Expression>, answer: ReadonlyArray<Expression>, rules: Rules): boolean =>
  gold.length === answer.length && gold.every((item, index) => decide(item, answer[index]!, rules).correct)

/** Compares two collections in any order. Matches are equalities, so greedy matching is sufficient. */
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
    if (gold.type === "list" && answer.type === "list") {
      const asSet = relationAsSet(gold, answer)
      if (asSet.rung !== "none") return asSet
    }
    if (!joinsAgree(gold, answer) || (gold.type !== "list" && isOfSeveral(answer))) return no("set")
    const isOrdered = a.isOrdered && b.isOrdered && !(isNamed(gold) && isNamed(answer))
    return verdict(isOrdered ? inOrder(a.items, b.items, rules) : inAnyOrder(a.items, b.items, rules), "set")
  }
  if (a?.isOrdered === true && answer.type === "tuple" && isPoint(answer)) {
    return verdict(inOrder(a.items, answer.items, rules), "tuple")
  }
  return open
}

const isPoint = (expression: Expression): boolean =>
  expression.type === "tuple" && expression.open === "(" && expression.close === ")"

/** Returns the point in a named point such as `P(2, -3)`. */
const pointOf = (expression: Expression): Expression => {
  const [name, point] = expression.type === "multiply" && expression.items.length === 2 ? expression.items : []
  const isNamed = name?.type === "symbol" && /^[A-Z](?:_\w+)?'*$/.test(name.name) && point?.type === "tuple"
  return isNamed && isPoint(point) ? point : expression
}

const compareTuples = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type !== "tuple") return open
  const point = pointOf(answer)
  if (point !== answer) return compareTuples(gold, point, rules)
  if (answer.type === "list") return verdict(isPoint(gold) && isCoordinates(gold.items, answer, rules, decide), "tuple")
  if (answer.type !== "tuple") return open
  const isMixed = !(isPoint(gold) && isPoint(answer))
  const rung: Rung =
    isMixed || some(gold, (node) => node.type === "symbol" && node.name === "infinity") ? "interval" : "tuple"
  const isSequence = gold.items.length > 2 && isPoint(gold) && answer.open === "[" && answer.close === "]"
  const brackets = isSequence || (gold.open === answer.open && gold.close === answer.close)
  return verdict(brackets && inOrder(gold.items, answer.items, { ...rules, anyOrder: false }), rung)
}

/** Compares matrices and matrix expressions. A column equals the point with the same entries. */
const compareMatrices = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  const [a, b] = [rowsOf(gold), rowsOf(answer)]
  if (a !== undefined && b !== undefined) {
    const isSame = a.length === b.length && a.every((row, index) => inOrder(row, b[index]!, rules))
    return verdict(isSame, "matrix")
  }
  const [column, point] = a === undefined ? [columnOf(answer), gold] : [columnOf(gold), answer]
  if (column !== undefined && answer.type === "list")
    return verdict(isCoordinates(column, answer, rules, decide), "matrix")
  const isBracketed =
    a !== undefined && point.type === "tuple" && point.items.length > 2 && point.open === "[" && point.close === "]"
  if (column === undefined || point.type !== "tuple" || !(isPoint(point) || isBracketed)) {
    return a === undefined && b === undefined ? open : no("matrix")
  }
  return verdict(a === undefined ? inOrder(point.items, column, rules) : inOrder(column, point.items, rules), "matrix")
}

type Pieces = Extract<Expression, { readonly type: "cases" }>["pieces"]

const opposite: Readonly<Partial<Record<Comparison, Comparison>>> = {
  "<": ">=",
  ">": "<=",
  "<=": ">",
  ">=": "<",
  "=": "!=",
  "!=": "="
}

/** Replaces "otherwise" with its condition if there are exactly two pieces. */
const withoutOtherwise = (pieces: Pieces): Pieces => {
  const at = pieces.findIndex(
    ([, { type, ...rest }]) => type === "text" && /^(?:otherwise|else)$/.test((rest as { text: string }).text)
  )
  const other = pieces[1 - at]?.[1]
  if (at === -1 || pieces.length !== 2 || other?.type !== "relation" || other.comparisons.length !== 1) return pieces
  const comparison = opposite[other.comparisons[0]!]
  if (comparison === undefined) return pieces
  const condition: Expression = { ...other, comparisons: [comparison] }
  return pieces.map((piece, index) => (index === at ? [piece[0], condition] : piece))
}

/** Compares piecewise definitions: the same values for the same conditions, in any order. */
const compareCases = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type !== "cases" || answer.type !== "cases") return open
  const left = [...withoutOtherwise(answer.pieces)]
  const isSame = withoutOtherwise(gold.pieces).every(([value, condition]) => {
    const at = left.findIndex(
      (other) => decide(condition, other[1], rules).correct && decide(value, other[0], rules).correct
    )
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
  return isSame && left.length === 0 ? yes("relation") : open
}

const isIntervals = (expression: Expression): boolean =>
  expression.type === "union" ||
  expression.type === "difference" ||
  expression.type === "set-builder" ||
  (expression.type === "symbol" && expression.name === "reals")

const compareIntervals = (gold: Expression, answer: Expression): Decision => {
  if (!isIntervals(gold) && !isIntervals(answer)) return open
  const [a, b] = [IntervalSet.of(gold), IntervalSet.of(answer)]
  return a === undefined || b === undefined ? open : verdict(IntervalSet.equals(a, b), "interval")
}

// -------------------------------------------------------------------------------------------------------------------
// Ratios and residues
// -------------------------------------------------------------------------------------------------------------------

const quotient = (left: Expression, right: Expression): Expression => ({ type: "divide", left, right })

/** Compares ratios by proportion. A ratio of two values also equals their quotient. */
const compareRatios = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type === "ratio" && answer.type === "ratio") {
    if (inOrder(gold.items, answer.items, rules)) return yes("tuple")
    const isSame =
      gold.items.length === answer.items.length &&
      gold.items.every((item, index) => {
        const [a, b] = [quotient(item, gold.items[0]!), quotient(answer.items[index]!, answer.items[0]!)]
        return variables(a).length === 0 && compareValues(a, b).correct
      })
    return verdict(isSame, "tuple")
  }
  const [ratio, other] = gold.type === "ratio" ? [gold, answer] : [answer, gold]
  if (ratio.type !== "ratio" || ratio.items.length !== 2 || !isValue(other)) return open
  if (variables(ratio).length > 0 || other.type === "number") return no("tuple")
  return compareValues(quotient(ratio.items[0]!, ratio.items[1]!), other)
}

/** Returns the residue, and the name of the unknown if there is one. */
const residueOf = ({ of }: Extract<Expression, { readonly type: "modular" }>) =>
  of.type === "relation" && of.operands.length === 2 && of.comparisons[0] === "="
    ? { name: print(of.operands[0]!), value: of.operands[1]! }
    : { name: undefined, value: of }

const isCongruent = (left: Expression, right: Expression, modulus: Expression): boolean => {
  const [a, b, m] = [exact(left), exact(right), exact(modulus)]
  if (a?.denominator !== 1n || b?.denominator !== 1n || m?.denominator !== 1n || m.numerator === 0n) return false
  return (a.numerator - b.numerator) % m.numerator === 0n
}

/** Whether an answer such as `x = 5k + 2` describes all solutions of `x \equiv 2 \pmod 5`. */
const isAllOf = (gold: Extract<Expression, { readonly type: "modular" }>, answer: Expression): boolean => {
  const relation = answer.type === "list" && parameterOf(answer) !== undefined ? answer.items[0]! : answer
  if (relation.type !== "relation" || relation.operands.length !== 2 || relation.comparisons[0] !== "=") return false
  const { name, value } = residueOf(gold)
  const [left, right] = [relation.operands[0]!, relation.operands[1]!]
  const [parameter, ...others] = variables(right)
  if (name !== print(left) || parameter === undefined || others.length > 0 || !/^[kmnt]$/.test(parameter)) return false
  const at = (whole: number) => exact(right, new Map([[parameter, Rational.integer(whole)]]))
  const [zero, one, two, far, m] = [at(0), at(1), at(2), at(-7), exact(gold.modulus)]
  const [residue] = [exact(value)]
  const all = [zero, one, two, far, m, residue]
  if (!all.every((each) => each?.denominator === 1n)) return false
  const step = one!.numerator - zero!.numerator
  const isLinear = two!.numerator - one!.numerator === step && zero!.numerator - far!.numerator === 7n * step
  return (
    isLinear &&
    step * step === m!.numerator * m!.numerator &&
    (zero!.numerator - residue!.numerator) % m!.numerator === 0n
  )
}

/** Compares residues. A residue does not equal an integer or a residue with a different modulus. */
const compareResidues = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (gold.type !== "modular" && answer.type !== "modular") return open
  if (gold.type === "modular" && answer.type !== "modular" && isAllOf(gold, answer)) return yes("relation")
  if (gold.type === "relation" || answer.type === "relation") return open
  if (gold.type !== "modular" || answer.type !== "modular") return no("relation")
  if (!decide(gold.modulus, answer.modulus, rules).correct) return no("relation")
  if (decide(gold.of, answer.of, rules).correct) return yes("relation")
  const [a, b] = [residueOf(gold), residueOf(answer)]
  const isNamed = a.name === b.name || (a.name === undefined && b.name !== undefined)
  return verdict(isNamed && isCongruent(a.value, b.value, gold.modulus), "relation")
}

// -------------------------------------------------------------------------------------------------------------------
// The ladder
// -------------------------------------------------------------------------------------------------------------------

const or = (first: Decision, next: () => Decision): Decision => (first.rung === "none" ? next() : first)

/** Compares two trees. */
const decide = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  if (print(gold) === print(answer)) return yes("text")
  const [one, other] = [measured(gold), measured(answer)]
  const [a, b] = [withLetterUnit(one, other), withLetterUnit(other, one)]
  // The unit of an equation is that of its side, which is compared below.
  const isEquation = gold.type === "relation" || answer.type === "relation"
  if (!isEquation && (a.value !== gold || b.value !== answer)) return compareMeasured(a, b, rules)
  return [
    () => setAsRelation(gold, answer),
    () => compareSeveral(gold, answer, rules),
    () => compareResidues(gold, answer, rules),
    () => compareRatios(gold, answer, rules),
    () => compareValues(gold, answer),
    () => (isReckoned(gold, answer) ? compareMatrices(gold, answer, rules) : open),
    () => compareTuples(gold, answer, rules),
    () => compareIntervals(gold, answer),
    () => compareCases(gold, answer, rules),
    () => compareWithRelation(gold, answer, rules, decide)
  ].reduce((decision, next) => or(decision, next), mismatch(gold, answer))
}

/** Whether both sides are values and at least one contains a matrix. */
const isReckoned = (gold: Expression, answer: Expression): boolean =>
  [gold, answer].every(({ type }) => type !== "relation" && type !== "set") &&
  gold.type !== "list" &&
  [gold, answer].some((side) => some(side, ({ type }) => type === "matrix"))

/** Decides for types that cannot equal any other type. */
const mismatch = (gold: Expression, answer: Expression): Decision => {
  const kinds = [gold.type, answer.type]
  if (kinds.includes("relation") || kinds.includes("set")) return open
  return kinds.includes("text") || kinds.includes("based") ? no("text") : open
}

/**
 * Whether a decimal is a rounding of a value to its number of places. An integer value must match exactly: `3 \approx
 * 4` is rejected.
 */
const isNear = (left: Expression, right: Expression): boolean => {
  const [a, b, rounded] = [approximate(left), approximate(right), exact(right)]
  if (a === undefined || b === undefined) return false
  const difference = a.re.minus(b.re).abs()
  const places = [0, 1, 2, 3, 4, 5, 6].find(
    (count) => rounded !== undefined && Rational.terminatesWithin(rounded, count)
  )
  const isWhole = exact(left)?.denominator === 1n
  return (
    difference.lte(isWhole ? 0 : 0.51 * 10 ** -(places ?? 6)) || (!isWhole && difference.lte(a.re.abs().times(0.005)))
  )
}

/**
 * Resolves an approximation: `5\sqrt{3} ≈ 8.66` is `5\sqrt{3}` or, if the other side is a decimal, 8.66. `x ≈ 3` does
 * not state an exact value.
 */
const withoutApproximation = (expression: Expression, isDecimal: boolean): ReadonlyArray<Expression> => {
  if (expression.type !== "relation") return [expression]
  const { comparisons, operands } = expression
  const at = comparisons.indexOf("~")
  if (at === -1) return [expression]
  const rounded = operands[at + 1]!
  if (isLabel(operands[at]!)) {
    return isDecimal ? [{ ...expression, comparisons: comparisons.map((one) => (one === "~" ? "=" : one)) }] : []
  }
  if (!isNear(operands[at]!, rounded)) return []
  const before: Expression =
    at === 0
      ? operands[0]!
      : { ...expression, operands: operands.slice(0, at + 1), comparisons: comparisons.slice(0, at) }
  return isDecimal ? [before, rounded] : [before]
}

const hasDecimal = (expression: Expression) => some(expression, (node) => node.type === "number" && node.isDecimal)

const isNothing = (expression: Expression) =>
  expression.type === "set" || (expression.type === "symbol" && expression.name === "empty")

/** Returns the only item of a set with one item, if it is not a set: `{2}` for `2`. */
const onlyItem = (expression: Expression): Expression | undefined =>
  expression.type === "set" && expression.items.length === 1 && !isNothing(expression.items[0]!)
    ? expression.items[0]!
    : undefined

const compareSets = (a: Expression, b: Expression, rules: Rules): Decision => {
  const [left, right] = [onlyItem(a), onlyItem(b)]
  if (left !== undefined && b.type !== "set") return decide(left, b, rules)
  if (right !== undefined && a.type !== "set") return decide(a, right, rules)
  if (a.type === "set-builder" && b.type !== "set-builder") return decide(a.of, b, rules)
  return decide(a, b, rules)
}

/** Returns the variable that stands for any integer, as in `\frac{\pi}{4} + k\pi, k \in \mathbb{Z}`. */
const parameterOf = (expression: Expression): string | undefined => {
  const last = expression.type === "list" && expression.items.length === 2 ? expression.items[1] : undefined
  if (last?.type !== "relation" || last.comparisons.join() !== "in") return undefined
  const [name, set] = last.operands
  return name?.type === "symbol" && set?.type === "symbol" && set.name === "integers" ? name.name : undefined
}

const renamed = (expression: Expression, from: string, to: string): Expression =>
  JSON.parse(print(expression), (key, value) => {
    if (key === "numerator" || key === "denominator") return BigInt(value)
    return value?.type === "symbol" && value.name === from ? { ...value, name: to } : value
  })

/** Returns the only integer name in multiples of π, whose condition a gold answer leaves out: `x = \frac{\pi}{4} + k\pi`. */
const impliedParameterOf = (expression: Expression): string | undefined => {
  const names = hasPi(expression) ? variables(expression).filter((name) => /^[kmn]$/.test(name)) : []
  return names.length === 1 ? names[0] : undefined
}

/** Renames the integer parameter of an answer to the gold answer's name for it. */
const withParameterOf = (gold: Expression, given: Expression): Expression => {
  const implied = parameterOf(gold) === undefined ? impliedParameterOf(gold) : undefined
  const isShort = implied !== undefined && given.type === "list" && parameterOf(given) !== undefined
  const answer = isShort ? given.items[0]! : given
  const to = implied ?? parameterOf(gold)
  const from = implied === undefined ? parameterOf(answer) : isShort ? parameterOf(given) : impliedParameterOf(answer)
  return to === undefined || from === undefined || from === to || variables(answer).includes(to)
    ? answer
    : renamed(answer, from, to)
}

/**
 * Removes an excluded point such as `x \ne 1` in `\frac{x+1}{x-1}, x \ne 1`, if the gold formula has no value there.
 */
const withoutHole = (gold: Expression, answer: Expression): Expression => {
  if (answer.type !== "list" || answer.items.length !== 2 || answer.join !== "," || !isValue(gold)) return answer
  const [value, hole] = answer.items
  if (hole?.type !== "relation" || hole.comparisons.join() !== "!=") return answer
  const [name, at] = hole.operands
  const point = name?.type === "symbol" ? exact(at!) : undefined
  if (name?.type !== "symbol" || point === undefined || !variables(gold).includes(name.name)) return answer
  const bindings = new Map([[name.name, point]])
  return exact(gold, bindings) === undefined && approximate(gold, bindings) === undefined ? value! : answer
}

const constantName = /^(?:[CK](?:_\w+)?|const(?:ant)?\.?)$/

const constantNames = /^(?:[CKck](?:_\w+)?|const(?:ant)?\.?)$/

const nameOfTerm = (term: Expression): string | undefined =>
  term.type === "symbol" ? term.name : term.type === "text" ? term.text : undefined

/** Returns the constant of integration of a formula, such as C in `x^2 + C`, if there is exactly one. */
const addedConstant = (expression: Expression, names: RegExp): string | undefined => {
  const sum = expression.type === "relation" ? expression.operands.at(-1)! : expression
  if (sum.type !== "add") return undefined
  const found = sum.items.map(nameOfTerm).filter((name) => name !== undefined && names.test(name))
  return found.length === 1 ? found[0] : undefined
}

/** Renames the constant of integration to the gold answer's name for it. */
const withConstantOf = (gold: Expression, answer: Expression): Expression => {
  const to = addedConstant(gold, constantName)
  const from = to === undefined ? undefined : addedConstant(answer, constantNames)
  if (to === undefined || from === undefined || to === from) return answer
  const others = variables(gold).filter((name) => name !== to)
  const isTaken = others.includes(from) || variables(answer).includes(to)
  if (isTaken || others.length === 0 || others.some((name) => /^[A-Z]/.test(name))) return answer
  const sum = answer.type === "relation" ? answer.operands.at(-1)! : answer
  if (sum.type !== "add") return answer
  const items = sum.items.map((item): Expression => (nameOfTerm(item) === from ? { type: "symbol", name: to } : item))
  if (items.some((item) => nameOfTerm(item) !== to && variables(item).includes(from))) return answer
  const renamedSum: Expression = { ...sum, items }
  return answer.type === "relation"
    ? { ...answer, operands: [...answer.operands.slice(0, -1), renamedSum] }
    : renamedSum
}

/** Returns the possible values of a single unknown: `x \in \{3, -3\}`, `x = \pm 3`, `x = 3 \text{ or } x = -3`. */
const solutionsOf = (
  expression: Expression
): { readonly name: string; readonly items: ReadonlyArray<Expression> } | undefined => {
  if (expression.type === "list") {
    const name = unknownOf(expression.items[0]!)
    if (name === undefined || expression.items.some((item) => (unknownOf(item) ?? name) !== name)) return undefined
    const values = expression.items.map((item) => (item.type === "relation" ? item.operands.at(-1)! : item))
    return { name, items: spread(values) }
  }
  if (expression.type !== "relation" || expression.operands.length !== 2) return undefined
  const [name, value] = [unknownOf(expression), expression.operands[1]!]
  if (name === undefined) return undefined
  if (expression.comparisons[0] === "in") return value.type === "set" ? { name, items: spread(value.items) } : undefined
  return hasPlusMinus(value) ? { name, items: spread([value]) } : undefined
}

/** Returns bare numbers as solutions if the gold answer lists several values for its unknown: `x = \pm 3`. */
const bareSolutions = (gold: Expression, answer: Expression, name: string): ReturnType<typeof solutionsOf> => {
  if ((gold.type !== "relation" && gold.type !== "list") || variables(answer).length > 0) return undefined
  const isBare = answer.type === "set" || (answer.type === "list" && answer.join !== ",") || isValue(answer)
  if (!isBare || (isValue(answer) && !hasPlusMinus(answer))) return undefined
  return { name, items: spread("items" in answer && !isValue(answer) ? answer.items : [answer]) }
}

/** Compares solutions, however they are listed. */
const compareSolutions = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  const a = solutionsOf(gold)
  const b = a === undefined ? undefined : (solutionsOf(answer) ?? bareSolutions(gold, answer, a.name))
  const isNumbered = gold.type === "list" && gold.items.some((item) => /_\d/.test(nameOf(item) ?? ""))
  if (a === undefined || b === undefined || a.name !== b.name || a.items.length < 2 || isNumbered) return open
  return inAnyOrder(a.items, b.items, rules) ? yes("set") : open
}

/** Returns the first correct decision, otherwise the first that is decided. */
const best = (decisions: ReadonlyArray<Decision>): Decision =>
  decisions.find(({ correct }) => correct) ?? decisions.find(({ rung }) => rung !== "none") ?? open

const compareTop = (gold: Expression, answer: Expression, rules: Rules): Decision => {
  const golds = withoutApproximation(gold, true)
  const answers = withoutApproximation(answer, hasDecimal(gold) && !hasApproximation(gold))
  if (answers.length === 0) return no("relation")
  const solutions = compareSolutions(gold, answer, rules)
  if (solutions.correct) return solutions
  return best(
    golds
      .slice(0, 1)
      .flatMap((a) =>
        answers.map((b) => compareSets(a, withoutHole(a, withConstantOf(a, withParameterOf(a, b))), rules))
      )
  )
}

const hasApproximation = (expression: Expression) =>
  expression.type === "relation" && expression.comparisons.includes("~")

/**
 * Returns the possible readings of a text. If commas within brackets are ambiguous, the reading as several values comes
 * first.
 */
const readings = (normalised: string): ReadonlyArray<Expression> => {
  const isAmbiguous = /[([{].*\d,\d{3}(?!\d).*[)\]}]/.test(normalised)
  return [...(isAmbiguous ? [parse(normalised, true)] : []), parse(normalised)].filter((one) => one !== undefined)
}

/** Matches a time of day, which is not a ratio. */
const isTime = /^\d{1,2}:[0-5]\d$/

/** Converts a time of the 24-hour clock after noon to one with PM. */
const inAfternoon = (time: string): string | undefined => {
  const [hour, minute] = time.split(":")
  return Number(hour) < 13 || Number(hour) > 23 ? undefined : `${Number(hour) - 12}:${minute} p`
}

const sameTime = (text: string): string => text.replace(/^0(?=\d:)/, "")

/** Whether two answers are times and not ratios: the question asks for a time, or both are multiples of 5 minutes. */
const isTimes = (gold: string, answer: string, rules: Rules): boolean => {
  if (!isTime.test(gold) || !/^\d+:\d+$/.test(answer)) return false
  return rules.isClock === true || (isTime.test(answer) && /[05]$/.test(gold) && /[05]$/.test(answer))
}

/** Normalizes a time of day with AM or PM. */
const timeOfDay = (normalised: string): string | undefined => {
  const match = /^(\d{1,2}):([0-5]\d)\s*(?:\\(?:text|name)\s*\{)?\s*([ap])\.?\s?m\.?\s*\}?$/i.exec(normalised)
  return match === null ? undefined : `${Number(match[1])}:${match[2]} ${match[3]!.toLowerCase()}`
}

/** Matches a comma that can only be a decimal separator, because a list would have a space after it. */
const isDecimalComma = /^-?(?:0,\d+|\d+,(?:\d{2}|\d{4,}))$/

const goldReadings = (gold: string): ReadonlyArray<Expression> => {
  const decimal = isDecimalComma.test(gold) ? parse(gold.replace(",", ".")) : undefined
  return decimal === undefined ? readings(gold) : [decimal, ...readings(gold)]
}

/**
 * Returns the possible readings of an answer. If the gold answer is a decimal, a comma may be a decimal separator, and
 * approximations are accepted.
 */
const answerReadings = (answer: string, gold: Expression): ReadonlyArray<Expression> => {
  const value = exact(measured(gold).value)
  const isDecimal = hasDecimal(gold) && value !== undefined
  const plain = isDecimal ? answer.replace(/^≈\s*/, "") : answer
  const comma =
    (isDecimal && /^[^\d([{]*\d+,(?!\d{3}(?!\d))\d+\D*(?:\^\{?\d\}?\D*)?$/.test(plain)) ||
    (value !== undefined && value.denominator !== 1n && !hasDecimal(gold) && /^[^\d([{]*\d+,\d+$/.test(plain))
      ? [parse(plain.replace(",", "."))]
      : []
  return [...comma.filter((one) => one !== undefined), ...readings(plain)]
}

/** Removes brackets around a single letter. */
const unwrapped = (folded: string): string => /^\(([a-zA-Z])\)$/.exec(folded)?.[1] ?? folded

/** Synonyms and their canonical spelling. */
const phrases: ReadonlyArray<readonly [spellings: RegExp, phrase: string]> = [
  [
    /^(?:the )?(?:limit |value |it )?(?:dne|d\.?n\.?e\.?|(?:does not|doesn't|doesnot|do not) exist|\\nexists)$/i,
    "does not exist"
  ],
  [
    /^(?:s=|x\\in ?)?(?:(?:there (?:is|are) )?no (?:real |integer )?solutions?|none|\\emptyset|\\nothing|\\\{\\\})$/i,
    "\\emptyset"
  ],
  [/^(?:the )?empty set$/i, "\\emptyset"],
  [/^\+?(?:infinity|\\infty)$/i, "\\infty"],
  [/^diverge(?:s|nt)$/i, "divergent"],
  [/^converge(?:s|nt)$/i, "convergent"],
  [/^odd (?:function|number|integer)$/i, "odd"],
  [/^even (?:function|number|integer)$/i, "even"],
  [/^prime number$/i, "prime"],
  [/^composite number$/i, "composite"]
]

const phrase = (folded: string): string =>
  (/[a-z\\]/i.test(folded) ? phrases.find(([spellings]) => spellings.test(folded))?.[1] : undefined) ??
  (isNoSolution(folded) ? "\\emptyset" : folded)

/** Matches Indian digit grouping: 12,34,567. It is a list if the gold answer is not an integer. */
const indianGroups = /^[-+]?\d{1,2}(?:,\d{2})+,\d{3}$/

/** Operators that start a chain of equations whose last member is the value: integrals, sums and limits. */
const operators =
  /^[\s$]*(?:\\(?:\[|displaystyle))?\s*(?:\\(?:i{0,3}nt|oint|sum|prod|lim|det|dim|Pr|operatorname|angle)(?![a-zA-Z])|[∫∑∏∠]|det\s*\(|E\s*\[|\\?[dt]?frac\s*\{\s*d\s*\}\s*\{\s*d[a-z]\s*\}|d[a-z]\/d[a-z]\s*=)/

/** Returns the result of a chain of equations that starts with an operator: `\int x\,dx = \frac{x^2}{2} + C`. */
const resultOf = (answer: string): string => {
  if (!operators.test(answer)) return answer
  let [depth, from] = [0, 0]
  for (let at = 0; at < answer.length; at++) {
    if (answer[at] === "{") depth++
    else if (answer[at] === "}") depth--
    else if (answer[at] === "=" && depth === 0) from = at + 1
  }
  return answer.slice(from)
}

const chainSign = /(?<![<>!:=\\])=(?!=)|≈|\\approx(?![a-zA-Z])/

/** Whether an expression contains only numbers, such as "(2+1)(2+1)" or "98 N / 10 kg". */
const isCalculation = (member: string): boolean =>
  /\d/.test(member) &&
  !/\p{L}|[<>≤≥]/u.test(
    member.replace(/\d\s*[\p{L}µ°]+|\\(?:frac|cdot|times|sqrt|binom|pi|left|right|,)(?![a-z])|π/gu, "")
  )

/** The left side of the equation of a line or a plane, or a side with a number that could be moved to the other one. */
const movable = /(?<![\^{\d\w])\d+(?!\s*[a-z(\d])|^\s*[+−-]?\s*\d*\s*[xyz](?:\s*[+−-]\s*\d*\s*[xyz])*\s*$/

/** Whether an expression has several unknowns, so that its value does not determine them: "a^2 + b^2". */
const hasUnknowns = (member: string): boolean =>
  !movable.test(member) && new Set(/\p{L}{3}|\\/u.test(member) ? [] : member.match(/[a-z]/g)).size > 1

/** Whether a side is a sum or multiple of one unknown. Solving for the unknown would give a different value. */
const isOpenSide = (member: string): boolean => {
  const flat = member.replace(/\([^()]*\)|\{[^{}]*\}|\|[^|]*\|/g, "")
  if (hasUnknowns(member)) return false
  return /\p{L}/u.test(flat) && (/[+−-]/.test(flat) || /^\s*\d+\s*\p{L}\s*$/u.test(flat))
}

/** Words that mark a value as tried or assumed. */
const mentioned =
  /\b(?:let|suppose|assum\w*|guess\w*|if|take|set|try|consider|say|pick|choose|maybe|perhaps|not|when|where|wlog)\b/i

/** A second name behind a value: "-4 or x". */
const alternative =
  /(?:(?<!\p{L})(?:or|and|oder|und|ou|et|y|o|e|или|и|lub|i)(?!\p{L})|[∨∧,]|\\(?:lor|land|text)[^=]*)\s*\}?\s*\\?[a-zA-Z](?:_\w+)?\s*$/u

/**
 * Returns the results of a chain of equations: its last member, if the first one names a quantity or all are
 * calculations, and the one before a rounded last member.
 */
const chainResults = (answer: string): ReadonlyArray<string> => {
  const bare = answer
    .replace(/^[\s$]+|[\s$.]+$|^\\[[(]|\\[\])]\.?$/g, "")
    .replace(/(?<=[\d)])!=(?=\s*\d)/g, "! =")
    .replace(/^=\s*|(?<!\\)\$/g, "")
  const depth = (text: string) => (text.match(/[{(]/g)?.length ?? 0) - (text.match(/[)}]/g)?.length ?? 0)
  const members = bare.split(chainSign).map((member) => member.replace(/\\\\|&/g, " ").trim())
  const [first, previous, last] = [members[0]!, members.at(-2) ?? "", members.at(-1)!]
  if (members.length < 2 || members.some((member) => member === "" || depth(member) !== 0)) return []
  if (/,\s|[.;]\s|\p{L}{2,}\s+\p{L}{2,}\s+\p{L}{2,}/u.test(last) || isOpenSide(first) || mentioned.test(first))
    return []
  // Values of alternatives are not a chain: "x = -4 or x = 4".
  if (members.slice(1).some((member) => alternative.test(member))) return []
  const isNamed = /^[\p{L}\\|∠∫∑(][^+*/×·÷]*$/u.test(first.replace(/\|[^|]*\||(?<=\p{L})\([^()]*\)/gu, "|"))
  if (members.length === 2 && !isNamed && !isCalculation(first) && !hasUnknowns(first)) return []
  const isRounded = /(?:≈|\\approx)[^=≈]*$/.test(bare)
  const value = last.replace(/\s*[a-zA-Zµ°Ω%€$][^\d]*$/, "")
  const isWrong = !isRounded && /^[\d\s+*/×·÷().−-]+$/.test(previous) && !decideText(value, previous, strict).correct
  if (isWrong) return []
  return isRounded ? [...(repeats(previous, value) ? [previous] : []), `≈ ${last}`] : [last]
}

const strict: Rules = { anyOrder: false, bareValues: false }

const withUnit = /^[-−]?\d[\d.,]*\s*[a-zA-ZΩµ°€£$]{1,4}(?:[·/][a-zA-Z]{1,4})?(?:\^\{?-?\d\}?|[²³])?$/

/** Returns the exponents of a product of integer powers such as `2^3 \cdot 5`, keyed by base. */
const powersOf = (normalised: string): ReadonlyMap<number, number> | undefined => {
  const product = normalised.slice(normalised.lastIndexOf("=") + 1).replace(/\s/g, "")
  if (!/^\d{1,6}(?:\^(?:\d|\{\d{1,3}\}))?(?:\*\d{1,6}(?:\^(?:\d|\{\d{1,3}\}))?)+$/.test(product)) return undefined
  const powers = new Map<number, number>()
  for (const factor of product.split("*")) {
    const [base, exponent = "1"] = factor.replace(/[{}]/g, "").split("^")
    powers.set(Number(base), (powers.get(Number(base)) ?? 0) + Number(exponent))
  }
  return powers
}

const isPrime = (value: number): boolean => {
  if (value < 2) return false
  for (let one = 2; one * one <= value; one++) if (value % one === 0) return false
  return true
}

/** Whether the gold answer is a prime factorization and the answer has a factor that is not prime. */
const isOtherFactorisation = (gold: string, answer: string): boolean => {
  const powers = powersOf(gold)
  if (powers === undefined || ![...powers.keys()].every(isPrime)) return false
  const others = powersOf(answer)
  return others !== undefined && answer.includes("^") && ![...others.keys()].every(isPrime)
}

interface Texts {
  readonly a: string
  readonly b: string
  readonly decision: Decision | undefined
}

/** Normalizes both answers, and decides if that is sufficient. */
const asTexts = (gold: string, answer: string, rules: Rules): Texts => {
  const a = normalise(numeralOf(gold))
  const written = normalise(numeralOf(resultOf(answer)))
  const b = /^-?\d+$/.test(a) && indianGroups.test(written) ? written.replaceAll(",", "") : written
  const decide = (): Decision | undefined => {
    const [x, y] = [phrase(unwrapped(fold(a))), phrase(unwrapped(fold(b)))]
    if (x === "" || y === "") return no("text")
    if (x === y) return yes("text")
    if (isOtherFactorisation(a, b)) return no("text")
    const [time, other] = [timeOfDay(a), timeOfDay(b)]
    if (time !== undefined && other !== undefined) return verdict(time === other, "text")
    if (rules.isClock === true && isTime.test(b) && time !== undefined && inAfternoon(b) !== undefined)
      return verdict(inAfternoon(b) === time, "text")
    if (isTime.test(a) && other !== undefined) return verdict(sameTime(a) === other.slice(0, -2), "text")
    return isTimes(a, b, rules) ? verdict(sameTime(a) === sameTime(b), "text") : undefined
  }
  return { a, b, decision: decide() }
}

/** Whether two answers are equal as normalized text. */
export const isSameText = (gold: string, answer: string, rules: Rules): boolean =>
  asTexts(gold, answer, rules).decision?.correct === true

/** Rewrites "7 to 5" as a ratio. */
const withColon = (normalised: string): string =>
  normalised.replace(/^(\d+)\s*(?:\\(?:text|name)\s*\{\s*to\s*\}|\bto\b)\s*(\d+)$/, "$1:$2")

/** A sum of unit vectors: "2i - 3j + k". */
const isVector = /^[^a-hl-zA-Z]*[ij][^a-hl-zA-Z]*[jk][^a-hl-zA-Z]*$/
const unitVector = /(?<![a-zA-Z\\])([ijk])(?![a-zA-Z])/g

/** Returns the point with the components of a sum of unit vectors. */
const componentsOf = (normalised: string): string | undefined => {
  const terms = normalised.replace(/\s/g, "").matchAll(/([+-]?)([^+-]*?)\*?\\vector([ijk])(?=[+-]|$)/g)
  const found = new Map(
    Array.from(terms, ([, sign, size, name]) => [name!, `${sign === "-" ? "-" : ""}${size || "1"}`])
  )
  const names = found.has("k") ? ["i", "j", "k"] : ["i", "j"]
  const isWhole = normalised.replace(/\s/g, "").replace(/[+-]?[^+-]*?\\vector[ijk](?=[+-]|$)/g, "") === ""
  return isWhole && found.size > 1 ? `(${names.map((name) => found.get(name) ?? "0").join(", ")})` : undefined
}

/** Compares two answers as written. */
export const decideText = (gold: string, answer: string, rules: Rules): Decision => {
  if (gold.length > maxLength || answer.length > maxLength) return verdict(gold.trim() === answer.trim(), "text")
  const { a: written, b, decision: decided } = asTexts(gold, answer, rules)
  const a = b.includes(":") ? withColon(written) : written
  if (decided !== undefined) return decided
  const vector = /\\begin|^\(/.test(a) && isVector.test(b) ? b.replace(unitVector, "\\vector$1 ") : b
  if (vector !== b || b.includes("\\vector")) {
    const parts = componentsOf(vector)
    if (parts !== undefined && !a.includes("vector")) return decideText(gold, parts, rules)
  }
  const said = a.includes(":") ? withColon(b) : b
  const decision = best(
    goldReadings(a).flatMap((left) => answerReadings(said, left).map((right) => compareTop(left, right, rules)))
  )
  if (decision.correct) return decision
  const whole = /^([^=]*?),\s*(?:\\(?:quad|qquad|;|,| )\s*)*[a-z]\s*(?:\\neq?(?![a-z])|≠)[^=]*$/.exec(answer)?.[1]
  if (whole !== undefined && !/\\ne|≠/.test(gold)) return decideText(gold, whole, rules)
  if (chainSign.test(gold)) return decision
  const results = chainResults(answer)
  if (!results.some((result) => decision.rung === "none" || decision.rung === "relation" || withUnit.test(result)))
    return decision
  return results.some((result) => decideText(gold, withUnitLetter(result), rules).correct) ? yes("relation") : decision
}
