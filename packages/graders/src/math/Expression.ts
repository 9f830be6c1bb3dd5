/** Parsed answers: trees of numbers, symbols, operations and collections. */
import type { Rational } from "./Rational.ts"
import type { Unit } from "./Units.ts"

/** An operation in function notation. */
export type FunctionName =
  | "sin"
  | "cos"
  | "tan"
  | "cot"
  | "sec"
  | "csc"
  | "arcsin"
  | "arccos"
  | "arctan"
  | "sinh"
  | "cosh"
  | "tanh"
  | "ln"
  | "exp"
  | "sqrt"
  | "abs"
  | "floor"
  | "ceil"
  | "conjugate"

/** A comparison operator. `~` means "approximately". */
export type Comparison = "=" | "~" | "<" | ">" | "<=" | ">=" | "!=" | "in"

/**
 * An expression tree. Numbers record whether they were written with a decimal point, because such numbers may be
 * rounded.
 */
export type Expression =
  | {
      readonly type: "number"
      readonly value: Rational
      readonly isDecimal: boolean
      /** Whether the decimal repeats infinitely, so that no shorter decimal equals it. */
      readonly isRepeating?: boolean | undefined
    }
  /** A number in another base, such as `52_8`. It equals only the same digits in the same base. */
  | { readonly type: "based"; readonly digits: string; readonly base: string }
  /** A variable, or one of the constants `pi`, `e`, `i`, `infinity`, `reals`, `integers`, `empty`. */
  | { readonly type: "symbol"; readonly name: string }
  | { readonly type: "add" | "multiply"; readonly items: ReadonlyArray<Expression> }
  | { readonly type: "negate" | "factorial" | "double-factorial" | "degree" | "percent"; readonly of: Expression }
  | {
      readonly type: "divide" | "power" | "binomial" | "permutations" | "remainder"
      readonly left: Expression
      readonly right: Expression
    }
  | { readonly type: "root"; readonly of: Expression; readonly degree: Expression }
  | { readonly type: "log"; readonly of: Expression; readonly base: Expression }
  | { readonly type: "call"; readonly name: FunctionName; readonly of: Expression }
  /** `a ± b`, which stands for both values. `isFlipped` is set for `∓`. */
  | { readonly type: "plus-minus"; readonly isFlipped: boolean; readonly of: Expression }
  | { readonly type: "text"; readonly text: string }
  /** A value with a unit after it or a currency before it. */
  | { readonly type: "quantity"; readonly of: Expression; readonly unit: Unit }
  /** A bracketed point, vector or interval. */
  | { readonly type: "tuple"; readonly open: string; readonly close: string; readonly items: ReadonlyArray<Expression> }
  /** Values without brackets. If joined by commas, they are ordered. */
  | { readonly type: "list"; readonly join: "," | "and" | "or"; readonly items: ReadonlyArray<Expression> }
  /** A ratio of two or more values, such as `3 : 4`. */
  | { readonly type: "ratio"; readonly items: ReadonlyArray<Expression> }
  /** A value or equation modulo a number. */
  | { readonly type: "modular"; readonly of: Expression; readonly modulus: Expression }
  /** A set defined by a condition: `{x | x > 3}`. */
  | { readonly type: "set-builder"; readonly of: Expression }
  | { readonly type: "set" | "union"; readonly items: ReadonlyArray<Expression> }
  | { readonly type: "difference"; readonly left: Expression; readonly right: Expression }
  /** A piecewise definition: a value for each condition. */
  | { readonly type: "cases"; readonly pieces: ReadonlyArray<readonly [value: Expression, condition: Expression]> }
  | { readonly type: "matrix"; readonly rows: ReadonlyArray<ReadonlyArray<Expression>> }
  /** A chain of comparisons, with one more operand than comparisons. */
  | {
      readonly type: "relation"
      readonly operands: ReadonlyArray<Expression>
      readonly comparisons: ReadonlyArray<Comparison>
    }

/** Returns the direct children of a node. */
export const children = (expression: Expression): ReadonlyArray<Expression> => {
  switch (expression.type) {
    case "number":
    case "based":
    case "symbol":
    case "text":
      return []
    case "add":
    case "multiply":
    case "tuple":
    case "list":
    case "set":
    case "union":
    case "ratio":
      return expression.items
    case "divide":
    case "power":
    case "binomial":
    case "permutations":
    case "remainder":
    case "difference":
      return [expression.left, expression.right]
    case "root":
      return [expression.of, expression.degree]
    case "log":
      return [expression.of, expression.base]
    case "modular":
      return [expression.of, expression.modulus]
    case "matrix":
      return expression.rows.flat()
    case "cases":
      return expression.pieces.flat()
    case "relation":
      return expression.operands
    default:
      return [expression.of]
  }
}

/** Whether any node of a tree satisfies a predicate. */
export const some = (expression: Expression, isSuch: (node: Expression) => boolean): boolean =>
  isSuch(expression) || children(expression).some((child) => some(child, isSuch))

const constants = new Set(["pi", "e", "i", "infinity", "reals", "integers", "empty"])

const found = new WeakMap<Expression, ReadonlyArray<string>>()

/** Returns the names of all variables in alphabetical order. */
export const variables = (expression: Expression): ReadonlyArray<string> => {
  const before = found.get(expression)
  if (before !== undefined) return before
  const names = new Set<string>()
  const visit = (node: Expression) => {
    if (node.type === "symbol" && !constants.has(node.name)) names.add(node.name)
    for (const child of children(node)) visit(child)
  }
  visit(expression)
  const sorted = [...names].sort()
  found.set(expression, sorted)
  return sorted
}

const printed = new WeakMap<Expression, string>()

/** Prints a tree. Equal trees have the same output. */
export const print = (expression: Expression): string => {
  const before = printed.get(expression)
  if (before !== undefined) return before
  const text = JSON.stringify(expression, (_, value) => (typeof value === "bigint" ? `${value}` : value))
  printed.set(expression, text)
  return text
}
