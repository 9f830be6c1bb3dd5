/** What training changes: weights, moments of the optimiser, and the gradient since its last step. */
import type * as Jax from "@jax-js/jax"
import * as Model from "@tutti/gguf/Model"
import type { DenseTensor } from "@tutti/gguf/Tensor"
import * as Tensor from "@tutti/gguf/Tensor"
import type { OptimizerSettings } from "@tutti/trainer/Engine"
import type { Library } from "./network.ts"
import { makeSquares, makeStep, numbersOf } from "./optimizer.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The name of the table in which tokens are looked up. */
export const tableName = "model.embed_tokens.weight"

/** Tensors by name, in this process's own memory. */
export type Tensors = Readonly<Record<string, DenseTensor>>

/** The gradient since the last step. */
export interface Gradient {
  readonly sums: ReadonlyArray<Jax.Array>
  /** That of the lookups, which is the table's, too. */
  readonly lookups: Float32Array<ArrayBuffer>
}

/** The state. All arrays are in the order of `order`. */
export interface State {
  readonly jax: Library
  readonly config: Model.Config
  readonly order: ReadonlyArray<string>
  readonly shapes: Readonly<Record<string, ReadonlyArray<number>>>
  readonly squares: ReturnType<typeof makeSquares>
  readonly update: ReturnType<typeof makeStep>
  weights: ReadonlyArray<Jax.Array>
  first: ReadonlyArray<Jax.Array>
  second: ReadonlyArray<Jax.Array>
  /** A copy of the weights' table. */
  table: Float32Array
  gradient: Gradient | undefined
  steps: number
}

// -------------------------------------------------------------------------------------------------------------------
// Arrays
// -------------------------------------------------------------------------------------------------------------------

/** Frees arrays; those that a call has consumed, and then failed, are free already. */
export const dispose = (arrays: Iterable<Jax.Array>): void => {
  for (const one of arrays) if (one.refCount > 0) one.dispose()
}

/** Shares arrays with a call that consumes them. */
export const shared = (arrays: ReadonlyArray<Jax.Array>): Array<Jax.Array> => arrays.map((one) => one.ref)

/** The numbers of an array, which stays. */
export const numbers = async (array: Jax.Array): Promise<Float32Array<ArrayBuffer>> =>
  new Float32Array(((await array.ref.data()) as Float32Array).slice())

/** Arrays that the library holds, of numbers that are copied. */
export const arraysOf = (
  { jax, order, shapes }: Pick<State, "jax" | "order" | "shapes">,
  data: (name: string) => Float32Array | undefined
): ReadonlyArray<Jax.Array> =>
  order.map((name) => {
    const shape = [...shapes[name]!]
    const found = data(name)
    return jax.numpy.array(found === undefined ? new Float32Array(Tensor.size(shape)) : found.slice(), { shape })
  })

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** A state before its first step. */
export const make = (jax: Library, config: Model.Config, tensors: Tensors): State => {
  const shapes = Model.shapes(config)
  const order = Object.keys(shapes)
  const parts = { jax, order, shapes }
  return {
    ...parts,
    config,
    squares: makeSquares(jax),
    update: makeStep(jax),
    weights: arraysOf(parts, (name) => tensors[name]!.data),
    first: arraysOf(parts, () => undefined),
    second: arraysOf(parts, () => undefined),
    table: tensors[tableName]!.data.slice(),
    gradient: undefined,
    steps: 0
  }
}

/** Frees everything. */
export const release = (state: State): void => {
  for (const arrays of [state.weights, state.first, state.second, state.gradient?.sums ?? []]) dispose(arrays)
  state.squares.dispose()
  state.update.dispose()
}

/** The weights as they are. */
export const tensorsOf = async (state: State): Promise<Tensors> => {
  const found: Record<string, DenseTensor> = {}
  for (const [index, name] of state.order.entries()) {
    found[name] = { shape: state.shapes[name]!, data: await numbers(state.weights[index]!) }
  }
  return found
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** A gradient of zeros. */
export const noGradient = (state: State): Gradient => ({
  sums: arraysOf(state, () => undefined),
  lookups: new Float32Array(state.table.length)
})

/** The gradient so far, to be added to: what becomes of the copy does not change it. */
export const copyGradient = (state: State): Gradient =>
  state.gradient === undefined
    ? noGradient(state)
    : { sums: shared(state.gradient.sums), lookups: state.gradient.lookups.slice() }

/** The whole gradient, that of lookups taken in. */
const gathered = (state: State, { lookups, sums }: Gradient): ReadonlyArray<Jax.Array> => {
  const table = state.order.indexOf(tableName)
  const shape = [...state.shapes[tableName]!]
  const ofLookups = state.jax.numpy.array(lookups.slice(), { shape })
  return sums.map((sum, index) => (index === table ? sum.ref.add(ofLookups) : sum.ref))
}

/** The whole gradient by name; empty where there is none. */
export const gradientOf = async (state: State): Promise<ReadonlyArray<readonly [string, Float32Array]>> => {
  const found: Array<readonly [string, Float32Array]> = []
  const gradient = state.gradient === undefined ? [] : gathered(state, state.gradient)
  for (const [index, one] of gradient.entries()) {
    found.push([state.order[index]!, await numbers(one)])
    one.dispose()
  }
  return found
}

/** Forgets the gradient. */
export const forget = (state: State): void => {
  if (state.gradient !== undefined) dispose(state.gradient.sums)
  state.gradient = undefined
}

/** Steps; gives the norm of the gradient before it was cut, and changes nothing where that is no number. */
export const step = async (state: State, settings: OptimizerSettings): Promise<number> => {
  const { jax } = state
  const gradient = gathered(state, state.gradient ?? noGradient(state))
  forget(state)
  const [squares] = state.squares(shared(gradient))
  const norm = Math.sqrt((await squares!.data())[0]!)
  if (!Number.isFinite(norm)) {
    dispose(gradient)
    return norm
  }
  const settled = jax.numpy.array(numbersOf(settings, state.steps, norm))
  const changed = state.update(shared(state.weights), shared(state.first), shared(state.second), [...gradient], settled)
  await jax.blockUntilReady(changed)
  for (const old of [state.weights, state.first, state.second]) dispose(old)
  state.weights = changed[0]!
  state.first = changed[1]!
  state.second = changed[2]!
  state.table = await numbers(state.weights[state.order.indexOf(tableName)]!)
  state.steps++
  return norm
}
