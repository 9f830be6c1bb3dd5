/**
 * The network one token at a time, for sampling: keys and values of a prompt are computed once for all its completions,
 * those of the completions are kept.
 *
 * Shapes are named as in `network.ts`; S is how many tokens a completion may have. Each array lies as the step that
 * reads it again and again walks through it: numbers that are multiplied at once stand beside each other.
 */

import type * as Model from "@divisi/gguf/Model"
import type * as Jax from "@jax-js/jax"
import {
  attendToSelf,
  causal,
  einsum,
  exponentials,
  gather,
  type Library,
  largestOf,
  layerOf,
  logits,
  norm,
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

/** The sizes of a decoder. */
export interface DecodingShape {
  readonly prompts_B: number
  readonly promptTokens_P: number
  readonly completions_G: number
  readonly tokens_S: number
}

/** Keys `[1, H, K, P]` and values `[1, H, P, K]` of all layers of a prompt, from its embeddings `[P, D]`. */
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
      const queries = rotate(jax, project(jax, weight, normed, "q"), tables, [1, P, H * R, K])
      const queries_1PHRK = queries.mul(1 / Math.sqrt(K)).reshape([1, P, H, R, K])
      states = proceed(jax, config, weight, states, attendToSelf(jax, queries_1PHRK, keys, values, mask_111PP))
    }
    return kept
  })

/** What a decoder has to know of the place of a token. */
export interface Place {
  readonly cosines: Jax.Array
  readonly sines: Jax.Array
  /** 1 at the place and 0 elsewhere, `[S]`. */
  readonly isHere_S: Jax.Array
  /** 0 up to the place and very negative behind it, `[1, S]`. */
  readonly mask_1S: Jax.Array
}

/** The place of token `place` of the completions. */
export const placeOf = (jax: Library, config: Model.Config, shape: DecodingShape, place: number): Place => {
  const { promptTokens_P: P, tokens_S: S } = shape
  const numbers = (value: (index: number) => number, dimensions: Array<number>) =>
    jax.numpy.array(
      Float32Array.from({ length: S }, (_, index) => value(index)),
      { shape: dimensions }
    )
  return {
    ...rotaryTables(jax, config, P + place, 1),
    isHere_S: numbers((index) => (index === place ? 1 : 0), [S]),
    mask_1S: numbers((index) => (index <= place ? 0 : unseen), [1, S])
  }
}

/** What is known of a layer's past: of the prompt as {@link makePrefill} gives it, and of the completions. */
interface Past {
  readonly promptKeys_BHKP: Jax.Array
  readonly promptValues_BHPK: Jax.Array
  readonly keys_BGHKS: Jax.Array
  readonly values_BGHSK: Jax.Array
}

/** The last tokens of completions look at their prompt and at what they have written: `[B * G, H * R * K]`. */
const attend = (
  jax: Library,
  queries_BGHRK: Jax.Array,
  { keys_BGHKS, promptKeys_BHKP, promptValues_BHPK, values_BGHSK }: Past,
  padding_B111P: Jax.Array,
  mask_S: Jax.Array
): Jax.Array => {
  const toPrompt = einsum(jax, "bghrk,bhkp->bhrgp", queries_BGHRK, promptKeys_BHKP).add(padding_B111P.ref)
  const toOwn = einsum(jax, "bghrk,bghks->bhrgs", queries_BGHRK, keys_BGHKS).add(mask_S.ref)
  const largest = jax.numpy.maximum(largestOf(jax, toPrompt), largestOf(jax, toOwn)) as Jax.Array
  const ofPrompt = exponentials(jax, toPrompt, largest)
  const ofOwn = exponentials(jax, toOwn, largest)
  const fromPrompt = einsum(jax, "bhrgp,bhpk->bhrgk", ofPrompt.values, promptValues_BHPK)
  const fromOwn = einsum(jax, "bhrgs,bghsk->bhrgk", ofOwn.values, values_BGHSK)
  return gather(fromPrompt.add(fromOwn), ofPrompt.sums.add(ofOwn.sums))
}

/**
 * The logits behind the last token of each completion, `[B * G, V]`; keys `[B, G, H, K, S]` and values `[B, G, H, S, K]`
 * of the completions with that token's, for each layer; and what was written into them, which is of no other use.
 */
export const makeDecode = (jax: Library, config: Model.Config, order: Order, shape: DecodingShape) =>
  jax.jit((arrays: Arrays, prompt: Arrays, own: Arrays, tokens_ND: Jax.Array, padding_BP: Jax.Array, place: Arrays) => {
    const weights: Weights = named(order, arrays)
    const { epsilon, group_R: R, headSize_K: K, heads_H: H } = sizesOf(config)
    const { completions_G: G, prompts_B: B, promptTokens_P: P, tokens_S: S } = shape
    const [cosines, sines, isHere_S, mask_1S] = place as [Jax.Array, Jax.Array, Jax.Array, Jax.Array]
    const tables = { cosines, sines }
    const isHere_S1 = isHere_S.ref.reshape([S, 1])
    const padding_B111P = padding_BP.ref.reshape([B, 1, 1, 1, P])
    let states = tokens_ND.ref
    const kept: Arrays = []
    // Being results they are stored; else each would be computed for every place that it is not written to.
    const written: Arrays = []
    for (let layer = 0; layer < config.layers; layer++) {
      const weight = layerOf(weights, layer)
      const normed = norm(jax, states, weight("input_layernorm"), epsilon)
      const keys = rotate(jax, project(jax, weight, normed, "k"), tables, [B * G, 1, H, K]).reshape([B, G, H, K, 1])
      const values = project(jax, weight, normed, "v").reshape([B, G, H, 1, K])
      written.push(keys.ref, values.ref)
      // There are zeros where nothing has been written.
      const keys_BGHKS = own[2 * layer]!.ref.add(keys.mul(isHere_S.ref))
      const values_BGHSK = own[2 * layer + 1]!.ref.add(values.mul(isHere_S1.ref))
      kept.push(keys_BGHKS.ref, values_BGHSK.ref)
      const queries = rotate(jax, project(jax, weight, normed, "q"), tables, [B * G, 1, H * R, K])
      const queries_BGHRK = queries.mul(1 / Math.sqrt(K)).reshape([B, G, H, R, K])
      const past = {
        promptKeys_BHKP: prompt[2 * layer]!,
        promptValues_BHPK: prompt[2 * layer + 1]!,
        keys_BGHKS,
        values_BGHSK
      }
      states = proceed(jax, config, weight, states, attend(jax, queries_BGHRK, past, padding_B111P, mask_1S))
    }
    const hidden = norm(jax, states, weights["model.norm.weight"]!, epsilon)
    return [logits(jax, weights, hidden), ...kept, ...written]
  })
