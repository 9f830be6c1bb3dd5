/**
 * Reads and writes `llama` and `qwen2` transformers as GGUF files: configuration, tokenizer and weights.
 *
 * Tensors use the names and layout of Hugging Face checkpoints (`model.layers.0.self_attn.q_proj.weight`, `[out, in]`),
 * as trainers do. {@link write} renames them, reorders rows as llama.cpp requires and adds the metadata that llama.cpp
 * expects. {@link read} does the reverse.
 */
import { Options as Tables } from "@divisi/core"
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

/** Supported architectures. Only `qwen2` has attention biases. */
export const architectures = ["llama", "qwen2"] as const

/** A supported architecture. See {@link architectures}. */
export type Architecture = (typeof architectures)[number]

/** Dimensions and constants of a model. */
export interface Config {
  readonly architecture: Architecture
  /** Number of rows of the embedding. Must be at least the number of tokens in the tokenizer. */
  readonly vocabularySize: number
  readonly hiddenSize: number
  readonly layers: number
  /** Number of query heads. */
  readonly heads: number
  /** Number of key and value heads (grouped-query attention). Must divide `heads`. Default: `heads`. */
  readonly keyValueHeads?: number | undefined
  /** Size of a head. Must be even. Default: `hiddenSize / heads`, which is required for `qwen2`. */
  readonly headSize?: number | undefined
  readonly feedForwardSize: number
  /** The context length in tokens that the model was trained with. */
  readonly contextLength: number
  /** The epsilon of RMS norms. Default: 1e-5. */
  readonly normEpsilon?: number | undefined
  /** Base frequency of the rotary position embedding. Default: 10,000. */
  readonly ropeTheta?: number | undefined
  /**
   * Whether the embedding is shared with the output layer. If `true`, there is no `lm_head.weight`. Default: `false`.
   */
  readonly tiedEmbeddings?: boolean | undefined
}

/** A model that can be written to a file. */
export interface Model {
  readonly config: Config
  readonly tokenizer: Tokenizer
  /** Tensors keyed by Hugging Face name. Must be exactly the tensors that the configuration requires. */
  readonly tensors: Readonly<Record<string, Tensor.Tensor>>
  /** Display name of the model. */
  readonly name?: string | undefined
}

/** A model with its weights in memory. */
export interface DenseModel extends Model {
  readonly tensors: Readonly<Record<string, Tensor.DenseTensor>>
}

/** Options for {@link write}. */
export interface WriteOptions {
  /** Storage type of matrices. Vectors are always stored as F32, as llama.cpp requires. Default: `"F32"`. */
  readonly type?: GgufWriter.FloatType | undefined
  /** Additional metadata, such as `general.author`. Overrides default values. */
  readonly metadata?: Metadata.Metadata | undefined
}

const writeTable = {
  type: GgufWriter.floatType,
  metadata: Tables.anObject
} satisfies Tables.ShapeOf<WriteOptions>

// -------------------------------------------------------------------------------------------------------------------
// Checks
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the names and shapes of all tensors that a configuration requires.
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
  return invalid(unknown, `A ${config.architecture} model with this config has no such tensor.`)
}

/** Validates that the configuration, tokenizer and tensors are consistent. {@link write} calls it first. */
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
 * Writes a model as a GGUF file that llama.cpp can load.
 *
 * **Details**
 *
 * The whole model is validated first, and errors name a missing, unknown or misshapen tensor. Vocabulary rows beyond
 * the tokens of the tokenizer are written as unused tokens. The write is atomic, and chunked tensors are never held in
 * memory as a whole.
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
  Tables.check("Model.write", options, writeTable)
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
 * Reads a model written by {@link write}, for example to continue training.
 *
 * **Details**
 *
 * Sizes and shapes are validated before any weights are read. Supports weights stored as F32, F16, BF16, Q4_1 and Q8_0.
 * The tokenizer must be a byte-level BPE with tokens in this package's order.
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
