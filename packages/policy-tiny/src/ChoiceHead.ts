/**
 * Chooses by pointing: each worker is scored by what was read of it, with the same small network for all, so that it
 * does not matter how many there are and where they stand. The choices have probabilities, and these have gradients.
 */

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What is known of each worker with respect to a part of a question: as many numbers for each as {@link inputs}. */
export type Features = ReadonlyArray<ReadonlyArray<number>>

/** All weights as one list of {@link size} numbers. */
export type Weights = Float64Array

/** Numbers for each worker. */
export const inputs = 18

const inner = 64

/** What each worker is scored for: to answer, to check somebody's answer, and to be believed without a check. */
const outputs = 3
const [answers, checks, isTrusted] = [0, 1, 2] as const

const opening = 0
const openingBias = opening + inner * inputs
const closing = openingBias + inner
const closingBias = closing + outputs * inner
const nobody = closingBias + outputs

/** Numbers for a part of a question and an earlier one. */
export const needInputs = 7

const need = nobody + 1
const needBias = need + needInputs

/** How many weights there are. */
export const size = needBias + 1

/** Who answers a part, and who checks it. The number of workers stands for nobody. */
export interface Choice {
  readonly worker: number
  readonly checker: number
}

/** What a choice was made among: log-probabilities of workers and then of nobody. */
export interface Odds {
  readonly worker: ReadonlyArray<number>
  /** Given who answers. */
  readonly checker: (worker: number) => ReadonlyArray<number>
}

// -------------------------------------------------------------------------------------------------------------------
// Scores
// -------------------------------------------------------------------------------------------------------------------

const hidden = (weights: Weights, features: ReadonlyArray<number>): ReadonlyArray<number> =>
  Array.from({ length: inner }, (_, row) => {
    let sum = weights[openingBias + row]!
    for (let column = 0; column < inputs; column++) sum += weights[opening + row * inputs + column]! * features[column]!
    return Math.tanh(sum)
  })

const score = (weights: Weights, states: ReadonlyArray<number>, output: number): number => {
  let sum = weights[closingBias + output]!
  for (let column = 0; column < inner; column++) sum += weights[closing + output * inner + column]! * states[column]!
  return sum
}

/** Less likely than anything. */
const never = -1e9

const logSoftmax = (scores: ReadonlyArray<number>): ReadonlyArray<number> => {
  const largest = Math.max(...scores)
  const total = Math.log(scores.reduce((sum, value) => sum + Math.exp(value - largest), 0))
  return scores.map((value) => value - largest - total)
}

/** The odds of all choices. Who is in `without` is not chosen. */
export const odds = (weights: Weights, features: Features, without: ReadonlyArray<number> = []): Odds => {
  const states = features.map((own) => hidden(weights, own))
  const of = (output: number, not: ReadonlyArray<number>) =>
    states.map((own, ordinal) => (not.includes(ordinal) ? never : score(weights, own, output)))
  return {
    worker: logSoftmax([...of(answers, without), weights[nobody]!]),
    checker: (worker) =>
      worker >= features.length
        ? [...features.map(() => never), 0]
        : logSoftmax([...of(checks, [...without, worker]), score(weights, states[worker]!, isTrusted)])
  }
}

/** The odds that a part of a question does without an earlier one, and that it needs its answer. */
export const needOdds = (
  weights: Weights,
  features: ReadonlyArray<number>
): readonly [without: number, needed: number] => {
  let sum = weights[needBias]!
  for (let at = 0; at < needInputs; at++) sum += weights[need + at]! * features[at]!
  const [without, needed] = logSoftmax([0, sum])
  return [without!, needed!]
}

/** The same weights, but nobody is checked. */
export const withoutChecks = (weights: Weights): Weights => weights.with(closingBias + isTrusted, 1e6)

/** The most likely choice. */
export const greatest = (values: ReadonlyArray<number>): number => values.indexOf(Math.max(...values))

// -------------------------------------------------------------------------------------------------------------------
// Gradients
// -------------------------------------------------------------------------------------------------------------------

/** Distributions that are wanted in the place of others: what the gradient leads towards. */
export interface Wanted {
  /** Absent where who answers is given. */
  readonly worker?: ReadonlyArray<number> | undefined
  /** Absent where there is nobody to be checked. */
  readonly checker?: { readonly given: number; readonly shares: ReadonlyArray<number> } | undefined
}

const addScore = (
  sums: Weights,
  weights: Weights,
  features: ReadonlyArray<number>,
  output: number,
  slope: number
): void => {
  const states = hidden(weights, features)
  sums[closingBias + output]! += slope
  for (const [row, state] of states.entries()) {
    sums[closing + output * inner + row]! += slope * state
    const below = slope * weights[closing + output * inner + row]! * (1 - state * state)
    sums[openingBias + row]! += below
    for (let column = 0; column < inputs; column++) sums[opening + row * inputs + column]! += below * features[column]!
  }
}

/**
 * Adds to `sums` the gradient of the expected log-probability under what is wanted, times `scale`. Shares that add up
 * to one lead the odds towards them; of one choice alone it is the gradient of its log-probability. The odds are those
 * without whoever is in `without`.
 */
export const addGradient = (
  sums: Weights,
  weights: Weights,
  features: Features,
  wanted: Wanted,
  scale: number,
  without: ReadonlyArray<number> = []
): void => {
  const found = odds(weights, features, without)
  const count = features.length
  for (const [ordinal, share] of (wanted.worker ?? []).entries()) {
    const slope = scale * (share - Math.exp(found.worker[ordinal]!))
    if (ordinal === count) sums[nobody]! += slope
    else addScore(sums, weights, features[ordinal]!, answers, slope)
  }
  if (wanted.checker === undefined) return
  const { given, shares } = wanted.checker
  const own = found.checker(given)
  for (const [ordinal, share] of shares.entries()) {
    if (ordinal === given) continue
    const slope = scale * (share - Math.exp(own[ordinal]!))
    if (ordinal === count) addScore(sums, weights, features[given]!, isTrusted, slope)
    else addScore(sums, weights, features[ordinal]!, checks, slope)
  }
}

/** The same for whether a part needs an earlier one: the gradient towards these shares of no and yes. */
export const addNeedGradient = (
  sums: Weights,
  weights: Weights,
  features: ReadonlyArray<number>,
  shares: ReadonlyArray<number>,
  scale: number
): void => {
  const [without, needed] = needOdds(weights, features)
  // Of scores of which one is always 0: what is wanted of the other, less what it has of what is wanted of both.
  const slope = scale * (shares[1]! * Math.exp(without) - shares[0]! * Math.exp(needed))
  sums[needBias]! += slope
  for (let at = 0; at < needInputs; at++) sums[need + at]! += slope * features[at]!
}
