/** Creates the weights of an untrained model. */
import { Model, Tensor } from "@divisi/gguf"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import type { Tensors } from "./state.ts"

/** Generates normally distributed numbers with the Box-Muller method. */
const normals = (seed: number) => {
  const generator = xoroshiro128plus(seed)
  /** A number above 0 and at most 1. */
  const uniform = () => ((generator.next() >>> 0) + 1) / 2 ** 32
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

/** Standard deviation of GPT-2's initial weights, 0.02 for 768 inputs, scaled to other widths. */
const spread = 0.02 * Math.sqrt(768)

/** Whether a weight's output is added to the residual stream. */
const isResidual = (name: string): boolean => name.endsWith("o_proj.weight") || name.endsWith("down_proj.weight")

/**
 * Returns initial weights for a seed. Terms added to the residual stream are scaled down with the number of layers. An
 * invalid configuration has no weights; `Model.check` gives the reason.
 */
export const initial = (config: Model.Config, seed: number): Tensors => {
  const normal = normals(seed)
  const sizes = Object.values(Model.shapes(config)).flat()
  if (!sizes.every((size) => Number.isSafeInteger(size) && size >= 1)) return {}
  const tensors = Object.entries(Model.shapes(config)).map(([name, shape]) => {
    const deviation = (spread / Math.sqrt(shape.at(-1)!)) * (isResidual(name) ? 1 / Math.sqrt(2 * config.layers) : 1)
    const data = new Float32Array(Tensor.size(shape)).fill(1)
    return [name, { shape, data: shape.length === 1 ? data : data.map(() => deviation * normal()) }] as const
  })
  return Object.fromEntries(tensors)
}
