/**
 * Programs for passes, compiled for each shape: log-probabilities, entropies and, with a loss, the gradient.
 *
 * Every loss is a function of the tokens' log-probabilities and entropies. Its derivative is computed explicitly as one
 * number per token, from which the gradient of the logits follows. Embeddings are looked up outside of the program,
 * which takes their values and returns their gradient.
 */
import type { Model } from "@divisi/gguf"
import type { Loss, LossName } from "@divisi/trainer/Engine"
import type * as Jax from "@jax-js/jax"
import {
  exponential,
  hiddenStates,
  type Inputs,
  indexes,
  type Library,
  linear,
  outputOf,
  type Shape,
  type Weights
} from "./network.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The inputs of a loss for each completion token: `[B * G, C]` each, with 0 for padding. */
export interface Targets {
  readonly tokens: Jax.Array
  readonly weights: Jax.Array
  readonly advantages: Jax.Array
  readonly logProbs: Jax.Array
  /** The reciprocal of the number of tokens in the completion, and 0 for padding. */
  readonly shares: Jax.Array
  /** The minimum ratio, the maximum ratio and the entropy coefficient, `[3]`. */
  readonly settings: Jax.Array
}

/** The names of the weights, in the order of the arrays. */
export type Order = ReadonlyArray<string>

/** Returns the weights keyed by name. */
export const named = (order: Order, arrays: ReadonlyArray<Jax.Array>): Weights =>
  Object.fromEntries(order.map((name, index) => [name, arrays[index]!]))

// -------------------------------------------------------------------------------------------------------------------
// Losses
// -------------------------------------------------------------------------------------------------------------------

/** Returns the settings of a loss as numbers, so that one program supports all settings. */
export const settingsOf = (loss: Loss): readonly [number, number, number] =>
  "low" in loss ? [1 - loss.low, 1 + loss.high, loss.entropy ?? 0] : [0, 0, 0]

/** Whether a loss has an entropy term. */
export const hasEntropy = (loss: Loss): boolean => settingsOf(loss)[2] !== 0

/** Computes the derivative of the loss with respect to each token's log-probability: `[B * G, C]`. */
const slopes = (jax: Library, loss: LossName, logProbs: Jax.Array, targets: Targets): Jax.Array => {
  const np = jax.numpy
  if (loss === "crossEntropy") return targets.weights.ref.neg()
  const distances = logProbs.ref.sub(targets.logProbs.ref)
  if (loss === "importanceSampling") {
    return np.exp(distances).mul(targets.advantages.ref).mul(targets.weights.ref).neg()
  }
  const isSequence = loss === "sequenceRatio"
  const exponents = isSequence ? distances.mul(targets.shares.ref).sum(-1, { keepdims: true }) : distances
  const ratios = np.exp(exponents)
  const objective = ratios.ref.mul(targets.advantages.ref)
  const least = targets.settings.ref.slice(0)
  const most = targets.settings.ref.slice(1)
  const clipped = (np.minimum(np.maximum(ratios, least), most) as Jax.Array).mul(targets.advantages.ref)
  // If the clipped objective is the smaller one, it does not depend on the ratio.
  const slope = np.where(objective.ref.lessEqual(clipped), objective, 0).mul(targets.weights.ref).neg()
  return isSequence ? slope.sum(-1, { keepdims: true }).mul(targets.shares.ref) : slope
}

// -------------------------------------------------------------------------------------------------------------------
// Passes
// -------------------------------------------------------------------------------------------------------------------

const flat = (values: Jax.Array): Jax.Array => values.ref.reshape([values.size, 1])

/** Number of vocabulary tokens computed at once, because matrix multiplication is slower for longer rows. */
const widest = 256

/** Computes the logits for consecutive parts of the vocabulary, `[N, at most widest]` each. */
const logits = (jax: Library, weights: Weights, hidden_ND: Jax.Array): Array<Jax.Array> => {
  const output_VD = outputOf(weights)
  const size = output_VD.shape[0]!
  return indexes(Math.ceil(size / widest)).map((part) =>
    linear(jax, hidden_ND, output_VD.ref.slice([part * widest, Math.min(size, (part + 1) * widest)]))
  )
}

const added = (arrays: ReadonlyArray<Jax.Array>): Jax.Array => arrays.reduce((sum, one) => sum.add(one))

/**
 * Computes the log-probabilities and entropies `[N, 1]` of tokens from the {@link logits}, with the intermediate
 * results that the gradient needs for each part of the vocabulary.
 */
const statistics = (jax: Library, logits: ReadonlyArray<Jax.Array>, tokens: Jax.Array) => {
  const np = jax.numpy
  const largest_N1 = logits
    .map((part) => np.max(part.ref, -1, { keepdims: true }))
    .reduce((most, one) => np.maximum(most, one) as Jax.Array)
  const centred = logits.map((part) => part.ref.sub(largest_N1.ref))
  const exponentials = centred.map((part) => exponential(jax, part.ref))
  const sums_N1 = added(exponentials.map((part) => part.ref.sum(-1, { keepdims: true })))
  const logSums_N1 = np.log(sums_N1.ref)
  const tokens_N1 = flat(tokens)
  const isToken = logits.map(({ shape: [, size] }, part) => {
    const ids = Float32Array.from({ length: size! }, (_, index) => part * widest + index)
    return tokens_N1.ref.equal(np.array(ids, { shape: [1, size!] }))
  })
  const chosen_N1 = added(
    centred.map((part, index) => np.where(isToken[index]!.ref, part.ref, 0).sum(-1, { keepdims: true }))
  )
  const inverse_N1 = np.reciprocal(sums_N1)
  const probabilities = exponentials.map((part) => part.mul(inverse_N1.ref))
  const expected_N1 = added(
    probabilities.map((part, index) => part.ref.mul(centred[index]!.ref).sum(-1, { keepdims: true }))
  )
  return {
    logProbs_N1: chosen_N1.sub(logSums_N1.ref),
    entropies_N1: logSums_N1.ref.sub(expected_N1),
    centred,
    logSums_N1,
    isToken,
    probabilities
  }
}

/** Returns a program for the log-probabilities and entropies of a batch: `[B * G, C]` each. */
export const makeForward = (jax: Library, config: Model.Config, order: Order, shape: Shape) =>
  jax.jit((weights: Array<Jax.Array>, inputs: Array<Jax.Array>, tokens: Jax.Array) => {
    const all = named(order, weights)
    const hidden = hiddenStates(jax, config, all, inputsOf(inputs), shape)
    const { entropies_N1, logProbs_N1 } = statistics(jax, logits(jax, all, hidden), tokens)
    return [logProbs_N1.reshape(tokens.shape), entropies_N1.reshape(tokens.shape)]
  })

const inputsOf = ([prompts_BPD, completions_BND, padding_BP]: ReadonlyArray<Jax.Array>): Inputs => ({
  prompts_BPD: prompts_BPD!,
  completions_BND: completions_BND!,
  padding_BP: padding_BP!
})

/** The properties in which programs with a gradient differ. */
export interface LossKind {
  readonly name: LossName
  readonly entropy: boolean
}

/**
 * Returns a program that also computes gradients: log-probabilities, entropies, and the gradients of both inputs and of
 * the weights.
 */
export const makeBackward = (jax: Library, config: Model.Config, order: Order, shape: Shape, loss: LossKind) =>
  jax.jit((weights: Array<Jax.Array>, inputs: Array<Jax.Array>, given: Array<Jax.Array>) => {
    const np = jax.numpy
    const [tokens, tokenWeights, advantages, before, shares, settings] = given as [
      Jax.Array,
      Jax.Array,
      Jax.Array,
      Jax.Array,
      Jax.Array,
      Jax.Array
    ]
    const targets: Targets = { tokens, weights: tokenWeights, advantages, logProbs: before, shares, settings }
    const run = (own: Array<Jax.Array>, prompts_BPD: Jax.Array, completions_BND: Jax.Array) => {
      const all = named(order, own)
      return logits(
        jax,
        all,
        hiddenStates(jax, config, all, inputsOf([prompts_BPD, completions_BND, inputs[2]!]), shape)
      )
    }
    const [found_NV, pull] = jax.vjp(run, [weights.map((one) => one.ref), inputs[0]!.ref, inputs[1]!.ref])
    const found = statistics(jax, found_NV, tokens)
    const logProbs = found.logProbs_N1.reshape(tokens.shape)
    const slopes_N1 = flat(slopes(jax, loss.name, logProbs, targets))
    const ofLogits = found.probabilities.map((probabilities, part) => {
      const ofToken = np.where(found.isToken[part]!, 1, 0).sub(probabilities.ref).mul(slopes_N1.ref)
      if (!loss.entropy) return ofToken
      // The derivative of the entropy with respect to a logit is -p (log p + H).
      const logs = found.centred[part]!.ref.sub(found.logSums_N1.ref).add(found.entropies_N1.ref)
      const counts_N1 = flat(targets.weights.ref.mul(settings.ref.slice(2)))
      return ofToken.add(probabilities.ref.mul(logs).mul(counts_N1))
    })
    const [gradients, ofPrompts, ofCompletions] = pull(ofLogits)
    pull.dispose()
    return [
      logProbs.ref,
      found.entropies_N1.reshape(tokens.shape),
      ofPrompts as Jax.Array,
      ofCompletions as Jax.Array,
      ...(gradients as Array<Jax.Array>)
    ]
  })
