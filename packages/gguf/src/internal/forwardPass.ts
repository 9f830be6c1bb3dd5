/** The forward pass of llama and qwen2, one position at a time. */
import * as Errors from "../GgufError.ts"
import type { Config } from "../Model.ts"
import type { DenseTensor } from "../Tensor.ts"
import { sizes } from "./layout.ts"

type Tensors = Readonly<Record<string, DenseTensor>>

const dataOf = (tensors: Tensors, name: string): Float32Array => {
  const tensor = tensors[name]
  if (tensor === undefined)
    throw Errors.make({ _tag: "InvalidTensor", tensor: name, detail: "The model does not contain it." })
  return tensor.data
}

const rootMeanSquareNorm = (input: Float32Array, weight: Float32Array, epsilon: number): Float32Array => {
  let squares = 0
  for (const value of input) squares += value * value
  const scale = 1 / Math.sqrt(squares / input.length + epsilon)
  return input.map((value, index) => value * scale * weight[index]!)
}

/** Multiplies a vector by `weight`, which has the shape `[out, in]`. */
const multiply = (weight: Float32Array, input: Float32Array, bias?: Float32Array): Float32Array => {
  const output = new Float32Array(weight.length / input.length)
  for (let row = 0; row < output.length; row++) {
    let sum = bias?.[row] ?? 0
    for (let column = 0; column < input.length; column++) sum += weight[row * input.length + column]! * input[column]!
    output[row] = sum
  }
  return output
}

/**
 * Applies the rotary embedding to each head: element `i` of the first half is paired with element `i` of the second
 * half.
 */
const rotate = (vector: Float32Array, position: number, headSize: number, theta: number): void => {
  const half = headSize / 2
  for (let head = 0; head < vector.length; head += headSize) {
    for (let index = 0; index < half; index++) {
      const angle = position * theta ** (-index / half)
      const first = vector[head + index]!
      const second = vector[head + index + half]!
      vector[head + index] = first * Math.cos(angle) - second * Math.sin(angle)
      vector[head + index + half] = second * Math.cos(angle) + first * Math.sin(angle)
    }
  }
}

const softmax = (scores: ReadonlyArray<number>): ReadonlyArray<number> => {
  const largest = Math.max(...scores)
  const exponentials = scores.map((score) => Math.exp(score - largest))
  const sum = exponentials.reduce((total, value) => total + value, 0)
  return exponentials.map((value) => value / sum)
}

const dot = (left: Float32Array, right: Float32Array): number => {
  let sum = 0
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[index]!
  return sum
}

/**
 * Computes the attention of one position over all positions up to it. Each group of query heads shares a key and value
 * head.
 */
const attend = (
  query: Float32Array,
  keys: ReadonlyArray<Float32Array>,
  values: ReadonlyArray<Float32Array>,
  { group, headSize }: { readonly group: number; readonly headSize: number }
): Float32Array => {
  const output = new Float32Array(query.length)
  for (let head = 0; head * headSize < query.length; head++) {
    const shared = Math.floor(head / group) * headSize
    const part = query.subarray(head * headSize, (head + 1) * headSize)
    const weights = softmax(keys.map((key) => dot(part, key.subarray(shared, shared + headSize)) / Math.sqrt(headSize)))
    for (let index = 0; index < headSize; index++) {
      let sum = 0
      for (const [position, weight] of weights.entries()) sum += weight * values[position]![shared + index]!
      output[head * headSize + index] = sum
    }
  }
  return output
}

const add = (left: Float32Array, right: Float32Array): Float32Array => left.map((value, index) => value + right[index]!)

/** Runs one transformer block over all positions. */
const block = (config: Config, tensors: Tensors, layer: number, states: ReadonlyArray<Float32Array>) => {
  const { heads, keyValueHeads = heads, normEpsilon = 1e-5, ropeTheta = 10_000 } = config
  const { headSize } = sizes(config)
  const weight = (name: string) => dataOf(tensors, `model.layers.${layer}.${name}.weight`)
  const linear = (name: string, input: Float32Array) =>
    multiply(weight(name), input, tensors[`model.layers.${layer}.${name}.bias`]?.data)
  const keys: Array<Float32Array> = []
  const values: Array<Float32Array> = []
  return states.map((state, position) => {
    const input = rootMeanSquareNorm(state, weight("input_layernorm"), normEpsilon)
    const query = linear("self_attn.q_proj", input)
    const key = linear("self_attn.k_proj", input)
    rotate(query, position, headSize, ropeTheta)
    rotate(key, position, headSize, ropeTheta)
    keys.push(key)
    values.push(linear("self_attn.v_proj", input))
    const seen = attend(query, keys, values, { group: heads / keyValueHeads, headSize })
    const attended = add(state, linear("self_attn.o_proj", seen))
    const normed = rootMeanSquareNorm(attended, weight("post_attention_layernorm"), normEpsilon)
    const gate = linear("mlp.gate_proj", normed)
    const up = linear("mlp.up_proj", normed)
    const inner = gate.map((value, index) => (value / (1 + Math.exp(-value))) * up[index]!)
    return add(attended, linear("mlp.down_proj", inner))
  })
}

/**
 * Computes the logits after each token. Throws a `GgufError` if a tensor is missing or a token is not in the
 * vocabulary.
 */
export const forwardPass = (
  config: Config,
  tensors: Tensors,
  tokens: ReadonlyArray<number>
): ReadonlyArray<Float32Array> => {
  const { hiddenSize, layers, normEpsilon = 1e-5, tiedEmbeddings = false, vocabularySize } = config
  const embedding = dataOf(tensors, "model.embed_tokens.weight")
  const output = tiedEmbeddings ? embedding : dataOf(tensors, "lm_head.weight")
  let states: ReadonlyArray<Float32Array> = tokens.map((token) => {
    if (Number.isInteger(token) && token >= 0 && token < vocabularySize) {
      return embedding.slice(token * hiddenSize, (token + 1) * hiddenSize)
    }
    throw Errors.make({
      _tag: "InvalidTokenizer",
      detail: `${token} is not a token in a vocabulary of ${vocabularySize}.`
    })
  })
  for (let layer = 0; layer < layers; layer++) states = block(config, tensors, layer, states)
  const norm = dataOf(tensors, "model.norm.weight")
  return states.map((state) => multiply(output, rootMeanSquareNorm(state, norm, normEpsilon)))
}
