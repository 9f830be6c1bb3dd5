/** Computes embeddings with a local model, which does not have to be an embedding model. */
import { Callback } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Backend from "./internal/backend.ts"
import { checked, embeddingsTable } from "./internal/tables.ts"
import * as Threads from "./internal/threads.ts"
import * as Weights from "./internal/weights.ts"
import * as Errors from "./LlamaCppError.ts"
import type * as LlamaCppModel from "./LlamaCppModel.ts"
import * as ModelStore from "./ModelStore.ts"

/** The model and its runtime settings. */
export interface Options
  extends ModelStore.Options,
    Pick<LlamaCppModel.Options, "source" | "gpu" | "gpuRequired" | "gpuLayers" | "threads" | "onNotice"> {
  /**
   * Maximum number of tokens per text; longer texts are truncated. Defaults to the context length used in training,
   * capped at 2048.
   */
  readonly contextTokens?: number | undefined
  /**
   * The token whose hidden state becomes the vector, for models that are not embedding models: the last one (the
   * default), or the one before it, which TRINITY found to be more informative. Embedding models use their own pooling.
   */
  readonly token?: "last" | "penultimate" | undefined
}

/** Returns a vector for each text, in the same order. */
export type Embed = (
  texts: ReadonlyArray<string>,
  signal?: AbortSignal
) => Promise<ReadonlyArray<ReadonlyArray<number>>>

const mostContextTokens = 2048

const failed = (name: string) => (cause: unknown) =>
  cause instanceof Errors.LlamaCppError ? cause : Errors.make(name, { _tag: "Failed", detail: Errors.detailOf(cause) })

const open = async (file: string, options: Options) => {
  const backend = await Backend.shared(options.gpu ?? "auto", options.gpuRequired ?? false)
  const { notice } = backend
  if (notice !== undefined) Callback.notifyLogged("onNotice", () => options.onNotice?.(notice))
  const { insights } = await Weights.readHeader(file, backend)
  const trained = insights.trainContextSize ?? mostContextTokens
  const contextTokens = options.contextTokens ?? Math.min(trained, mostContextTokens)
  const { model } = await Weights.load(file, backend, {
    gpuLayers: options.gpuLayers ?? "auto",
    contextTokens,
    isForCompletions: false
  })
  try {
    const context = await model.createEmbeddingContext({
      contextSize: contextTokens,
      batchSize: contextTokens,
      threads: options.threads ?? Threads.byDefault(backend.llama.cpuMathCores)
    })
    return { model, context, contextTokens }
  } catch (cause) {
    await model.dispose()
    throw cause
  }
}

/**
 * Loads a model for computing embeddings. Closing the scope frees its memory.
 *
 * **Details**
 *
 * Texts are processed one after the other, so vectors do not depend on concurrent calls. Embedding models
 * (nomic-embed-text, bge, Qwen3-Embedding) produce good vectors; chat models produce poor ones.
 *
 * **Example**
 *
 * ```ts no-run
 * import { LlamaCppEmbeddings } from "@divisi/policy-llamacpp"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const embed = yield* LlamaCppEmbeddings.load({ source: "nomic-embed-text-v1.5.Q8_0.gguf" })
 *   const [first, second] = yield* Effect.promise(() => embed(["a violin", "a viola"]))
 * }).pipe(Effect.scoped)
 * ```
 */
export const load = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Embed, Errors.LlamaCppError, Scope.Scope> {
  yield* checked("LlamaCppEmbeddings.load", options, embeddingsTable)
  const file = yield* ModelStore.resolve(options.source, { folder: options.folder, onProgress: options.onProgress })
  const { context, contextTokens, model } = yield* Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(file, options), catch: failed(file) }),
    ({ context, model }) => Effect.promise(() => context.dispose().then(() => model.dispose()))
  )
  const { token = "last" } = options
  // Reserves room for the tokens that the model adds around a text, and for the one free token that llama.cpp requires.
  const most = contextTokens - (context.calculateInputLength("a") - model.tokenize("a").length) - 1
  return async (texts, signal) => {
    const points: Array<ReadonlyArray<number>> = []
    for (const text of texts) {
      signal?.throwIfAborted()
      const all = model.tokenize(text === "" ? " " : text).slice(0, most)
      const tokens = token === "last" || all.length < 2 ? all : all.slice(0, -1)
      try {
        points.push((await context.getEmbeddingFor(tokens)).vector)
      } catch (cause) {
        throw failed(file)(cause)
      }
    }
    return points
  }
})
