/** Saves training states to safetensors files with weights, moments, and a gradient that has not been applied yet. */
import path from "node:path"
import { Safetensors, Tensor } from "@divisi/gguf"
import * as Effect from "effect/Effect"
import * as State from "./state.ts"

const format = "divisi-jax"
const formatVersion = "2"

const prefixes = { weights: "", first: "optimizer.first.", second: "optimizer.second.", gradient: "gradient." } as const

/** Returns the model configuration of a state. A state with another configuration is rejected. */
const configText = ({ snapshot }: State.State): string => JSON.stringify(snapshot.config)

/** Returns the file name of a saved state. */
export const fileOf = (name: string): string => `${name}.safetensors`

const collect = ({ first, gradient, snapshot, second }: State.State): Record<string, Tensor.DenseTensor> => {
  const lists = { weights: snapshot.numbers, first, second, ...(gradient === undefined ? {} : { gradient }) }
  return Object.fromEntries(
    Object.entries(lists).flatMap(([list, numbers]) =>
      Object.entries(State.named(snapshot.layout, numbers)).map(
        ([name, tensor]) => [`${prefixes[list as keyof typeof prefixes]}${name}`, tensor] as const
      )
    )
  )
}

/** Writes a state to a folder atomically. */
export const save = (state: State.State, name: string, folder: string) => {
  const metadata = { format, version: formatVersion, steps: String(state.steps), config: configText(state) }
  return Safetensors.write(path.join(folder, fileOf(name)), { metadata, tensors: collect(state) })
}

/** Returns the reason why a file is not a state of this model; `undefined` if it is one. */
const mismatch = (state: State.State, { metadata, tensors }: Safetensors.Safetensors): string | undefined => {
  if (metadata.format !== format) return "it was not saved by this engine"
  if (metadata.version !== formatVersion) {
    return `it has version ${metadata.version} of the format, and this engine reads ${formatVersion}`
  }
  if (metadata.config !== configText(state)) {
    return `it belongs to the model ${metadata.config}, but this engine trains ${configText(state)}`
  }
  const needed = state.snapshot.layout.flatMap(({ name }) => [
    name,
    `${prefixes.first}${name}`,
    `${prefixes.second}${name}`
  ])
  const missing = needed.find((name) => tensors[name] === undefined)
  return missing === undefined ? undefined : `it lacks the tensor "${missing}"`
}

/** A loaded state, or the reason why it cannot be used. */
export type Loaded =
  | { readonly type: "loaded"; readonly apply: () => void }
  | { readonly type: "mismatch"; readonly detail: string }

/** Reads a state. Nothing changes until `apply` is called. */
export const load = Effect.fnUntraced(function* (state: State.State, file: string) {
  const stored = yield* Safetensors.read(file)
  const detail = mismatch(state, stored)
  if (detail !== undefined) return { type: "mismatch", detail } as Loaded
  const data = new Map<string, Float32Array>()
  for (const [name, tensor] of Object.entries(stored.tensors)) {
    data.set(name, yield* Effect.promise(() => Tensor.collect(tensor)))
  }
  const { layout } = state.snapshot
  const numbers = (prefix: string) => State.joined(layout, (name) => data.get(`${prefix}${name}`)!)
  const hasGradient = layout.every(({ name }) => data.has(`${prefixes.gradient}${name}`))
  const apply = () =>
    State.restore(state, {
      numbers: numbers(prefixes.weights),
      first: numbers(prefixes.first),
      second: numbers(prefixes.second),
      gradient: hasGradient ? numbers(prefixes.gradient) : undefined,
      steps: Number(stored.metadata.steps)
    })
  return { type: "loaded", apply } as Loaded
})
