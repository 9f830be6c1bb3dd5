/**
 * Files from other projects: models, weights, adapters and tokenizers. They have no checksums, so damage can go
 * unnoticed. The data read from them must still have its declared shape and be no larger than the file.
 */
import fs from "node:fs"
import path from "node:path"
import {
  type GgufError,
  GgufReader,
  LoraAdapter,
  type Metadata,
  Model,
  Safetensors,
  Tensor,
  TinyModel,
  Tokenizer
} from "@divisi/gguf"
import * as HuggingFaceTokenizer from "@divisi/trainer-tinker/HuggingFaceTokenizer"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { Broken, type Outcome, type Subject, same } from "./Subject.ts"

const text = "Is the thing in the other thing? Ünd so."

const tiny = TinyModel.random({
  architecture: "llama",
  seed: 1,
  hiddenSize: 8,
  heads: 2,
  feedForwardSize: 8,
  tokenizer: Tokenizer.train([text], { merges: 8, chatTemplate: Tokenizer.chatMl })
})

const holds = (what: string, isTrue: boolean) => same(what, isTrue, true)

/** Reads something, and checks what was read. The system reads well here: an error that blames it hides another. */
const tell = async <A>(
  read: Effect.Effect<A, GgufError.GgufError>,
  check: (value: A) => Promise<void>
): Promise<Outcome> => {
  const ended = await Effect.runPromise(Effect.result(read))
  if (Result.isSuccess(ended)) {
    await check(ended.success)
    return "right"
  }
  if (ended.failure.reason._tag === "InputOutput") throw new Broken(ended.failure.message)
  return "refused"
}

/** Reads the numbers of the tensors of a file: as many as the shapes say, each of at least two bytes of the file. */
const checkNumbers = async (file: string, tensors: ReadonlyArray<Tensor.Tensor>) => {
  let count = 0
  for (const tensor of tensors) {
    const { length } = await Tensor.collect(tensor)
    same("numbers of a tensor", length, Tensor.size(tensor.shape))
    count += length
  }
  holds(`${count} numbers come from the bytes of ${file}`, 2 * count <= fs.statSync(file).size)
}

// -------------------------------------------------------------------------------------------------------------------
// GGUF
// -------------------------------------------------------------------------------------------------------------------

const modelFile = "model.gguf"

const makeModel = async (folder: string) => {
  await Effect.runPromise(Model.write(tiny, path.join(folder, modelFile)))
}

const javascriptTypes: Readonly<Record<string, string>> = {
  string: "string",
  boolean: "boolean",
  uint64: "bigint",
  int64: "bigint"
}

/** Checks the types of a value, and counts what it holds. */
const countOf = ({ type, value, ...rest }: Metadata.Value): number => {
  if (type !== "array") {
    same(type, typeof value, javascriptTypes[type] ?? "number")
    return 1
  }
  const { of } = rest as Metadata.ArrayValue
  const elements = (value as ReadonlyArray<unknown>).map((element) =>
    countOf(of === "array" ? (element as Metadata.Value) : ({ type: of, value: element } as Metadata.Value))
  )
  return elements.reduce((sum, count) => sum + count, 1)
}

export const header: Subject = {
  name: "header of a GGUF file",
  make: makeModel,
  files: [modelFile],
  use: (folder) =>
    tell(GgufReader.read(path.join(folder, modelFile)), async (file) => {
      const count = Object.values(file.metadata).reduce((sum, value) => sum + countOf(value), 0)
      holds(`${count} values come from ${file.bytes} bytes`, count <= file.bytes)
      const tensors = file.tensors.map(({ name }) => GgufReader.tensor(file, name))
      await checkNumbers(file.path, Array.getSuccesses(tensors))
    })
}

export const model: Subject = {
  name: "model in a GGUF file",
  make: makeModel,
  files: [modelFile],
  use: (folder) =>
    tell(Model.read(path.join(folder, modelFile)), async (read) => {
      const { config, name = "", tensors, tokenizer } = read
      await checkNumbers(path.join(folder, modelFile), Object.values(tensors))
      const { architecture, tiedEmbeddings, ...numbers } = config
      same("kind", [typeof architecture, typeof tiedEmbeddings, typeof name], ["string", "boolean", "string"])
      holds(
        "sizes",
        Object.values(numbers).every((one) => typeof one === "number")
      )
      holds(
        "tokens",
        [...tokenizer.tokens, ...tokenizer.merges].every((one) => typeof one === "string")
      )
      const tokens = Tokenizer.encode(tokenizer, text)
      same("text", Tokenizer.decode(tokenizer, tokens), text)
      for (const logits of TinyModel.forward(read, tokens.slice(0, 3)))
        same("logits", logits.length, config.vocabularySize)
    })
}

// -------------------------------------------------------------------------------------------------------------------
// Weights
// -------------------------------------------------------------------------------------------------------------------

const matrix = (rows: number, columns: number): Tensor.DenseTensor => ({
  shape: [rows, columns],
  data: Float32Array.from({ length: rows * columns }, (_, index) => index / 8)
})

const weightsFile = "adapter_model.safetensors"

const modules = ["model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"]

const makeAdapter = async (folder: string) => {
  const tensors = modules.flatMap((module) => [
    [`base_model.model.${module}.lora_A.weight`, matrix(2, 8)] as const,
    [`base_model.model.${module}.lora_B.weight`, matrix(8, 2)] as const
  ])
  const content = { metadata: { format: "pt" }, tensors: Object.fromEntries(tensors) }
  await Effect.runPromise(Safetensors.write(path.join(folder, weightsFile), content))
  const config = {
    peft_type: "LORA",
    base_model_name_or_path: "tiny",
    r: 2,
    lora_alpha: 4,
    alpha_pattern: { q_proj: 8 },
    bias: "none",
    target_modules: ["q_proj", "down_proj"]
  }
  fs.writeFileSync(path.join(folder, "adapter_config.json"), JSON.stringify(config, null, 2))
}

export const weights: Subject = {
  name: "weights in a safetensors file",
  make: makeAdapter,
  files: [weightsFile],
  use: (folder) =>
    tell(Safetensors.read(path.join(folder, weightsFile)), async ({ metadata, path: file, tensors }) => {
      holds(
        "metadata",
        Object.values(metadata).every((one) => typeof one === "string")
      )
      await checkNumbers(file, Object.values(tensors))
    })
}

export const adapter: Subject = {
  name: "adapter",
  make: makeAdapter,
  files: ["adapter_config.json", weightsFile],
  use: (folder) =>
    tell(LoraAdapter.read(folder), async ({ baseModel = "", changes }) => {
      same("base model", typeof baseModel, "string")
      for (const { a, alpha, b } of Object.values(changes)) {
        same("alpha", typeof alpha, "number")
        same("rank", [a.shape.length, b.shape.length, b.shape[1]], [2, 2, a.shape[0]])
      }
      await checkNumbers(
        path.join(folder, weightsFile),
        Object.values(changes).flatMap(({ a, b }) => [a, b])
      )
    })
}

// -------------------------------------------------------------------------------------------------------------------
// Tokenizers
// -------------------------------------------------------------------------------------------------------------------

const messages = [{ role: "user", content: text }] as const

const makeTokenizer = async (folder: string) => {
  const { controlTokens, endOfText, merges, tokens } = tiny.tokenizer
  const tokenizer = {
    version: "1.0",
    added_tokens: controlTokens.map((content, index) => ({ id: endOfText + index, content, special: true })),
    normalizer: { type: "NFC" },
    post_processor: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, use_regex: true },
    decoder: { type: "ByteLevel" },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.slice(0, endOfText).map((token, id) => [token, id])),
      merges
    }
  }
  const config = { eos_token: "<|im_end|>", chat_template: Tokenizer.chatMl }
  fs.writeFileSync(path.join(folder, "tokenizer.json"), JSON.stringify(tokenizer, null, 2))
  fs.writeFileSync(path.join(folder, "tokenizer_config.json"), JSON.stringify(config, null, 2))
}

export const tokenizer: Subject = {
  name: "tokenizer",
  make: makeTokenizer,
  files: ["tokenizer.json", "tokenizer_config.json"],
  use: async (folder) => {
    const loaded = await Effect.runPromise(Effect.result(HuggingFaceTokenizer.load({ folder })))
    if (Result.isFailure(loaded)) return "refused"
    const { decode, encode, endToken, render } = loaded.success
    const tokens = [...render(messages), ...encode(text), endToken]
    holds(
      `ids ${tokens}`,
      tokens.every((id) => Number.isSafeInteger(id) && id >= 0)
    )
    same("text", typeof decode(tokens), "string")
    return "right"
  }
}
