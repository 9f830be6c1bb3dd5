/**
 * Translates objective settings into the loss and token weights that an engine minimizes.
 *
 * Engines sum the loss over tokens, so all averaging is expressed as weights. Name suffixes denote array shapes: `N`
 * for the completions in one optimizer step, `T` for the tokens of a completion.
 */
import type { Capabilities, Datum, Loss, PerToken } from "./Engine.ts"
import * as LossTerms from "./LossTerms.ts"
import type { ObjectiveConfig } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Loss
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the engine loss that implements the configured objective.
 *
 * **Example**
 *
 * ```ts
 * import { Objective } from "@divisi/trainer"
 *
 * const loss = Objective.lossOf({ loss: { type: "clippedRatio", low: 0.2, high: 0.28 }, entropy: 0.01 })
 * loss // => { type: "clippedRatio", low: 0.2, high: 0.28, entropy: 0.01 }
 * ```
 */
export const lossOf = ({ entropy, loss }: Pick<ObjectiveConfig, "loss" | "entropy">): Loss =>
  loss.type === "importanceSampling" || entropy === 0 ? loss : { ...loss, entropy }

/**
 * Returns the reason why an engine cannot minimize the objective, or `undefined` if it can.
 *
 * **Example**
 *
 * ```ts
 * import { Objective, ToyEngine, TrainingConfig } from "@divisi/trainer"
 *
 * const capabilities = { ...ToyEngine.make().capabilities, entropy: false }
 * const obstacle = Objective.obstacle({ ...TrainingConfig.defaultObjective, entropy: 0.01 }, capabilities)
 * obstacle // => "the engine has no entropy bonus: set objective.entropy to 0"
 * ```
 */
export const obstacle = (
  config: Pick<ObjectiveConfig, "loss" | "entropy">,
  capabilities: Capabilities
): string | undefined => {
  const { type } = config.loss
  if (!capabilities.losses.includes(type)) {
    return `the engine has no ${type} loss: choose one of ${capabilities.losses.join(", ")}`
  }
  if (config.entropy === 0) return undefined
  if (!capabilities.entropy) return "the engine has no entropy bonus: set objective.entropy to 0"
  return type === "importanceSampling" ? "an entropy bonus needs a loss with a clip: choose clippedRatio" : undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Weights and advantages of tokens
// -------------------------------------------------------------------------------------------------------------------

/** Completion to compute token weights for. */
export interface Weighed {
  /** Length of the completion in tokens. */
  readonly length: number
  /**
   * Index of the first token of the three lists. `undefined` if there are no lists; the whole completion then counts as
   * thought.
   */
  readonly listsFrom?: number | undefined
}

/**
 * Returns the loss weight of every token in an optimizer step.
 *
 * **Details**
 *
 * The weights sum to 1. With `"completion"`, every completion has the same total weight; with `"token"`, all tokens of
 * the same part (thought or lists) have the same weight. The ratio between the two parts is configurable.
 *
 * **Example**
 *
 * ```ts
 * import { Objective } from "@divisi/trainer"
 *
 * const completions = [{ length: 2 }, { length: 4, listsFrom: 2 }]
 * const weights = { thought: 1, lists: 1 }
 * Objective.weights(completions, { mean: "completion", weights }) // => [[0.25, 0.25], [0.125, 0.125, 0.125, 0.125]]
 * const [, second] = Objective.weights(completions, { mean: "token", weights: { thought: 0.5, lists: 1 } })
 * second // => [0.125, 0.125, 0.25, 0.25]
 * ```
 */
export const weights = (
  completions_N: ReadonlyArray<Weighed>,
  config: Pick<ObjectiveConfig, "mean" | "weights">
): ReadonlyArray<ReadonlyArray<number>> => {
  const parts_N_T = completions_N.map(({ length, listsFrom = length }) =>
    Array.from({ length }, (_, token) => (token < listsFrom ? config.weights.thought : config.weights.lists))
  )
  const sums_N = parts_N_T.map((parts_T) => parts_T.reduce((sum, part) => sum + part, 0))
  const sum = sums_N.reduce((total, one) => total + one, 0)
  const counted = sums_N.filter((one) => one > 0).length
  return parts_N_T.map((parts_T, completion) => {
    const divisor = config.mean === "token" ? sum : sums_N[completion]! * counted
    return parts_T.map((part) => (divisor === 0 ? 0 : part / divisor))
  })
}

/**
 * Returns the advantage of each token in a completion minus the KL penalty, `kl * (log q - log p_reference)`.
 *
 * **Example**
 *
 * ```ts
 * import { Objective } from "@divisi/trainer"
 *
 * Objective.tokenAdvantages(2, 3) // => [2, 2, 2]
 * Objective.tokenAdvantages(2, 2, { kl: 0.5, logProbs: [-1, -2], reference: [-1, -4] }) // => [2, 1]
 * ```
 */
export const tokenAdvantages = (
  advantage: number,
  length: number,
  shaping?: { readonly kl: number; readonly logProbs: PerToken; readonly reference: PerToken }
): ReadonlyArray<number> =>
  Array.from({ length }, (_, token) =>
    shaping === undefined ? advantage : advantage - shaping.kl * (shaping.logProbs[token]! - shaping.reference[token]!)
  )

// -------------------------------------------------------------------------------------------------------------------
// Distance from the sampler
// -------------------------------------------------------------------------------------------------------------------

/** How far the current weights have moved from the weights of the sampler. */
export interface Distance {
  readonly tokens: number
  /** Number of tokens whose gradient was stopped by clipping. */
  readonly clipped: number
  /** Sum of `r - 1 - log r` over all tokens. */
  readonly divergence: number
}

/**
 * Measures how far the weights of a pass have moved from the sampler, over the data of the pass.
 *
 * **Example**
 *
 * ```ts
 * import { Objective } from "@divisi/trainer"
 *
 * const data = [{ prompt: [1], completion: [2], advantages: [1], logProbs: [-1] }]
 * // The weights give the token e^0.5 = 1.65 times the sampler's probability: more than a clip of 0.2 allows.
 * const { clipped } = Objective.distance({ type: "clippedRatio", low: 0.2, high: 0.2 }, data, [[-0.5]])
 * clipped // => 1
 * ```
 */
export const distance = (loss: Loss, data: ReadonlyArray<Datum>, logProbs: ReadonlyArray<PerToken>): Distance => {
  let tokens = 0
  let clipped = 0
  let divergence = 0
  data.forEach((datum, index) => {
    const zeros = new Float32Array(datum.completion.length)
    clipped += LossTerms.of(loss, datum, logProbs[index]!, zeros).clipped_T.filter(Boolean).length
    tokens += datum.completion.length
    datum.completion.forEach((_, token) => {
      const gap = logProbs[index]![token]! - (datum.logProbs?.[token] ?? logProbs[index]![token]!)
      divergence += Math.exp(gap) - 1 - gap
    })
  })
  return { tokens, clipped, divergence }
}
