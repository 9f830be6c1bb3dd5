/**
 * Separable CMA-ES, a black-box optimizer that maximizes a fitness function.
 *
 * It adapts only the diagonal of the covariance matrix (Ros and Hansen, 2008). The cost is linear in the number of
 * dimensions, and adaptation is `(dimensions + 2) / 3` times faster than with the full matrix. Recombination is
 * weighted over the better half, and the step size follows the cumulative path. Negative weights, restarts and bounds
 * are not implemented.
 *
 * The state of a search is a plain value. {@link ask} returns the points of the current generation and is
 * deterministic; {@link tell} returns the next state. To resume a search, store the state between two generations.
 */
import { Seed, Options as Tables } from "@divisi/core"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The state of a search between two generations. */
export interface Search {
  readonly seed: number
  /** Number of completed generations. */
  readonly generation: number
  /** Number of points per generation. */
  readonly population: number
  /** Center of the distribution, which is the current best estimate. */
  readonly mean: Float64Array
  /** The global step size. */
  readonly sigma: number
  /** Variance of each dimension, in units of `sigma²`. */
  readonly variance: Float64Array
  /**
   * Evolution path for the step size, in coordinates where all dimensions have the same variance. Its length shows
   * whether steps are too long or too short.
   */
  readonly sigmaPath: Float64Array
  /** Evolution path for the variances, in units of `sigma`. It shows which dimensions vary. */
  readonly path: Float64Array
}

/** Options for {@link make}. */
export interface Options {
  readonly mean: ArrayLike<number>
  /** Initial standard deviation in each dimension. */
  readonly sigma: number
  /** Seed for sampling. Default: 0. */
  readonly seed?: number | undefined
  /** Number of points per generation, at least 2. Default: `4 + 3 ln(dimensions)`, rounded up. */
  readonly population?: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Constants of the method
// -------------------------------------------------------------------------------------------------------------------

const constantsOf = (dimensions: number, population: number) => {
  const parents = Math.floor(population / 2)
  const raw = Array.from({ length: parents }, (_, rank) => Math.log((population + 1) / 2) - Math.log(rank + 1))
  const total = raw.reduce((sum, weight) => sum + weight, 0)
  const weights = raw.map((weight) => weight / total)
  /** Effective number of parents, given their weights. */
  const effective = 1 / weights.reduce((sum, weight) => sum + weight * weight, 0)
  const sigmaRate = (effective + 2) / (dimensions + effective + 5)
  const separable = (dimensions + 2) / 3
  const one = (separable * 2) / ((dimensions + 1.3) ** 2 + effective)
  const many = (separable * 2 * (effective - 2 + 1 / effective)) / ((dimensions + 2) ** 2 + effective)
  const oneRate = Math.min(1, one)
  return {
    weights,
    effective,
    sigmaRate,
    damping: 1 + 2 * Math.max(0, Math.sqrt((effective - 1) / (dimensions + 1)) - 1) + sigmaRate,
    pathRate: (4 + effective / dimensions) / (dimensions + 4 + (2 * effective) / dimensions),
    oneRate,
    manyRate: Math.min(1 - oneRate, many),
    /** Expected length of the path under random selection. */
    expectedLength: Math.sqrt(dimensions) * (1 - 1 / (4 * dimensions) + 1 / (21 * dimensions ** 2))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Searching
// -------------------------------------------------------------------------------------------------------------------

const table = Tables.table(
  {
    mean: Tables.expects("a list of numbers", (value) => Array.isArray(value) || ArrayBuffer.isView(value)),
    sigma: Tables.number(Number.MIN_VALUE),
    seed: Tables.whole(0),
    population: Tables.whole(2)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["mean", "sigma"] }
)

/**
 * Creates the initial state of a search.
 *
 * **Example**
 *
 * ```ts
 * import { SepCmaEs } from "@divisi/policy-router"
 *
 * // As near to (1, 2, 3) as can be.
 * const fitness = (point: Float64Array) => -point.reduce((sum, value, at) => sum + (value - at - 1) ** 2, 0)
 * let search = SepCmaEs.make({ mean: [0, 0, 0], sigma: 1 })
 * for (let generation = 0; generation < 80; generation++) {
 *   search = SepCmaEs.tell(search, SepCmaEs.ask(search).map(fitness))
 * }
 * Array.from(search.mean, (value) => Number(value.toFixed(3))) // => [1, 2, 3]
 * ```
 */
export const make = (options: Options): Search => {
  Tables.check("SepCmaEs.make", options, table)
  const { mean, population, seed = 0, sigma } = options
  const dimensions = mean.length
  const points = population ?? Math.ceil(4 + 3 * Math.log(dimensions))
  if (dimensions === 0) throw new RangeError("A search needs at least one dimension.")
  return {
    seed,
    generation: 0,
    population: points,
    mean: Float64Array.from(mean),
    sigma,
    variance: new Float64Array(dimensions).fill(1),
    sigmaPath: new Float64Array(dimensions),
    path: new Float64Array(dimensions)
  }
}

/** Samples from the standard normal distribution, two values per pair of uniform draws (Box and Muller). */
const normals = (draw: Seed.Draw, count: number): Float64Array => {
  const drawn = new Float64Array(count)
  for (let at = 0; at < count; at += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - draw()))
    const angle = 2 * Math.PI * draw()
    drawn[at] = radius * Math.cos(angle)
    if (at + 1 < count) drawn[at + 1] = radius * Math.sin(angle)
  }
  return drawn
}

/** Samples the steps of a generation, in coordinates where all dimensions have the same variance. */
const stepsOf = ({ generation, mean, population, seed }: Search): ReadonlyArray<Float64Array> => {
  const draw = Seed.draw(Seed.spread(seed, "sep-cma-es", generation))
  return Array.from({ length: population }, () => normals(draw, mean.length))
}

/** Returns the points of the current generation, to be evaluated. */
export const ask = (search: Search): ReadonlyArray<Float64Array> => {
  const { mean, sigma, variance } = search
  return stepsOf(search).map((step) => step.map((value, at) => mean[at]! + sigma * Math.sqrt(variance[at]!) * value))
}

/** Returns the indices of the points, fittest first. `NaN` fitness sorts last. */
const ranked = (fitness: ReadonlyArray<number>): ReadonlyArray<number> => {
  const value = (at: number) => (Number.isNaN(fitness[at]!) ? Number.NEGATIVE_INFINITY : fitness[at]!)
  return [...fitness.keys()].sort((left, right) => (value(left) === value(right) ? 0 : value(right) - value(left)))
}

/**
 * Advances the search by one generation. `fitness` has one value for each point from {@link ask}, in the same order;
 * higher is better.
 */
export const tell = (search: Search, fitness: ReadonlyArray<number>): Search => {
  const { generation, mean, population, sigma, variance } = search
  if (fitness.length !== population) {
    throw new RangeError(`A generation has ${population} points, and ${fitness.length} values were given.`)
  }
  const dimensions = mean.length
  const constants = constantsOf(dimensions, population)
  const { damping, effective, expectedLength, manyRate, oneRate, pathRate, sigmaRate, weights } = constants
  const steps = stepsOf(search)
  const parents = ranked(fitness)
    .slice(0, weights.length)
    .map((at) => steps[at]!)
  const step = new Float64Array(dimensions)
  const spread = new Float64Array(dimensions)
  for (const [rank, parent] of parents.entries()) {
    const weight = weights[rank]!
    for (let at = 0; at < dimensions; at++) {
      step[at]! += weight * parent[at]!
      spread[at]! += weight * parent[at]! ** 2
    }
  }
  const [keptSigma, addedSigma] = [1 - sigmaRate, Math.sqrt(sigmaRate * (2 - sigmaRate) * effective)]
  const sigmaPath = search.sigmaPath.map((value, at) => keptSigma * value + addedSigma * step[at]!)
  const length = Math.sqrt(sigmaPath.reduce((sum, value) => sum + value * value, 0))
  // Hold back the covariance path while the step size grows quickly, because the growth would be mistaken for a
  // direction.
  const begun = Math.sqrt(1 - keptSigma ** (2 * (generation + 1)))
  const isSteady = length / begun < (1.4 + 2 / (dimensions + 1)) * expectedLength
  const addedPath = isSteady ? Math.sqrt(pathRate * (2 - pathRate) * effective) : 0
  const path = search.path.map((value, at) => (1 - pathRate) * value + addedPath * Math.sqrt(variance[at]!) * step[at]!)
  const keptVariance = 1 - oneRate - manyRate + (isSteady ? 0 : oneRate * pathRate * (2 - pathRate))
  return {
    ...search,
    generation: generation + 1,
    mean: mean.map((value, at) => value + sigma * Math.sqrt(variance[at]!) * step[at]!),
    sigma: sigma * Math.exp(Math.min(1, (sigmaRate / damping) * (length / expectedLength - 1))),
    variance: variance.map(
      (value, at) => keptVariance * value + oneRate * path[at]! ** 2 + manyRate * value * spread[at]!
    ),
    sigmaPath,
    path
  }
}
