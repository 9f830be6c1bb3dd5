/** What training changes: weights, moments of the optimiser, and the gradient since its last step, as plain numbers. */
import * as Model from "@divisi/gguf/Model"
import type { DenseTensor } from "@divisi/gguf/Tensor"
import * as Tensor from "@divisi/gguf/Tensor"
import type { OptimizerSettings } from "@divisi/trainer/Engine"
import type { Kept, Slice } from "./kept.ts"
import * as Optimizer from "./optimizer.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Tensors by name, in this process's own memory. */
export type Tensors = Readonly<Record<string, DenseTensor>>

/** The state. All numbers are in the order of `kept.layout`. */
export interface State {
  /** The present weights, whose numbers never change: a step puts others in their place. */
  kept: Kept
  first: Float32Array<ArrayBuffer>
  second: Float32Array<ArrayBuffer>
  /** The gradient since the last step. */
  gradient: Float32Array<ArrayBuffer> | undefined
  steps: number
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** The numbers of tensors, one after another. */
export const joined = (layout: ReadonlyArray<Slice>, data: (name: string) => Float32Array) => {
  const numbers = new Float32Array(layout.at(-1)!.end)
  for (const { name, start } of layout) numbers.set(data(name), start)
  return numbers
}

let given = 0

/** Other weights of the same model. */
const keep = (model: Pick<Kept, "config" | "layout">, numbers: Float32Array): Kept => {
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
    kept: keep({ config, layout }, numbers),
    first: new Float32Array(end),
    second: new Float32Array(end),
    gradient: undefined,
    steps: 0
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** Numbers as tensors by name. */
export const named = (layout: ReadonlyArray<Slice>, numbers: Float32Array): Tensors =>
  Object.fromEntries(
    layout.map(({ end, name, shape, start }) => [name, { shape, data: numbers.subarray(start, end) }] as const)
  )

/** The weights as they are. */
export const tensorsOf = ({ kept: { layout, numbers } }: State): Tensors => named(layout, numbers)

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Puts a saved state in the place of the present one. */
export const restore = (state: State, saved: Omit<State, "kept"> & { readonly numbers: Float32Array }): void => {
  const { numbers, ...rest } = saved
  Object.assign(state, rest, { kept: keep(state.kept, numbers) })
}

/** Steps; gives the norm of the gradient before it was cut, and changes nothing where that is no number. */
export const step = (state: State, settings: OptimizerSettings): number => {
  const { kept } = state
  const gradient = state.gradient ?? new Float32Array(kept.numbers.length)
  state.gradient = undefined
  const norm = Optimizer.norm(gradient)
  if (!Number.isFinite(norm)) return norm
  const numbers = kept.numbers.slice()
  const terms = Optimizer.termsOf(settings, state.steps, norm)
  for (const { end, shape, start } of kept.layout) {
    const part = (all: Float32Array) => all.subarray(start, end)
    // The scales of norms, which are vectors, do not decay.
    const decay = shape.length === 1 ? 1 : terms.decay
    Optimizer.update(part(numbers), part(state.first), part(state.second), part(gradient), { ...terms, decay })
  }
  state.kept = keep(kept, numbers)
  state.steps++
  return norm
}
