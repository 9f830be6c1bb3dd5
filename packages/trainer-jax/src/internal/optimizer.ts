/** AdamW (Loshchilov and Hutter 2019), applied to numbers in the memory of this process. */
import type { OptimizerSettings } from "@divisi/trainer/Engine"

/** The factors used in a step. */
export interface Terms {
  /** Factor for the gradient that limits its norm. */
  readonly scale: number
  readonly beta1: number
  readonly beta2: number
  /**
   * The learning rate and the square root of the second moments, with bias correction for moments that started at 0.
   */
  readonly rate: number
  readonly correction: number
  readonly epsilon: number
  /** Weight decay in one step. */
  readonly decay: number
}

/** Returns the factors for a step. `steps` is the number of previous steps. */
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

/** Returns the Euclidean norm. */
export const norm = (numbers: Float32Array): number => {
  let sum = 0
  for (let at = 0; at < numbers.length; at++) sum += numbers[at]! * numbers[at]!
  return Math.sqrt(sum)
}

/** Updates weights and both moments in place. */
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
