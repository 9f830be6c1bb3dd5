/** Validation tables for local models, used by `Options.check`. */
import { Options } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as LlamaCppEmbeddings from "../LlamaCppEmbeddings.ts"
import * as Errors from "../LlamaCppError.ts"
import type * as LlamaCppModel from "../LlamaCppModel.ts"
import type * as ModelStore from "../ModelStore.ts"
import type { WorkerOptions } from "./worker.ts"

/** Options for the models folder. */
export const storeTable = {
  folder: Options.name,
  onProgress: Options.aFunction
} satisfies Options.ShapeOf<ModelStore.Options>

const gpu = Options.oneOf("auto", "cuda", "vulkan", "metal", "none")

/** Options for inspecting a model or the machine. */
export const inspectionTable = { ...storeTable, gpu }

const adapter = Options.table({ path: Options.name, scale: Options.number(-1e6, 1e6) }, { required: ["path"] })

const common = {
  ...storeTable,
  source: Options.name,
  gpu,
  gpuRequired: Options.flag,
  gpuLayers: Options.either(Options.oneOf("auto", "max"), Options.whole(0, 2 ** 20)),
  contextTokens: Options.whole(1, 2 ** 31),
  threads: Options.whole(1, 1024),
  onNotice: Options.aFunction
}

/** Options for loading a model. */
export const loadTable = {
  ...common,
  sequences: Options.whole(1, 2 ** 16),
  batchTokens: Options.whole(1, 2 ** 31),
  flashAttention: Options.either(Options.flag, Options.oneOf("auto")),
  keyValueType: Options.oneOf("F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"),
  adapters: Options.listOf(adapter),
  queueLimit: Options.whole(0)
} satisfies Options.ShapeOf<LlamaCppModel.Options>

/** Options for embeddings. */
export const embeddingsTable = {
  ...common,
  token: Options.oneOf("last", "penultimate")
} satisfies Options.ShapeOf<LlamaCppEmbeddings.Options>

/** Options for a worker. */
export const workerTable = {
  id: Options.name,
  description: Options.text,
  template: Options.either(Options.oneOf("model", "plain"), Options.aFunction),
  grammar: Options.flag,
  reasoningTokens: Options.whole(0),
  maxOutputTokens: Options.whole(1),
  temperature: Options.temperature,
  topK: Options.whole(0, 2 ** 31),
  topP: Options.number(0, 1),
  minP: Options.number(0, 1)
} satisfies Options.ShapeOf<WorkerOptions>

/**
 * Validates options. Fails with a `LlamaCppError` that names the invalid option. A source is required if the table
 * contains one.
 */
export const checked = (
  what: string,
  options: ModelStore.Options & { readonly source?: unknown },
  shape: Options.Shape
) =>
  Effect.mapError(
    Options.checked(what, options, Options.table(shape, { required: "source" in shape ? ["source"] : [] })),
    ({ message }) =>
      Errors.make(typeof options?.source === "string" ? options.source : what, { _tag: "Setting", detail: message })
  )
