/**
 * The distributed engine: an `Engine` whose model is trained by a server of the Tinker API.
 *
 * The trainer's losses are sums; if a server averages, the client compensates before sending. If a server no longer has
 * a sampler's weights, the sampler fails instead of sampling from other weights. If a reply is lost and it is unknown
 * whether a gradient or step was accepted, training stops until a saved state is loaded. No request is therefore lost
 * or executed twice.
 */
import { Callback, Options as Tables } from "@divisi/core"
import { LoraAdapter } from "@divisi/gguf"
import { type Capabilities, type Engine, EngineError, type LossName, type Tokenizer } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Adapter from "./Adapter.ts"
import * as Dialect from "./Dialect.ts"
import * as Batches from "./internal/batches.ts"
import * as Checkpoints from "./internal/checkpoints.ts"
import * as Samplers from "./internal/samplers.ts"
import * as State from "./internal/state.ts"
import * as Training from "./internal/training.ts"
import type * as Protocol from "./Protocol.ts"
import * as TinkerClient from "./TinkerClient.ts"
import * as Errors from "./TinkerError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The model to train, and options for the server. */
export interface Options extends TinkerClient.Options {
  /** The server's name for the base model, such as `Qwen/Qwen2.5-7B-Instruct`. */
  readonly baseModel: string
  /** Tokenizer of the base model; see `HuggingFaceTokenizer`. */
  readonly tokenizer: Tokenizer
  /** LoRA settings. Default: rank 32 without the output layer, so that the adapter works on any server. */
  readonly lora?: Partial<Protocol.LoraConfig> | undefined
  /** Tokens that end a completion, in addition to the tokenizer's end tokens. */
  readonly stop?: ReadonlyArray<number> | undefined
  /**
   * Maximum number of tokens for prompt and completion together. Default: the server's limit, or 32,768 if it reports
   * none.
   */
  readonly contextTokens?: number | undefined
  /** Path of the base model as a GGUF file. Required for exporting `gguf-lora`. */
  readonly baseGguf?: string | undefined
}

const table = Tables.table(
  {
    ...TinkerClient.optionsTable,
    baseModel: Tables.name,
    tokenizer: Tables.madeBy("a tokenizer", "encode"),
    lora: {
      rank: Tables.whole(1),
      seed: Tables.whole(0),
      train_unembed: Tables.flag,
      train_mlp: Tables.flag,
      train_attn: Tables.flag
    },
    stop: Tables.listOf(Tables.whole(0)),
    contextTokens: Tables.whole(1),
    baseGguf: Tables.name
  } satisfies Tables.ShapeOf<Options>,
  { required: ["baseModel", "tokenizer"] }
)

/** An engine with additions specific to the Tinker API. */
export interface TinkerEngine extends Engine {
  readonly dialect: Dialect.Dialect
  /** Sentences about requested features that the server does not support. */
  readonly notices: ReadonlyArray<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

const allLosses: ReadonlyArray<LossName> = ["crossEntropy", "importanceSampling", "clippedRatio", "sequenceRatio"]

const capabilitiesOf = ({ contextTokens, options }: State.State, dialect: Dialect.Dialect): Capabilities => ({
  losses: allLosses,
  entropy: false,
  deterministic: dialect.deterministic,
  contextTokens,
  exports:
    dialect.archive === "model" ? [] : ["peft", ...(options.baseGguf === undefined ? [] : ["gguf-lora" as const])]
})

const noticesOf = (dialect: Dialect.Dialect): ReadonlyArray<string> => [
  ...Dialect.notices(dialect),
  ...(dialect.losses.includes("sequenceRatio")
    ? []
    : [
        `The server (${dialect.name}) has no sequenceRatio loss: the gradient weights are computed locally, with one more forward pass.`
      ])
]

/** Checks that the server can train the model: SkyRL trains its configured model regardless of the request. */
const checkModel = (options: Options, served: ReadonlyArray<Protocol.SupportedModel>) => {
  const found = served.find(({ model_name }) => model_name === options.baseModel)
  if (found !== undefined || served.length === 0) return Effect.succeed(found)
  const names = served.map(({ model_name }) => model_name).join(", ")
  const detail = `the server does not train "${options.baseModel}": it trains ${names}.`
  return Effect.fail(Errors.make("create_model", { _tag: "UserMistake", detail }))
}

/** Detects which engine a SkyRL server uses, with a forward pass over two tokens. */
const probe = (state: State.State): Effect.Effect<Dialect.Dialect, Errors.TinkerError> =>
  Effect.gen(function* () {
    const model = yield* State.model(state)
    const known = state.client.dialect()
    if (known !== undefined) return known
    const { endToken } = state.options.tokenizer
    const { fields } = yield* model.forward(Batches.toForward([{ prompt: [endToken], completion: [endToken] }]))
    return Dialect.detect({ created: model.created, forwardFields: fields }) ?? Dialect.skyrlJax
  })

/** Checks before training that an adapter can be written for the base model. */
const checkBase = (file: string | undefined) =>
  file === undefined
    ? Effect.void
    : Effect.mapError(LoraAdapter.base(file), ({ message }) =>
        Errors.make("create_session", {
          _tag: "UserMistake",
          detail: `the trained weights could not be exported as gguf-lora. ${message}`
        })
      )

const opened = (options: Options) =>
  Effect.gen(function* () {
    yield* checkBase(options.baseGguf)
    const state = yield* State.open(options)
    const served = yield* Effect.flatMap(state.client.models, (models) => checkModel(options, models))
    const dialect = state.client.dialect() ?? (yield* probe(state))
    state.client.settle(dialect)
    // The model created for detection contains the gradient of the previous model in its slot.
    if (dialect.leavesGradients) yield* State.release(state)
    state.dialect = dialect
    state.contextTokens = options.contextTokens ?? served?.max_context_length ?? state.contextTokens
    return { state, dialect }
  })

const exporting = (state: State.State, dialect: Dialect.Dialect): Engine["export"] => {
  const refuse = (detail: string) =>
    Effect.fail(new EngineError({ engine: "tinker", doing: "export", reason: { _tag: "InvalidRequest", detail } }))
  return (format, path, about) => {
    const { baseGguf } = state.options
    if (dialect.archive === "model")
      return refuse("this server exports whole models, not adapters: serve the model that it saved.")
    if (format === "gguf")
      return refuse("adapters can be exported as peft or gguf-lora; whole models cannot be exported.")
    if (format === "gguf-lora" && baseGguf === undefined)
      return refuse("exporting as gguf-lora needs the base model: set baseGguf.")
    return Effect.gen(function* () {
      const address = yield* Effect.mapError(Checkpoints.saveForExport(state), (error) =>
        Errors.toEngineError("export", error)
      )
      const url = yield* Effect.mapError(state.client.archiveUrl(address), (error) =>
        Errors.toEngineError("export", error)
      )
      const { baseModel } = state.options
      if (format === "peft") yield* Adapter.download({ url, folder: path, baseModel })
      else yield* Adapter.downloadAsGguf({ url, path, baseModel, baseGguf: baseGguf!, about })
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Opens a session with a server and creates an engine from it. The session ends when the scope closes.
 *
 * **Details**
 *
 * The model is created on first use, or not at all if a saved state is loaded first. `save` returns an address on the
 * server and does not write to the folder.
 *
 * **Gotchas**
 *
 * Check {@link TinkerEngine.notices}: a client cannot compensate for features that a server ignores. If a gradient or
 * step is interrupted, the weights are uncertain, and a saved state must be loaded.
 *
 * **Example**
 *
 * ```ts no-run
 * import * as HuggingFaceTokenizer from "@divisi/trainer-tinker/HuggingFaceTokenizer"
 * import * as TinkerEngine from "@divisi/trainer-tinker/TinkerEngine"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const tokenizer = yield* HuggingFaceTokenizer.load({ folder: "models/Qwen3-0.6B" })
 *   const engine = yield* TinkerEngine.make({
 *     baseUrl: "http://127.0.0.1:8000",
 *     dialect: "skyrl-jax",
 *     baseModel: "Qwen/Qwen3-0.6B",
 *     tokenizer
 *   })
 *   const prompt = tokenizer.render([{ role: "user", content: "Is 7 prime?" }])
 *   const completion = [...tokenizer.encode("Yes."), tokenizer.endToken]
 *   yield* engine.forwardBackward([{ prompt, completion }], { type: "crossEntropy" })
 *   return yield* engine.step({ learningRate: 1e-4 })
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = (options: Options): Effect.Effect<TinkerEngine, EngineError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* Effect.mapError(
      Tables.checked("TinkerEngine.make", options, table),
      ({ message }) =>
        new EngineError({ engine: "tinker", doing: "open", reason: { _tag: "InvalidRequest", detail: message } })
    )
    const { dialect, state } = yield* Effect.mapError(opened(options), (error) => Errors.toEngineError("open", error))
    const notices = noticesOf(dialect)
    for (const notice of notices) Callback.notifyLogged("onNotice", () => options.onNotice?.(notice))
    const training = Training.make(state, dialect)
    return {
      name: "tinker",
      model: options.baseModel,
      capabilities: capabilitiesOf(state, dialect),
      tokenizer: options.tokenizer,
      dialect,
      notices,
      sampler: Samplers.make(state, dialect),
      forward: training.forward,
      forwardBackward: training.forwardBackward,
      step: training.step,
      save: (name) => Effect.mapError(Checkpoints.save(state, name), (error) => Errors.toEngineError("save", error)),
      load: (saved) => Effect.mapError(Checkpoints.load(state, saved), (error) => Errors.toEngineError("load", error)),
      export: exporting(state, dialect)
    }
  })
