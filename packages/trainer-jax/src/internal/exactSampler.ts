/**
 * Samples with the engine's own arithmetic, in shapes that depend only on a request. Its tokens and log-probabilities
 * are therefore bitwise identical, regardless of other requests.
 *
 * Completions of one prompt are computed together. Prompts with equal numbers of completions are also combined if this
 * does not change any bit. Requests for one completion are computed in a fixed number of slots, whose contents do not
 * affect each other.
 */

import type { Sample, SampleRequest } from "@divisi/trainer/Engine"
import type * as Jax from "@jax-js/jax"
import { leastCompletion, leastPrompt, padded, powerOfTwo } from "./batch.ts"
import { choose, uniforms } from "./choose.ts"
import { type DecodingShape, makeDecode, makePrefill, type Place, placeOf } from "./decoding.ts"
import { lookUp } from "./embedding.ts"
import { type Library, sizesOf, unseen } from "./network.ts"
import { compiled, keyOf, numbersOf, orderOf, shared } from "./passes.ts"
import type { Weights } from "./threadTask.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A request whose completions are computed together. */
export type Part = SampleRequest & { readonly count: number }

/** Compiled decoders, keyed by shape. */
export interface Decoders {
  readonly prefill: Map<string, ReturnType<typeof makePrefill>>
  readonly decode: Map<string, ReturnType<typeof makeDecode>>
}

export const make = (): Decoders => ({ prefill: new Map(), decode: new Map() })

/** A completion in progress. */
interface Draft {
  readonly prompt: ReadonlyArray<number>
  readonly limit: number
  readonly next: () => number
  readonly tokens: Array<number>
  readonly logProbs: Array<number>
  reason: Sample["reason"] | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Shapes
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of completions of one prompt that are computed at once. */
export const most = 16

/** Number of requests for one completion that are computed at once. */
const places = 8

/** Maximum number of requests for several completions that are computed at once. */
const mostTogether = 4

/** Minimum number of rows per prompt at which a row's result does not depend on the number of prompts. */
const leastTogether = 8

/** Number of blocks per completion, each of which has a separate shape. */
const mostBlocks = 4

/** Returns the shape used to compute batched parts. */
const shapeOf = ({ count, maxTokens, prompt }: Part, prompts = 1): DecodingShape => ({
  prompts_B: count === 1 ? places : prompts,
  promptTokens_P: padded(prompt.length - 1, leastPrompt),
  completions_G: powerOfTwo(count),
  written_W: 0,
  block_S: Math.max(leastCompletion, padded(maxTokens, leastCompletion) / mostBlocks)
})

/** Removes an item from a queue. */
export const withdraw = <A>(queue: Array<A>, one: A): void => {
  const at = queue.indexOf(one)
  if (at >= 0) queue.splice(at, 1)
}

/**
 * Takes a part from a queue, with others that fit into the same pass, leaving a share of the pending parts to other
 * threads. Returns nothing if the part has already been taken.
 */
export const take = <A extends { readonly part: Part }>(
  queue: Array<A>,
  first: A,
  threads: number
): ReadonlyArray<A> => {
  if (!queue.includes(first)) return []
  const key = ({ part }: A) => Object.values(shapeOf(part)).join()
  const others = queue.filter((one) => one !== first && key(one) === key(first))
  const share = Math.max(1, Math.min(mostTogether, 2 ** Math.floor(Math.log2((others.length + 1) / threads))))
  const { completions_G, prompts_B } = shapeOf(first.part)
  const taken = [first, ...others.slice(0, (completions_G < leastTogether ? prompts_B : share) - 1)]
  for (const one of taken) withdraw(queue, one)
  return taken
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Computes the state of a prompt: the keys and values for all layers, followed by its padding, `[1, P]`. */
const prefill = (
  decoders: Decoders,
  weights: Weights,
  prompt: ReadonlyArray<number>,
  { promptTokens_P: P }: DecodingShape
): Array<Jax.Array> => {
  const { jax, snapshot, table } = weights
  const { array } = jax.numpy
  const { hiddenSize: D } = snapshot.config
  const run = compiled(decoders.prefill, keyOf(weights, [P]), () =>
    makePrefill(jax, snapshot.config, orderOf(weights), P)
  )
  const start = P - (prompt.length - 1)
  const tokens = new Int32Array(P).fill(-1)
  tokens.set(prompt.slice(0, -1), start)
  const padding_1P = array(
    Float32Array.from({ length: P }, (_, place) => (place < start ? unseen : 0)),
    { shape: [1, P] }
  )
  const embedded = array(lookUp(table, tokens, D), { shape: [P, D] })
  return [...run(shared(weights.arrays), embedded, padding_1P.ref), padding_1P]
}

/**
 * Prefills several prompts, repeating the first one in unused slots. Returns the state of each, with slots as the first
 * axis. Prompts are computed and awaited one at a time, because jax-js retains all intermediate results until then.
 */
const prefillAll = async (
  decoders: Decoders,
  weights: Weights,
  prompts: ReadonlyArray<ReadonlyArray<number>>,
  shape: DecodingShape
): Promise<Array<Jax.Array>> => {
  const known: Array<Array<Jax.Array>> = []
  for (const prompt of prompts) {
    known.push(await weights.jax.blockUntilReady(prefill(decoders, weights, prompt, shape)))
  }
  if (shape.prompts_B === 1) return known[0]!
  const places = Array.from({ length: shape.prompts_B }, (_, place) => known[place] ?? known[0]!)
  const all = known[0]!.map((_, index) => weights.jax.numpy.concatenate(places.map((one) => one[index]!.ref)))
  for (const array of known.flat()) array.dispose()
  return all
}

/** Returns the keys and values of an empty block. */
const nothingKept = ({ jax, snapshot: { config } }: Weights, shape: DecodingShape): Array<Jax.Array> => {
  const { headSize_K: K, heads_H: H } = sizesOf(config)
  const { block_S: S, completions_G: G, prompts_B: B } = shape
  const sizes = [
    [B, G, H, K, S],
    [B, G, H, S, K]
  ]
  return Array.from({ length: 2 * config.layers }, (_, index) => jax.numpy.zeros(sizes[index % 2]!))
}

/** Appends a block to the full blocks. */
const joined = (jax: Library, written: ReadonlyArray<Jax.Array>, block: ReadonlyArray<Jax.Array>): Array<Jax.Array> =>
  block.map((array, index) =>
    written.length === 0 ? array : jax.numpy.concatenate([written[index]!, array], index % 2 === 0 ? 4 : 3)
  )

const arraysOf = ({ cosines, isHere_S, mask_1S, sines }: Place): Array<Jax.Array> => [cosines, sines, isHere_S, mask_1S]

const draftsOf = ({ count, maxTokens, prompt, seed }: Part): ReadonlyArray<Draft> =>
  Array.from({ length: count }, (_, index) => {
    return { prompt, limit: maxTokens, next: uniforms(seed + index), tokens: [], logProbs: [], reason: undefined }
  })

const append = (draft: Draft, logits: Float32Array, endToken: number): void => {
  if (draft.reason !== undefined) return
  const { logProb, token } = choose(logits, draft.next())
  draft.tokens.push(token)
  draft.logProbs.push(logProb)
  if (token === endToken) draft.reason = "stop"
  else if (draft.tokens.length === draft.limit) draft.reason = "length"
}

const sampleOf = ({ logProbs, reason = "length", tokens }: Draft): Sample => ({ tokens, logProbs, reason })

/** Samples parts with the same shape and returns the completions of each. */
export const sample = async (
  decoders: Decoders,
  weights: Weights,
  parts: ReadonlyArray<Part>,
  endToken: number
): Promise<ReadonlyArray<ReadonlyArray<Sample>>> => {
  const { arrays, jax, snapshot, table } = weights
  const { config } = snapshot
  const { hiddenSize: D, vocabularySize: V } = config
  const shape = shapeOf(parts[0]!, parts.length)
  const rows = shape.prompts_B * shape.completions_G
  const prompts = parts.map(({ prompt }) => prompt)
  const ofPrompts = await prefillAll(decoders, weights, prompts, shape)
  const padding_BP = ofPrompts.pop()!
  let written: Array<Jax.Array> = []
  let block = nothingKept(weights, shape)
  const drafts = parts.map(draftsOf)
  // The results in unused slots are discarded.
  const drafted = Array.from({ length: rows }, (_, row) => {
    const [prompt, completion] = [Math.floor(row / shape.completions_G), row % shape.completions_G]
    return drafts[prompt]?.[completion] ?? drafts[0]![0]!
  })
  try {
    for (let place = 0; drafts.flat().some(({ reason }) => reason === undefined); place++) {
      const inputs = Int32Array.from(drafted, ({ prompt, tokens }) => tokens.at(-1) ?? prompt.at(-1)!)
      const inBlock = place % shape.block_S
      if (place > 0 && inBlock === 0) {
        written = joined(jax, written, block)
        block = nothingKept(weights, shape)
      }
      const window = { ...shape, written_W: place - inBlock }
      const decode = compiled(decoders.decode, keyOf(weights, window), () =>
        makeDecode(jax, config, orderOf(weights), window)
      )
      const taken = block
      block = []
      const [logits, ...next] = decode(
        shared(arrays),
        shared(ofPrompts),
        shared(written),
        taken,
        jax.numpy.array(lookUp(table, inputs, D), { shape: [rows, D] }),
        padding_BP.ref,
        arraysOf(placeOf(jax, config, window, inBlock))
      )
      block = next.slice(0, 2 * config.layers)
      for (const array of next.slice(2 * config.layers)) array.dispose()
      const values = await numbersOf(logits!)
      for (const [prompt, some] of drafts.entries()) {
        for (const [completion, draft] of some.entries()) {
          const row = prompt * shape.completions_G + completion
          append(draft, values.subarray(row * V, (row + 1) * V), endToken)
        }
      }
    }
    return drafts.map((some) => some.map(sampleOf))
  } finally {
    for (const array of [...ofPrompts, ...written, ...block, padding_BP]) array.dispose()
  }
}
