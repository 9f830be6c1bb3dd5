/** Ridge regression for several targets at once, using the Cholesky decomposition of the normal equations. */
import type { Vector } from "../baselines/vectors.ts"
import { dot } from "../baselines/vectors.ts"

/** The sum `Σ x xᵀ` over points, as rows of which only the lower triangle is filled. */
export type Gram = ReadonlyArray<Float64Array>

/** Computes the expensive part of a fit, which can be shared by several fits on the same points. */
export const gram = (points: ReadonlyArray<Vector>): Gram => {
  const dimensions = points[0]!.length
  const rows = Array.from({ length: dimensions }, () => new Float64Array(dimensions))
  for (const point of points) {
    // Hashed points of short text are sparse.
    const used: Array<number> = []
    for (let at = 0; at < dimensions; at++) if (point[at] !== 0) used.push(at)
    for (const row of used) {
      const [into, factor] = [rows[row]!, point[row]!]
      for (const column of used) {
        if (column > row) break
        into[column]! += factor * point[column]!
      }
    }
  }
  return rows
}

/** Subtracts the Gram matrix of a subset of the points. */
export const without = (all: Gram, some: Gram): Gram =>
  all.map((row, at) => row.map((value, column) => value - some[at]![column]!))

/** Returns the lower triangle `L` with `L Lᵀ = matrix + penalty × identity`. */
const cholesky = (matrix: Gram, penalty: number): Gram => {
  const lower = matrix.map((row) => new Float64Array(row.length))
  for (let row = 0; row < matrix.length; row++) {
    for (let column = 0; column <= row; column++) {
      let sum = matrix[row]![column]! + (row === column ? penalty : 0)
      const [left, right] = [lower[row]!, lower[column]!]
      for (let at = 0; at < column; at++) sum -= left[at]! * right[at]!
      lower[row]![column] = row === column ? Math.sqrt(Math.max(sum, 1e-12)) : sum / right[column]!
    }
  }
  return lower
}

const solve = (lower: Gram, target: Float64Array): Float64Array => {
  const size = lower.length
  const values = target.slice()
  for (let row = 0; row < size; row++) {
    for (let at = 0; at < row; at++) values[row]! -= lower[row]![at]! * values[at]!
    values[row]! /= lower[row]![row]!
  }
  for (let row = size - 1; row >= 0; row--) {
    for (let at = row + 1; at < size; at++) values[row]! -= lower[at]![row]! * values[at]!
    values[row]! /= lower[row]![row]!
  }
  return values
}

/** Predicts the value of each target at a point. */
export type Predict = (point: Vector) => ReadonlyArray<number>

/** Fits targets, given as lists with one value per point, for each penalty. */
export const ridge = (
  points: ReadonlyArray<Vector>,
  targets: ReadonlyArray<ReadonlyArray<number>>,
  penalties: ReadonlyArray<number>,
  products: Gram
): ReadonlyArray<Predict> => {
  const means = targets.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length)
  const right = targets.map((values, target) => {
    const sum = new Float64Array(products.length)
    for (const [index, point] of points.entries()) {
      const residual = values[index]! - means[target]!
      for (let at = 0; at < sum.length; at++) sum[at]! += residual * point[at]!
    }
    return sum
  })
  return penalties.map((penalty) => {
    const lower = cholesky(products, penalty)
    const weights = right.map((target) => solve(lower, target))
    return (point) => weights.map((weight, target) => means[target]! + dot(weight, point))
  })
}
