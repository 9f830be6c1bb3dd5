/** Weights of one moment, as threads keep them. */
import type * as Model from "@divisi/gguf/Model"

/** Where a tensor's numbers stand among all. */
export interface Slice {
  readonly name: string
  readonly shape: ReadonlyArray<number>
  readonly start: number
  readonly end: number
}

/** Weights of one moment. */
export interface Kept {
  /** Tells weights apart that this process has made. */
  readonly id: number
  readonly config: Model.Config
  readonly layout: ReadonlyArray<Slice>
  readonly numbers: Float32Array
}

/** The name of the table in which tokens are looked up. */
export const tableName = "model.embed_tokens.weight"
