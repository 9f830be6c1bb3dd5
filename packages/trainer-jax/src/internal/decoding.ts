/**
 * The network one token at a time, for sampling: keys and values of a prompt are computed once for all its completions,
 * those of the completions are kept.
 *
 * Shapes are named as in `network.ts`; S is how many tokens a completion may have.
 */

import type * as Model from "@divisi/gguf/Model"
import type * as Jax from "@jax-js/jax"
import {
  attendToBoth,
  attendToSelf,
  causal,
  type Library,
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

/** Keys and values of all layers of a prompt, `[1, P, H, K]` each, from its embeddings `[P, D]`. */
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
      kept.push(keys.ref, values.ref)
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

/**
 * The logits behind the last token of each completion, `[B * G, V]`, and the keys and values of the completions with
 * that token's, `[B, G, S, H, K]` for each layer.
 */
export const makeDecode = (jax: Library, config: Model.Config, order: Order, shape: DecodingShape) =>
  jax.jit((arrays: Arrays, prompt: Arrays, own: Arrays, tokens_ND: Jax.Array, padding_BP: Jax.Array, place: Arrays) => {
    const weights: Weights = named(order, arrays)
    const { epsilon, group_R: R, headSize_K: K, heads_H: H } = sizesOf(config)
    const { completions_G: G, prompts_B: B, promptTokens_P: P, tokens_S: S } = shape
    const [cosines, sines, isHere_S, mask_1S] = place as [Jax.Array, Jax.Array, Jax.Array, Jax.Array]
    const tables = { cosines, sines }
    const isHere = isHere_S.ref.reshape([1, 1, S, 1, 1]).notEqual(0)
    const mask_B111P = padding_BP.ref.reshape([B, 1, 1, 1, P])
    const write = (kept: Jax.Array, found: Jax.Array) =>
      jax.numpy.where(isHere.ref, found.reshape([B, G, 1, H, K]), kept.ref) as Jax.Array
    let states = tokens_ND.ref
    const kept: Arrays = []
    for (let layer = 0; layer < config.layers; layer++) {
      const weight = layerOf(weights, layer)
      const normed = norm(jax, states, weight("input_layernorm"), epsilon)
      const keys = rotate(jax, project(jax, weight, normed, "k"), tables, [B * G, 1, H, K])
      const keys_BGCHK = write(own[2 * layer]!, keys)
      const values_BGCHK = write(own[2 * layer + 1]!, project(jax, weight, normed, "v"))
      kept.push(keys_BGCHK.ref, values_BGCHK.ref)
      const queries = rotate(jax, project(jax, weight, normed, "q"), tables, [B * G, 1, H * R, K])
      const found = attendToBoth(
        jax,
        queries.mul(1 / Math.sqrt(K)).reshape([B, G, 1, H, R, K]),
        { keys_BPHK: prompt[2 * layer]!, values_BPHK: prompt[2 * layer + 1]!, mask_B111P },
        { keys_BGCHK, values_BGCHK, mask_CC: mask_1S }
      )
      states = proceed(jax, config, weight, states, found)
    }
    const hidden = norm(jax, states, weights["model.norm.weight"]!, epsilon)
    return [logits(jax, weights, hidden), ...kept]
  })
