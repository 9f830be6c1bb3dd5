/** Defines and executes a thread's tasks: passes and sampling with jax-js, using weights cached in the thread. */
import type { Sample } from "@divisi/trainer/Engine"
import type * as Jax from "@jax-js/jax"
import type { Tables } from "./batch.ts"
import * as Decoding from "./exactSampler.ts"
import type { Library, Shape } from "./network.ts"
import * as Passes from "./passes.ts"
import type { LossKind } from "./programs.ts"
import { embeddingName, type Snapshot } from "./snapshot.ts"

/** A task for a thread. */
export type Task =
  | { readonly type: "forward"; readonly shape: Shape; readonly tables: Tables }
  | {
      readonly type: "backward"
      readonly shape: Shape
      readonly tables: Tables
      readonly loss: LossKind
      readonly settings: ReadonlyArray<number>
    }
  | { readonly type: "sample"; readonly parts: ReadonlyArray<Decoding.Part>; readonly endToken: number }

/** The result of each kind of task. The numbers of a pass are in the order of its arrays. */
export interface Results {
  readonly forward: Pick<Passes.Result, "logProbs" | "entropies">
  readonly backward: Passes.Result
  readonly sample: ReadonlyArray<ReadonlyArray<Sample>>
}

/** A message to a thread. `weights` is included if the thread does not have the snapshot `id` yet. */
export interface Message {
  readonly id: number
  readonly weights: Snapshot | undefined
  readonly forget: ReadonlyArray<number>
  readonly task: Task
}

/** A snapshot that a thread has loaded. */
export interface Weights {
  readonly jax: Library
  readonly snapshot: Omit<Snapshot, "numbers">
  readonly arrays: ReadonlyArray<Jax.Array>
  /** The embedding table. */
  readonly table: Float32Array
}

/** The data that a thread retains between tasks. */
export interface Memory {
  readonly jax: Library
  readonly weights: Map<number, Weights>
  readonly passes: Passes.Passes
  readonly decoders: Decoding.Decoders
}

/** Creates the data for a new thread. */
export const make = (jax: Library): Memory => ({
  jax,
  weights: new Map(),
  passes: Passes.make(),
  decoders: Decoding.make()
})

const unpack = (jax: Library, { numbers, ...snapshot }: Snapshot): Weights => {
  const of = ({ end, start }: Snapshot["layout"][number]) => numbers.slice(start, end)
  return {
    jax,
    snapshot,
    arrays: snapshot.layout.map((slice) => jax.numpy.array(of(slice), { shape: [...slice.shape] })),
    table: of(snapshot.layout.find(({ name }) => name === embeddingName)!)
  }
}

const perform = (memory: Memory, weights: Weights, task: Task): Promise<Results[keyof Results]> => {
  if (task.type === "forward") return Passes.forward(memory.passes, weights, task.shape, task.tables)
  if (task.type === "sample") return Decoding.sample(memory.decoders, weights, task.parts, task.endToken)
  return Passes.backward(memory.passes, weights, task.shape, task.tables, task.loss, task.settings)
}

/** Executes a message. */
export const run = async (memory: Memory, { forget, id, task, weights }: Message): Promise<Results[keyof Results]> => {
  for (const old of forget) {
    for (const array of memory.weights.get(old)?.arrays ?? []) array.dispose()
    memory.weights.delete(old)
  }
  if (weights !== undefined) memory.weights.set(id, unpack(memory.jax, weights))
  return perform(memory, memory.weights.get(id)!, task)
}
