/** What an answer says once it is read: a tree of numbers, symbols, operations, and collections of them. */
import type { Rational } from "./Rational.ts"
import type { Unit } from "./Units.ts"

/** An operation on numbers in function notation. */
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

/** How the sides of a relation compare; `~` is "about". */
export type Comparison = "=" | "~" | "<" | ">" | "<=" | ">=" | "!=" | "in"

/** A tree. Numbers keep whether they were written with a decimal point, because such numbers may be rounded. */
export type Expression =
  | {
      readonly type: "number"
      readonly value: Rational
      readonly isDecimal: boolean
      /** Whether its digits return for ever: then no shorter decimal stands for it. */
      readonly isRepeating?: boolean | undefined
    }
  /** A number in another base, e.g. `52_8`: it equals only the same digits in the same base. */
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
  /** `a ± b`: both values; `isFlipped` for `∓`. */
  | { readonly type: "plus-minus"; readonly isFlipped: boolean; readonly of: Expression }
  | { readonly type: "text"; readonly text: string }
  /** A value with a unit after it, or a currency before it. */
  | { readonly type: "quantity"; readonly of: Expression; readonly unit: Unit }
  /** In brackets: a point, a vector, or an interval. */
  | { readonly type: "tuple"; readonly open: string; readonly close: string; readonly items: ReadonlyArray<Expression> }
  /** Values with nothing around; with commas alone they have an order. */
  | { readonly type: "list"; readonly join: "," | "and" | "or"; readonly items: ReadonlyArray<Expression> }
  /** `3 : 4`, of two or more. */
  | { readonly type: "ratio"; readonly items: ReadonlyArray<Expression> }
  /** A value or an equation up to multiples of a modulus. */
  | { readonly type: "modular"; readonly of: Expression; readonly modulus: Expression }
  /** `{x | x > 3}`: the numbers of which something holds. */
  | { readonly type: "set-builder"; readonly of: Expression }
  | { readonly type: "set" | "union"; readonly items: ReadonlyArray<Expression> }
  | { readonly type: "difference"; readonly left: Expression; readonly right: Expression }
  /** A value for each condition. */
  | { readonly type: "cases"; readonly pieces: ReadonlyArray<readonly [value: Expression, condition: Expression]> }
  | { readonly type: "matrix"; readonly rows: ReadonlyArray<ReadonlyArray<Expression>> }
  /** A chain: one more operand than comparisons. */
  | {
      readonly type: "relation"
      readonly operands: ReadonlyArray<Expression>
      readonly comparisons: ReadonlyArray<Comparison>
    }

/** Everything directly below a node. */
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

/** Whether a node of the tree, at any depth, is such. */
export const some = (expression: Expression, isSuch: (node: Expression) => boolean): boolean =>
  isSuch(expression) || children(expression).some((child) => some(child, isSuch))

const constants = new Set(["pi", "e", "i", "infinity", "reals", "integers", "empty"])

const found = new WeakMap<Expression, ReadonlyArray<string>>()

/** The names of the variables, in the order of the alphabet. */
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

/** One spelling for equal trees. */
export const print = (expression: Expression): string =>
  JSON.stringify(expression, (_, value) => (typeof value === "bigint" ? `${value}` : value))
