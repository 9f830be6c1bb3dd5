/**
 * Makes a model of random weights that a real server can train on a CPU: a folder in Hugging Face's layout for the server,
 * and the same model as GGUF for llama.cpp, so that what is trained can be checked where it will be served.
 *
 *     node --conditions=@divisi/source scripts/tiny-base.ts FOLDER
 */
import fs from "node:fs/promises"
import path from "node:path"
import { Model, Safetensors, TinyModel } from "@divisi/gguf"
import { Tokenizer } from "@divisi/gguf/browser"
import * as Effect from "effect/Effect"

const corpus = [
  "Plan the work, then work the plan. The question is what the answer is, and who answers it.",
  'model_id = [0, 1]\nsubtasks = ["Solve the question", "Check the answer"]\naccess_list = [[], "all"]'
]

const [, , folder = "tiny-base"] = process.argv
const contextLength = 2048

const tokenizer = Tokenizer.train(corpus, {
  merges: 61,
  controlTokens: ["<|im_end|>", "<|im_start|>", "<|endoftext|>"],
  chatTemplate: Tokenizer.chatMl
})
const model = TinyModel.random({
  architecture: "llama",
  seed: 5,
  tokenizer,
  vocabularySize: 320,
  heads: 4,
  keyValueHeads: 2,
  feedForwardSize: 128,
  contextLength,
  tiedEmbeddings: false
})
const { config } = model

const controlTokens = tokenizer.controlTokens.map((content) => ({
  id: tokenizer.tokens.indexOf(content),
  content,
  special: true,
  normalized: false,
  single_word: false,
  lstrip: false,
  rstrip: false
}))
const ordinary = tokenizer.tokens.filter((token) => !tokenizer.controlTokens.includes(token))

const tokenizerJson = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: controlTokens,
  normalizer: null,
  pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: null,
  decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: {
    type: "BPE",
    dropout: null,
    unk_token: null,
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    fuse_unk: false,
    byte_fallback: false,
    ignore_merges: false,
    vocab: Object.fromEntries(ordinary.map((token) => [token, tokenizer.tokens.indexOf(token)])),
    merges: tokenizer.merges.map((merge) => merge.split(" "))
  }
}

const tokenizerConfig = {
  tokenizer_class: "PreTrainedTokenizerFast",
  eos_token: "<|im_end|>",
  pad_token: "<|endoftext|>",
  chat_template: Tokenizer.chatMl,
  clean_up_tokenization_spaces: false,
  model_max_length: contextLength
}

const modelConfig = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: config.hiddenSize,
  num_hidden_layers: config.layers,
  intermediate_size: config.feedForwardSize,
  num_attention_heads: config.heads,
  num_key_value_heads: config.keyValueHeads,
  head_dim: config.hiddenSize / config.heads,
  vocab_size: config.vocabularySize,
  max_position_embeddings: contextLength,
  rms_norm_eps: 1e-5,
  rope_theta: 10_000,
  hidden_act: "silu",
  attention_bias: false,
  mlp_bias: false,
  tie_word_embeddings: false,
  torch_dtype: "float32",
  dtype: "float32",
  eos_token_id: tokenizer.endOfText
}

const write = (name: string, value: unknown) =>
  fs.writeFile(path.join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`)

await fs.mkdir(folder, { recursive: true })
await write("config.json", modelConfig)
await write("tokenizer.json", tokenizerJson)
await write("tokenizer_config.json", tokenizerConfig)
const weights = path.join(folder, "model.safetensors")
await Effect.runPromise(Safetensors.write(weights, { tensors: model.tensors, metadata: { format: "pt" } }))
await Effect.runPromise(Model.write(model, path.join(folder, "base.gguf")))
console.log(`${folder}: for the server; ${path.join(folder, "base.gguf")}: for llama.cpp`)
