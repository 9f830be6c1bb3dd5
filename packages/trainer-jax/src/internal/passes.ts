/** Runs passes over batches: each shape is compiled when it first comes. */
import type * as Jax from "@jax-js/jax"
import type { Tables } from "./batch.ts"
import { addLookups, lookUp } from "./embedding.ts"
import { tableName } from "./kept.ts"
import type { Shape } from "./network.ts"
import { type LossKind, makeBackward, makeForward } from "./pass.ts"
import type { Weights } from "./work.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a pass with a gradient found: `[B, G, C]` numbers each, and the gradient of all weights. */
export interface Result {
  readonly logProbs: Float32Array
  readonly entropies: Float32Array
  readonly gradient: Float32Array<ArrayBuffer>
}

/** Passes that are compiled. */
export interface Passes {
  readonly forward: Map<string, ReturnType<typeof makeForward>>
  readonly backward: Map<string, ReturnType<typeof makeBackward>>
}

export const make = (): Passes => ({ forward: new Map(), backward: new Map() })

/** What tells programs of one kind apart: the model that they are for, and the sizes of what they are given. */
export const keyOf = ({ kept }: Weights, sizes: object): string =>
  `${JSON.stringify(kept.config)} ${Object.values(sizes)}`

/** What was made under a key, or is made now. */
export const compiled = <A>(known: Map<string, A>, key: string, compile: () => A): A => {
  const found = known.get(key) ?? compile()
  known.set(key, found)
  return found
}

// -------------------------------------------------------------------------------------------------------------------
// Arrays
// -------------------------------------------------------------------------------------------------------------------

/** Shares arrays with a call that consumes them. */
export const shared = (arrays: ReadonlyArray<Jax.Array>): Array<Jax.Array> => arrays.map((one) => one.ref)

/** The numbers of an array, which is consumed. */
export const numbersOf = async (array: Jax.Array): Promise<Float32Array> => (await array.data()) as Float32Array

/** The order of the weights in calls. */
export const orderOf = ({ kept }: Weights): ReadonlyArray<string> => kept.layout.map(({ name }) => name)

// -------------------------------------------------------------------------------------------------------------------
// Passes
// -------------------------------------------------------------------------------------------------------------------

/** The inputs of a batch, which the pass consumes. */
const inputsOf = ({ jax, kept, table }: Weights, shape: Shape, tables: Tables): Array<Jax.Array> => {
  const { completionTokens_C: C, completions_G: G, prompts_B: B, promptTokens_P: P } = shape
  const D = kept.config.hiddenSize
  const { array } = jax.numpy
  return [
    array(lookUp(table, tables.prompts, D), { shape: [B, P, D] }),
    array(lookUp(table, tables.inputs, D), { shape: [B, G * C, D] }),
    array(tables.padding, { shape: [B, P] })
  ]
}

/** Log-probabilities and entropies of a batch. */
export const forward = async (
  { forward: known }: Passes,
  weights: Weights,
  shape: Shape,
  tables: Tables
): Promise<Pick<Result, "logProbs" | "entropies">> => {
  const { jax, kept } = weights
  const { completionTokens_C: C, completions_G: G, prompts_B: B } = shape
  const pass = compiled(known, keyOf(weights, shape), () => makeForward(jax, kept.config, orderOf(weights), shape))
  const tokens = jax.numpy.array(tables.tokens, { shape: [B * G, C] })
  const [logProbs, entropies] = pass(shared(weights.arrays), inputsOf(weights, shape, tables), tokens)
  return { logProbs: await numbersOf(logProbs!), entropies: await numbersOf(entropies!) }
}

/** As {@link forward}, with the gradient of the batch. */
export const backward = async (
  { backward: known }: Passes,
  weights: Weights,
  shape: Shape,
  tables: Tables,
  loss: LossKind,
  settings: ReadonlyArray<number>
): Promise<Result> => {
  const { jax, kept } = weights
  const { completionTokens_C: C, completions_G: G, prompts_B: B } = shape
  const key = `${loss.name} ${loss.entropy} ${keyOf(weights, shape)}`
  const pass = compiled(known, key, () => makeBackward(jax, kept.config, orderOf(weights), shape, loss))
  const table = (values: Float32Array<ArrayBuffer>) => jax.numpy.array(values, { shape: [B * G, C] })
  const given = [
    table(tables.tokens),
    table(tables.weights),
    table(tables.advantages),
    table(tables.logProbs),
    table(tables.shares),
    jax.numpy.array(Float32Array.from(settings))
  ]
  const inputs = inputsOf(weights, shape, tables)
  const [logProbs, entropies, ofPrompts, ofInputs, ...found] = pass(shared(weights.arrays), inputs, given)
  const gradient = new Float32Array(kept.layout.at(-1)!.end)
  for (const [index, { start }] of kept.layout.entries()) gradient.set(await numbersOf(found[index]!), start)
  const { end, start } = kept.layout.find(({ name }) => name === tableName)!
  const lookups = gradient.subarray(start, end)
  addLookups(lookups, await numbersOf(ofPrompts!), tables.prompts, kept.config.hiddenSize)
  addLookups(lookups, await numbersOf(ofInputs!), tables.inputs, kept.config.hiddenSize)
  return { logProbs: await numbersOf(logProbs!), entropies: await numbersOf(entropies!), gradient }
}
