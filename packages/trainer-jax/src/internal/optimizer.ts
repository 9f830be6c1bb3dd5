/** AdamW (Loshchilov and Hutter 2019), compiled once for a model. */
import type * as Jax from "@jax-js/jax"
import type { OptimizerSettings } from "@tutti/trainer/Engine"
import type { Library } from "./network.ts"

type Arrays = Array<Jax.Array>

/** The sum of the squares of all numbers, row by row first, so that rounding stays small. */
export const makeSquares = (jax: Library) =>
  jax.jit((gradients: Arrays) => {
    const squares = gradients.map((one) => {
      const all = one.ref.mul(one.ref)
      return all.ndim === 1 ? all.sum() : all.sum(-1).sum()
    })
    return [squares.reduce((sum, one) => sum.add(one))]
  })

/** The numbers of a step. `steps` counts those before it. */
export const numbersOf = (settings: OptimizerSettings, steps: number, norm: number): Float32Array<ArrayBuffer> => {
  const { beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, learningRate, maxGradientNorm = 0, weightDecay = 0 } = settings
  const scale = maxGradientNorm > 0 && norm > maxGradientNorm ? maxGradientNorm / norm : 1
  return Float32Array.of(
    scale,
    beta1,
    1 - beta1,
    beta2,
    1 - beta2,
    learningRate / (1 - beta1 ** (steps + 1)),
    1 / (1 - beta2 ** (steps + 1)),
    epsilon,
    1 - learningRate * weightDecay
  )
}

/**
 * One step: weights, first and second moments. Vectors, which are the scales of norms, do not decay.
 *
 * It takes and gives a list of each, and consumes nothing.
 */
export const makeStep = (jax: Library) =>
  jax.jit((weights: Arrays, first: Arrays, second: Arrays, gradients: Arrays, numbers: Jax.Array) => {
    const number = (index: number) => numbers.ref.slice(index)
    const changed = weights.map((weight, index) => {
      const gradient = gradients[index]!.ref.mul(number(0))
      const mean = first[index]!.ref.mul(number(1)).add(gradient.ref.mul(number(2)))
      const square = second[index]!.ref.mul(number(3)).add(gradient.ref.mul(gradient).mul(number(4)))
      const spread = (jax.numpy.sqrt(square.ref.mul(number(6))) as Jax.Array).add(number(7))
      const kept = weight.ndim === 1 ? weight.ref : weight.ref.mul(number(8))
      return [kept.sub(mean.ref.mul(number(5)).div(spread)), mean, square] as const
    })
    return [0, 1, 2].map((part) => changed.map((one) => one[part]!)) as Array<Arrays>
  })
