/** A snapshot of the weights, as it is sent to threads. */
import type { Model } from "@divisi/gguf"

/** The place of a tensor in the numbers of a snapshot. */
export interface Slice {
  readonly name: string
  readonly shape: ReadonlyArray<number>
  readonly start: number
  readonly end: number
}

/** Weights that never change. Each step of the optimiser makes a new snapshot. */
export interface Snapshot {
  /** Unique in this process. */
  readonly id: number
  readonly config: Model.Config
  readonly layout: ReadonlyArray<Slice>
  readonly numbers: Float32Array
}

/** The name of the table of embeddings. */
export const embeddingName = "model.embed_tokens.weight"
