/** The state of training, as plain numbers: weights, moments of the optimiser, and the gradient since its last step. */
import { Model, Tensor } from "@divisi/gguf"
import type { OptimizerSettings } from "@divisi/trainer/Engine"
import * as Optimizer from "./optimizer.ts"
import type { Slice, Snapshot } from "./snapshot.ts"

/** Tensors by name, in this process's own memory. */
export type Tensors = Readonly<Record<string, Tensor.DenseTensor>>

/** The state. All numbers are in the order of `snapshot.layout`. */
export interface State {
  /** The present weights. A step replaces them. */
  snapshot: Snapshot
  first: Float32Array<ArrayBuffer>
  second: Float32Array<ArrayBuffer>
  /** The gradient since the last step. */
  gradient: Float32Array<ArrayBuffer> | undefined
  steps: number
}

/** The numbers of tensors, one after another. */
export const joined = (layout: ReadonlyArray<Slice>, data: (name: string) => Float32Array) => {
  const numbers = new Float32Array(layout.at(-1)!.end)
  for (const { name, start } of layout) numbers.set(data(name), start)
  return numbers
}

let given = 0

/** Other weights of the same model. */
const keep = (model: Pick<Snapshot, "config" | "layout">, numbers: Float32Array): Snapshot => {
  const { config, layout } = model
  return { id: given++, config, layout, numbers }
}

/** A state before its first step. */
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

/** Numbers as tensors by name. */
export const named = (layout: ReadonlyArray<Slice>, numbers: Float32Array): Tensors =>
  Object.fromEntries(
    layout.map(({ end, name, shape, start }) => [name, { shape, data: numbers.subarray(start, end) }] as const)
  )

/** The weights as they are. */
export const tensorsOf = ({ snapshot: { layout, numbers } }: State): Tensors => named(layout, numbers)

/** Replaces the present state by a saved one. */
export const restore = (state: State, saved: Omit<State, "snapshot"> & { readonly numbers: Float32Array }): void => {
  const { numbers, ...rest } = saved
  Object.assign(state, rest, { snapshot: keep(state.snapshot, numbers) })
}

/** Steps. Returns the norm of the gradient before clipping, and changes nothing if the norm is not a number. */
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
    // The scales of norms, which are vectors, do not decay.
    const decay = shape.length === 1 ? 1 : terms.decay
    Optimizer.update(part(numbers), part(state.first), part(state.second), part(gradient), { ...terms, decay })
  }
  state.snapshot = keep(snapshot, numbers)
  state.steps++
  return norm
}
