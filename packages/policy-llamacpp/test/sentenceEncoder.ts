/** A sentence encoder of random weights, as the hub has them, and its arithmetic in the plainest form. */
import fs from "node:fs"
import path from "node:path"
import { Safetensors, type Tensor } from "@divisi/gguf"
import * as Effect from "effect/Effect"

/** The sizes of the encoder. */
export const sizes = { hidden: 32, heads: 4, inner: 64, layers: 2, positions: 128 }

/** Letters, some words, and what continues them. */
export const vocabulary: ReadonlyArray<string> = [
  "[PAD]",
  "[UNK]",
  "[CLS]",
  "[SEP]",
  "[MASK]",
  ..."abcdefghijklmnopqrstuvwxyz?.,",
  ..."abcdefghijklmnopqrstuvwxyz".split("").map((letter) => `##${letter}`),
  "how",
  "much",
  "is",
  "viol",
  "##in",
  "the"
]

type Weights = Readonly<Record<string, Tensor.DenseTensor>>

/** Weights of Box and Muller, from a generator that is the same everywhere. */
export const weights = (prefix = ""): Weights => {
  let state = 12345
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state + 1) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform())
  const { hidden, inner, layers, positions } = sizes
  const tensors: Record<string, Tensor.DenseTensor> = {}
  const add = (name: string, ...shape: ReadonlyArray<number>) => {
    const isNorm = name.endsWith("LayerNorm.weight")
    const spread = shape.length === 1 ? 0.1 : name.startsWith("embeddings") ? 1 : 1 / Math.sqrt(shape[1]!)
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => +isNorm + spread * normal())
    tensors[`${prefix}${name}`] = { shape, data }
  }
  const linear = (name: string, ...shape: ReadonlyArray<number>) => {
    add(`${name}.weight`, ...shape)
    add(`${name}.bias`, shape[0]!)
  }
  add("embeddings.word_embeddings.weight", vocabulary.length, hidden)
  add("embeddings.position_embeddings.weight", positions, hidden)
  add("embeddings.token_type_embeddings.weight", 2, hidden)
  linear("embeddings.LayerNorm", hidden)
  for (let layer = 0; layer < layers; layer++) {
    const name = `encoder.layer.${layer}`
    for (const part of ["query", "key", "value"]) linear(`${name}.attention.self.${part}`, hidden, hidden)
    linear(`${name}.attention.output.dense`, hidden, hidden)
    linear(`${name}.attention.output.LayerNorm`, hidden)
    linear(`${name}.intermediate.dense`, inner, hidden)
    linear(`${name}.output.dense`, hidden, inner)
    linear(`${name}.output.LayerNorm`, hidden)
  }
  return tensors
}

/** The files of such a model, with parts of them changed. */
export const writeModel = async (
  folder: string,
  changes: {
    readonly config?: object
    readonly tokenizer?: object
    readonly pooling?: object
    readonly tensors?: Weights
  } = {}
): Promise<void> => {
  const { heads, hidden, inner, layers, positions } = sizes
  const config = {
    model_type: "bert",
    hidden_act: "gelu",
    hidden_size: hidden,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    intermediate_size: inner,
    max_position_embeddings: positions,
    type_vocab_size: 2,
    vocab_size: vocabulary.length,
    layer_norm_eps: 1e-12,
    ...changes.config
  }
  const tokenizer = {
    normalizer: { type: "BertNormalizer", lowercase: true },
    model: {
      type: "WordPiece",
      continuing_subword_prefix: "##",
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id]))
    },
    ...changes.tokenizer
  }
  const write = (name: string, value: object) => fs.writeFileSync(path.join(folder, name), JSON.stringify(value))
  write("config.json", config)
  write("tokenizer.json", tokenizer)
  if (changes.pooling !== undefined) {
    fs.mkdirSync(path.join(folder, "1_Pooling"), { recursive: true })
    write("1_Pooling/config.json", changes.pooling)
  }
  const tensors = changes.tensors ?? weights()
  await Effect.runPromise(Safetensors.write(path.join(folder, "model.safetensors"), { tensors }))
}

/** The longest pieces from the left, as WordPiece finds them, with the marks of the ends. */
export const tokensOf = (text: string): ReadonlyArray<number> => {
  const words = text.toLowerCase().match(/[a-z]+|[?.,]/g) ?? []
  const pieces = words.flatMap((word) => {
    const found: Array<string> = []
    for (let start = 0; start < word.length; ) {
      let end = word.length
      const piece = () => (start === 0 ? "" : "##") + word.slice(start, end)
      while (!vocabulary.includes(piece())) end--
      found.push(piece())
      start = end
    }
    return found
  })
  return ["[CLS]", ...pieces, "[SEP]"].map((token) => vocabulary.indexOf(token))
}

type Rows = ReadonlyArray<ReadonlyArray<number>>

/** The states of all tokens after the last layer. */
export const states = (tensors: Weights, tokens: ReadonlyArray<number>): Rows => {
  const { heads, hidden, layers } = sizes
  const at = (name: string) => tensors[name]!.data
  const row = (name: string, index: number) => [...at(name).subarray(index * hidden, (index + 1) * hidden)]
  const linear = (name: string, rows: Rows): Rows => {
    const [weight, bias] = [at(`${name}.weight`), at(`${name}.bias`)]
    return rows.map((values) =>
      [...bias].map((start, out) =>
        values.reduce((sum, value, index) => sum + value * weight[out * values.length + index]!, start)
      )
    )
  }
  const normed = (name: string, rows: Rows): Rows =>
    rows.map((values) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
      const [weight, bias] = [at(`${name}.weight`), at(`${name}.bias`)]
      return values.map(
        (value, index) => ((value - mean) / Math.sqrt(variance + 1e-12)) * weight[index]! + bias[index]!
      )
    })
  const plus = (left: Rows, right: Rows): Rows =>
    left.map((values, index) => values.map((value, place) => value + right[index]![place]!))
  const gelu = (value: number) =>
    0.5 * value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3)))
  const size = hidden / heads
  const attended = (queries: Rows, keys: Rows, values: Rows): Rows =>
    queries.map((query) =>
      Array.from({ length: heads }, (_, head) => {
        const part = (all: ReadonlyArray<number>) => all.slice(head * size, (head + 1) * size)
        const scores = keys.map(
          (key) => part(key).reduce((sum, one, index) => sum + one * part(query)[index]!, 0) / Math.sqrt(size)
        )
        const largest = Math.max(...scores)
        const shares = scores.map((score) => Math.exp(score - largest))
        const total = shares.reduce((sum, share) => sum + share, 0)
        return Array.from({ length: size }, (_, index) =>
          values.reduce((sum, value, place) => sum + (shares[place]! / total) * part(value)[index]!, 0)
        )
      }).flat()
    )
  let all: Rows = normed(
    "embeddings.LayerNorm",
    tokens.map((token, place) => {
      const [word, position, kind] = [
        row("embeddings.word_embeddings.weight", token),
        row("embeddings.position_embeddings.weight", place),
        row("embeddings.token_type_embeddings.weight", 0)
      ]
      return word.map((value, index) => value + position[index]! + kind[index]!)
    })
  )
  for (let layer = 0; layer < layers; layer++) {
    const name = `encoder.layer.${layer}`
    const [queries, keys, values] = ["query", "key", "value"].map((part) =>
      linear(`${name}.attention.self.${part}`, all)
    )
    const output = linear(`${name}.attention.output.dense`, attended(queries!, keys!, values!))
    const middle = normed(`${name}.attention.output.LayerNorm`, plus(all, output))
    const inner = linear(`${name}.intermediate.dense`, middle).map((values) => values.map(gelu))
    all = normed(`${name}.output.LayerNorm`, plus(middle, linear(`${name}.output.dense`, inner)))
  }
  return all
}
