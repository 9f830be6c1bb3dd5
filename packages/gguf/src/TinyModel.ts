/**
 * Small models with random weights, and their forward pass in plain TypeScript.
 *
 * Useful for testing programs that load, serve or train models: a model is created in milliseconds and is identical on
 * every machine. {@link forward} computes reference logits for verifying inference engines.
 */
import { Options as Tables } from "@divisi/core"
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus"
import { forwardPass } from "./internal/forwardPass.ts"
import { slots } from "./internal/layout.ts"
import { type Architecture, architectures, type Config, type Model } from "./Model.ts"
import * as Tensor from "./Tensor.ts"
import * as Tokenizer from "./Tokenizer.ts"

/** A random model with its weights in memory. */
export interface TinyModel extends Model {
  readonly tensors: Readonly<Record<string, Tensor.DenseTensor>>
}

/**
 * Options for {@link random}. The default model has about 60,000 weights and a vocabulary of 259 tokens: the bytes and
 * three control tokens.
 */
export interface Options extends Partial<Config> {
  readonly architecture: Architecture
  /** Seed for the weights. The same seed and dimensions produce the same weights. */
  readonly seed: number
  /** The tokenizer. Default: bytes and the default control tokens, with the ChatML template. */
  readonly tokenizer?: Tokenizer.Tokenizer | undefined
  /** Spread of the weights: their standard deviation multiplied by the square root of the row length. Default: 1. */
  readonly spread?: number | undefined
}

/** Returns a generator of normally distributed numbers (Box and Muller). */
const normals = (seed: number) => {
  const generator = xoroshiro128plus(seed)
  /** Returns a number greater than 0 and at most 1. */
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
 * Creates a model with random weights.
 *
 * **Details**
 *
 * Norm weights are spread around 1 and biases around 0. A random output layer favors no token, so completions are
 * nearly uniform; a larger `spread` makes them less uniform.
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
 * Computes the logits after each token. Returns one array of `vocabularySize` numbers per token.
 *
 * **Details**
 *
 * Written for clarity and precision: it computes in double precision, except for the states between layers, and uses no
 * cache. Its time is quadratic in the number of tokens.
 */
export const forward = (
  model: Pick<TinyModel, "config" | "tensors">,
  tokens: ReadonlyArray<number>
): ReadonlyArray<Float32Array> => forwardPass(model.config, model.tensors, tokens)
