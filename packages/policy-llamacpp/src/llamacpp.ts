/**
 * Creates workers from local models by name, for programs without scopes. The model is loaded on the first call.
 *
 * These models stay in memory until {@link release} is called or the process ends. Workers with the same settings share
 * a model.
 */

import { Options as Tables } from "@divisi/core"
import { WorkerStream } from "@divisi/core/streams"
import { free } from "@divisi/core/Usage"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { failed } from "./internal/call.ts"
import { loadTable, workerTable } from "./internal/tables.ts"
import * as KnownModels from "./knownModels.ts"
import * as LlamaCppModel from "./LlamaCppModel.ts"

/** Runtime settings of the model, and options for its answers. */
export interface Options extends Omit<LlamaCppModel.Options, "source">, LlamaCppModel.WorkerOptions {}

const { source: _, ...loading } = loadTable
const table = { ...loading, ...workerTable } satisfies Tables.ShapeOf<Options>

/** Selects the options in a table from the combined options for loading and answering. */
const only = (options: Options, shape: Tables.Shape) =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(shape, name)))

let scope: Scope.Closeable | undefined

/** Returns the error for a model that cannot be loaded, which a retry would not fix. */
const unusable = (id: string, cause: unknown) => {
  const message = cause instanceof Error ? cause.message : String(cause)
  // The sentences after the first one say what to do.
  const [detail = "", ...remedy] = message.split(/(?<=\.) (?=[A-Z])/)
  return failed(id, { _tag: "InvalidRequest", detail, ...(remedy.length > 0 && { remedy: remedy.join(" ") }) })
}

/**
 * Creates a worker from a local model, given as a path, the name of a known model, `hf:owner/repository/file.gguf`, or
 * an https URL.
 *
 * **Details**
 *
 * The model is loaded, and downloaded if necessary, on the worker's first call. Workers with the same source and
 * settings, such as a Conductor and a member of its pool, share the model and its sequences.
 *
 * **Example**
 *
 * ```ts
 * import { llamacpp } from "@divisi/policy-llamacpp"
 *
 * const conductor = llamacpp("qwen2.5-7b-instruct", { sequences: 8 })
 * conductor.id // => "llamacpp:qwen2.5-7b-instruct"
 * conductor.pricing?.outputPerMillion // => 0
 * ```
 */
export const llamacpp = (source: string, options: Options = {}): Worker => {
  Tables.check("llamacpp", options, table)
  const { id = `llamacpp:${source}`, description = KnownModels.find(source)?.description } = options
  const about: LlamaCppModel.WorkerOptions = { ...only(options, workerTable), id, description }
  let loaded: { readonly home: Scope.Scope; readonly worker: Promise<Worker> } | undefined
  const load = (): Promise<Worker> => {
    scope ??= Scope.makeUnsafe()
    // A model that was released or failed to load is loaded again.
    if (loaded?.home === scope) return loaded.worker
    const model = Effect.runPromise(Scope.provide(LlamaCppModel.load({ ...only(options, loading), source }), scope))
    const worker = model.then((ready) => LlamaCppModel.worker(ready, about))
    loaded = { home: scope, worker }
    worker.catch(() => {
      loaded = undefined
    })
    return worker
  }
  const { maxOutputTokens, temperature, topK, topP, minP, grammar } = options
  return {
    id,
    description,
    settings: { source, maxOutputTokens, temperature, topK, topP, minP, grammar, adapters: options.adapters },
    isLanguageModel: true,
    capabilities: { tools: grammar !== false, jsonSchema: grammar !== false },
    provider: `llamacpp:${source}`,
    pricing: free,
    recovery: "free",
    limits: { maxOutputTokens: maxOutputTokens ?? 1024 },
    generate: (request) =>
      Stream.unwrap(
        Effect.map(Effect.tryPromise({ try: load, catch: (cause) => unusable(id, cause) }), (worker) =>
          WorkerStream.generate(worker, request)
        )
      )
  }
}

/** Frees the memory of all models loaded through {@link llamacpp}, after their runs have finished. */
export const release = async (): Promise<void> => {
  const closed = scope
  scope = undefined
  if (closed !== undefined) await Effect.runPromise(Scope.close(closed, Exit.void))
}
