/**
 * Ridge regressions of workers' scores on the places of questions, all with one penalty, which the questions choose.
 *
 * The target is the difference of a score to the worker's mean, so that without slopes each worker is expected to score
 * its mean. The normal equations are solved directly: no step size, no seed, and the same result each time.
 */
import { Seed } from "@divisi/core"
import { argmax, dot } from "../vectors.ts"

/** A question at its place, with the scores of the workers in order; `undefined` where one has not answered. */
export interface Row {
  readonly place: Float32Array
  readonly scores: ReadonlyArray<number | undefined>
}

/** The expected score of one worker: `mean + slopes · place`. */
export interface Regression {
  readonly mean: number
  readonly slopes: Float32Array
}

/** All of them, and the penalty that was chosen; `undefined` where only the means count. */
export interface Fitted {
  readonly rows: ReadonlyArray<Regression>
  readonly penalty: number | undefined
}

/** The penalties that are tried, for each question, the strongest first. */
const penalties = [0.3, 0.1, 0.03, 0.01, 0.003]

/** Of every so many questions one is kept apart to choose the penalty. */
const heldEvery = 5

/** With fewer questions than this nothing is told apart. */
const leastQuestions = 20

// -------------------------------------------------------------------------------------------------------------------
// Normal equations
// -------------------------------------------------------------------------------------------------------------------

/** `Σ x xᵀ` of places, as rows of which the lower triangle is filled. */
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

/** The lower triangle `L` with `L Lᵀ = products + penalty × identity`. */
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

/** Workers that answered the same questions, the questions' products, and the workers' scores minus their means. */
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

/** The regressions at a penalty; without one, without slopes. */
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

/** The score of the worker that regressions choose, of those whose score is known. */
const chosenScore = (found: ReadonlyArray<Regression>, { place, scores }: Row): number => {
  const expected = found.map(({ mean, slopes }, at) =>
    scores[at] === undefined ? Number.NEGATIVE_INFINITY : mean + dot(slopes, place)
  )
  return scores[argmax(expected)]!
}

/** The strongest penalty whose choices are as good as the best ones within their error; `undefined` for no slopes. */
const chosenPenalty = (inOrder: ReadonlyArray<Row>): number | undefined => {
  // Files often go round: a kind, or a form of question, comes every so many lines.
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

/** Fits them. There is at least one row. */
export const fit = (rows: ReadonlyArray<Row>): Fitted => {
  const penalty = chosenPenalty(rows)
  return { rows: regressions(rows)(penalty), penalty }
}
