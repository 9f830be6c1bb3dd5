/** The state of an engine: its session, its model, and whether the model's weights are certain. */
import { defined } from "@divisi/core/Fields"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import type * as Dialect from "../Dialect.ts"
import * as TinkerClient from "../TinkerClient.ts"
import type { Options } from "../TinkerEngine.ts"
import * as Errors from "../TinkerError.ts"
import * as Accumulation from "./accumulation.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The state of an engine. */
export interface State {
  readonly options: Options
  readonly scope: Scope.Scope
  client: TinkerClient.TinkerClient
  clientScope: Scope.Closeable
  dialect: Dialect.Dialect | undefined
  /** Maximum number of tokens for prompt and completion together. */
  contextTokens: number
  model: TinkerClient.TrainedModel | undefined
  modelScope: Scope.Closeable | undefined
  /** Number of optimizer steps applied to the weights. */
  version: number
  /** Incremented whenever the weights change. */
  epoch: number
  /** Incremented whenever a sampler is saved. */
  samplers: number
  /** The reason why the weights or gradients on the server are uncertain; `undefined` if they are certain. */
  doubt: string | undefined
  accumulation: Accumulation.Accumulation
  readonly names: Set<string>
  /** Held while the model is replaced. */
  readonly creation: Semaphore.Semaphore
  /**
   * For servers whose samplers become invalid when weights change: each sampling request takes one permit, and a change
   * of the weights takes all of them.
   */
  readonly sampling: Semaphore.Semaphore
}

/** Default if neither the caller nor the server specifies a limit. */
const defaultContextTokens = 32_768

/** Upper bound for the number of concurrent samples. */
export const allSamples = 1_000_000

// -------------------------------------------------------------------------------------------------------------------
// Sessions
// -------------------------------------------------------------------------------------------------------------------

const connect = (options: Options, scope: Scope.Scope) =>
  Effect.gen(function* () {
    const {
      baseGguf: _,
      baseModel: _model,
      contextTokens: _context,
      lora: _lora,
      stop: _stop,
      tokenizer: _tokenizer,
      ...clientOptions
    } = options
    const clientScope = yield* Scope.fork(scope)
    const client = yield* Scope.provide(TinkerClient.make(clientOptions), clientScope).pipe(
      Effect.onError(() => Scope.close(clientScope, Exit.void))
    )
    return { client, clientScope }
  })

/** Opens a session. */
export const open = (options: Options): Effect.Effect<State, Errors.TinkerError, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const { client, clientScope } = yield* connect(options, scope)
    return {
      options,
      scope,
      client,
      clientScope,
      dialect: client.dialect(),
      contextTokens: options.contextTokens ?? defaultContextTokens,
      model: undefined,
      modelScope: undefined,
      version: 0,
      epoch: 0,
      samplers: 0,
      doubt: undefined,
      accumulation: Accumulation.initial,
      names: new Set(),
      creation: Semaphore.makeUnsafe(1),
      sampling: Semaphore.makeUnsafe(allSamples)
    }
  })

/** Opens a new session to replace one that the server no longer has. */
export const reconnect = (state: State): Effect.Effect<void, Errors.TinkerError> =>
  Effect.gen(function* () {
    yield* Scope.close(state.clientScope, Exit.void)
    const dialect = state.dialect ?? state.options.dialect
    const { client, clientScope } = yield* connect({ ...state.options, dialect }, state.scope)
    state.client = client
    state.clientScope = clientScope
  })

// -------------------------------------------------------------------------------------------------------------------
// Models at the server
// -------------------------------------------------------------------------------------------------------------------

/** Releases the model, so that a server with few slots has room for the next one. */
export const release = (state: State): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { modelScope } = state
    state.model = undefined
    state.modelScope = undefined
    return modelScope === undefined ? Effect.void : Scope.close(modelScope, Exit.void)
  })

/** Optimizer settings with which a step consumes the pending gradient and leaves the weights unchanged. */
const nothing = { learning_rate: 0, beta1: 0, beta2: 0, eps: 1, weight_decay: 0, grad_clip_norm: 0 }

/**
 * Creates a temporary model in the slot of the next one, consumes any leftover gradient in a step, and releases the
 * model.
 */
const wash = (state: State, options: TinkerClient.ModelOptions): Effect.Effect<void, Errors.TinkerError> =>
  Effect.scoped(Effect.flatMap(state.client.createModel(options), (model) => model.optimStep(nothing)))

/** Creates a model; none may exist. */
export const create = (state: State, rank?: number): Effect.Effect<TinkerClient.TrainedModel, Errors.TinkerError> =>
  Effect.gen(function* () {
    const { baseModel, lora, metadata } = state.options
    const options: TinkerClient.ModelOptions = {
      baseModel,
      lora: defined({ train_unembed: false, ...lora, rank: rank ?? lora?.rank }),
      metadata
    }
    if (state.dialect?.leavesGradients) yield* wash(state, options)
    const modelScope = yield* Scope.fork(state.clientScope)
    const model = yield* Scope.provide(state.client.createModel(options), modelScope).pipe(
      Effect.onError(() => Scope.close(modelScope, Exit.void))
    )
    state.model = model
    state.modelScope = modelScope
    return model
  })

/** Returns the model, creating it if necessary. */
export const model = (state: State): Effect.Effect<TinkerClient.TrainedModel, Errors.TinkerError> =>
  Effect.suspend(() =>
    state.model === undefined
      ? state.creation.withPermits(1)(
          Effect.suspend(() => Effect.fromNullishOr(state.model).pipe(Effect.catch(() => create(state))))
        )
      : Effect.succeed(state.model)
  )

// -------------------------------------------------------------------------------------------------------------------
// Doubt
// -------------------------------------------------------------------------------------------------------------------

/** Fails if the weights are uncertain. */
export const trusted = (state: State, call: string): Effect.Effect<void, Errors.TinkerError> =>
  Effect.suspend(() =>
    state.doubt === undefined
      ? Effect.void
      : Effect.fail(Errors.make(call, { _tag: "Expired", detail: `${state.doubt} Load the last saved state.` }))
  )

/** Records why the weights are uncertain: a missing reply, an incomplete batch, or an interruption. */
export const doubting = <A>(
  state: State,
  effect: Effect.Effect<A, Errors.TinkerError>
): Effect.Effect<A, Errors.TinkerError> =>
  effect.pipe(
    Effect.tapError((error) =>
      Effect.sync(() => {
        if (error.isPartial || error.isOutcomeUnknown) state.doubt = `The outcome of ${error.call} is unknown.`
      })
    ),
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        state.doubt = "A request was interrupted after it may have been sent."
      })
    )
  )
