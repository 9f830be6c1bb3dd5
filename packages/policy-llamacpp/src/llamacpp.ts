/**
 * A local model by name, for programs without scopes: a worker that loads its model with its first call.
 *
 * Models loaded this way stay until {@link release} or the end of the process. Workers with the same settings share
 * one.
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
import * as KnownModels from "./knownModels.ts"
import * as LlamaCppModel from "./LlamaCppModel.ts"

/** How the model runs, and how it answers. */
export interface Options extends Omit<LlamaCppModel.Options, "source">, LlamaCppModel.WorkerOptions {}

const table = {
  folder: Tables.name,
  onProgress: Tables.aFunction,
  gpu: Tables.oneOf("auto", "cuda", "vulkan", "metal", "none"),
  gpuRequired: Tables.flag,
  gpuLayers: Tables.either(Tables.oneOf("auto", "max"), Tables.whole(0)),
  contextTokens: Tables.whole(1),
  sequences: Tables.whole(1),
  batchTokens: Tables.whole(1),
  threads: Tables.whole(1),
  flashAttention: Tables.either(Tables.flag, Tables.oneOf("auto")),
  keyValueType: Tables.oneOf("F32", "F16", "BF16", "Q8_0", "Q5_1", "Q5_0", "Q4_1", "Q4_0"),
  adapters: Tables.expects("a list of adapters", Array.isArray),
  queueLimit: Tables.whole(0),
  onNotice: Tables.aFunction,
  id: Tables.name,
  description: Tables.text,
  template: Tables.either(Tables.oneOf("model", "plain"), Tables.aFunction),
  grammar: Tables.flag,
  reasoningTokens: Tables.whole(0),
  maxOutputTokens: Tables.whole(1),
  temperature: Tables.number(0),
  topK: Tables.whole(0),
  topP: Tables.number(0, 1),
  minP: Tables.number(0, 1)
} satisfies Tables.ShapeOf<Options>

let scope: Scope.Closeable | undefined

/** The error of a model that cannot be loaded, which a retry does not fix. */
const unusable = (id: string, cause: unknown) =>
  failed(id, { _tag: "InvalidRequest", detail: cause instanceof Error ? cause.message : String(cause) })

/**
 * A worker of a local model: a path, the name of a known model, `hf:owner/repository/file.gguf` or an https address.
 *
 * **Details**
 *
 * The model is loaded, and downloaded if need be, when the worker is first called. Two workers of one source with the
 * same settings share it and its sequences, e.g. a Conductor and a member of its pool.
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
  const about = { ...options, id, description }
  let loaded: { readonly home: Scope.Scope; readonly worker: Promise<Worker> } | undefined
  const load = (): Promise<Worker> => {
    scope ??= Scope.makeUnsafe()
    // A model that was released, or that failed to load, is loaded again.
    if (loaded?.home === scope) return loaded.worker
    const loading = Effect.runPromise(Scope.provide(LlamaCppModel.load({ ...options, source }), scope))
    const worker = loading.then((model) => LlamaCppModel.worker(model, about))
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

/** Frees the memory of all models that {@link llamacpp} has loaded, once the runs on them have ended. */
export const release = async (): Promise<void> => {
  const closed = scope
  scope = undefined
  if (closed !== undefined) await Effect.runPromise(Scope.close(closed, Exit.void))
}
