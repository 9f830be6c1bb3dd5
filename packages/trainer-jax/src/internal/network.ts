/**
 * The forward pass of a decoder with the `llama` architecture, over prompts shared by several completions.
 *
 * Names contain shapes: B prompts, P tokens per prompt, G completions per prompt, C tokens per completion, D the hidden
 * size, H key-value heads, R query heads for each of these, K numbers per head.
 *
 * Prompts are padded on the left, so that all completions start at the same position P and the rotary tables are
 * constant; only distances between positions affect the result. A completion's inputs start with the last token of its
 * prompt, so its C inputs predict its C tokens. The prompt's hidden states predict nothing, so only keys and values are
 * computed for its last layer.
 */

import type { Model } from "@divisi/gguf"
import type * as Jax from "@jax-js/jax"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The jax-js library, which is loaded only when an engine is created. */
export type Library = typeof Jax

/** Tensors of a model, keyed by their names in Hugging Face's layout. */
export type Weights = Readonly<Record<string, Jax.Array>>

/** The padded dimensions of a batch. */
export interface Shape {
  readonly prompts_B: number
  readonly promptTokens_P: number
  readonly completions_G: number
  readonly completionTokens_C: number
}

/** The inputs of the network. */
export interface Inputs {
  /** Embeddings of the prompts' tokens except the last one, `[B, P, D]`, padded on the left. */
  readonly prompts_BPD: Jax.Array
  /** Embeddings of the completions' inputs, `[B, G * C, D]`, padded on the right. */
  readonly completions_BND: Jax.Array
  /** 0 for a token of the prompt and a large negative number for padding, `[B, P]`. */
  readonly padding_BP: Jax.Array
}

/** Returns the model dimensions with all defaults resolved. */
export const sizesOf = (config: Model.Config) => {
  const heads_H = config.keyValueHeads ?? config.heads
  return {
    heads_H,
    group_R: config.heads / heads_H,
    headSize_K: config.headSize ?? config.hiddenSize / config.heads,
    epsilon: config.normEpsilon ?? 1e-5,
    theta: config.ropeTheta ?? 10_000
  }
}

/** Added to the scores of masked tokens. Finite, so that a fully masked row does not result in NaN. */
export const unseen = -1e9

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/** The library consumes arrays when they are used. Traced code shares references instead, which has no cost. */
export const einsum = (jax: Library, expression: string, left: Jax.Array, right: Jax.Array): Jax.Array =>
  jax.numpy.einsum(expression, left.ref, right.ref) as Jax.Array

export const linear = (jax: Library, input: Jax.Array, weight: Jax.Array): Jax.Array =>
  einsum(jax, "nd,od->no", input, weight)

export const norm = (jax: Library, input_ND: Jax.Array, weight_D: Jax.Array, epsilon: number): Jax.Array => {
  const squares_N1 = input_ND.ref.mul(input_ND.ref).mean(-1, { keepdims: true })
  const scale_N1 = jax.numpy.reciprocal(jax.numpy.sqrt(squares_N1.add(epsilon)))
  return input_ND.ref.mul(scale_N1).mul(weight_D.ref)
}

/** Cosines and sines for rotary embeddings. */
export interface Rotary {
  readonly cosines: Jax.Array
  readonly sines: Jax.Array
}

/**
 * Returns tables `[length, 2, K / 2]`. The first half of the sines is negated, because the second half is subtracted.
 */
export const rotaryTables = (jax: Library, config: Model.Config, start: number, length: number): Rotary => {
  const { headSize_K, theta } = sizesOf(config)
  const half = headSize_K / 2
  const cosines = new Float32Array(length * headSize_K)
  const sines = new Float32Array(length * headSize_K)
  for (let place = 0; place < length; place++) {
    for (let index = 0; index < half; index++) {
      const angle = (start + place) * theta ** (-index / half)
      const at = place * headSize_K + index
      cosines[at] = cosines[at + half] = Math.cos(angle)
      sines[at] = -Math.sin(angle)
      sines[at + half] = Math.sin(angle)
    }
  }
  const table = (values: Float32Array<ArrayBuffer>) => jax.numpy.array(values, { shape: [length, 2, half] })
  return { cosines: table(cosines), sines: table(sines) }
}

/** Applies rotary embeddings to heads `[n, T, heads * K]`, with tables for T positions. */
export const rotate = (
  jax: Library,
  vectors: Jax.Array,
  { cosines, sines }: Rotary,
  [rows, places, heads, size]: readonly [number, number, number, number]
): Jax.Array => {
  const halves = vectors.ref.reshape([rows, places, heads, 2, size / 2])
  const shape = [1, places, 1, 2, size / 2]
  const swapped = jax.numpy.flip(halves.ref, 3)
  return halves.mul(cosines.ref.reshape(shape)).add(swapped.mul(sines.ref.reshape(shape)))
}

/**
 * Returns a mask with 0 where a row may attend to a column, and {@link unseen} elsewhere. Tokens attend to themselves
 * and earlier ones.
 */
export const causal = (jax: Library, length: number): Jax.Array => {
  const values = Float32Array.from({ length: length * length }, (_, at) =>
    at % length > Math.floor(at / length) ? unseen : 0
  )
  return jax.numpy.array(values, { shape: [length, length] })
}

// -------------------------------------------------------------------------------------------------------------------
// Attention
// -------------------------------------------------------------------------------------------------------------------

/** Minimum exponent, at which the series gives a number below {@link vanishing}. */
const leastExponent = -62

/** Values of the exponential below this count as 0. */
const vanishing = 1e-33

/**
 * Computes the exponential using only additions and multiplications, because jax-js computes its own exponential, and
 * all operations merged with it, one number at a time. For inputs up to 0, the error is below one millionth, and masked
 * scores give 0; up to 5, it is below two millionths of the result, and it grows beyond that.
 *
 * With q = exp(x / 32) - 1 from its series, 1 + q is squared five times: as long as q is small as q (2 + q), which
 * loses nothing of it.
 */
const exponentialOf = (jax: Library, input: Jax.Array): Jax.Array => {
  const np = jax.numpy
  const small = (np.maximum(input, leastExponent) as Jax.Array).mul(1 / 32)
  let q = small.ref.mul(1 / 120).add(1 / 24)
  for (const term of [1 / 6, 1 / 2, 1]) q = q.mul(small.ref).add(term)
  q = q.mul(small)
  for (let time = 0; time < 2; time++) q = q.ref.mul(q.add(2))
  let result = q.add(1)
  for (let time = 0; time < 3; time++) result = result.ref.mul(result)
  return np.maximum(result.sub(vanishing), 0) as Jax.Array
}

/** Computes {@link exponentialOf} with its derivative, which is the function itself. */
export const exponential = (jax: Library, input: Jax.Array): Jax.Array => {
  const stopped = jax.lax.stopGradient(input.ref) as Jax.Array
  const values = exponentialOf(jax, stopped.ref)
  return values.mul(input.sub(stopped).add(1))
}

/**
 * Returns the exponentials of scores, to be summed over the last axis. The maximum is subtracted first, which does not
 * change any share.
 */
export const exponentials = (jax: Library, scores: Jax.Array, largest: Jax.Array) => {
  const values = exponential(jax, scores.ref.sub(largest.ref))
  return { values, sums: values.ref.sum(-1, { keepdims: true }) }
}

export const largestOf = (jax: Library, scores: Jax.Array): Jax.Array =>
  jax.lax.stopGradient(jax.numpy.max(scores.ref, -1, { keepdims: true })) as Jax.Array

/**
 * Divides the sums of attention by the sums of its exponentials, and concatenates the heads: `[B * N, H * R * K]`.
 *
 * The division follows the transposition, so that its result is stored in the new order; multiplying matrices that are
 * not stored in the order in which they are read is thirty times slower.
 */
export const gather = (found_BHRNK: Jax.Array, sums_BHRN1: Jax.Array): Jax.Array => {
  const [B, H, R, N, K] = found_BHRNK.shape as [number, number, number, number, number]
  const order = [0, 3, 1, 2, 4]
  return found_BHRNK
    .transpose(order)
    .div(sums_BHRN1.transpose(order))
    .reshape([B * N, H * R * K])
}

/** Computes the attention of prompt tokens to preceding ones: `[B * P, H * R * K]`. */
export const attendToSelf = (
  jax: Library,
  queries_BPHRK: Jax.Array,
  keys_BPHK: Jax.Array,
  values_BPHK: Jax.Array,
  mask_B11PP: Jax.Array
): Jax.Array => {
  const scores_BHRPP = einsum(jax, "bqhrk,bphk->bhrqp", queries_BPHRK, keys_BPHK).add(mask_B11PP.ref)
  const { sums, values } = exponentials(jax, scores_BHRPP, largestOf(jax, scores_BHRPP))
  return gather(einsum(jax, "bhrqp,bphk->bhrqk", values, values_BPHK), sums)
}

/**
 * Computes the attention of completion tokens to their prompt and to preceding tokens, with one softmax over both: `[B
 * * N, H * R * K]`.
 */
const attendToBoth = (
  jax: Library,
  queries_BGCHRK: Jax.Array,
  prompt: { readonly keys_BPHK: Jax.Array; readonly values_BPHK: Jax.Array; readonly mask_B111P: Jax.Array },
  own: { readonly keys_BGCHK: Jax.Array; readonly values_BGCHK: Jax.Array; readonly mask_CC: Jax.Array }
): Jax.Array => {
  const [B, G, C, H, R, K] = queries_BGCHRK.shape as [number, number, number, number, number, number]
  const rows = [B, H, R, G * C]
  const queries_BNHRK = queries_BGCHRK.ref.reshape([B, G * C, H, R, K])
  const toPrompt = einsum(jax, "bnhrk,bphk->bhrnp", queries_BNHRK, prompt.keys_BPHK).add(prompt.mask_B111P.ref)
  const toOwn = einsum(jax, "bgchrk,bgshk->bhrgcs", queries_BGCHRK, own.keys_BGCHK).add(own.mask_CC.ref)
  const largest_BHRN1 = jax.numpy.maximum(
    largestOf(jax, toPrompt),
    largestOf(jax, toOwn).reshape([...rows, 1])
  ) as Jax.Array
  const ofPrompt = exponentials(jax, toPrompt, largest_BHRN1)
  const ofOwn = exponentials(jax, toOwn, largest_BHRN1.ref.reshape([B, H, R, G, C, 1]))
  const fromPrompt = einsum(jax, "bhrnp,bphk->bhrnk", ofPrompt.values, prompt.values_BPHK)
  const fromOwn = einsum(jax, "bhrgcs,bgshk->bhrgck", ofOwn.values, own.values_BGCHK)
  const sums = ofPrompt.sums.add(ofOwn.sums.reshape([...rows, 1]))
  return gather(fromPrompt.add(fromOwn.reshape([...rows, K])), sums)
}

// -------------------------------------------------------------------------------------------------------------------
// The network
// -------------------------------------------------------------------------------------------------------------------

/** Returns the weights of a layer, given their short names. */
export type Layer = (name: string) => Jax.Array

export const layerOf =
  (weights: Weights, layer: number): Layer =>
  (name) =>
    weights[`model.layers.${layer}.${name}.weight`]!

/** Adds the heads' outputs, `[N, size]` each, to the residual stream and applies the feed-forward part. */
export const proceed = (
  jax: Library,
  config: Model.Config,
  weight: Layer,
  states: Jax.Array,
  found: ReadonlyArray<Jax.Array>
): Jax.Array => {
  const output = weight("self_attn.o_proj")
  const size = output.shape[1]! / found.length
  const attended = found.reduce(
    (sum, one, head) => sum.add(linear(jax, one, output.ref.slice([], [head * size, (head + 1) * size]))),
    states.ref
  )
  const normed = norm(jax, attended, weight("post_attention_layernorm"), sizesOf(config).epsilon)
  const gate = linear(jax, normed, weight("mlp.gate_proj"))
  const closing = exponential(jax, jax.numpy.minimum(gate.ref.neg(), -leastExponent) as Jax.Array)
  const opened = gate.mul(jax.numpy.reciprocal(closing.add(1)))
  const inner = opened.mul(linear(jax, normed, weight("mlp.up_proj")))
  return attended.ref.add(linear(jax, inner, weight("mlp.down_proj")))
}

/**
 * Projects normalized hidden states to queries, keys or values `[N, heads * K]`, for all heads or for one of `count`
 * parts.
 */
export const project = (
  jax: Library,
  weight: Layer,
  normed: Jax.Array,
  name: "q" | "k" | "v",
  [part, count]: readonly [part: number, count: number] = [0, 1]
): Jax.Array => {
  const all = weight(`self_attn.${name}_proj`)
  const size = all.shape[0]! / count
  return linear(jax, normed, all.ref.slice([part * size, (part + 1) * size]))
}

/** Returns the integers starting at 0. */
export const indexes = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, index) => index)

/** Computes the final hidden states of all completions, `[B * G * C, D]`, for the output layer. */
export const hiddenStates = (
  jax: Library,
  config: Model.Config,
  weights: Weights,
  { completions_BND, padding_BP, prompts_BPD }: Inputs,
  { completionTokens_C: C, completions_G: G, prompts_B: B, promptTokens_P: P }: Shape
): Jax.Array => {
  const { epsilon, group_R: R, headSize_K: K, heads_H: H } = sizesOf(config)
  const D = config.hiddenSize
  const scale = 1 / Math.sqrt(K)
  const promptTables = rotaryTables(jax, config, 0, P)
  const completionTables = rotaryTables(jax, config, P, C)
  const mask_B111P = padding_BP.ref.reshape([B, 1, 1, 1, P])
  const mask_PP = causal(jax, P).add(mask_B111P.ref)
  const mask_CC = causal(jax, C)

  let prompts = prompts_BPD.ref.reshape([B * P, D])
  let completions = completions_BND.ref.reshape([B * G * C, D])
  for (let layer = 0; layer < config.layers; layer++) {
    const weight = layerOf(weights, layer)
    const ofPrompts = norm(jax, prompts, weight("input_layernorm"), epsilon)
    const ofCompletions = norm(jax, completions, weight("input_layernorm"), epsilon)
    const heads = indexes(H).map((head) => {
      const part = [head, H] as const
      const keys = rotate(jax, project(jax, weight, ofPrompts, "k", part), promptTables, [B, P, 1, K])
      return {
        part,
        keys_BPHK: keys.reshape([B, P, 1, K]),
        values_BPHK: project(jax, weight, ofPrompts, "v", part).reshape([B, P, 1, K]),
        mask_B111P
      }
    })
    const found = heads.map((prompt) => {
      const { part } = prompt
      const keys = rotate(jax, project(jax, weight, ofCompletions, "k", part), completionTables, [B * G, C, 1, K])
      const own = {
        keys_BGCHK: keys.reshape([B, G, C, 1, K]),
        values_BGCHK: project(jax, weight, ofCompletions, "v", part).reshape([B, G, C, 1, K]),
        mask_CC
      }
      const queries = rotate(jax, project(jax, weight, ofCompletions, "q", part), completionTables, [B * G, C, R, K])
      return attendToBoth(jax, queries.mul(scale).reshape([B, G, C, 1, R, K]), prompt, own)
    })
    completions = proceed(jax, config, weight, completions, found)
    if (layer === config.layers - 1) break
    const seen = heads.map(({ keys_BPHK, part, values_BPHK }) => {
      const queries = rotate(jax, project(jax, weight, ofPrompts, "q", part), promptTables, [B, P, R, K])
      return attendToSelf(jax, queries.mul(scale).reshape([B, P, 1, R, K]), keys_BPHK, values_BPHK, mask_PP)
    })
    prompts = proceed(jax, config, weight, prompts, seen)
  }
  return norm(jax, completions, weights["model.norm.weight"]!, epsilon)
}

/** Returns the weights of the output layer, `[V, D]`. */
export const outputOf = (weights: Weights): Jax.Array =>
  (weights["lm_head.weight"] ?? weights["model.embed_tokens.weight"]!).ref
