/**
 * Chooses workers by the expected value of each choice. A small network estimates three probabilities for each worker
 * from its features: that its answer is correct, that at least one of two attempts is correct, and that it identifies a
 * correct answer as a checker. The weighted cost of the calls is subtracted. Pools may have any number of workers in
 * any order. The choices have differentiable probabilities.
 */

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The features of each worker for a part of a question: {@link inputs} numbers per worker. */
export type Features = ReadonlyArray<ReadonlyArray<number>>

/** All weights of the head, as one list of {@link size} numbers. */
export type Weights = Float64Array

/** Number of features per worker. */
export const inputs = 18

const inner = 64

/**
 * Probabilities from 0 to 1: that a worker's answer is correct, that at least one of its two attempts is correct, and
 * that its check identifies a correct answer.
 */
export interface Chances {
  readonly alone: number
  readonly twice: number
  readonly checks: number
}

const chances = ["alone", "twice", "checks"] as const

const opening = 0
const openingBias = opening + inner * inputs
const closing = openingBias + inner
const closingBias = closing + chances.length * inner

/** Number of features for a pair of a question part and an earlier part. */
const needInputs = 7

const need = closingBias + chances.length
const needBias = need + needInputs

/** Number of weights. */
export const size = needBias + 1

/** Workers with their features, and the cost of calling each, in units of correct answers. */
export interface Team {
  readonly features: Features
  readonly costs: ReadonlyArray<number>
  /** Indices of workers that must not be chosen. */
  readonly without?: ReadonlyArray<number> | undefined
}

/** Log-probabilities of a choice: one per worker, followed by that of choosing no worker. */
export interface Odds {
  readonly worker: ReadonlyArray<number>
  /** Returns the log-probabilities of each checker, given the answering worker. */
  readonly checker: (worker: number) => ReadonlyArray<number>
}

// -------------------------------------------------------------------------------------------------------------------
// Chances
// -------------------------------------------------------------------------------------------------------------------

const hidden = (weights: Weights, features: ReadonlyArray<number>): ReadonlyArray<number> =>
  Array.from({ length: inner }, (_, row) => {
    let sum = weights[openingBias + row]!
    for (let column = 0; column < inputs; column++) sum += weights[opening + row * inputs + column]! * features[column]!
    return Math.tanh(sum)
  })

const logistic = (value: number): number => 1 / (1 + Math.exp(-value))

/** Returns the estimated probabilities for a worker. */
export const chancesOf = (weights: Weights, features: ReadonlyArray<number>): Chances => {
  const states = hidden(weights, features)
  const [alone, twice, checks] = chances.map((_, output) => {
    let sum = weights[closingBias + output]!
    for (let column = 0; column < inner; column++) sum += weights[closing + output * inner + column]! * states[column]!
    return logistic(sum)
  })
  return { alone: alone!, twice: twice!, checks: checks! }
}

/** Adds the network's gradient, given the slopes of its outputs before the sigmoid. */
const addOutputs = (
  sums: Weights,
  weights: Weights,
  features: ReadonlyArray<number>,
  slopes: ReadonlyArray<number>
): void => {
  const states = hidden(weights, features)
  for (const [output, slope] of slopes.entries()) sums[closingBias + output]! += slope
  for (const [row, state] of states.entries()) {
    let above = 0
    for (const [output, slope] of slopes.entries()) {
      const at = closing + output * inner + row
      sums[at]! += slope * state
      above += slope * weights[at]!
    }
    const below = above * (1 - state * state)
    sums[openingBias + row]! += below
    for (let column = 0; column < inputs; column++) sums[opening + row * inputs + column]! += below * features[column]!
  }
}

/** Adds to `sums` the gradient of the log-likelihood of the workers' observed outcomes, times `scale`. */
export const addChances = (
  sums: Weights,
  weights: Weights,
  features: Features,
  truth: ReadonlyArray<Chances>,
  scale: number
): void => {
  for (const [ordinal, own] of features.entries()) {
    const found = chancesOf(weights, own)
    const slopes = chances.map((name) => scale * (truth[ordinal]![name] - found[name]))
    addOutputs(sums, weights, own, slopes)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Choices
// -------------------------------------------------------------------------------------------------------------------

/** Log-probability of an impossible choice. */
const never = -1e9

/**
 * Inverse temperature: a choice whose value is lower by one correct answer is less likely by a factor of e to this
 * power.
 */
const sharpness = 30

const logSoftmax = (scores: ReadonlyArray<number>): ReadonlyArray<number> => {
  const largest = Math.max(...scores)
  const total = Math.log(scores.reduce((sum, value) => sum + Math.exp(value - largest), 0))
  return scores.map((value) => value - largest - total)
}

/**
 * Returns the cost of the calls if a worker answers once, or twice with a checker. A `checker` equal to the number of
 * workers means no checker.
 */
export const cost = (costs: ReadonlyArray<number>, worker: number, checker: number): number =>
  checker === costs.length ? costs[worker]! : 2 * costs[worker]! + costs[checker]!

/**
 * Returns the probability of a correct answer if a worker answers once, or twice with a checker. If a checker finds no
 * correct attempt, it answers itself.
 */
export const right = (team: ReadonlyArray<Chances>, worker: number, checker: number): number => {
  if (checker === team.length) return team[worker]!.alone
  const { alone, checks } = team[checker]!
  return checks * team[worker]!.twice + (1 - checks) * alone
}

/** Returns, for each worker, the value of its answer with each checker, followed by its value without a checker. */
const worths = ({ costs, without = [] }: Team, found: ReadonlyArray<Chances>): ReadonlyArray<ReadonlyArray<number>> =>
  found.map((_, worker) =>
    Array.from({ length: found.length + 1 }, (_, checker) =>
      checker === worker || without.includes(worker) || without.includes(checker)
        ? never
        : right(found, worker, checker) - cost(costs, worker, checker)
    )
  )

/** Returns the log-probabilities of choices with the given values. */
const oddsOf = (values: ReadonlyArray<number>): ReadonlyArray<number> =>
  logSoftmax(values.map((value) => sharpness * value))

const oddsAmong = (all: ReadonlyArray<ReadonlyArray<number>>): Odds => ({
  worker: oddsOf([...all.map((own) => Math.max(...own)), 0]),
  checker: (worker) => (worker === all.length ? [...all.map(() => never), 0] : oddsOf(all[worker]!))
})

/**
 * Returns the log-probabilities of all choices. A worker's value is its value with the best checker or without one;
 * choosing no worker has the value 0.
 */
export const odds = (weights: Weights, team: Team): Odds =>
  oddsAmong(
    worths(
      team,
      team.features.map((own) => chancesOf(weights, own))
    )
  )

/** Returns the log-probabilities that a part of a question does not need an earlier part's answer, and that it does. */
export const needOdds = (
  weights: Weights,
  features: ReadonlyArray<number>
): readonly [without: number, needed: number] => {
  let sum = weights[needBias]!
  for (let at = 0; at < needInputs; at++) sum += weights[need + at]! * features[at]!
  const [without, needed] = logSoftmax([0, sum])
  return [without!, needed!]
}

/** Returns a copy of the weights in which checkers never identify a correct answer, so none is chosen. */
export const withoutChecks = (weights: Weights): Weights => weights.with(closingBias + chances.indexOf("checks"), -1e6)

/** Returns the index of the largest value, which is the most likely choice. */
export const greatest = (values: ReadonlyArray<number>): number => values.indexOf(Math.max(...values))

// -------------------------------------------------------------------------------------------------------------------
// Gradients
// -------------------------------------------------------------------------------------------------------------------

/** The target distributions for the gradient. */
export interface Targets {
  /** The target distribution over workers; omitted if the worker is given. */
  readonly worker?: ReadonlyArray<number> | undefined
  /** The target distribution over checkers for a given worker; omitted if there is no answer to check. */
  readonly checker?: { readonly given: number; readonly shares: ReadonlyArray<number> } | undefined
}

/**
 * Adds to `sums` the gradient of the expected log-probability under the target distributions, times `scale`. For a
 * distribution with a single choice, this is the gradient of that choice's log-probability.
 */
export const addGradient = (sums: Weights, weights: Weights, team: Team, wanted: Targets, scale: number): void => {
  const { features } = team
  const found = features.map((own) => chancesOf(weights, own))
  const all = worths(team, found)
  const now = oddsAmong(all)
  const slopes = found.map(() => ({ alone: 0, twice: 0, checks: 0 }))
  /** Propagates the slope of a choice's value to the probabilities that it depends on. */
  const add = (worker: number, checker: number, wantedMore: number): void => {
    const slope = scale * sharpness * wantedMore
    if (checker === features.length) {
      slopes[worker]!.alone += slope
      return
    }
    const { alone, checks } = found[checker]!
    slopes[worker]!.twice += slope * checks
    slopes[checker]!.checks += slope * (found[worker]!.twice - alone)
    slopes[checker]!.alone += slope * (1 - checks)
  }
  for (const [worker, own] of all.entries()) {
    if (wanted.worker !== undefined) add(worker, greatest(own), wanted.worker[worker]! - Math.exp(now.worker[worker]!))
  }
  if (wanted.checker !== undefined) {
    const { given, shares } = wanted.checker
    for (const [checker, one] of now.checker(given).entries()) add(given, checker, shares[checker]! - Math.exp(one))
  }
  for (const [worker, own] of slopes.entries()) {
    const chance = found[worker]!
    const outputs = chances.map((name) => own[name] * chance[name] * (1 - chance[name]))
    addOutputs(sums, weights, features[worker]!, outputs)
  }
}

/**
 * Like {@link addGradient}, for whether a part needs an earlier one. `shares` are the target probabilities of no and
 * yes.
 */
export const addNeedGradient = (
  sums: Weights,
  weights: Weights,
  features: ReadonlyArray<number>,
  shares: ReadonlyArray<number>,
  scale: number
): void => {
  const [without, needed] = needOdds(weights, features)
  // One of the two scores is always 0, so only the slope of the other is needed.
  const slope = scale * (shares[1]! * Math.exp(without) - shares[0]! * Math.exp(needed))
  sums[needBias]! += slope
  for (let at = 0; at < needInputs; at++) sums[need + at]! += slope * features[at]!
}
