/**
 * A local model: one GGUF file, loaded once and shared by all its users.
 *
 * {@link load} loads the weights or shares those already loaded; closing the last scope that uses them frees their
 * memory. {@link worker} creates a core `Worker` from a model, for planning (`LanguagePolicy.make({ model })`), for a
 * pool, or both. {@link sample} is for training: it returns tokens with their log-probabilities, computed in the same
 * pass.
 */

import fs from "node:fs"
import path from "node:path"
import { Callback, Options as Tables } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as RcMap from "effect/RcMap"
import * as Scope from "effect/Scope"
import type { LlamaModel, Token } from "node-llama-cpp"
import { attempt } from "./internal/attempt.ts"
import * as Backend from "./internal/backend.ts"
import type { Grammars } from "./internal/completion.ts"
import * as Context from "./internal/context.ts"
import { makeSample, type SampleRequest } from "./internal/sample.ts"
import * as Sequences from "./internal/sequences.ts"
import { checked, loadTable, workerTable } from "./internal/tables.ts"
import * as Threads from "./internal/threads.ts"
import * as Weights from "./internal/weights.ts"
import { makeWorker, type WorkerOptions } from "./internal/worker.ts"
import type * as Errors from "./LlamaCppError.ts"
import * as ModelStore from "./ModelStore.ts"

export type { Gpu } from "./internal/backend.ts"
export type { Adapter, KeyValueType } from "./internal/context.ts"
export type { Template } from "./internal/prompt.ts"
export type { Sample, SampleRequest } from "./internal/sample.ts"
export type { Meter } from "./internal/sequences.ts"
export type { WorkerOptions } from "./internal/worker.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The model and its runtime settings. */
export interface Options extends ModelStore.Options {
  /** The path of a GGUF file, the name of a known model, `hf:owner/repository/file.gguf`, or an https URL. */
  readonly source: string
  /** The GPU backend. Default: `"auto"`, which selects the best one on this machine. */
  readonly gpu?: Backend.Gpu | undefined
  /** Whether an unusable GPU is an error. By default, the CPU is used instead, with a notice. */
  readonly gpuRequired?: boolean | undefined
  /** Number of layers on the GPU. Default: as many as fit in its memory. */
  readonly gpuLayers?: "auto" | "max" | number | undefined
  /**
   * Maximum number of tokens for prompt and completion together. Defaults to the context length used in training,
   * capped at 8192.
   */
  readonly contextTokens?: number | undefined
  /**
   * Number of concurrent runs. Default: 4 on a CPU, 8 on a GPU, and 16 for models with fewer than ten million weights.
   */
  readonly sequences?: number | undefined
  /** Number of tokens evaluated per batch. Default: chosen by llama.cpp. */
  readonly batchTokens?: number | undefined
  /**
   * Number of CPU threads. Default: one less than the number of physical cores, and fewer while other processes use
   * them (measured once per second), because llama.cpp's threads wait for each other; 1 for models with fewer than ten
   * million weights. An explicit number is never changed.
   */
  readonly threads?: number | undefined
  /** Whether to use flash attention. Default: used if the model and the machine support it. */
  readonly flashAttention?: boolean | "auto" | undefined
  /**
   * Data type of cached keys and values. `"F32"` is for training; `"Q8_0"` takes half as much memory as the default.
   * Default: `"F16"`.
   */
  readonly keyValueType?: Context.KeyValueType | undefined
  /** LoRA adapters in GGUF files, applied together. Default: none. */
  readonly adapters?: ReadonlyArray<Context.Adapter> | undefined
  /** Maximum number of queued runs. Default: 1024. Additional runs fail with `Overloaded`. */
  readonly queueLimit?: number | undefined
  /** Called if a requested setting could not be applied, such as an unusable GPU; see also `LlamaCppModel.notices`. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** A loaded model. */
export interface LlamaCppModel {
  /** The file name without its extension. */
  readonly name: string
  readonly path: string
  readonly architecture: string
  readonly parameters: number
  /** The backend that runs the model. */
  readonly backend: "cuda" | "vulkan" | "metal" | "processor"
  readonly gpuLayers: number
  /** Number of CPU threads; an upper bound unless it was set explicitly. */
  readonly threads: number
  readonly contextTokens: number
  readonly sequences: number
  readonly adapters: ReadonlyArray<Context.Adapter>
  /** Sentences about requested settings that could not be applied, such as an unusable GPU. */
  readonly notices: ReadonlyArray<string>
  /** The underlying model of node-llama-cpp, for features not available here. */
  readonly llama: LlamaModel
  /** Runtime state used by this package. */
  readonly runtime: Runtime
}

/** Internal state of a model. */
export interface Runtime {
  readonly scheduler: Sequences.Sequences
  readonly grammar: Grammars
  readonly key: Key
}

/** The settings that must be equal for two loads to share a model. */
interface Key extends Context.ContextOptions {
  readonly path: string
  /** Version of the file. A rewritten file counts as a different model. */
  readonly version: string
  readonly gpu: Backend.Gpu
  readonly gpuRequired: boolean
  readonly gpuLayers: "auto" | "max" | number
  readonly queueLimit: number
  /** Whether `threads` may be reduced while other processes need the cores. */
  readonly fitsThreads: boolean
}

// -------------------------------------------------------------------------------------------------------------------
// Shared models
// -------------------------------------------------------------------------------------------------------------------

type WeightsKey = Pick<Key, "path" | "version" | "gpu" | "gpuRequired" | "gpuLayers" | "contextTokens">

const openWeights = (key: WeightsKey) =>
  Effect.acquireRelease(
    attempt(key.path, async () => {
      const backend = await Backend.shared(key.gpu, key.gpuRequired)
      return Weights.load(key.path, backend, key)
    }),
    ({ model }) => Effect.promise(() => model.dispose())
  )

/** Caches compiled grammars. Pools and step limits need at most a few hundred. */
const grammarCache = (model: LlamaModel, most = 256): Grammars => {
  const grammars = new Map<string, ReturnType<Grammars>>()
  const compile = async (source: string) => {
    const { LlamaGrammarEvaluationState } = await import("node-llama-cpp")
    const grammar = await model.llama.createGrammar({ grammar: source })
    return () => new LlamaGrammarEvaluationState({ model, grammar })
  }
  return (source) => {
    const known = grammars.get(source)
    if (known !== undefined) return known
    if (grammars.size >= most) grammars.delete(grammars.keys().next().value!)
    const compiled = compile(source)
    grammars.set(source, compiled)
    return compiled
  }
}

const openContext = (weights: RcMap.RcMap<WeightsKey, Weights.Weights, Errors.LlamaCppError>) =>
  Effect.fnUntraced(function* (key: Key) {
    const { contextTokens, gpu, gpuLayers, gpuRequired, path: file, version } = key
    const loaded = yield* RcMap.get(weights, { contextTokens, gpu, gpuLayers, gpuRequired, path: file, version })
    const context = yield* Effect.acquireRelease(
      attempt(file, () => Context.make(loaded, key)),
      (context) => Effect.promise(() => context.dispose())
    )
    const fit = key.fitsThreads ? Threads.fit(key.threads, (threads) => Threads.set(context, threads)) : Threads.fixed
    const runtime = {
      scheduler: Sequences.make(context, key.queueLimit, fit),
      grammar: grammarCache(loaded.model),
      key
    }
    return modelOf(loaded, runtime)
  })

/** The models loaded in this process. */
const registry = (() => {
  let models: RcMap.RcMap<Key, LlamaCppModel, Errors.LlamaCppError> | undefined
  const make = Effect.gen(function* () {
    const weights = yield* RcMap.make({ lookup: openWeights })
    return yield* RcMap.make({ lookup: openContext(weights) })
  })
  return () => {
    models ??= Effect.runSync(Scope.provide(make, Scope.makeUnsafe()))
    return models
  }
})()

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Models with fewer weights run faster on one thread. */
const few = 10_000_000

const mostContextTokens = 8192

const modelOf = ({ backend, model, path: file }: Weights.Weights, runtime: Runtime): LlamaCppModel => ({
  name: path.basename(file).replace(/\.gguf$/i, ""),
  path: file,
  architecture: model.architecture,
  parameters: model.fileInsights.totalParameters,
  backend: backend.llama.gpu === false ? "processor" : backend.llama.gpu,
  gpuLayers: model.gpuLayers,
  threads: runtime.key.threads,
  contextTokens: runtime.scheduler.context.contextSize,
  sequences: runtime.scheduler.slots.length,
  adapters: runtime.key.adapters,
  notices: backend.notice === undefined ? [] : [backend.notice],
  llama: model,
  runtime
})

/** Resolves the settings for a load, with defaults from the model and the machine. */
const keyOf = async (file: string, options: Options): Promise<Key> => {
  const gpu = options.gpu ?? "auto"
  const gpuRequired = options.gpuRequired ?? false
  const backend = await Backend.shared(gpu, gpuRequired)
  const { insights } = await Weights.readHeader(file, backend)
  const isSmall = insights.totalParameters < few
  const threads = options.threads ?? (isSmall ? 1 : Threads.byDefault(backend.llama.cpuMathCores))
  const { mtimeMs, size } = fs.statSync(file)
  const trained = insights.trainContextSize ?? mostContextTokens
  return {
    path: file,
    version: `${size} ${mtimeMs}`,
    gpu,
    gpuRequired,
    gpuLayers: options.gpuLayers ?? "auto",
    contextTokens: options.contextTokens ?? Math.min(trained, mostContextTokens),
    sequences: options.sequences ?? (isSmall ? 16 : backend.llama.gpu === false ? 4 : 8),
    batchTokens: options.batchTokens,
    threads,
    fitsThreads: options.threads === undefined && threads > 1,
    flashAttention: options.flashAttention ?? "auto",
    keyValueType: options.keyValueType ?? "F16",
    adapters: adaptersOf(options.adapters ?? []),
    queueLimit: options.queueLimit ?? 1024
  }
}

const adaptersOf = (adapters: ReadonlyArray<Context.Adapter>) =>
  adapters.map(({ path: file, scale = 1 }) => ({ path: path.resolve(file), scale }))

/**
 * Loads a model, or shares one already loaded with the same settings. If the source is a reference that is not in the
 * models folder, it is downloaded first.
 *
 * **Details**
 *
 * Weights are loaded once and used by several contexts; loads with equal settings share a context, including its
 * sequences and their queue. Weights and contexts are freed when the last scope that uses them closes. A file that was
 * rewritten is loaded again.
 *
 * **Example**
 *
 * ```ts no-run
 * import { LanguagePolicy } from "@divisi/core"
 * import * as LlamaCppModel from "@divisi/policy-llamacpp/LlamaCppModel"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const model = yield* LlamaCppModel.load({ source: "qwen2.5-1.5b-instruct", sequences: 8 })
 *   const policy = LanguagePolicy.make({ model: LlamaCppModel.worker(model) })
 *   // … runs with this policy
 * }).pipe(Effect.scoped)
 * ```
 */
export const load = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<LlamaCppModel, Errors.LlamaCppError, Scope.Scope> {
  yield* checked("LlamaCppModel.load", options, loadTable)
  const file = yield* ModelStore.resolve(options.source, { folder: options.folder, onProgress: options.onProgress })
  const key = yield* attempt(file, () => keyOf(file, options))
  const model = yield* RcMap.get(registry(), key)
  for (const notice of model.notices) Callback.notifyLogged("onNotice", () => options.onNotice?.(notice))
  return model
})

/**
 * Returns a model with the same weights and different adapters.
 *
 * **Details**
 *
 * llama.cpp applies adapters to a whole context, so each set of adapters has a separate context with the same number of
 * sequences. Contexts share the weights, but not the memory for keys and values. To select adapters, call the
 * corresponding model. Closing the last scope that uses a context frees its memory.
 */
export const withAdapters = (
  model: LlamaCppModel,
  adapters: ReadonlyArray<Context.Adapter>
): Effect.Effect<LlamaCppModel, Errors.LlamaCppError, Scope.Scope> =>
  RcMap.get(registry(), { ...model.runtime.key, adapters: adaptersOf(adapters) })

// -------------------------------------------------------------------------------------------------------------------
// Uses
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a core `Worker` from a model, for a `LanguagePolicy`, a pool, or both.
 *
 * **Details**
 *
 * If a request has a format, as those from a `LanguagePolicy` do, a grammar enforces it, and the completion ends with
 * the closing bracket of the third list. If the token limit is reached earlier, the text is completed according to the
 * grammar and the finish reason is `length`. Thinking in `<think>` tags becomes reasoning parts.
 *
 * A requested JSON Schema is described to the model and enforced by a grammar, except for constraints that a grammar
 * cannot express: patterns, numeric bounds, conditions. Tools are described in the system message. A required call, or
 * one that the model has started, must match its schema. A call that cannot be parsed fails with `Malformed`, which
 * happens only without a grammar.
 *
 * A prompt longer than the context fails with `ContextTooLong`, a call to a full queue with `Overloaded`.
 *
 * **Gotchas**
 *
 * The same seed and prompt give the same text, except for rounding: llama.cpp adds numbers in a different order if the
 * batch contains other runs.
 */
export const worker = (model: LlamaCppModel, options: WorkerOptions = {}): Worker => {
  Tables.check("LlamaCppModel.worker", options, workerTable)
  return makeWorker(model, options)
}

/**
 * Samples a completion for training and returns its tokens with the log-probability of each one when it was sampled.
 *
 * **Details**
 *
 * The temperature is 1, without filters or a grammar, so tokens and log-probabilities are those of the unmodified
 * policy. Other settings fail with a `LlamaCppError`. With `keyValueType: "F32"`, `flashAttention: false` and F32
 * weights, the log-probabilities match a forward pass to within 1e-4.
 */
export const sample = (model: LlamaCppModel, request: SampleRequest) => makeSample(model, request)

/** Returns the counters of a model: tokens evaluated, sampled and reused, and the number of active and queued runs. */
export const meter = (model: LlamaCppModel): Sequences.Meter => Sequences.meter(model.runtime.scheduler)

/** Converts text to tokens. With `controlTokens`, names of control tokens in the text are encoded as these tokens. */
export const tokenize = (model: LlamaCppModel, text: string, controlTokens = false): ReadonlyArray<Token> =>
  model.llama.tokenize(text, controlTokens)
