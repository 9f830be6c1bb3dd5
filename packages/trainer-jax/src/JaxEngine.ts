/**
 * The embedded engine: trains and samples a small transformer in this process with jax-js.
 *
 * Group-based reinforcement learning uses many completions per prompt, so each prompt is computed once for all of them.
 * All computations are in F32 and in a fixed order, so equal calls give bitwise identical results.
 */
import fs from "node:fs/promises"
import os from "node:os"
import path from "node:path"
import { Model } from "@divisi/gguf"
import type { Tokenizer } from "@divisi/gguf/browser"
import type * as Engine from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as ChatTemplate from "./ChatTemplate.ts"
import { initial } from "./internal/initial.ts"
import * as Operations from "./internal/operations.ts"
import * as Problem from "./internal/problem.ts"
import { checkModel, checkOptions } from "./internal/request.ts"
import * as Sampler from "./internal/sampler.ts"
import * as State from "./internal/state.ts"
import * as Threads from "./internal/threads.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A new model, or a model whose weights are in memory. */
export interface New {
  /** Dimensions of a model with the `llama` architecture. */
  readonly config: Model.Config
  readonly tokenizer: Tokenizer.Tokenizer
  /** Seed for the initial weights. Default: 0. */
  readonly seed?: number | undefined
  /** Initial weights, keyed by their names in Hugging Face's layout. Default: random weights. */
  readonly tensors?: Model.DenseModel["tensors"] | undefined
}

/** A model loaded from a file for further training. */
export interface Existing {
  /** Path of a GGUF file written by this engine or by `Model.write`. */
  readonly from: string
}

/** Settings for training and sampling. */
export interface Settings {
  /** Renders messages to a prompt. Required if the tokenizer's template is not one of those in `ChatTemplate`. */
  readonly render?: ChatTemplate.Render | undefined
  /** Display name of the model. */
  readonly name?: string | undefined
  /** Number of compute threads, which does not affect results. Defaults to the number of processors, capped at 4. */
  readonly threads?: number | undefined
  /**
   * The sampler. `"embedded"`, the default, uses this engine: its tokens are bitwise identical regardless of how
   * requests arrive. `"llamacpp"` uses llama.cpp, whose rounding depends on the other requests in the batch, and
   * requires `@divisi/policy-llamacpp`.
   */
  readonly sampling?: "embedded" | "llamacpp" | undefined
  /** Number of completions that llama.cpp samples concurrently. Default: 16. */
  readonly sequences?: number | undefined
  /**
   * Approximate memory per pass, in bytes. Larger requests are split into several passes. A thread computes one pass at
   * a time and never uses much more than three times this amount. Default: 0.5 GB.
   */
  readonly memoryBytes?: number | undefined
  /** Number of completions of one prompt that are computed together. Default: 16. */
  readonly completionsPerPass?: number | undefined
}

/** The model to train, and the settings for training and sampling. */
export type Options = Settings & (New | Existing)

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const defaultThreads = (): number => Math.min(4, os.availableParallelism())

const renderOf = (tokenizer: Tokenizer.Tokenizer, render: ChatTemplate.Render | undefined) => {
  const found = render ?? ChatTemplate.renderOf(tokenizer.chatTemplate ?? "")
  if (found !== undefined) return Effect.succeed(found)
  return Problem.failed(
    "open",
    "the tokenizer's chat template is not one of ChatTemplate; pass `render`, or a tokenizer with ChatTemplate.lines."
  )
}

/** Loads or creates the initial model. */
const modelOf = (options: Options): Effect.Effect<Model.DenseModel, Engine.EngineError> => {
  if ("from" in options) {
    return Effect.mapError(Model.read(options.from), (cause) => Problem.errorOf("open", cause))
  }
  const { config, seed = 0, tensors = initial(config, seed), tokenizer } = options
  return Effect.succeed({ config, tokenizer, tensors })
}

const temporaryFolder = Effect.acquireRelease(
  Effect.tryPromise({
    try: () => fs.mkdtemp(path.join(os.tmpdir(), "divisi-sampler-")),
    catch: (cause) => Problem.errorOf("open", cause)
  }),
  (folder) => Effect.promise(() => fs.rm(folder, { recursive: true, force: true }))
)

/** Maximum number of tokens per pass. Larger passes are not faster, and would require more shapes to be compiled. */
const tokensPerPass = 1024

/**
 * Starts an engine. It is released when the scope closes.
 *
 * **Details**
 *
 * Operations on the weights run one at a time, in the order of the calls; samplers run concurrently. A computation in
 * progress finishes before an interruption takes effect.
 *
 * **Gotchas**
 *
 * Pass all data for a prompt in one call, and request all completions of a prompt in one request, so that they share
 * its computation. Each new batch size must be compiled first, which takes a second or more.
 *
 * **Example**
 *
 * ```ts
 * import { Tokenizer } from "@divisi/gguf/browser"
 * import * as ChatTemplate from "@divisi/trainer-jax/ChatTemplate"
 * import * as JaxEngine from "@divisi/trainer-jax/JaxEngine"
 * import * as Effect from "effect/Effect"
 *
 * const { linesControlTokens: controlTokens, lines: chatTemplate } = ChatTemplate
 * const tokenizer = Tokenizer.makeUnsafe({ controlTokens, chatTemplate })
 * const sizes = { hiddenSize: 16, layers: 1, heads: 2, feedForwardSize: 32, contextLength: 64, tiedEmbeddings: true }
 * const config = { architecture: "llama", vocabularySize: tokenizer.tokens.length, ...sizes } as const
 *
 * const program = Effect.gen(function* () {
 *   const engine = yield* JaxEngine.make({ config, tokenizer })
 *   yield* engine.forwardBackward([{ prompt: [72, 105], completion: [33, 256] }], { type: "crossEntropy" })
 *   return yield* engine.step({ learningRate: 1e-3 })
 * })
 * const { version } = await Effect.runPromise(Effect.scoped(program))
 * version // => 1
 * ```
 */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<Engine.Engine, Engine.EngineError, Scope.Scope> {
  yield* checkOptions(options)
  const { completionsPerPass = 16, memoryBytes = 5e8, sequences = 16, threads: count = defaultThreads() } = options
  const given = yield* modelOf(options)
  const { config, tensors, tokenizer } = given
  yield* checkModel(given)
  const name = options.name ?? given.name ?? "divisi-tiny"
  const render = yield* renderOf(tokenizer, options.render)
  const threads = yield* Threads.make({ count, mostBytes: 3 * memoryBytes })
  const folder = yield* temporaryFolder
  const state = State.make(config, tensors)
  const limits = { bytes: memoryBytes, tokens: tokensPerPass, completions: completionsPerPass }
  const parts: Operations.Parts = { state, threads, limits, tokenizer, name }
  const one = Semaphore.makeUnsafe(1)

  const viaLlamaCpp = Effect.suspend(() =>
    Sampler.llamacpp({ model: Operations.model(parts), version: state.steps, folder, sequences })
  )
  const embedded = Effect.sync(() => Sampler.embedded(threads, state, tokenizer.endOfText))

  return {
    name: Problem.engineName,
    model: name,
    capabilities: {
      losses: ["crossEntropy", "importanceSampling", "clippedRatio", "sequenceRatio"],
      entropy: true,
      deterministic: true,
      contextTokens: config.contextLength,
      exports: ["gguf"]
    },
    tokenizer: ChatTemplate.tokenizerOf(tokenizer, render),
    sampler: options.sampling === "llamacpp" ? viaLlamaCpp : embedded,
    forward: (data) => one.withPermit(Operations.forward(parts, data)),
    forwardBackward: (data, loss) => one.withPermit(Operations.forwardBackward(parts, data, loss)),
    step: (settings) => one.withPermit(Operations.step(parts, settings)),
    save: (label, into) => one.withPermit(Operations.save(parts, label, into)),
    load: (saved, from) => one.withPermit(Operations.load(parts, saved, from)),
    export: (format, file, about) => one.withPermit(Operations.exportTo(parts, format, file, about))
  }
})
