/**
 * A transformer of the `llama` or `qwen2` architecture: its configuration, tokenizer and weights, written as GGUF.
 *
 * Tensors have the names and layout of Hugging Face checkpoints (`model.layers.0.self_attn.q_proj.weight`,
 * `[out, in]`), as in trainers. {@link write} renames them, reorders rows as llama.cpp requires, and adds its metadata.
 * {@link read} reverses this.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import * as GgufWriter from "./GgufWriter.ts"
import { type Slot, sizes, slots } from "./internal/layout.ts"
import { readModel, readNumbers } from "./internal/readModel.ts"
import { interleave } from "./internal/rotary.ts"
import { tokenizerMetadata } from "./internal/tokenizerMetadata.ts"
import * as Metadata from "./Metadata.ts"
import * as Tensor from "./Tensor.ts"
import type { Tokenizer } from "./Tokenizer.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The architectures that can be written. Only `qwen2` has biases in its attention. */
export const architectures = ["llama", "qwen2"] as const

/** One of {@link architectures}. */
export type Architecture = (typeof architectures)[number]

/** The dimensions and constants of a model. */
export interface Config {
  readonly architecture: Architecture
  /** The number of rows of the embedding; at least the number of the tokenizer's tokens. */
  readonly vocabularySize: number
  readonly hiddenSize: number
  readonly layers: number
  /** The number of query heads. */
  readonly heads: number
  /** The number of key and value heads, a divisor of `heads` (grouped-query attention). Default: `heads`. */
  readonly keyValueHeads?: number | undefined
  /** The size of a head; must be even. Default: `hiddenSize / heads`, which is required for `qwen2`. */
  readonly headSize?: number | undefined
  readonly feedForwardSize: number
  /** The context length that the model was trained with, in tokens. */
  readonly contextLength: number
  /** The constant added to the mean square in RMS norms. Default: 1e-5. */
  readonly normEpsilon?: number | undefined
  /** The base of the rotary embedding's frequencies. Default: 10,000. */
  readonly ropeTheta?: number | undefined
  /** Whether the embedding is also the output layer. If so, there is no `lm_head.weight`. Default: `false`. */
  readonly tiedEmbeddings?: boolean | undefined
}

/** A model that can be written to a file. */
export interface Model {
  readonly config: Config
  readonly tokenizer: Tokenizer
  /** The tensors by Hugging Face's names; exactly those that the configuration requires. */
  readonly tensors: Readonly<Record<string, Tensor.Tensor>>
  /** The model's name, for display. */
  readonly name?: string | undefined
}

/** A model with its weights in memory. */
export interface DenseModel extends Model {
  readonly tensors: Readonly<Record<string, Tensor.DenseTensor>>
}

/** Options for writing a model. */
export interface WriteOptions {
  /** The storage type of matrices. Vectors are always F32, as llama.cpp requires. Default: `"F32"`. */
  readonly type?: GgufWriter.FloatType | undefined
  /** Additional metadata, such as `general.author`. It may override defaults. */
  readonly metadata?: Metadata.Metadata | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the tensors of a model with this configuration, with their shapes.
 *
 * **Example**
 *
 * ```ts
 * import { Model, TinyModel } from "@divisi/gguf"
 *
 * const { config } = TinyModel.random({ architecture: "qwen2", seed: 1, keyValueHeads: 2 })
 * Model.shapes(config)["model.layers.1.self_attn.v_proj.bias"] // => [32]
 * ```
 */
export const shapes = (config: Config): Readonly<Record<string, ReadonlyArray<number>>> =>
  Object.fromEntries(slots(config).map(({ shape, source }) => [source, shape]))

const invalidConfig = (field: keyof Config, detail: string) => Errors.make({ _tag: "InvalidConfig", field, detail })

const counts = ["vocabularySize", "hiddenSize", "layers", "heads", "feedForwardSize", "contextLength"] as const

const configProblem = (config: Config): GgufError | undefined => {
  const { architecture, heads, keyValueHeads = heads, normEpsilon = 1e-5, ropeTheta = 10_000 } = config
  if (!architectures.includes(architecture)) {
    const detail = `The architecture "${architecture}" cannot be written; these can: ${architectures.join(", ")}.`
    return Errors.make({ _tag: "Unsupported", detail })
  }
  for (const field of counts) {
    if (!Number.isInteger(config[field]) || config[field] < 1) {
      return invalidConfig(field, `${config[field]} is not a positive whole number.`)
    }
  }
  const { headSize } = sizes(config)
  if (!Number.isInteger(headSize) || headSize < 2 || headSize % 2 === 1) {
    return invalidConfig("headSize", `${headSize} is not a positive even number. The default is hiddenSize / heads.`)
  }
  if (architecture === "qwen2" && headSize * heads !== config.hiddenSize) {
    return invalidConfig(
      "headSize",
      `In qwen2 it is hiddenSize / heads, ${config.hiddenSize / heads}, not ${headSize}.`
    )
  }
  if (!Number.isInteger(keyValueHeads) || keyValueHeads < 1 || heads % keyValueHeads !== 0) {
    return invalidConfig("keyValueHeads", `${keyValueHeads} does not divide heads, which is ${heads}.`)
  }
  if (!(normEpsilon >= 0)) return invalidConfig("normEpsilon", `${normEpsilon} is below 0.`)
  if (!(ropeTheta > 0)) return invalidConfig("ropeTheta", `${ropeTheta} is not above 0.`)
  return undefined
}

const tensorProblem = ({ config, tensors }: Model, wanted: ReadonlyArray<Slot>): GgufError | undefined => {
  const invalid = (tensor: string, detail: string) => Errors.make({ _tag: "InvalidTensor", tensor, detail })
  for (const { shape, source } of wanted) {
    const tensor = tensors[source]
    if (tensor === undefined)
      return invalid(source, `A ${config.architecture} model with this config requires the tensor.`)
    if (tensor.shape.join() !== shape.join()) {
      return invalid(source, `Its shape is [${tensor.shape}], but this config requires [${shape}].`)
    }
    if (typeof tensor.data !== "function" && tensor.data.length !== Tensor.size(shape)) {
      return invalid(source, `Its shape [${shape}] holds ${Tensor.size(shape)} numbers, not ${tensor.data.length}.`)
    }
  }
  const known = new Set(wanted.map(({ source }) => source))
  const unknown = Object.keys(tensors).find((name) => !known.has(name))
  if (unknown === undefined) return undefined
  return invalid(unknown, `A ${config.architecture} model of this config has no such tensor.`)
}

/** Checks that configuration, tokenizer and tensors are consistent. {@link write} does this first. */
export const check = (model: Model): Result.Result<Model, GgufError> => {
  const { config, tokenizer } = model
  const problem = configProblem(config) ?? tensorProblem(model, slots(config))
  if (problem !== undefined) return Result.fail(problem)
  if (tokenizer.tokens.length <= config.vocabularySize) return Result.succeed(model)
  const detail = `It has ${tokenizer.tokens.length} tokens, the model's vocabulary only ${config.vocabularySize}.`
  return Result.fail(Errors.make({ _tag: "InvalidTokenizer", detail }))
}

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

const metadataOf = ({ config, name, tokenizer }: Model, type: GgufWriter.FloatType): Metadata.Metadata => {
  const { architecture, heads, keyValueHeads = heads, normEpsilon = 1e-5, ropeTheta = 10_000 } = config
  const { headSize } = sizes(config)
  const own: Metadata.Metadata = {
    vocab_size: Metadata.uint32(config.vocabularySize),
    context_length: Metadata.uint32(config.contextLength),
    embedding_length: Metadata.uint32(config.hiddenSize),
    block_count: Metadata.uint32(config.layers),
    feed_forward_length: Metadata.uint32(config.feedForwardSize),
    "rope.dimension_count": Metadata.uint32(headSize),
    "rope.freq_base": Metadata.float32(ropeTheta),
    "attention.head_count": Metadata.uint32(heads),
    "attention.head_count_kv": Metadata.uint32(keyValueHeads),
    "attention.key_length": Metadata.uint32(headSize),
    "attention.value_length": Metadata.uint32(headSize),
    "attention.layer_norm_rms_epsilon": Metadata.float32(normEpsilon)
  }
  return {
    "general.architecture": Metadata.string(architecture),
    "general.type": Metadata.string("model"),
    "general.name": Metadata.string(name ?? architecture),
    "general.file_type": Metadata.uint32(type === "F32" ? 0 : 1),
    ...Object.fromEntries(Object.entries(own).map(([key, value]) => [`${architecture}.${key}`, value])),
    ...tokenizerMetadata(tokenizer, config.vocabularySize)
  }
}

const tensorOf = (tensor: Tensor.Tensor, slot: Slot, type: GgufWriter.FloatType): GgufWriter.NamedTensor => {
  const { headRows, shape, target } = slot
  const data =
    headRows === undefined
      ? tensor.data
      : () => interleave(Tensor.chunks(tensor), headRows, Tensor.size(shape.slice(1)))
  return { name: target, shape, data, type: shape.length === 1 ? "F32" : type }
}

/**
 * Writes a model as a GGUF file that llama.cpp loads.
 *
 * **Details**
 *
 * The whole model is checked first: the error names a missing, unknown or misshapen tensor. Vocabulary rows beyond the
 * tokenizer's tokens become unused tokens. Nothing appears at `path` until the file is complete, and chunked tensors
 * are never completely in memory.
 *
 * **Example**
 *
 * ```ts
 * import { Model, TinyModel } from "@divisi/gguf"
 * import * as Effect from "effect/Effect"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const model = TinyModel.random({ architecture: "qwen2", seed: 1 })
 * const file = path.join(os.tmpdir(), "tiny.gguf")
 * const written = await Effect.runPromise(Model.write(model, file, { type: "F16" }))
 * written.bytes < 300_000 // => true
 * ```
 */
export const write = (
  model: Model,
  path: string,
  options: WriteOptions = {}
): Effect.Effect<GgufWriter.Written, GgufError> => {
  const { metadata = {}, type = "F32" } = options
  return Effect.fromResult(check(model)).pipe(
    Effect.mapError((error) => Errors.fromUnknown(error, path, "write the model")),
    Effect.flatMap(({ config, tensors }) =>
      GgufWriter.write(path, {
        metadata: { ...metadataOf(model, type), ...metadata },
        tensors: slots(config).map((slot) => tensorOf(tensors[slot.source]!, slot, type))
      })
    )
  )
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/**
 * Reads a model that was written by {@link write}, for example to continue its training: configuration, tokenizer and
 * weights.
 *
 * **Details**
 *
 * Sizes and shapes are checked before any number is read. Only F32, F16, BF16, Q4_1 and Q8_0 weights are supported. The tokenizer
 * is read if it is a byte-level BPE with tokens in this package's order.
 *
 * **Example**
 *
 * ```ts
 * import { Model, TinyModel } from "@divisi/gguf"
 * import * as Effect from "effect/Effect"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const model = TinyModel.random({ architecture: "llama", seed: 1 })
 * const file = path.join(os.tmpdir(), "again.gguf")
 * const again = await Effect.runPromise(Effect.andThen(Model.write(model, file), Model.read(file)))
 * again.config.hiddenSize // => 64
 * again.tokenizer.tokens.length // => 259
 * ```
 */
export const read = (path: string): Effect.Effect<DenseModel, GgufError> =>
  readModel(path).pipe(
    Effect.flatMap((model) => Effect.fromResult(check(model))),
    Effect.flatMap((model) =>
      Effect.tryPromise({
        try: () => readNumbers(model),
        catch: (cause) => Errors.fromUnknown(cause, path, "read the model")
      })
    ),
    Effect.mapError((error) => Errors.fromUnknown(error, path, "read the model"))
  )
