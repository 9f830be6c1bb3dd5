/**
 * Samples by the engine's own arithmetic, in shapes that follow from a request alone, so that its tokens and their
 * log-probabilities are the same bits whatever else is sampled.
 *
 * Completions of one prompt are computed together. Requests for one completion are computed several at a time, in as
 * many places as there always are; what stands in the other places does not change a bit.
 */
import type * as Jax from "@jax-js/jax"
import type { Sample, SampleRequest } from "@tutti/trainer/Engine"
import { padded } from "./batch.ts"
import { choose, uniforms } from "./choose.ts"
import { type DecodingShape, makeDecode, makePrefill, type Place, placeOf } from "./decoding.ts"
import { lookUp } from "./embedding.ts"
import { sizesOf, unseen } from "./network.ts"
import * as State from "./state.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A request whose completions are computed together. */
export type Part = Required<SampleRequest>

/** Weights of one moment. */
export interface Snapshot {
  readonly weights: ReadonlyArray<Jax.Array>
  readonly table: Float32Array
}

/** What is compiled, by its shape. */
export interface Decoders {
  readonly prefill: Map<string, ReturnType<typeof makePrefill>>
  readonly decode: Map<string, ReturnType<typeof makeDecode>>
}

export const make = (): Decoders => ({ prefill: new Map(), decode: new Map() })

/** Frees what is compiled. */
export const release = ({ decode, prefill }: Decoders): void => {
  for (const one of [...prefill.values(), ...decode.values()]) one.dispose()
}

type Origin = Pick<State.State, "jax" | "config" | "order">

/** A completion in the making. */
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

/** Completions of one prompt that are computed at once. */
export const most = 16

/** Requests for one completion that are computed at once. */
const places = 8

const powerOfTwo = (count: number): number => 2 ** Math.ceil(Math.log2(count))

/** In what shape a part is computed: it follows from the part alone. */
export const shapeOf = ({ count, maxTokens, prompt }: Part): DecodingShape => ({
  prompts_B: count === 1 ? places : 1,
  promptTokens_P: padded(prompt.length - 1, 16),
  completions_G: powerOfTwo(count),
  tokens_S: padded(maxTokens, 16)
})

/** Takes the first part of a queue, and others that are computed in the same places. */
export const take = <A extends { readonly part: Part }>(queue: Array<A>): ReadonlyArray<A> => {
  const key = ({ part }: A) => Object.values(shapeOf(part)).join()
  const first = queue[0]
  if (first === undefined) return []
  const { prompts_B } = shapeOf(first.part)
  const taken = queue.filter((one) => key(one) === key(first)).slice(0, prompts_B)
  for (const one of taken) queue.splice(queue.indexOf(one), 1)
  return taken
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

const prefill = (
  decoders: Decoders,
  { config, jax, order }: Origin,
  { table, weights }: Snapshot,
  prompts: ReadonlyArray<ReadonlyArray<number>>,
  { prompts_B: B, promptTokens_P: P }: DecodingShape
) => {
  const { array } = jax.numpy
  const key = `${B},${P}`
  const known = decoders.prefill.get(key) ?? makePrefill(jax, config, order, { prompts_B: B, promptTokens_P: P })
  decoders.prefill.set(key, known)
  const tokens = new Int32Array(B * P).fill(-1)
  const padding = new Float32Array(B * P).fill(unseen)
  for (let row = 0; row < B; row++) {
    const prompt = prompts[row] ?? prompts[0]!
    const start = (row + 1) * P - (prompt.length - 1)
    tokens.set(prompt.slice(0, -1), start)
    padding.fill(0, start, (row + 1) * P)
  }
  const padding_BP = array(padding, { shape: [B, P] })
  const embedded = array(lookUp(table, tokens, config.hiddenSize), { shape: [B, P, config.hiddenSize] })
  return { kept: known(State.shared(weights), embedded, padding_BP.ref), padding_BP }
}

const nothingKept = ({ config, jax }: Origin, shape: DecodingShape): Array<Jax.Array> => {
  const { headSize_K, heads_H } = sizesOf(config)
  const sizes = [shape.prompts_B, shape.completions_G, shape.tokens_S, heads_H, headSize_K]
  return Array.from({ length: 2 * config.layers }, () => jax.numpy.zeros(sizes))
}

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

/** Samples parts of one shape: the completions of each. */
export const sample = async (
  decoders: Decoders,
  origin: Origin,
  snapshot: Snapshot,
  parts: ReadonlyArray<Part>,
  endToken: number
): Promise<ReadonlyArray<ReadonlyArray<Sample>>> => {
  const { config, jax, order } = origin
  const { hiddenSize: D, vocabularySize: V } = config
  const shape = shapeOf(parts[0]!)
  const rows = shape.prompts_B * shape.completions_G
  const key = Object.values(shape).join()
  const decode = decoders.decode.get(key) ?? makeDecode(jax, config, order, shape)
  decoders.decode.set(key, decode)
  const prompts = parts.map(({ prompt }) => prompt)
  const { kept, padding_BP } = prefill(decoders, origin, snapshot, prompts, shape)
  let own = nothingKept(origin, shape)
  const drafts = parts.map(draftsOf)
  const all = drafts.flat()
  try {
    for (let place = 0; all.some(({ reason }) => reason === undefined); place++) {
      const inputs = Int32Array.from({ length: rows }, (_, row) => {
        const draft = all[row] ?? all[0]!
        return draft.tokens.at(-1) ?? draft.prompt.at(-1)!
      })
      const taken = own
      own = []
      const [logits, ...next] = decode(
        State.shared(snapshot.weights),
        State.shared(kept),
        taken,
        jax.numpy.array(lookUp(snapshot.table, inputs, D), { shape: [rows, D] }),
        padding_BP.ref,
        arraysOf(placeOf(jax, config, shape, place))
      )
      own = next
      const values = (await logits!.data()) as Float32Array
      for (const [row, draft] of all.entries()) append(draft, values.subarray(row * V, (row + 1) * V), endToken)
    }
    return drafts.map((some) => some.map(sampleOf))
  } finally {
    State.dispose([...kept, ...own, padding_BP])
  }
}
