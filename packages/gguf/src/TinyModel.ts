/**
 * Small models of random weights, and the forward pass in plain TypeScript.
 *
 * For tests: a program that loads, serves or trains models needs one that is made in milliseconds, is the same on every
 * machine and is known exactly. {@link forward} says what its logits are, so an engine can be held to them.
 */
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { forwardPass } from "./internal/forwardPass.ts"
import { slots } from "./internal/layout.ts"
import type { Architecture, Config, Model } from "./Model.ts"
import * as Tensor from "./Tensor.ts"
import * as Tokenizer from "./Tokenizer.ts"

/** A model with its weights in memory. */
export interface TinyModel extends Model {
  readonly tensors: Readonly<Record<string, Tensor.DenseTensor>>
}

/** What to make. By default a model of about 60,000 weights with a vocabulary of 259: bytes and control tokens. */
export interface Options extends Partial<Config> {
  readonly architecture: Architecture
  /** The same seed and sizes give the same weights. */
  readonly seed: number
  /** Of bytes and the default control tokens, with ChatML's template, by default. */
  readonly tokenizer?: Tokenizer.Tokenizer | undefined
  /** How far weights are spread: their standard deviation times the square root of a row's length; 1 by default. */
  readonly spread?: number | undefined
}

/** Numbers that are normally distributed, by the method of Box and Muller. */
const normals = (seed: number) => {
  const generator = xoroshiro128plus(seed)
  /** A number above 0, up to 1. */
  const uniform = () => ((generator.next() >>> 0) + 1) / 2 ** 32
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

const configOf = (options: Options, tokens: number): Config => {
  const { seed: _seed, spread: _spread, tokenizer: _tokenizer, ...config } = options
  return {
    vocabularySize: tokens,
    hiddenSize: 64,
    layers: 2,
    heads: 4,
    feedForwardSize: 96,
    contextLength: 2048,
    tiedEmbeddings: true,
    ...config
  }
}

/**
 * A model of random weights.
 *
 * **Details**
 *
 * Norms are spread around 1, biases around 0. Output layers of random weights favour no token much, so completions are
 * close to uniform; a larger `spread` makes them less so.
 *
 * **Example**
 *
 * ```ts
 * import * as TinyModel from "@divisi/gguf/TinyModel"
 *
 * const model = TinyModel.random({ architecture: "llama", seed: 7, heads: 4, keyValueHeads: 2 })
 * model.tensors["model.layers.0.self_attn.k_proj.weight"]?.shape // => [32, 64]
 * TinyModel.forward(model, [72, 105]).length // => 2
 * ```
 */
export const random = (options: Options): TinyModel => {
  const { seed, spread = 1, tokenizer = Tokenizer.makeUnsafe({ chatTemplate: Tokenizer.chatMl }) } = options
  const config = configOf(options, tokenizer.tokens.length)
  const normal = normals(seed)
  const tensors = slots(config).map(({ shape, source }) => {
    const isNorm = source.endsWith("norm.weight")
    const deviation = shape.length === 1 ? 0.1 : spread / Math.sqrt(shape[1]!)
    const data = Float32Array.from({ length: Tensor.size(shape) }, () => (isNorm ? 1 : 0) + deviation * normal())
    return [source, { shape, data }] as const
  })
  return { config, tokenizer, tensors: Object.fromEntries(tensors), name: `tiny ${config.architecture} ${seed}` }
}

/**
 * The logits behind every token: one array of `vocabularySize` numbers for each of `tokens`.
 *
 * **Details**
 *
 * Written to be read and to be right, in double precision but for what is kept between layers; it keeps no cache and
 * takes time quadratic in the number of tokens.
 */
export const forward = (
  model: Pick<TinyModel, "config" | "tensors">,
  tokens: ReadonlyArray<number>
): ReadonlyArray<Float32Array> => forwardPass(model.config, model.tensors, tokens)
