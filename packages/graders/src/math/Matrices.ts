/** Evaluates sums, products and multiples of matrices. */
import type { Expression } from "./Expression.ts"
import { some } from "./Expression.ts"

/** The rows of a matrix. */
export type Rows = ReadonlyArray<ReadonlyArray<Expression>>

const map = (rows: Rows, change: (entry: Expression) => Expression): Rows => rows.map((row) => row.map(change))

const hasShape = (rows: Rows, height: number, width: number): boolean =>
  rows.length === height && rows.every((row) => row.length === width)

const sum = (a: Rows, b: Rows): Rows | undefined =>
  hasShape(b, a.length, a[0]!.length) && hasShape(a, a.length, a[0]!.length)
    ? a.map((row, y) => row.map((entry, x): Expression => ({ type: "add", items: [entry, b[y]![x]!] })))
    : undefined

const product = (a: Rows, b: Rows): Rows | undefined => {
  const width = b[0]!.length
  if (!hasShape(a, a.length, b.length) || !hasShape(b, b.length, width)) return undefined
  const entry = (row: ReadonlyArray<Expression>, x: number): Expression => ({
    type: "add",
    items: row.map((left, at): Expression => ({ type: "multiply", items: [left, b[at]![x]!] }))
  })
  return a.map((row) => b[0]!.map((_, x) => entry(row, x)))
}

/** Multiplies factors in order. Scalars may appear anywhere among the matrices. */
const factors = (items: ReadonlyArray<Expression>): Rows | undefined => {
  const numbers = items.filter((item) => !isOfMatrices(item))
  const matrices = items.filter(isOfMatrices).map(rowsOf)
  const rows = matrices.reduce((a, b) => (a === undefined || b === undefined ? undefined : product(a, b)))
  if (rows === undefined || numbers.length === 0) return rows
  return map(rows, (entry) => ({ type: "multiply", items: [...numbers, entry] }))
}

const isOfMatrices = (expression: Expression): boolean => some(expression, ({ type }) => type === "matrix")

/** Evaluates a matrix expression to its rows. Returns `undefined` for anything else. */
export const rowsOf = (expression: Expression): Rows | undefined => {
  switch (expression.type) {
    case "matrix":
      return expression.rows.length > 0 && expression.rows[0]!.length > 0 ? expression.rows : undefined
    case "negate": {
      const rows = rowsOf(expression.of)
      return rows && map(rows, (of) => ({ type: "negate", of }))
    }
    case "add":
      return expression.items.map(rowsOf).reduce((a, b) => (a === undefined || b === undefined ? undefined : sum(a, b)))
    case "multiply":
      return expression.items.some(isOfMatrices) ? factors(expression.items) : undefined
    case "divide": {
      const rows = isOfMatrices(expression.right) ? undefined : rowsOf(expression.left)
      return rows && map(rows, (left) => ({ type: "divide", left, right: expression.right }))
    }
    default:
      return undefined
  }
}

/** Returns the entries of a column vector, which may be written as a point. */
export const columnOf = (expression: Expression): ReadonlyArray<Expression> | undefined => {
  const rows = rowsOf(expression)
  return rows !== undefined && rows.length > 1 && hasShape(rows, rows.length, 1) ? rows.flat() : undefined
}
