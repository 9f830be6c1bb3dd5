/**
 * Reference implementation of the `Engine` losses in plain TypeScript, for testing engines and for engines that hold
 * their weights in arrays.
 *
 * The name suffix `T` denotes one entry per token of a completion.
 */
import type { Datum, Loss, PerToken } from "./Engine.ts"

/** Loss of one completion, with its derivatives. */
export interface Terms {
  /** Weighted sum of the loss over the tokens. */
  readonly loss: number
  /** Derivative of the loss with respect to each token's log-probability. */
  readonly slopes_T: Float64Array
  /** Derivative of the loss with respect to the entropy at each token. */
  readonly entropySlopes_T: Float64Array
  /** For each token, whether clipping stops its gradient. */
  readonly clipped_T: ReadonlyArray<boolean>
}

/** Returns `min(r A, clip(r) A)`, and whether the clipped value is the smaller one. */
const clip = (ratio: number, advantage: number, low: number, high: number) => {
  const bound = Math.min(Math.max(ratio, 1 - low), 1 + high)
  const isClipped = bound * advantage < ratio * advantage
  return { value: isClipped ? bound * advantage : ratio * advantage, isClipped }
}

const at = (values: PerToken | undefined, index: number, otherwise: number) =>
  values === undefined ? otherwise : values[index]!

/**
 * Computes the loss of a completion from the log-probabilities and entropies of its tokens under the current weights.
 *
 * **Example**
 *
 * ```ts
 * import { LossTerms } from "@divisi/trainer"
 *
 * const datum = { prompt: [1], completion: [7, 9], weights: [1, 2] }
 * LossTerms.of({ type: "crossEntropy" }, datum, [-0.5, -1], [0, 0]).loss // => 2.5
 * ```
 */
export const of = (loss: Loss, datum: Datum, logProbs_T: PerToken, entropies_T: PerToken): Terms => {
  const length = datum.completion.length
  const slopes_T = new Float64Array(length)
  const entropySlopes_T = new Float64Array(length)
  const clipped_T: Array<boolean> = new Array(length).fill(false)
  const gaps_T = Array.from(
    { length },
    (_, token) => logProbs_T[token]! - at(datum.logProbs, token, logProbs_T[token]!)
  )
  const sequenceRatio = Math.exp(gaps_T.reduce((sum, gap) => sum + gap, 0) / length)
  const entropyFactor = "entropy" in loss ? (loss.entropy ?? 0) : 0
  let total = 0
  let shared = 0
  for (let token = 0; token < length; token++) {
    const weight = at(datum.weights, token, 1)
    const advantage = at(datum.advantages, token, 0)
    if (loss.type === "crossEntropy") {
      total -= weight * logProbs_T[token]!
      slopes_T[token]! -= weight
      continue
    }
    const ratio = loss.type === "sequenceRatio" ? sequenceRatio : Math.exp(gaps_T[token]!)
    const { isClipped, value } =
      loss.type === "importanceSampling"
        ? { isClipped: false, value: ratio * advantage }
        : clip(ratio, advantage, loss.low, loss.high)
    total -= weight * (value + entropyFactor * entropies_T[token]!)
    entropySlopes_T[token] = -weight * entropyFactor
    clipped_T[token] = isClipped
    if (isClipped) continue
    const slope = -weight * ratio * advantage
    if (loss.type === "sequenceRatio") shared += slope / length
    else slopes_T[token]! += slope
  }
  // The sequence ratio depends equally on all tokens.
  if (shared !== 0) for (let token = 0; token < length; token++) slopes_T[token]! += shared
  return { loss: total, slopes_T, entropySlopes_T, clipped_T }
}

/**
 * Returns the reason why a datum is invalid for a loss (or for a forward pass without one), given the vocabulary size,
 * or `undefined` if it is valid.
 *
 * **Example**
 *
 * ```ts
 * import { LossTerms } from "@divisi/trainer"
 *
 * LossTerms.flaw({ prompt: [1], completion: [] }, undefined, 10) // => "a completion has no tokens"
 * ```
 */
export const flaw = (datum: Datum, loss: Loss | undefined, size: number): string | undefined => {
  const { completion, prompt } = datum
  if (completion.length === 0) return "a completion has no tokens"
  for (const name of ["weights", "advantages", "logProbs"] as const) {
    const values = datum[name]
    if (values !== undefined && values.length !== completion.length) {
      return `${name} has ${values.length} entries for ${completion.length} tokens; it needs one per token`
    }
    const isNeeded = loss !== undefined && loss.type !== "crossEntropy" && name !== "weights"
    if (values === undefined && isNeeded) return `the ${loss.type} loss needs ${name}`
  }
  const isKnown = (token: number) => Number.isInteger(token) && token >= 0 && token < size
  return [...prompt, ...completion].every(isKnown) ? undefined : `a token is not between 0 and ${size - 1}`
}
