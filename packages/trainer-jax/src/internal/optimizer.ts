/** AdamW (Loshchilov and Hutter 2019), over numbers in this process's own memory. */
import type { OptimizerSettings } from "@divisi/trainer/Engine"

/** The factors of a step. */
export interface Terms {
  /** The factor of the gradient that keeps its norm below the limit. */
  readonly scale: number
  readonly beta1: number
  readonly beta2: number
  /** The learning rate and the root of the second moments, corrected for moments that began at 0. */
  readonly rate: number
  readonly correction: number
  readonly epsilon: number
  /** How much the weights decay in a step. */
  readonly decay: number
}

/** The terms of a step. `steps` counts those before it. */
export const termsOf = (settings: OptimizerSettings, steps: number, norm: number): Terms => {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, learningRate, maxGradientNorm = 0, weightDecay = 0 } = settings
  return {
    scale: maxGradientNorm > 0 && norm > maxGradientNorm ? maxGradientNorm / norm : 1,
    beta1,
    beta2,
    rate: learningRate / (1 - beta1 ** (steps + 1)),
    correction: 1 / Math.sqrt(1 - beta2 ** (steps + 1)),
    epsilon,
    decay: 1 - learningRate * weightDecay
  }
}

/** The square root of the sum of all squares. */
export const norm = (numbers: Float32Array): number => {
  let sum = 0
  for (let at = 0; at < numbers.length; at++) sum += numbers[at]! * numbers[at]!
  return Math.sqrt(sum)
}

/** Changes weights and both moments in place. */
export const update = (
  weights: Float32Array,
  first: Float32Array,
  second: Float32Array,
  gradient: Float32Array,
  { beta1, beta2, correction, decay, epsilon, rate, scale }: Terms
): void => {
  for (let at = 0; at < weights.length; at++) {
    const slope = scale * gradient[at]!
    const mean = beta1 * first[at]! + (1 - beta1) * slope
    const square = beta2 * second[at]! + (1 - beta2) * slope * slope
    first[at] = mean
    second[at] = square
    weights[at] = decay * weights[at]! - (rate * mean) / (correction * Math.sqrt(square) + epsilon)
  }
}
