/**
 * Small models with random weights, and the forward pass in plain TypeScript.
 *
 * For tests of programs that load, serve or train models: such a model is created in milliseconds and is the same on
 * every machine. {@link forward} returns its logits, for verifying engines.
 */
import { Options as Tables } from "@divisi/core"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { forwardPass } from "./internal/forwardPass.ts"
import { slots } from "./internal/layout.ts"
import { type Architecture, architectures, type Config, type Model } from "./Model.ts"
import * as Tensor from "./Tensor.ts"
import * as Tokenizer from "./Tokenizer.ts"

/** A model with its weights in memory. */
export interface TinyModel extends Model {
  readonly tensors: Readonly<Record<string, Tensor.DenseTensor>>
}

/** Options for the model. By default, it has about 60,000 weights and a vocabulary of 259: bytes and control tokens. */
export interface Options extends Partial<Config> {
  readonly architecture: Architecture
  /** The seed. Equal seeds and dimensions give equal weights. */
  readonly seed: number
  /** The tokenizer. Default: bytes and the default control tokens, with the ChatML template. */
  readonly tokenizer?: Tokenizer.Tokenizer | undefined
  /** The spread of the weights: their standard deviation times the square root of the row length. Default: 1. */
  readonly spread?: number | undefined
}

/** Normally distributed numbers, by the method of Box and Muller. */
const normals = (seed: number) => {
  const generator = xoroshiro128plus(seed)
  /** A number above 0, up to 1. */
  const uniform = () => ((generator.next() >>> 0) + 1) / 2 ** 32
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
}

const optionsTable = Tables.table(
  {
    architecture: Tables.oneOf(...architectures),
    seed: Tables.whole(-Number.MAX_SAFE_INTEGER),
    tokenizer: Tables.anObject,
    spread: Tables.number(0),
    vocabularySize: Tables.whole(1),
    hiddenSize: Tables.whole(1),
    layers: Tables.whole(1),
    heads: Tables.whole(1),
    keyValueHeads: Tables.whole(1),
    headSize: Tables.whole(1),
    feedForwardSize: Tables.whole(1),
    contextLength: Tables.whole(1),
    normEpsilon: Tables.number(0),
    ropeTheta: Tables.number(0),
    tiedEmbeddings: Tables.flag
  } satisfies Tables.ShapeOf<Options>,
  { required: ["architecture", "seed"] }
)

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
 * Makes a model with random weights.
 *
 * **Details**
 *
 * Norms are spread around 1, biases around 0. Random output layers hardly favor any token, so completions are nearly
 * uniform; a larger `spread` makes them less uniform.
 *
 * **Example**
 *
 * ```ts
 * import { TinyModel } from "@divisi/gguf"
 *
 * const model = TinyModel.random({ architecture: "llama", seed: 7, heads: 4, keyValueHeads: 2 })
 * model.tensors["model.layers.0.self_attn.k_proj.weight"]?.shape // => [32, 64]
 * TinyModel.forward(model, [72, 105]).length // => 2
 * ```
 */
export const random = (options: Options): TinyModel => {
  Tables.check("TinyModel.random", options, optionsTable)
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
 * Returns the logits after every token: one array of `vocabularySize` numbers per token.
 *
 * **Details**
 *
 * Written for clarity and exactness: in double precision, except for the states between layers, and without a cache, so
 * the time is quadratic in the number of tokens.
 */
export const forward = (
  model: Pick<TinyModel, "config" | "tensors">,
  tokens: ReadonlyArray<number>
): ReadonlyArray<Float32Array> => forwardPass(model.config, model.tensors, tokens)
