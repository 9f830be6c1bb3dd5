/**
 * The training state as plain numbers: weights, optimizer moments, and the gradient accumulated since the last step.
 */
import { Model, Tensor } from "@divisi/gguf"
import type { OptimizerSettings } from "@divisi/trainer/Engine"
import * as Optimizer from "./optimizer.ts"
import type { Slice, Snapshot } from "./snapshot.ts"

/** Tensors keyed by name, in the memory of this process. */
export type Tensors = Readonly<Record<string, Tensor.DenseTensor>>

/** The training state. All numbers are in the order of `snapshot.layout`. */
export interface State {
  /** The current weights. A step replaces them. */
  snapshot: Snapshot
  first: Float32Array<ArrayBuffer>
  second: Float32Array<ArrayBuffer>
  /** The gradient accumulated since the last step. */
  gradient: Float32Array<ArrayBuffer> | undefined
  steps: number
}

/** Concatenates the numbers of tensors. */
export const joined = (layout: ReadonlyArray<Slice>, data: (name: string) => Float32Array) => {
  const numbers = new Float32Array(layout.at(-1)!.end)
  for (const { name, start } of layout) numbers.set(data(name), start)
  return numbers
}

let given = 0

/** Creates a snapshot with different weights for the same model. */
const keep = (model: Pick<Snapshot, "config" | "layout">, numbers: Float32Array): Snapshot => {
  const { config, layout } = model
  return { id: given++, config, layout, numbers }
}

/** Creates the state before the first step. */
export const make = (config: Model.Config, tensors: Tensors): State => {
  let end = 0
  const layout = Object.entries(Model.shapes(config)).map(([name, shape]) => {
    const start = end
    end += Tensor.size(shape)
    return { name, shape, start, end }
  })
  const numbers = joined(layout, (name) => tensors[name]!.data)
  return {
    snapshot: keep({ config, layout }, numbers),
    first: new Float32Array(end),
    second: new Float32Array(end),
    gradient: undefined,
    steps: 0
  }
}

/** Returns numbers as tensors keyed by name. */
export const named = (layout: ReadonlyArray<Slice>, numbers: Float32Array): Tensors =>
  Object.fromEntries(
    layout.map(({ end, name, shape, start }) => [name, { shape, data: numbers.subarray(start, end) }] as const)
  )

/** Returns the current weights as tensors. */
export const tensorsOf = ({ snapshot: { layout, numbers } }: State): Tensors => named(layout, numbers)

/** Replaces the current state with a saved one. */
export const restore = (state: State, saved: Omit<State, "snapshot"> & { readonly numbers: Float32Array }): void => {
  const { numbers, ...rest } = saved
  Object.assign(state, rest, { snapshot: keep(state.snapshot, numbers) })
}

/**
 * Applies an optimizer step. Returns the norm of the gradient before clipping, and changes nothing if the norm is not a
 * number.
 */
export const step = (state: State, settings: OptimizerSettings): number => {
  const { snapshot } = state
  const gradient = state.gradient ?? new Float32Array(snapshot.numbers.length)
  state.gradient = undefined
  const norm = Optimizer.norm(gradient)
  if (!Number.isFinite(norm)) return norm
  const numbers = snapshot.numbers.slice()
  const terms = Optimizer.termsOf(settings, state.steps, norm)
  for (const { end, shape, start } of snapshot.layout) {
    const part = (all: Float32Array) => all.subarray(start, end)
    // Norm scales, which are vectors, have no weight decay.
    const decay = shape.length === 1 ? 1 : terms.decay
    Optimizer.update(part(numbers), part(state.first), part(state.second), part(gradient), { ...terms, decay })
  }
  state.snapshot = keep(snapshot, numbers)
  state.steps++
  return norm
}
