/** Training states in files: safetensors with weights, moments and a gradient that waits for its step. */
import path from "node:path"
import * as Safetensors from "@tutti/gguf/Safetensors"
import type { DenseTensor } from "@tutti/gguf/Tensor"
import * as Tensor from "@tutti/gguf/Tensor"
import * as Effect from "effect/Effect"
import * as State from "./state.ts"

const format = "tutti-jax"
const formatVersion = "1"

const prefixes = { weights: "", first: "optimizer.first.", second: "optimizer.second.", sums: "gradient." } as const
const lookupsName = "gradient.lookups"

/** What a state is made for: another model's is refused. */
const configText = ({ config }: State.State): string => JSON.stringify(config)

/** The name of the file of a saved state. */
export const fileOf = (name: string): string => `${name}.safetensors`

const collect = async (state: State.State): Promise<Record<string, DenseTensor>> => {
  const tensors: Record<string, DenseTensor> = {}
  const lists = { weights: state.weights, first: state.first, second: state.second, sums: state.gradient?.sums ?? [] }
  for (const [list, arrays] of Object.entries(lists)) {
    for (const [index, array] of arrays.entries()) {
      const name = state.order[index]!
      const key = `${prefixes[list as keyof typeof prefixes]}${name}`
      tensors[key] = { shape: state.shapes[name]!, data: await State.numbers(array) }
    }
  }
  if (state.gradient === undefined) return tensors
  const shape = state.shapes[State.tableName]!
  return { ...tensors, [lookupsName]: { shape, data: state.gradient.lookups } }
}

/** Writes a state into a folder, whole or not at all. */
export const save = Effect.fnUntraced(function* (state: State.State, name: string, folder: string) {
  const tensors = yield* Effect.promise(() => collect(state))
  const metadata = { format, version: formatVersion, steps: String(state.steps), config: configText(state) }
  yield* Safetensors.write(path.join(folder, fileOf(name)), { metadata, tensors })
})

/** Why a file is no state of this model; `undefined` where it is. */
const mismatch = (state: State.State, { metadata, tensors }: Safetensors.Safetensors): string | undefined => {
  if (metadata.format !== format) return "it was not saved by this engine"
  if (metadata.version !== formatVersion) {
    return `it has version ${metadata.version} of the format, and this engine reads ${formatVersion}`
  }
  if (metadata.config !== configText(state)) {
    return `it is of the model ${metadata.config}, and this engine holds ${configText(state)}`
  }
  const needed = state.order.flatMap((name) => [name, `${prefixes.first}${name}`, `${prefixes.second}${name}`])
  const missing = needed.find((name) => tensors[name] === undefined)
  return missing === undefined ? undefined : `it lacks the tensor "${missing}"`
}

/** What was read, or a sentence that says why it cannot be used. */
export type Loaded =
  | { readonly type: "loaded"; readonly apply: () => void }
  | { readonly type: "mismatch"; readonly detail: string }

/** Reads a state; nothing changes before `apply`. */
export const load = Effect.fnUntraced(function* (state: State.State, file: string) {
  const stored = yield* Safetensors.read(file)
  const detail = mismatch(state, stored)
  if (detail !== undefined) return { type: "mismatch", detail } as Loaded
  const data = new Map<string, Float32Array>()
  for (const [name, tensor] of Object.entries(stored.tensors)) {
    data.set(name, yield* Effect.promise(() => Tensor.collect(tensor)))
  }
  const apply = () => {
    const arrays = (prefix: string) => State.arraysOf(state, (name) => data.get(`${prefix}${name}`)!)
    for (const old of [state.weights, state.first, state.second]) State.dispose(old)
    State.forget(state)
    state.weights = arrays(prefixes.weights)
    state.first = arrays(prefixes.first)
    state.second = arrays(prefixes.second)
    state.table = data.get(State.tableName)!
    state.steps = Number(stored.metadata.steps)
    const lookups = data.get(lookupsName)
    if (lookups !== undefined) state.gradient = { sums: arrays(prefixes.sums), lookups: new Float32Array(lookups) }
  }
  return { type: "loaded", apply } as Loaded
})
