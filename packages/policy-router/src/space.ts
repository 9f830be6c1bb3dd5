/**
 * The space in which questions are compared: an embedder's points, minus their mean, each dimension divided by its
 * spread among the graded questions. So common features do not count, and distinctive ones count equally.
 */
import { addScaled, unit } from "./vectors.ts"

/** How points of an embedder are moved and scaled. */
export interface Space {
  readonly mean: Float32Array
  readonly scale: Float32Array
}

/** Of the variance of a dimension, what it has at least: 2 % of what it would have if all had the same. */
const leastShare = 0.02

/** The space of some points, of which there is at least one. */
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

/** A point in the space, of length 1. */
export const place = ({ mean, scale }: Space, point: Float32Array): Float32Array =>
  unit(point.map((value, at) => (value - mean[at]!) * scale[at]!))
