/**
 * Pure TypeScript implementation of AdamW (Loshchilov and Hutter 2019), for engines that hold their weights in arrays.
 */
import type { OptimizerSettings } from "./Engine.ts"

/** Weights, optimizer moments, and the gradient accumulated since the last step (if any). */
export interface Parameters {
  readonly weights: Float64Array
  readonly first: Float64Array
  readonly second: Float64Array
  readonly gradient: Float64Array | undefined
}

/**
 * Performs one AdamW step in place, updating weights and moments. `step` counts from 1. Returns the gradient norm
 * before clipping.
 *
 * **Example**
 *
 * ```ts
 * import { AdamW } from "@divisi/trainer"
 *
 * const [weights, gradient] = [Float64Array.of(1), Float64Array.of(3)]
 * const [first, second] = [new Float64Array(1), new Float64Array(1)]
 * AdamW.update([{ weights, first, second, gradient }], 1, { learningRate: 0.5 }) // => { gradientNorm: 3 }
 * weights[0]?.toFixed(6) // => "0.500000"
 * ```
 */
export const update = (
  all: ReadonlyArray<Parameters>,
  step: number,
  settings: OptimizerSettings
): { readonly gradientNorm: number } => {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, learningRate, maxGradientNorm = 0, weightDecay = 0 } = settings
  let square = 0
  for (const { gradient } of all) if (gradient) for (const value of gradient) square += value * value
  const gradientNorm = Math.sqrt(square)
  const scale = maxGradientNorm > 0 && gradientNorm > maxGradientNorm ? maxGradientNorm / gradientNorm : 1
  const correction1 = 1 - beta1 ** step
  const correction2 = 1 - beta2 ** step
  for (const { first, gradient, second, weights } of all) {
    for (let at = 0; at < weights.length; at++) {
      const slope = (gradient?.[at] ?? 0) * scale
      first[at] = beta1 * first[at]! + (1 - beta1) * slope
      second[at] = beta2 * second[at]! + (1 - beta2) * slope * slope
      const change = first[at]! / correction1 / (Math.sqrt(second[at]! / correction2) + epsilon)
      weights[at]! -= learningRate * (change + weightDecay * weights[at]!)
    }
  }
  return { gradientNorm }
}
