/** The state of an engine: its session, its model, and whether the model's weights can be trusted. */
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
  /** The most tokens of a prompt and a completion. */
  contextTokens: number
  model: TinkerClient.TrainedModel | undefined
  modelScope: Scope.Closeable | undefined
  /** Steps of the optimiser that the weights have seen. */
  version: number
  /** Changes with every change of the weights. */
  epoch: number
  /** Changes with every sampler that is saved. */
  samplers: number
  /** The reason why the weights or gradients at the server are uncertain; absent if they are not. */
  doubt: string | undefined
  accumulation: Accumulation.Accumulation
  readonly names: Set<string>
  /** Held while the model is exchanged. */
  readonly creation: Semaphore.Semaphore
  /**
   * One permit for each sample under way, all of them for a change of the weights, where samplers do not outlast one.
   */
  readonly sampling: Semaphore.Semaphore
}

/** The default, where neither the caller nor the server gives one. */
const defaultContextTokens = 32_768

/** More than will ever sample at once. */
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

/** A session in place of one that the server has forgotten. */
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

/** Releases the model, so that a server with few places has room for the next. */
export const release = (state: State): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { modelScope } = state
    state.model = undefined
    state.modelScope = undefined
    return modelScope === undefined ? Effect.void : Scope.close(modelScope, Exit.void)
  })

/** Changes nothing but what was there before. */
const nothing = { learning_rate: 0, beta1: 0, beta2: 0, eps: 1, weight_decay: 0, grad_clip_norm: 0 }

/** Takes the place that the next model will have, steps whatever gradient was left there away, and leaves it. */
const wash = (state: State, options: TinkerClient.ModelOptions): Effect.Effect<void, Errors.TinkerError> =>
  Effect.scoped(Effect.flatMap(state.client.createModel(options), (model) => model.optimStep(nothing)))

/** Creates a model; there must be none. */
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

/** Records why the weights are uncertain: a missing reply, half of a batch, an interruption. */
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
