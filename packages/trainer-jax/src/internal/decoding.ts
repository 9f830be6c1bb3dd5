/**
 * Runs the network one token at a time, for sampling. The keys and values of a prompt are computed once for all its
 * completions, and those of the completions are retained.
 *
 * Adding a token copies its whole array, so completions are stored in two parts: full blocks, which no longer change,
 * and the current block.
 *
 * Shapes are named as in `network.ts`; S is the number of positions in a block, W the number of tokens in full blocks.
 * The memory layout of each array follows the step that reads it repeatedly: numbers that are multiplied together are
 * adjacent.
 */

import type { Model } from "@divisi/gguf"
import type * as Jax from "@jax-js/jax"
import {
  attendToSelf,
  causal,
  einsum,
  exponentials,
  gather,
  indexes,
  type Library,
  largestOf,
  layerOf,
  linear,
  norm,
  outputOf,
  proceed,
  project,
  rotaryTables,
  rotate,
  sizesOf,
  unseen,
  type Weights
} from "./network.ts"
import { named, type Order } from "./programs.ts"

type Arrays = Array<Jax.Array>

/** The dimensions of a decoder. */
export interface DecodingShape {
  readonly prompts_B: number
  readonly promptTokens_P: number
  readonly completions_G: number
  readonly written_W: number
  readonly block_S: number
}

/**
 * Computes the keys `[1, H, K, P]` and values `[1, H, P, K]` for all layers of a prompt, from its embeddings `[P, D]`.
 */
export const makePrefill = (jax: Library, config: Model.Config, order: Order, P: number) =>
  jax.jit((arrays: Arrays, prompt_PD: Jax.Array, padding_1P: Jax.Array) => {
    const weights: Weights = named(order, arrays)
    const { epsilon, group_R: R, headSize_K: K, heads_H: H } = sizesOf(config)
    const tables = rotaryTables(jax, config, 0, P)
    const mask_111PP = causal(jax, P).add(padding_1P.ref.reshape([1, 1, 1, 1, P]))
    let states = prompt_PD.ref
    const kept: Arrays = []
    for (let layer = 0; layer < config.layers; layer++) {
      const weight = layerOf(weights, layer)
      const normed = norm(jax, states, weight("input_layernorm"), epsilon)
      const keys = rotate(jax, project(jax, weight, normed, "k"), tables, [1, P, H, K]).reshape([1, P, H, K])
      const values = project(jax, weight, normed, "v").reshape([1, P, H, K])
      kept.push(keys.ref.transpose([0, 2, 3, 1]), values.ref.transpose([0, 2, 1, 3]))
      if (layer === config.layers - 1) break
      const found = indexes(H).map((head) => {
        const queries = rotate(jax, project(jax, weight, normed, "q", [head, H]), tables, [1, P, R, K])
        const of = (all: Jax.Array) => all.ref.slice([], [], [head, head + 1])
        return attendToSelf(
          jax,
          queries.mul(1 / Math.sqrt(K)).reshape([1, P, 1, R, K]),
          of(keys),
          of(values),
          mask_111PP
        )
      })
      states = proceed(jax, config, weight, states, found)
    }
    return kept
  })

/** Arrays that describe the position of a token in the current block. */
export interface Place {
  readonly cosines: Jax.Array
  readonly sines: Jax.Array
  /** A one-hot vector for the position, `[S]`. */
  readonly isHere_S: Jax.Array
  /** 0 up to the position, and a large negative number after it, `[1, S]`. */
  readonly mask_1S: Jax.Array
}

/** Returns the arrays for position `place` of the current block. */
export const placeOf = (jax: Library, config: Model.Config, shape: DecodingShape, place: number): Place => {
  const { block_S: S, promptTokens_P: P, written_W: W } = shape
  const numbers = (value: (index: number) => number, dimensions: Array<number>) =>
    jax.numpy.array(
      Float32Array.from({ length: S }, (_, index) => value(index)),
      { shape: dimensions }
    )
  return {
    ...rotaryTables(jax, config, P + W + place, 1),
    isHere_S: numbers((index) => (index === place ? 1 : 0), [S]),
    mask_1S: numbers((index) => (index <= place ? 0 : unseen), [1, S])
  }
}

/**
 * A part of a layer's cached keys and values: of the prompt, as returned by {@link makePrefill}, or of the completions.
 */
interface Past {
  readonly keys: Jax.Array
  readonly values: Jax.Array
  /** The mask added to the attention scores. */
  readonly mask: Jax.Array | undefined
}

/**
 * Computes the attention of the completions' last tokens to the cached parts: `[B * G, H * R * K]`. The prompt's keys
 * are `[B, H, K, P]` and its values `[B, H, P, K]`; those of completions have G after B.
 */
const attend = (jax: Library, queries_BGHRK: Jax.Array, pasts: ReadonlyArray<Past>): Jax.Array => {
  const scores = pasts.map(({ keys, mask }) => {
    const found = einsum(jax, keys.ndim === 4 ? "bghrk,bhkp->bhrgp" : "bghrk,bghkp->bhrgp", queries_BGHRK, keys)
    return mask === undefined ? found : found.add(mask.ref)
  })
  const largest = scores
    .map((part) => largestOf(jax, part))
    .reduce((most, one) => jax.numpy.maximum(most, one) as Jax.Array)
  const shares = scores.map((part) => exponentials(jax, part, largest))
  const found = pasts.map(({ values }, part) =>
    einsum(jax, values.ndim === 4 ? "bhrgp,bhpk->bhrgk" : "bhrgp,bghpk->bhrgk", shares[part]!.values, values)
  )
  const sum = (arrays: ReadonlyArray<Jax.Array>) => arrays.reduce((all, one) => all.add(one))
  return gather(sum(found), sum(shares.map(({ sums }) => sums)))
}

/**
 * Computes the logits after the last token of each completion, `[B * G, V]`, and, for each layer, the block's keys `[B,
 * G, H, K, S]` and values `[B, G, H, S, K]` including that token. Also returns the added arrays, which have no other
 * use.
 */
export const makeDecode = (jax: Library, config: Model.Config, order: Order, shape: DecodingShape) =>
  jax.jit(
    (
      arrays: Arrays,
      prompt: Arrays,
      written: Arrays,
      block: Arrays,
      tokens_ND: Jax.Array,
      padding_BP: Jax.Array,
      place: Arrays
    ) => {
      const weights: Weights = named(order, arrays)
      const { epsilon, group_R: R, headSize_K: K, heads_H: H } = sizesOf(config)
      const { block_S: S, completions_G: G, prompts_B: B, promptTokens_P: P } = shape
      const [cosines, sines, isHere_S, mask_1S] = place as [Jax.Array, Jax.Array, Jax.Array, Jax.Array]
      const tables = { cosines, sines }
      const isHere_S1 = isHere_S.ref.reshape([S, 1])
      const padding_B111P = padding_BP.ref.reshape([B, 1, 1, 1, P])
      let states = tokens_ND.ref
      const kept: Arrays = []
      // Returning them as results stores them; otherwise, each would be recomputed for every position that is not
      // written.
      const added: Arrays = []
      for (let layer = 0; layer < config.layers; layer++) {
        const weight = layerOf(weights, layer)
        const normed = norm(jax, states, weight("input_layernorm"), epsilon)
        const keys = rotate(jax, project(jax, weight, normed, "k"), tables, [B * G, 1, H, K]).reshape([B, G, H, K, 1])
        const values = project(jax, weight, normed, "v").reshape([B, G, H, 1, K])
        added.push(keys.ref, values.ref)
        // Positions that have not been written contain zeros.
        const keys_BGHKS = block[2 * layer]!.ref.add(keys.mul(isHere_S.ref))
        const values_BGHSK = block[2 * layer + 1]!.ref.add(values.mul(isHere_S1.ref))
        kept.push(keys_BGHKS.ref, values_BGHSK.ref)
        const queries = rotate(jax, project(jax, weight, normed, "q"), tables, [B * G, 1, H * R, K])
        const queries_BGHRK = queries.mul(1 / Math.sqrt(K)).reshape([B, G, H, R, K])
        const of = (all: Arrays, mask?: Jax.Array) => {
          return all.length === 0 ? [] : [{ keys: all[2 * layer]!, values: all[2 * layer + 1]!, mask }]
        }
        const pasts = [
          ...of(prompt, padding_B111P),
          ...of(written),
          { keys: keys_BGHKS, values: values_BGHSK, mask: mask_1S }
        ]
        states = proceed(jax, config, weight, states, [attend(jax, queries_BGHRK, pasts)])
      }
      const hidden = norm(jax, states, weights["model.norm.weight"]!, epsilon)
      return [linear(jax, hidden, outputOf(weights)), ...kept, ...added]
    }
  )
