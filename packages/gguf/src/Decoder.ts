/**
 * Runs small llama and qwen2 models in plain TypeScript, with a key-value cache.
 *
 * Intended for models with up to a few million weights, where a native runtime costs more than it saves. It uses
 * preallocated typed arrays and no Node APIs, so it also runs in browsers. The order of summation is fixed, so logits
 * do not depend on how tokens are split across calls.
 */
import { attend, type Linear, linear, norm, rotate, silu } from "./internal/kernels.ts"
import { sizes, slots } from "./internal/layout.ts"
import type { DenseModel } from "./Model.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

interface Layer {
  readonly inputNorm: Float32Array
  readonly query: Linear
  readonly key: Linear
  readonly value: Linear
  readonly output: Linear
  readonly innerNorm: Float32Array
  readonly gate: Linear
  readonly up: Linear
  readonly down: Linear
}

/** A model prepared for inference. */
export interface Decoder {
  /** Maximum number of tokens in a cache. */
  readonly contextTokens: number
  readonly vocabularySize: number
  /**
   * Appends tokens to a cache and returns the logits after the last token. The returned array is reused by the next
   * call on this decoder. Requires at least one token, and no more than the cache has room for.
   */
  readonly append: (cache: Cache, tokens: ReadonlyArray<number>) => Float32Array
  /** Creates an empty cache. */
  readonly cache: () => Cache
}

/** The key-value cache of a sequence: keys and values of its tokens in every layer. */
export interface Cache {
  readonly tokens: ReadonlyArray<number>
  /** Truncates the sequence to its first `count` tokens. */
  readonly truncate: (count: number) => void
  /** Copies the first `count` tokens of another cache of the same decoder into this one. */
  readonly copy: (from: Cache, count: number) => void
}

interface Memory extends Cache {
  readonly tokens: Array<number>
  readonly keys: ReadonlyArray<Float32Array>
  readonly values: ReadonlyArray<Float32Array>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Number of tokens processed per batch, so that each weight is read once for all of them. */
const most = 16

const layersOf = ({ config, tensors }: Pick<DenseModel, "config" | "tensors">): ReadonlyArray<Layer> =>
  Array.from({ length: config.layers }, (_, layer) => {
    const tensor = (name: string) => tensors[`model.layers.${layer}.${name}`]
    const norm = (name: string) => tensor(`${name}.weight`)!.data
    const of = (name: string): Linear => {
      const { data, shape } = tensor(`${name}.weight`)!
      return { weight: data, rows: shape[0]!, columns: shape[1]!, bias: tensor(`${name}.bias`)?.data }
    }
    return {
      inputNorm: norm("input_layernorm"),
      query: of("self_attn.q_proj"),
      key: of("self_attn.k_proj"),
      value: of("self_attn.v_proj"),
      output: of("self_attn.o_proj"),
      innerNorm: norm("post_attention_layernorm"),
      gate: of("mlp.gate_proj"),
      up: of("mlp.up_proj"),
      down: of("mlp.down_proj")
    }
  })

/** Returns the rotary angles of all positions as cosines and sines, `[position, half of a head]`. */
const anglesOf = (positions: number, headSize: number, theta: number) => {
  const half = headSize / 2
  const cosines = new Float32Array(positions * half)
  const sines = new Float32Array(positions * half)
  for (let position = 0; position < positions; position++) {
    for (let index = 0; index < half; index++) {
      const angle = position * theta ** (-index / half)
      cosines[position * half + index] = Math.cos(angle)
      sines[position * half + index] = Math.sin(angle)
    }
  }
  return { cosines, sines }
}

const cacheOf = (layers: number, positions: number, width: number): Memory => {
  const arrays = () => Array.from({ length: layers }, () => new Float32Array(positions * width))
  const tokens: Array<number> = []
  const [keys, values] = [arrays(), arrays()]
  return {
    tokens,
    keys,
    values,
    truncate: (count) => {
      tokens.length = Math.min(tokens.length, count)
    },
    copy: (from, count) => {
      const source = from as Memory
      tokens.length = 0
      tokens.push(...source.tokens.slice(0, count))
      for (let layer = 0; layer < layers; layer++) {
        keys[layer]!.set(source.keys[layer]!.subarray(0, tokens.length * width))
        values[layer]!.set(source.values[layer]!.subarray(0, tokens.length * width))
      }
    }
  }
}

/**
 * Creates a decoder for a model with its weights in memory. Throws a `RangeError` if a tensor is missing.
 *
 * **Details**
 *
 * Each cache holds `2 * layers * contextLength * keyValueSize` numbers of 4 bytes. The weights are not copied.
 *
 * **Example**
 *
 * ```ts
 * import { Decoder } from "@divisi/gguf/browser"
 * import { TinyModel } from "@divisi/gguf"
 *
 * const decoder = Decoder.make(TinyModel.random({ architecture: "llama", seed: 7 }))
 * const cache = decoder.cache()
 * decoder.append(cache, [72, 105]).length // => 259
 * cache.tokens // => [72, 105]
 * ```
 */
export const make = (model: Pick<DenseModel, "config" | "tensors">): Decoder => {
  const { config, tensors } = model
  const missing = slots(config).find(({ source }) => tensors[source] === undefined)
  if (missing !== undefined) throw new RangeError(`The model lacks the tensor ${missing.source}.`)
  const { contextLength, feedForwardSize, heads, hiddenSize, normEpsilon = 1e-5, vocabularySize } = config
  const { headSize, keyValueSize, querySize } = sizes(config)
  const layers = layersOf(model)
  const embedding = tensors["model.embed_tokens.weight"]!.data
  const finalNorm = tensors["model.norm.weight"]!.data
  const table = config.tiedEmbeddings === true ? embedding : tensors["lm_head.weight"]!.data
  const toLogits: Linear = { weight: table, rows: vocabularySize, columns: hiddenSize, bias: undefined }
  const angles = anglesOf(contextLength, headSize, config.ropeTheta ?? 10_000)
  const group = heads / (config.keyValueHeads ?? heads)

  const states = new Float32Array(most * hiddenSize)
  const normed = new Float32Array(most * hiddenSize)
  const change = new Float32Array(most * hiddenSize)
  const queries = new Float32Array(most * querySize)
  const seen = new Float32Array(most * querySize)
  const gates = new Float32Array(most * feedForwardSize)
  const ups = new Float32Array(most * feedForwardSize)
  const scores = new Float64Array(contextLength)
  const logits = new Float32Array(vocabularySize)

  const add = (count: number) => {
    for (let index = 0; index < count * hiddenSize; index++) states[index]! += change[index]!
  }

  const block = (layer: Layer, keys: Float32Array, values: Float32Array, position: number, count: number) => {
    norm(states, layer.inputNorm, normEpsilon, normed, count)
    linear(layer.query, normed, queries, 0, count)
    linear(layer.key, normed, keys, position * keyValueSize, count)
    linear(layer.value, normed, values, position * keyValueSize, count)
    for (let token = 0; token < count; token++) {
      const at = position + token
      rotate(queries, token * querySize, querySize, headSize, at, angles)
      rotate(keys, at * keyValueSize, keyValueSize, headSize, at, angles)
      for (let head = 0; head < heads; head++) {
        const own = token * querySize + head * headSize
        const shared = Math.floor(head / group) * headSize
        attend({ queries, keys, values, scores, seen }, own, shared, headSize, keyValueSize, at + 1)
      }
    }
    linear(layer.output, seen, change, 0, count)
    add(count)
    norm(states, layer.innerNorm, normEpsilon, normed, count)
    linear(layer.gate, normed, gates, 0, count)
    linear(layer.up, normed, ups, 0, count)
    silu(gates, ups, count * feedForwardSize)
    linear(layer.down, gates, change, 0, count)
    add(count)
  }

  const append: Decoder["append"] = (cache, tokens) => {
    const memory = cache as Memory
    const room = contextLength - memory.tokens.length
    if (tokens.length === 0 || tokens.length > room) {
      throw new RangeError(`Cannot append ${tokens.length} tokens; the limit is 1 to ${room}.`)
    }
    const stranger = tokens.find((token) => !(Number.isInteger(token) && token >= 0 && token < vocabularySize))
    if (stranger !== undefined) throw new RangeError(`${stranger} is not a token in a vocabulary of ${vocabularySize}.`)
    let count = 0
    for (let from = 0; from < tokens.length; from += most) {
      count = Math.min(most, tokens.length - from)
      const position = memory.tokens.length
      for (let token = 0; token < count; token++) {
        const row = tokens[from + token]! * hiddenSize
        for (let index = 0; index < hiddenSize; index++) states[token * hiddenSize + index] = embedding[row + index]!
      }
      for (const [index, layer] of layers.entries()) {
        block(layer, memory.keys[index]!, memory.values[index]!, position, count)
      }
      for (let token = 0; token < count; token++) memory.tokens.push(tokens[from + token]!)
    }
    states.copyWithin(0, (count - 1) * hiddenSize, count * hiddenSize)
    norm(states, finalNorm, normEpsilon, normed, 1)
    linear(toLogits, normed, logits, 0, 1)
    return logits
  }

  return {
    contextTokens: contextLength,
    vocabularySize,
    append,
    cache: () => cacheOf(layers.length, contextLength, keyValueSize)
  }
}
