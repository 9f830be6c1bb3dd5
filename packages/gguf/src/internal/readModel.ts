/** Reads models from GGUF files written by this package or in the same layout. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { GgufError } from "../GgufError.ts"
import * as Errors from "../GgufError.ts"
import * as GgufReader from "../GgufReader.ts"
import type { Config, DenseModel, Model } from "../Model.ts"
import * as Tensor from "../Tensor.ts"
import * as Tokenizer from "../Tokenizer.ts"
import { slots } from "./layout.ts"
import { separate } from "./rotary.ts"
import { kinds } from "./tokenizerMetadata.ts"

type File = GgufReader.GgufFile

const unsupported = (file: File, detail: string): GgufError => Errors.make({ _tag: "Unsupported", detail }, file.path)

const configOf = (file: File): Result.Result<Config, GgufError> => {
  const architecture = GgufReader.architecture(file)
  if (architecture !== "llama" && architecture !== "qwen2") {
    return Result.fail(unsupported(file, `It is a ${architecture} model; only llama and qwen2 are supported.`))
  }
  const number = (key: string) => GgufReader.number(file, `${architecture}.${key}`)
  const tensor = (name: string) => file.tensors.find((one) => one.name === name)
  const optional = {
    keyValueHeads: number("attention.head_count_kv"),
    headSize: number("attention.key_length"),
    normEpsilon: number("attention.layer_norm_rms_epsilon"),
    ropeTheta: number("rope.freq_base")
  }
  const given = Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined))
  const layers = number("block_count") ?? 0
  // Check the number of layers before allocating anything per layer.
  if (layers > file.tensors.length) {
    const detail = `The file's ${file.tensors.length} tensors are too few for ${layers} layers.`
    return Result.fail(Errors.make({ _tag: "InvalidConfig", field: "layers", detail }, file.path))
  }
  return Result.succeed({
    architecture,
    vocabularySize: tensor("token_embd.weight")?.shape[0] ?? 0,
    hiddenSize: number("embedding_length") ?? 0,
    layers,
    heads: number("attention.head_count") ?? 0,
    feedForwardSize: number("feed_forward_length") ?? 0,
    contextLength: number("context_length") ?? 0,
    tiedEmbeddings: tensor("output.weight") === undefined,
    ...given
  })
}

const listOf = (file: File, key: string): ReadonlyArray<unknown> => {
  const value = file.metadata[key]
  return value?.type === "array" ? value.value : []
}

const textsOf = (file: File, key: string): ReadonlyArray<string> => {
  const value = file.metadata[key]
  return value?.type === "array" && value.of === "string" ? value.value : []
}

const tokenizerOf = (file: File): Result.Result<Tokenizer.Tokenizer, GgufError> => {
  const model = GgufReader.text(file, "tokenizer.ggml.model")
  const split = GgufReader.text(file, "tokenizer.ggml.pre")
  if (model !== "gpt2" || split !== "gpt-2") {
    return Result.fail(unsupported(file, `Its tokenizer is ${model} (${split}); only gpt2 (gpt-2) is supported.`))
  }
  const tokens = textsOf(file, "tokenizer.ggml.tokens")
  const types = listOf(file, "tokenizer.ggml.token_type")
  const chatTemplate = GgufReader.text(file, "tokenizer.chat_template")
  const made = Tokenizer.make({
    merges: textsOf(file, "tokenizer.ggml.merges"),
    controlTokens: tokens.filter((_, id) => types[id] === kinds.control),
    chatTemplate
  })
  if (Result.isFailure(made)) return Result.fail(Errors.make(made.failure.reason, file.path))
  const strange = made.success.tokens.findIndex((token, id) => token !== tokens[id])
  const end = GgufReader.number(file, "tokenizer.ggml.eos_token_id")
  if (strange < 0 && end === made.success.endOfText) return made
  const detail = strange < 0 ? `its texts end with the token ${end}` : `its token ${strange} is "${tokens[strange]}"`
  return Result.fail(unsupported(file, `Its tokens are in a different order from this package's: ${detail}.`))
}

/** Reads a model without its weights, which stay on disk in llama.cpp's row order. */
export const readModel = (path: string): Effect.Effect<Model, GgufError> =>
  Effect.gen(function* () {
    const file = yield* GgufReader.read(path)
    const config = yield* Effect.fromResult(configOf(file))
    const tokenizer = yield* Effect.fromResult(tokenizerOf(file))
    const tensors: Record<string, Tensor.Tensor> = {}
    for (const { source, target } of slots(config)) {
      tensors[source] = yield* Effect.fromResult(GgufReader.tensor(file, target))
    }
    const name = GgufReader.text(file, "general.name")
    return { config, tokenizer, tensors, name }
  })

/** Reads the weights of a validated model into memory and restores the Hugging Face row order. */
export const readNumbers = async (model: Model): Promise<DenseModel> => {
  const tensors: Record<string, Tensor.DenseTensor> = {}
  for (const { headRows, shape, source } of slots(model.config)) {
    const data = await Tensor.collect(model.tensors[source]!)
    const width = Tensor.size(shape.slice(1))
    tensors[source] = { shape, data: headRows === undefined ? data : separate(data, headRows, width) }
  }
  return { ...model, tensors }
}
