/**
 * Converts BERT-style sentence encoders, such as all-MiniLM-L6-v2 or bge-small, to GGUF files for embedding with
 * llama.cpp.
 *
 * {@link convert} accepts the published folder of such a model: `config.json`, `tokenizer.json` (lowercasing
 * WordPiece), `model.safetensors` and, if present, `1_Pooling/config.json`. Unsupported features are rejected by name,
 * so a converted file always produces the same vectors as the original model.
 */
import fs from "node:fs/promises"
import path from "node:path"
import { Options as Tables } from "@divisi/core"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { GgufError } from "./GgufError.ts"
import * as Errors from "./GgufError.ts"
import * as GgufWriter from "./GgufWriter.ts"
import * as EightBits from "./internal/eightBits.ts"
import * as Metadata from "./Metadata.ts"
import * as Safetensors from "./Safetensors.ts"

// -------------------------------------------------------------------------------------------------------------------
// Schemas and reading
// -------------------------------------------------------------------------------------------------------------------

const count = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10_000_000 }))

/** Special tokens that the tokenizer must define. */
const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] as const

const Config = Schema.Struct({
  model_type: Schema.Literal("bert"),
  hidden_act: Schema.Literal("gelu"),
  position_embedding_type: Schema.optionalKey(Schema.Literal("absolute")),
  hidden_size: count,
  num_hidden_layers: count,
  num_attention_heads: count,
  intermediate_size: count,
  max_position_embeddings: count,
  type_vocab_size: count,
  vocab_size: count,
  layer_norm_eps: Schema.Finite
})

const Tokenizer = Schema.Struct({
  normalizer: Schema.Struct({ type: Schema.Literal("BertNormalizer"), lowercase: Schema.Literal(true) }),
  model: Schema.Struct({
    // Older files do not state the tokenizer type. It is inferred from the prefix that marks word continuations.
    type: Schema.optionalKey(Schema.Literal("WordPiece")),
    continuing_subword_prefix: Schema.Literal("##"),
    vocab: Schema.Record(Schema.String, Schema.Int)
  })
})

const Pooling = Schema.Struct({
  pooling_mode_cls_token: Schema.optionalKey(Schema.Boolean),
  pooling_mode_mean_tokens: Schema.optionalKey(Schema.Boolean),
  pooling_mode_max_tokens: Schema.optionalKey(Schema.Literal(false)),
  pooling_mode_lasttoken: Schema.optionalKey(Schema.Literal(false))
})

/** llama.cpp's ids for pooling modes, which combine the token states into one vector. */
const poolings = { mean: 1, cls: 2 }

type Config = typeof Config.Type

const unsupported = (detail: string): GgufError => Errors.make({ _tag: "Unsupported", detail })

/** Reads and validates a JSON file. Returns `undefined` if the file is optional and does not exist. */
const readJson = <A, E>(file: string, schema: Schema.Codec<A, E>, isOptional = false) =>
  Effect.gen(function* () {
    const text = yield* Effect.tryPromise({
      try: () => fs.readFile(file, "utf8"),
      catch: (cause) => Errors.fromUnknown(cause, file, "read it")
    }).pipe(
      Effect.catch((error) =>
        isOptional && error.reason._tag === "Missing" ? Effect.succeed(undefined) : Effect.fail(error)
      )
    )
    if (text === undefined) return undefined
    const value = yield* Effect.try({
      try: () => JSON.parse(text) as unknown,
      catch: () => Errors.make({ _tag: "Corrupt", detail: "it is not JSON." }, file)
    })
    return yield* Effect.mapError(Schema.decodeUnknownEffect(schema)(value), ({ message }) =>
      Errors.make({ _tag: "Unsupported", detail: `Expected a BERT-style sentence encoder. ${message}` }, file)
    )
  })

const required = <A, E>(file: string, schema: Schema.Codec<A, E>) =>
  Effect.map(readJson(file, schema), (value) => value as A)

// -------------------------------------------------------------------------------------------------------------------
// Tensors
// -------------------------------------------------------------------------------------------------------------------

interface Slot {
  readonly source: string
  readonly target: string
  readonly shape: ReadonlyArray<number>
}

const withBias = (source: string, target: string, shape: ReadonlyArray<number>): ReadonlyArray<Slot> => [
  { source: `${source}.weight`, target: `${target}.weight`, shape },
  { source: `${source}.bias`, target: `${target}.bias`, shape: shape.slice(0, 1) }
]

const layerSlots = ({ hidden_size: size, intermediate_size: inner }: Config, layer: number): ReadonlyArray<Slot> => {
  const [from, to] = [`encoder.layer.${layer}`, `blk.${layer}`]
  return [
    ...withBias(`${from}.attention.self.query`, `${to}.attn_q`, [size, size]),
    ...withBias(`${from}.attention.self.key`, `${to}.attn_k`, [size, size]),
    ...withBias(`${from}.attention.self.value`, `${to}.attn_v`, [size, size]),
    ...withBias(`${from}.attention.output.dense`, `${to}.attn_output`, [size, size]),
    ...withBias(`${from}.attention.output.LayerNorm`, `${to}.attn_output_norm`, [size]),
    ...withBias(`${from}.intermediate.dense`, `${to}.ffn_up`, [inner, size]),
    ...withBias(`${from}.output.dense`, `${to}.ffn_down`, [size, inner]),
    ...withBias(`${from}.output.LayerNorm`, `${to}.layer_output_norm`, [size])
  ]
}

const slotsOf = (config: Config): ReadonlyArray<Slot> => {
  const size = config.hidden_size
  const table = (name: string, target: string, rows: number): Slot => ({
    source: `embeddings.${name}.weight`,
    target: `${target}.weight`,
    shape: [rows, size]
  })
  return [
    table("word_embeddings", "token_embd", config.vocab_size),
    table("position_embeddings", "position_embd", config.max_position_embeddings),
    table("token_type_embeddings", "token_types", config.type_vocab_size),
    ...withBias("embeddings.LayerNorm", "token_embd_norm", [size]),
    ...Array.from({ length: config.num_hidden_layers }, (_, layer) => layerSlots(config, layer)).flat()
  ]
}

/** Index tensors that older PyTorch files store alongside the weights. They contain 0, 1, 2 and so on. */
const counted = ["embeddings.position_ids", "bert.embeddings.position_ids"]

/** Returns the tensor for a slot. In models trained with a head, all names have the prefix `bert.`. */
const tensorOf = (
  file: Safetensors.Safetensors,
  { shape, source, target }: Slot,
  type: GgufWriter.TensorType
): Result.Result<GgufWriter.NamedTensor, GgufError> => {
  const name = Object.hasOwn(file.tensors, `bert.${source}`) ? `bert.${source}` : source
  return Result.flatMap(Safetensors.tensor(file, name), ({ data, shape: found }) => {
    if (found.join() === shape.join()) {
      // llama.cpp requires full precision for biases and norms, and for the position and token type embeddings.
      const isMatrix = shape.length > 1 && target !== "position_embd.weight" && target !== "token_types.weight"
      const stored = type === "Q8_0" && shape.at(-1)! % EightBits.block.count !== 0 ? "F16" : type
      return Result.succeed({ name: target, shape, data, type: isMatrix ? stored : "F32" })
    }
    const detail = `Its shape is [${found}]; config.json makes it [${shape}].`
    return Result.fail(Errors.make({ _tag: "InvalidTensor", tensor: name, detail }, file.path))
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Tokens
// -------------------------------------------------------------------------------------------------------------------

/** llama.cpp's ids for token types. */
const kinds = { normal: 1, control: 3, unused: 5 }

/** llama.cpp's marker for the start of a word. Word continuations have no marker. */
const wordStart = "\u2581"

const writtenOf = (token: string): string =>
  token.startsWith("##") ? token.slice(2) : isSpecial(token) ? token : `${wordStart}${token}`

const isSpecial = (token: string): boolean => (special as ReadonlyArray<string>).includes(token)

const tokensOf = (
  vocabulary: Readonly<Record<string, number>>,
  size: number
): Result.Result<ReadonlyArray<string>, GgufError> => {
  const tokens = Array.from({ length: size }, (): string | undefined => undefined)
  for (const [token, id] of Object.entries(vocabulary)) {
    if (id < 0 || id >= size || tokens[id] !== undefined) {
      const detail = `The id ${id} of "${token.slice(0, 40)}" is a duplicate, or not below ${size}.`
      return Result.fail(Errors.make({ _tag: "InvalidTokenizer", detail }))
    }
    tokens[id] = token
  }
  const missing = special.find((token) => !Object.hasOwn(vocabulary, token))
  if (missing !== undefined) {
    return Result.fail(Errors.make({ _tag: "InvalidTokenizer", detail: `It has no token ${missing}.` }))
  }
  return Result.succeed(tokens.map((token, id) => token ?? `[unused ${id}]`))
}

const tokenMetadata = (tokens: ReadonlyArray<string>): Metadata.Metadata => {
  const idOf = (token: (typeof special)[number]) => Metadata.uint32(tokens.indexOf(token))
  const kindOf = (token: string) =>
    isSpecial(token) ? kinds.control : token.startsWith("[unused") ? kinds.unused : kinds.normal
  return {
    "tokenizer.ggml.model": Metadata.string("bert"),
    "tokenizer.ggml.tokens": Metadata.strings(tokens.map(writtenOf)),
    "tokenizer.ggml.token_type": Metadata.int32s(tokens.map(kindOf)),
    "tokenizer.ggml.bos_token_id": idOf("[CLS]"),
    "tokenizer.ggml.cls_token_id": idOf("[CLS]"),
    "tokenizer.ggml.eos_token_id": idOf("[SEP]"),
    // The spelling is llama.cpp's.
    "tokenizer.ggml.seperator_token_id": idOf("[SEP]"),
    "tokenizer.ggml.unknown_token_id": idOf("[UNK]"),
    "tokenizer.ggml.padding_token_id": idOf("[PAD]"),
    "tokenizer.ggml.mask_token_id": idOf("[MASK]")
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Converting
// -------------------------------------------------------------------------------------------------------------------

/** Options for {@link convert}. */
export interface Options {
  /**
   * Storage type of matrices. Default: `"Q8_0"`, which halves time and size compared with F16 and barely changes the
   * vectors. Matrices whose rows do not fit its blocks are stored as F16.
   */
  readonly type?: GgufWriter.TensorType | undefined
}

const table = { type: GgufWriter.tensorType } satisfies Tables.ShapeOf<Options>

/** llama.cpp's ids for the predominant storage type of a file. */
const fileTypes = { F32: 0, F16: 1, Q8_0: 7 }

const metadataOf = (
  config: Config,
  name: string,
  pooling: keyof typeof poolings,
  type: GgufWriter.TensorType
): Metadata.Metadata => ({
  "general.architecture": Metadata.string("bert"),
  "general.type": Metadata.string("model"),
  "general.name": Metadata.string(name),
  "general.file_type": Metadata.uint32(fileTypes[type]),
  "bert.vocab_size": Metadata.uint32(config.vocab_size),
  "bert.context_length": Metadata.uint32(config.max_position_embeddings),
  "bert.embedding_length": Metadata.uint32(config.hidden_size),
  "bert.feed_forward_length": Metadata.uint32(config.intermediate_size),
  "bert.block_count": Metadata.uint32(config.num_hidden_layers),
  "bert.attention.head_count": Metadata.uint32(config.num_attention_heads),
  "bert.attention.layer_norm_epsilon": Metadata.float32(config.layer_norm_eps),
  "bert.attention.causal": Metadata.boolean(false),
  "bert.pooling_type": Metadata.uint32(poolings[pooling]),
  "tokenizer.ggml.token_type_count": Metadata.uint32(config.type_vocab_size)
})

/** Returns the pooling mode from a sentence-transformers configuration. Defaults to mean pooling. */
const poolingOf = (pooling: typeof Pooling.Type | undefined): Result.Result<keyof typeof poolings, GgufError> => {
  const { pooling_mode_cls_token: isCls = false, pooling_mode_mean_tokens: isMean = !isCls } = pooling ?? {}
  return isCls === isMean
    ? Result.fail(unsupported("1_Pooling/config.json requires a pooling other than the mean or the first token."))
    : Result.succeed(isCls ? "cls" : "mean")
}

/**
 * Converts the sentence encoder in a folder to a GGUF file, for use with `LlamaCppEmbeddings` from
 * `@divisi/policy-llamacpp`.
 *
 * **Details**
 *
 * Tensors are converted in chunks, and the write is atomic. llama.cpp lowercases text and strips accents, as the
 * tokenizers of these models do.
 *
 * **Example**
 *
 * ```ts no-run
 * import { SentenceEncoder } from "@divisi/gguf"
 * import * as Effect from "effect/Effect"
 *
 * // The files of a repository of the hub, e.g. sentence-transformers/all-MiniLM-L6-v2.
 * await Effect.runPromise(SentenceEncoder.convert("all-MiniLM-L6-v2", "all-MiniLM-L6-v2.gguf"))
 * ```
 */
export const convert = (
  folder: string,
  file: string,
  options: Options = {}
): Effect.Effect<GgufWriter.Written, GgufError> =>
  Effect.gen(function* () {
    Tables.check("SentenceEncoder.convert", options, table)
    const { type = "Q8_0" } = options
    const config = yield* required(path.join(folder, "config.json"), Config)
    const tokenizer = yield* required(path.join(folder, "tokenizer.json"), Tokenizer)
    const pooling = yield* readJson(path.join(folder, "1_Pooling", "config.json"), Pooling, true)
    const tokens = yield* Effect.fromResult(tokensOf(tokenizer.model.vocab, config.vocab_size))
    const weights = yield* Safetensors.read(path.join(folder, "model.safetensors"), { except: counted })
    // Check the number of layers before allocating anything per layer.
    if (config.num_hidden_layers > Object.keys(weights.tensors).length) {
      const detail = "The file's tensors are too few for so many layers."
      return yield* Effect.fail(Errors.make({ _tag: "InvalidConfig", field: "num_hidden_layers", detail }))
    }
    const pooled = yield* Effect.fromResult(poolingOf(pooling))
    const tensors = yield* Effect.forEach(slotsOf(config), (slot) => Effect.fromResult(tensorOf(weights, slot, type)))
    const name = path.basename(path.resolve(folder))
    const metadata = { ...metadataOf(config, name, pooled, type), ...tokenMetadata(tokens) }
    return yield* GgufWriter.write(file, { metadata, tensors })
  }).pipe(Effect.mapError((error) => Errors.fromUnknown(error, folder, "convert it")))
