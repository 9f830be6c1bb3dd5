/** The state of the local server: sessions, models, samplers, futures, and the checkpoints in its folder. */
import { randomUUID } from "node:crypto"
import fs from "node:fs/promises"
import path from "node:path"
import type { Engine, EngineError, Sampler, Saved } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Options } from "../../LocalTinkerServer.ts"
import * as Dialect from "./dialect.ts"
import type { Call } from "./passes.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A model in a session. */
export interface Model {
  readonly id: string
  readonly sessionId: string
  readonly rank: number
  readonly engine: Engine
  readonly scope: Scope.Closeable
  /** Number of requests received, and the futures for numbered requests. */
  requests: number
  readonly numbered: Map<number, { readonly fingerprint: string; readonly requestId: string }>
  /** Gradients to be applied in the next step, for servers that average them. */
  pending: Array<Call>
  steps: number
  /** Serializes all operations on the model. */
  tail: Promise<void>
}

/** A source of samples: a model or a sampler. */
export interface SamplingSession {
  readonly model: Model
  /** Holds the weights. */
  readonly sampler: Sampler
  /** Weights to load before sampling, if the server does not store weights for samplers. */
  readonly saved: Saved | undefined
  /** Number of optimizer steps in its weights. */
  readonly steps: number
}

/** The outcome of an operation that has finished. */
export type Outcome =
  | { readonly type: "done"; readonly kind: "json" | "batch" | "samples"; readonly value: unknown }
  | { readonly type: "failed"; readonly detail: string; readonly isUsers: boolean }

/** A checkpoint stored in the folder. */
export interface Checkpoint {
  readonly modelId: string
  readonly kind: "weights" | "sampler_weights"
  readonly name: string
  readonly baseModel: string
  readonly rank: number
  readonly saved: Saved
}

/** The complete state of a server. */
export interface State {
  readonly options: Options
  readonly dialect: Dialect.Dialect
  readonly scope: Scope.Scope
  readonly log: Array<string>
  readonly token: string
  /** Name that is sent in replies. Defaults to the name reported by the engine. */
  readonly baseModel: string
  readonly contextTokens: number
  readonly sessions: Set<string>
  readonly models: Map<string, Model>
  readonly samplers: Map<string, SamplingSession>
  readonly futures: Map<string, Promise<Outcome>>
  /** Gradients that an unloaded model passes on to the next one, as in SkyRL's JAX engine. */
  leftover: Array<Call>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Creates the initial state. Opens an engine once to determine its model and context length. */
export const open = (options: Options, scope: Scope.Scope, log: Array<string>): Effect.Effect<State, EngineError> =>
  Effect.gen(function* () {
    yield* Effect.promise(() => fs.mkdir(filesOf(options), { recursive: true }))
    const engine = yield* Effect.scoped(options.engine)
    return {
      options,
      dialect: Dialect.dialects[options.dialect ?? "hosted"],
      scope,
      log,
      token: `eyJ.${Buffer.from(JSON.stringify({ exp: Math.floor(Date.now() / 1000) + 3600 })).toString("base64url")}.${randomUUID()}`,
      baseModel: options.baseModel ?? engine.model,
      contextTokens: engine.capabilities.contextTokens,
      sessions: new Set(),
      models: new Map(),
      samplers: new Map(),
      futures: new Map(),
      leftover: []
    }
  })

/** Creates an id in the format of the imitated server. */
export const newId = (kind: string): string => `${kind}_${randomUUID().slice(0, 8)}`

// -------------------------------------------------------------------------------------------------------------------
// Futures
// -------------------------------------------------------------------------------------------------------------------

const outcomeOf = (error: EngineError): Outcome => ({
  type: "failed",
  detail: error.reason.detail,
  isUsers: error.reason._tag === "InvalidRequest" || error.reason._tag === "TooLarge"
})

/** Creates a future for the outcome of an operation. */
export const promise = (state: State, work: Promise<Outcome>): string => {
  const requestId = String(state.futures.size + 1)
  state.futures.set(requestId, work)
  return requestId
}

/** Runs an operation on a model after all earlier ones. */
export const inTurn = (
  state: State,
  model: Model,
  work: Effect.Effect<Outcome, EngineError>,
  /** Name under which the operation is recorded once it was carried out. */
  call: string
): string => {
  const run = model.tail.then(() =>
    Effect.runPromise(
      Effect.catch(
        Effect.tap(work, () => Effect.sync(() => state.log.push(call))),
        (error) => Effect.succeed(outcomeOf(error))
      )
    )
  )
  const safe = run.catch((cause): Outcome => ({ type: "failed", detail: String(cause), isUsers: false }))
  model.tail = safe.then(() => {})
  return promise(state, safe)
}

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Opens an engine for a new model. */
export const createModel = (state: State, sessionId: string, rank: number): Effect.Effect<Model, EngineError> =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(state.scope)
    const engine = yield* Scope.provide(state.options.engine, scope)
    const id = newId("model")
    const model: Model = {
      id,
      sessionId,
      rank,
      engine,
      scope,
      requests: 0,
      numbered: new Map(),
      pending: state.leftover,
      steps: 0,
      tail: Promise.resolve()
    }
    state.models.set(id, model)
    state.leftover = []
    return model
  })

/** Closes the engine behind a model. */
export const unload = (state: State, model: Model): Effect.Effect<void> =>
  Effect.suspend(() => {
    state.models.delete(model.id)
    if (state.dialect.leavesGradients) state.leftover = model.pending
    return Scope.close(model.scope, Exit.void)
  })

// -------------------------------------------------------------------------------------------------------------------
// Checkpoints
// -------------------------------------------------------------------------------------------------------------------

const fileOf = ({ folder }: Options, { kind, modelId, name }: Pick<Checkpoint, "modelId" | "kind" | "name">) =>
  path.join(folder, "checkpoints", encodeURIComponent(modelId), kind, `${name}.json`)

/** Folder in which an engine saves the files for a checkpoint. */
export const filesOf = ({ folder }: Options): string => path.join(folder, "states")

/** Stores a checkpoint's description. */
export const keep = (options: Options, checkpoint: Checkpoint) =>
  Effect.promise(async () => {
    const file = fileOf(options, checkpoint)
    await fs.mkdir(path.dirname(file), { recursive: true })
    await fs.writeFile(file, JSON.stringify(checkpoint))
  })

/** Returns a stored checkpoint. */
export const find = async (
  options: Options,
  which: Pick<Checkpoint, "modelId" | "kind" | "name">
): Promise<Checkpoint | undefined> => {
  try {
    return JSON.parse(await fs.readFile(fileOf(options, which), "utf8"))
  } catch {
    return undefined
  }
}
