/**
 * Objectives convert settings to the loss and the weights that an engine minimizes.
 *
 * An engine sums over tokens; all averaging is in the weights. Suffixes of names denote shapes: `N` for the completions
 * of one optimizer step, `T` for the tokens of each.
 */
import type { Capabilities, Datum, Loss, PerToken } from "./Engine.ts"
import * as LossTerms from "./LossTerms.ts"
import type { ObjectiveConfig } from "./TrainingConfig.ts"

// -------------------------------------------------------------------------------------------------------------------
// Loss
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the engine's loss for a setting.
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
 * Returns why an engine cannot minimize an objective; `undefined` if it can.
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

/** A completion whose tokens are weighted. */
export interface Weighed {
  /** The number of tokens of the completion. */
  readonly length: number
  /**
   * The index of the first token of the three lists; `undefined` if there are no lists, so that the whole completion
   * counts as thought.
   */
  readonly listsFrom?: number | undefined
}

/**
 * Returns the weights of all tokens of an optimizer step.
 *
 * **Details**
 *
 * They add up to 1. With `"completion"`, every completion has the same sum; with `"token"`, every token of the same
 * part has the same weight. The setting defines the ratio of the parts (thought and lists).
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
 * Returns the advantage of each token of a completion, minus the KL penalty: `kl * (log q - log p_reference)`.
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

/** The distance between the weights of a pass and those of the sampler. */
export interface Distance {
  readonly tokens: number
  /** The number of tokens at which clipping stopped the gradient. */
  readonly clipped: number
  /** The sum of `r - 1 - log r` over tokens. */
  readonly divergence: number
}

/**
 * Measures the distance of the weights from the sampler, over the data of a pass.
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
