/**
 * The space in which questions are compared. Embeddings are centered, and each dimension is divided by its spread among
 * the graded questions. Features that all questions share cancel out, and distinctive features have equal weight.
 */
import { addScaled, unit } from "./vectors.ts"

/** The offset and scale of an embedding space. */
export interface Space {
  readonly mean: Float32Array
  readonly scale: Float32Array
}

/** Amount added to the variance of every dimension, as a share of the mean square over all dimensions. */
const leastShare = 0.02

/** Computes the space of a set of embeddings. At least one is required. */
export const of = (points: ReadonlyArray<Float32Array>): Space => {
  const dimensions = points[0]!.length
  const mean = new Float32Array(dimensions)
  for (const point of points) addScaled(mean, 1 / points.length, point)
  const variance = new Float64Array(dimensions)
  for (const point of points) {
    for (let at = 0; at < dimensions; at++) variance[at]! += (point[at]! - mean[at]!) ** 2 / points.length
  }
  const least = (leastShare * points.reduce((sum, point) => sum + squares(point), 0)) / points.length / dimensions
  return { mean, scale: Float32Array.from(variance, (value) => 1 / Math.sqrt(value + least || 1)) }
}

const squares = (point: Float32Array): number => point.reduce((sum, value) => sum + value * value, 0)

/** Projects an embedding into the space. The result is a unit vector. */
export const place = ({ mean, scale }: Space, point: Float32Array): Float32Array =>
  unit(point.map((value, at) => (value - mean[at]!) * scale[at]!))
