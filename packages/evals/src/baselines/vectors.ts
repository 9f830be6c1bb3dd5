/** Linear algebra for routers, as plain loops over flat arrays, and seeded random draws. */
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64"
import { uniformInt } from "pure-rand/distribution/uniformInt"
import { mersenne } from "pure-rand/generator/mersenne"

export type Vector = Float32Array | Float64Array

export const dot = (left: Vector, right: Vector): number => {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!
  return sum
}

export const squaredDistance = (left: Vector, right: Vector): number => {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += (left[index]! - right[index]!) ** 2
  return sum
}

export const cosine = (left: Vector, right: Vector): number => {
  const lengths = Math.sqrt(dot(left, left) * dot(right, right))
  return lengths === 0 ? 0 : dot(left, right) / lengths
}

/** `into += factor × vector`. */
export const addScaled = (into: Float64Array, factor: number, vector: Vector): void => {
  for (let index = 0; index < into.length; index++) into[index]! += factor * vector[index]!
}

/** Index of the largest value, the first one in case of ties. Returns -1 for an empty list. */
export const argmax = (values: ReadonlyArray<number>): number =>
  values.reduce((best, value, index) => (best < 0 || value > values[best]! ? index : best), -1)

/** Seeded random draws. */
export interface Draw {
  /** Draws an integer from 0 to `size - 1`. */
  readonly index: (size: number) => number
  /** Draws from the standard normal distribution. */
  readonly normal: () => number
}

export const draw = (seed: number): Draw => {
  const random = mersenne(seed)
  return {
    index: (size) => uniformInt(random, 0, size - 1),
    normal: () => Math.sqrt(-2 * Math.log(1 - uniformFloat64(random))) * Math.cos(2 * Math.PI * uniformFloat64(random))
  }
}

/** Returns the indices of the `count` points with the highest cosine similarity, nearest first. */
export const nearest = (point: Vector, points: ReadonlyArray<Vector>, count: number): ReadonlyArray<number> =>
  points
    .map((other, index) => ({ index, likeness: cosine(point, other) }))
    .sort((left, right) => right.likeness - left.likeness || left.index - right.index)
    .slice(0, count)
    .map(({ index }) => index)

/** Assigns each point to a cluster with Lloyd's k-means. The initial centers are far from each other. */
export const clusters = (points: ReadonlyArray<Vector>, count: number, rounds = 25): ReadonlyArray<number> => {
  let centres: Array<Vector> = [points[0]!]
  const distances = points.map((point) => squaredDistance(point, points[0]!))
  while (centres.length < Math.min(count, points.length)) {
    const farthest = points[argmax(distances)]!
    centres.push(farthest)
    for (const [index, point] of points.entries()) {
      distances[index] = Math.min(distances[index]!, squaredDistance(point, farthest))
    }
  }
  const assign = () => points.map((point) => argmax(centres.map((centre) => -squaredDistance(point, centre))))
  let assigned = assign()
  for (let round = 0; round < rounds; round++) {
    centres = centres.map(
      (centre, cluster) => meanOf(points.filter((_, index) => assigned[index] === cluster)) ?? centre
    )
    const next = assign()
    if (next.every((cluster, index) => cluster === assigned[index])) return next
    assigned = next
  }
  return assigned
}

const meanOf = (points: ReadonlyArray<Vector>): Float64Array | undefined => {
  if (points.length === 0) return undefined
  const sum = new Float64Array(points[0]!.length)
  for (const point of points) addScaled(sum, 1 / points.length, point)
  return sum
}
