/** Runs passes over batches. The first batch with a new shape compiles its program. */
import type * as Jax from "@jax-js/jax"
import type { Tables } from "./batch.ts"
import { addLookups, lookUp } from "./embedding.ts"
import type { Shape } from "./network.ts"
import { type LossKind, makeBackward, makeForward } from "./programs.ts"
import { embeddingName } from "./snapshot.ts"
import type { Weights } from "./threadTask.ts"

/** The result of a pass with a gradient: arrays of `[B, G, C]` numbers, and the gradient of all weights. */
export interface Result {
  readonly logProbs: Float32Array
  readonly entropies: Float32Array
  readonly gradient: Float32Array<ArrayBuffer>
}

/** Compiled programs, keyed by shape. */
export interface Passes {
  readonly forward: Map<string, ReturnType<typeof makeForward>>
  readonly backward: Map<string, ReturnType<typeof makeBackward>>
}

export const make = (): Passes => ({ forward: new Map(), backward: new Map() })

/** Returns the key for a program: its model and the dimensions of its inputs. */
export const keyOf = ({ snapshot }: Weights, sizes: object): string =>
  `${JSON.stringify(snapshot.config)} ${Object.values(sizes)}`

/** Returns the program for a key, compiling it on first use. */
export const compiled = <A>(known: Map<string, A>, key: string, compile: () => A): A => {
  const found = known.get(key) ?? compile()
  known.set(key, found)
  return found
}

/** Returns new references to arrays, for a call that consumes them. */
export const shared = (arrays: ReadonlyArray<Jax.Array>): Array<Jax.Array> => arrays.map((one) => one.ref)

/** Returns the numbers in an array, which is consumed. */
export const numbersOf = async (array: Jax.Array): Promise<Float32Array> => (await array.data()) as Float32Array

/** Returns the order of the weights in calls. */
export const orderOf = ({ snapshot }: Weights): ReadonlyArray<string> => snapshot.layout.map(({ name }) => name)

/** Creates the inputs for a batch, which the program consumes. */
const inputsOf = ({ jax, snapshot, table }: Weights, shape: Shape, tables: Tables): Array<Jax.Array> => {
  const { completionTokens_C: C, completions_G: G, prompts_B: B, promptTokens_P: P } = shape
  const D = snapshot.config.hiddenSize
  const { array } = jax.numpy
  return [
    array(lookUp(table, tables.prompts, D), { shape: [B, P, D] }),
    array(lookUp(table, tables.inputs, D), { shape: [B, G * C, D] }),
    array(tables.padding, { shape: [B, P] })
  ]
}

/** Computes log-probabilities and entropies for a batch. */
export const forward = async (
  { forward: known }: Passes,
  weights: Weights,
  shape: Shape,
  tables: Tables
): Promise<Pick<Result, "logProbs" | "entropies">> => {
  const { jax, snapshot } = weights
  const { completionTokens_C: C, completions_G: G, prompts_B: B } = shape
  const pass = compiled(known, keyOf(weights, shape), () => makeForward(jax, snapshot.config, orderOf(weights), shape))
  const tokens = jax.numpy.array(tables.tokens, { shape: [B * G, C] })
  const [logProbs, entropies] = pass(shared(weights.arrays), inputsOf(weights, shape, tables), tokens)
  return { logProbs: await numbersOf(logProbs!), entropies: await numbersOf(entropies!) }
}

/** Computes log-probabilities, entropies and the gradient for a batch. */
export const backward = async (
  { backward: known }: Passes,
  weights: Weights,
  shape: Shape,
  tables: Tables,
  loss: LossKind,
  settings: ReadonlyArray<number>
): Promise<Result> => {
  const { jax, snapshot } = weights
  const { completionTokens_C: C, completions_G: G, prompts_B: B } = shape
  const key = `${loss.name} ${loss.entropy} ${keyOf(weights, shape)}`
  const pass = compiled(known, key, () => makeBackward(jax, snapshot.config, orderOf(weights), shape, loss))
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
  const gradient = new Float32Array(snapshot.layout.at(-1)!.end)
  for (const [index, { start }] of snapshot.layout.entries()) gradient.set(await numbersOf(found[index]!), start)
  const { end, start } = snapshot.layout.find(({ name }) => name === embeddingName)!
  const lookups = gradient.subarray(start, end)
  addLookups(lookups, await numbersOf(ofPrompts!), tables.prompts, snapshot.config.hiddenSize)
  addLookups(lookups, await numbersOf(ofInputs!), tables.inputs, snapshot.config.hiddenSize)
  return { logProbs: await numbersOf(logProbs!), entropies: await numbersOf(entropies!), gradient }
}
