/**
 * Ridge regressions of worker scores on question embeddings. All workers share one penalty, which is chosen on held-out
 * questions.
 *
 * The target is the score minus the mean of the worker, so without slopes the prediction is that mean. The normal
 * equations are solved directly, so there is no step size or seed and the result is deterministic.
 */
import { Seed } from "@divisi/core"
import { argmax, dot } from "../vectors.ts"

/** A question's embedding with the score of each worker. `undefined` marks workers that did not answer. */
export interface Row {
  readonly place: Float32Array
  readonly scores: ReadonlyArray<number | undefined>
}

/** The expected score of a worker: `mean + slopes · place`. */
export interface Regression {
  readonly mean: number
  readonly slopes: Float32Array
}

/** The regressions of all workers, and the chosen penalty. The penalty is `undefined` if only the means are used. */
export interface Fitted {
  readonly rows: ReadonlyArray<Regression>
  readonly penalty: number | undefined
}

/** Candidate penalties per question, strongest first. */
const penalties = [0.3, 0.1, 0.03, 0.01, 0.003]

/** One in this many questions is held out to choose the penalty. */
const heldEvery = 5

/** Minimum number of questions for fitting slopes. With fewer, only the means are used. */
const leastQuestions = 20

// -------------------------------------------------------------------------------------------------------------------
// Normal equations
// -------------------------------------------------------------------------------------------------------------------

/** `Σ x xᵀ` over the embeddings. Only the lower triangle is stored. */
type Products = ReadonlyArray<Float64Array>

const productsOf = (rows: ReadonlyArray<Row>): Products => {
  const dimensions = rows[0]!.place.length
  const products = Array.from({ length: dimensions }, (_, row) => new Float64Array(row + 1))
  for (const { place } of rows) {
    for (const [row, into] of products.entries()) {
      const factor = place[row]!
      if (factor === 0) continue
      for (let column = 0; column <= row; column++) into[column] = into[column]! + factor * place[column]!
    }
  }
  return products
}

/** Returns the lower triangle `L` such that `L Lᵀ = products + penalty × identity`. */
const cholesky = (products: Products, penalty: number): Products => {
  const lower = products.map((row) => new Float64Array(row.length))
  for (const [row, left] of lower.entries()) {
    for (let column = 0; column <= row; column++) {
      const right = lower[column]!
      let sum = products[row]![column]! + (row === column ? penalty : 0)
      for (let at = 0; at < column; at++) sum -= left[at]! * right[at]!
      left[column] = row === column ? Math.sqrt(sum) : sum / right[column]!
    }
  }
  return lower
}

/** Solves `L Lᵀ x = target`. */
const solve = (lower: Products, target: Float64Array): Float32Array => {
  const values = target.slice()
  for (const [row, left] of lower.entries()) {
    let sum = values[row]!
    for (let at = 0; at < row; at++) sum -= left[at]! * values[at]!
    values[row] = sum / left[row]!
  }
  for (let row = lower.length - 1; row >= 0; row--) {
    const left = lower[row]!
    const value = values[row]! / left[row]!
    values[row] = value
    for (let at = 0; at < row; at++) values[at] = values[at]! - left[at]! * value
  }
  return Float32Array.from(values)
}

// -------------------------------------------------------------------------------------------------------------------
// Regressions
// -------------------------------------------------------------------------------------------------------------------

const meanOf = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length

/** Workers that answered the same questions, with the products of those questions and the centered scores. */
interface Group {
  readonly workers: ReadonlyArray<number>
  readonly questions: number
  readonly products: Products
  readonly targets: ReadonlyArray<Float64Array>
}

const targetOf = (rows: ReadonlyArray<Row>, worker: number, mean: number): Float64Array => {
  const sum = new Float64Array(rows[0]!.place.length)
  for (const { place, scores } of rows) {
    const residual = scores[worker]! - mean
    for (let at = 0; at < sum.length; at++) sum[at] = sum[at]! + residual * place[at]!
  }
  return sum
}

const meansOf = (rows: ReadonlyArray<Row>): ReadonlyArray<number> =>
  rows[0]!.scores.map((_, worker) =>
    meanOf(rows.flatMap(({ scores }) => (scores[worker] === undefined ? [] : [scores[worker]])))
  )

const groupsOf = (rows: ReadonlyArray<Row>, means: ReadonlyArray<number>): ReadonlyArray<Group> => {
  const answered = (worker: number) => rows.map(({ scores }) => (scores[worker] === undefined ? "0" : "1")).join("")
  return [...Map.groupBy(means.keys(), answered).values()].map((workers) => {
    const own = rows.filter(({ scores }) => scores[workers[0]!] !== undefined)
    return {
      workers,
      questions: own.length,
      products: own.length === 0 ? [] : productsOf(own),
      targets: own.length === 0 ? [] : workers.map((worker) => targetOf(own, worker, means[worker]!))
    }
  })
}

/** Returns the regressions for a penalty, or regressions without slopes if the penalty is `undefined`. */
type At = (penalty: number | undefined) => ReadonlyArray<Regression>

const regressions = (rows: ReadonlyArray<Row>): At => {
  const means = meansOf(rows)
  const groups = groupsOf(rows, means)
  return (penalty) => {
    const found = means.map((mean): Regression => ({ mean, slopes: new Float32Array(rows[0]!.place.length) }))
    if (penalty === undefined) return found
    for (const { products, questions, targets, workers } of groups) {
      if (questions === 0) continue
      const lower = cholesky(products, penalty * questions)
      for (const [at, worker] of workers.entries())
        found[worker] = { mean: means[worker]!, slopes: solve(lower, targets[at]!) }
    }
    return found
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The penalty
// -------------------------------------------------------------------------------------------------------------------

/** Returns the score of the worker that the regressions choose, among the workers with a known score. */
const chosenScore = (found: ReadonlyArray<Regression>, { place, scores }: Row): number => {
  const expected = found.map(({ mean, slopes }, at) =>
    scores[at] === undefined ? Number.NEGATIVE_INFINITY : mean + dot(slopes, place)
  )
  return scores[argmax(expected)]!
}

/**
 * Returns the strongest penalty whose choices are within one standard error of the best. Returns `undefined` if slopes
 * do not help.
 */
const chosenPenalty = (inOrder: ReadonlyArray<Row>): number | undefined => {
  // Shuffle, because files often repeat kinds or forms of question at a regular interval.
  const rows = Seed.shuffled(Seed.draw(0), inOrder)
  const held = rows.filter(
    ({ scores }, at) => at % heldEvery === 0 && scores.filter((score) => score !== undefined).length > 1
  )
  if (rows.length < leastQuestions || held.length === 0) return undefined
  const at = regressions(rows.filter((_, index) => index % heldEvery !== 0))
  const tried = [undefined, ...penalties].map((penalty) => {
    const found = at(penalty)
    return { penalty, scores: held.map((row) => chosenScore(found, row)) }
  })
  const best = tried[argmax(tried.map(({ scores }) => meanOf(scores)))]!
  return tried.find(({ scores }) => {
    const lost = scores.map((score, index) => best.scores[index]! - score)
    const mean = meanOf(lost)
    return mean <= Math.sqrt(meanOf(lost.map((value) => (value - mean) ** 2)) / lost.length)
  })!.penalty
}

/** Fits regressions for all workers. Requires at least one row. */
export const fit = (rows: ReadonlyArray<Row>): Fitted => {
  const penalty = chosenPenalty(rows)
  return { rows: regressions(rows)(penalty), penalty }
}
