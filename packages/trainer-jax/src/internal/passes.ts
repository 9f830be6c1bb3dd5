/** Runs passes over batches: each shape is compiled when it first comes. */
import type * as Jax from "@jax-js/jax"
import type { Datum, Loss } from "@tutti/trainer/Engine"
import { type Batch, offset, type Tables, tablesOf } from "./batch.ts"
import { addLookups, lookUp } from "./embedding.ts"
import { hasEntropy, makeBackward, makeForward, settingsOf } from "./pass.ts"
import * as State from "./state.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a pass found, by the place of each datum. */
export interface Found {
  readonly logProbs: Array<Float32Array>
  readonly entropies: Array<Float32Array>
}

/** Passes that are compiled. */
export interface Passes {
  readonly forward: Map<string, ReturnType<typeof makeForward>>
  readonly backward: Map<string, ReturnType<typeof makeBackward>>
}

export const make = (): Passes => ({ forward: new Map(), backward: new Map() })

/** Frees what is compiled. */
export const release = ({ backward, forward }: Passes): void => {
  for (const pass of [...forward.values(), ...backward.values()]) pass.dispose()
}

const compiled = <A>(known: Map<string, A>, key: string, compile: () => A): A => {
  const found = known.get(key) ?? compile()
  known.set(key, found)
  return found
}

// -------------------------------------------------------------------------------------------------------------------
// Passes
// -------------------------------------------------------------------------------------------------------------------

/** The inputs of a batch, which the pass consumes. */
const inputsOf = (state: State.State, { shape }: Batch, tables: Tables): Array<Jax.Array> => {
  const { completionTokens_C: C, completions_G: G, prompts_B: B, promptTokens_P: P } = shape
  const D = state.config.hiddenSize
  const { array } = state.jax.numpy
  return [
    array(lookUp(state.table, tables.prompts, D), { shape: [B, P, D] }),
    array(lookUp(state.table, tables.inputs, D), { shape: [B, G * C, D] }),
    array(tables.padding, { shape: [B, P] })
  ]
}

/** Takes the numbers of each datum out of those of a batch. */
const read = (data: ReadonlyArray<Datum>, { rows, shape }: Batch, values: Float32Array, into: Array<Float32Array>) => {
  for (const [row, { places }] of rows.entries()) {
    for (const [place, index] of places.entries()) {
      const at = offset(shape, row, place)
      into[index] = new Float32Array(values.subarray(at, at + data[index]!.completion.length))
    }
  }
}

const keyOf = ({ shape }: Batch): string => Object.values(shape).join()

/** Log-probabilities and entropies of a batch, into `found`. */
export const forward = async (
  { forward: known }: Passes,
  state: State.State,
  data: ReadonlyArray<Datum>,
  batch: Batch,
  found: Found
): Promise<void> => {
  const { config, jax, order } = state
  const { completionTokens_C: C, completions_G: G, prompts_B: B } = batch.shape
  const pass = compiled(known, keyOf(batch), () => makeForward(jax, config, order, batch.shape))
  const tables = tablesOf(data, batch)
  const tokens = jax.numpy.array(tables.tokens, { shape: [B * G, C] })
  const [logProbs, entropies] = pass(State.shared(state.weights), inputsOf(state, batch, tables), tokens)
  read(data, batch, (await logProbs!.data()) as Float32Array, found.logProbs)
  read(data, batch, (await entropies!.data()) as Float32Array, found.entropies)
}

/** As {@link forward}; gives the gradient that was given with that of the batch, and frees the former. */
export const backward = async (
  { backward: known }: Passes,
  state: State.State,
  data: ReadonlyArray<Datum>,
  batch: Batch,
  loss: Loss,
  gradient: State.Gradient,
  found: Found
): Promise<State.Gradient> => {
  const { config, jax, order } = state
  const { completionTokens_C: C, completions_G: G, prompts_B: B } = batch.shape
  const kind = { name: loss.type, entropy: hasEntropy(loss) }
  const key = `${kind.name} ${kind.entropy} ${keyOf(batch)}`
  const pass = compiled(known, key, () => makeBackward(jax, config, order, batch.shape, kind))
  const tables = tablesOf(data, batch)
  const table = (values: Float32Array<ArrayBuffer>) => jax.numpy.array(values, { shape: [B * G, C] })
  const given = [
    table(tables.tokens),
    table(tables.weights),
    table(tables.advantages),
    table(tables.logProbs),
    table(tables.shares),
    jax.numpy.array(Float32Array.from(settingsOf(loss)))
  ]
  const inputs = inputsOf(state, batch, tables)
  const [logProbs, entropies, ofPrompts, ofInputs, ...sums] = pass(
    State.shared(state.weights),
    [...gradient.sums],
    inputs,
    given
  )
  read(data, batch, (await logProbs!.data()) as Float32Array, found.logProbs)
  read(data, batch, (await entropies!.data()) as Float32Array, found.entropies)
  const size = config.hiddenSize
  addLookups(gradient.lookups, (await ofPrompts!.data()) as Float32Array, tables.prompts, size)
  addLookups(gradient.lookups, (await ofInputs!.data()) as Float32Array, tables.inputs, size)
  await jax.blockUntilReady(sums)
  return { sums, lookups: gradient.lookups }
}
