/** A snapshot of the weights, in the form sent to threads. */
import type { Model } from "@divisi/gguf"

/** The position of a tensor among the numbers in a snapshot. */
export interface Slice {
  readonly name: string
  readonly shape: ReadonlyArray<number>
  readonly start: number
  readonly end: number
}

/** Immutable weights. Each optimizer step creates a new snapshot. */
export interface Snapshot {
  /** Unique in this process. */
  readonly id: number
  readonly config: Model.Config
  readonly layout: ReadonlyArray<Slice>
  readonly numbers: Float32Array
}

/** Name of the embedding table. */
export const embeddingName = "model.embed_tokens.weight"
