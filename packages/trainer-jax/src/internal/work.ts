/** What a thread does: passes and sampling with weights that it keeps, by jax-js. */

import type { Sample } from "@divisi/trainer/Engine"
import type * as Jax from "@jax-js/jax"
import type { Tables } from "./batch.ts"
import * as Decoding from "./exactSampler.ts"
import { type Kept, tableName } from "./kept.ts"
import type { Library, Shape } from "./network.ts"
import type { LossKind } from "./pass.ts"
import * as Passes from "./passes.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A piece of work. */
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

/** What comes of each. Numbers of a pass are in the order of its tables. */
export interface Results {
  readonly forward: Pick<Passes.Result, "logProbs" | "entropies">
  readonly backward: Passes.Result
  readonly sample: ReadonlyArray<ReadonlyArray<Sample>>
}

/** What a thread is told: the work, the weights to do it with where it does not keep them yet, and which to forget. */
export interface Message {
  readonly id: number
  readonly weights: Kept | undefined
  readonly forget: ReadonlyArray<number>
  readonly task: Task
}

/** Weights that a thread keeps. */
export interface Weights {
  readonly jax: Library
  readonly kept: Omit<Kept, "numbers">
  readonly arrays: ReadonlyArray<Jax.Array>
  /** The table of embeddings. */
  readonly table: Float32Array
}

/** A thread's own memory. */
export interface Memory {
  readonly jax: Library
  readonly weights: Map<number, Weights>
  readonly passes: Passes.Passes
  readonly decoders: Decoding.Decoders
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** The memory of a thread that knows nothing yet. */
export const make = (jax: Library): Memory => ({
  jax,
  weights: new Map(),
  passes: Passes.make(),
  decoders: Decoding.make()
})

const unpack = (jax: Library, { numbers, ...kept }: Kept): Weights => {
  const of = ({ end, start }: Kept["layout"][number]) => numbers.slice(start, end)
  return {
    jax,
    kept,
    arrays: kept.layout.map((slice) => jax.numpy.array(of(slice), { shape: [...slice.shape] })),
    table: of(kept.layout.find(({ name }) => name === tableName)!)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Work
// -------------------------------------------------------------------------------------------------------------------

const perform = (memory: Memory, weights: Weights, task: Task): Promise<Results[keyof Results]> => {
  if (task.type === "forward") return Passes.forward(memory.passes, weights, task.shape, task.tables)
  if (task.type === "sample") return Decoding.sample(memory.decoders, weights, task.parts, task.endToken)
  return Passes.backward(memory.passes, weights, task.shape, task.tables, task.loss, task.settings)
}

/** Does what a message says. */
export const run = async (memory: Memory, { forget, id, task, weights }: Message): Promise<Results[keyof Results]> => {
  for (const old of forget) {
    for (const array of memory.weights.get(old)?.arrays ?? []) array.dispose()
    memory.weights.delete(old)
  }
  if (weights !== undefined) memory.weights.set(id, unpack(memory.jax, weights))
  return perform(memory, memory.weights.get(id)!, task)
}
