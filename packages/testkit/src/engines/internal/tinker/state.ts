/** The state of a local server: sessions, models, samplers, futures, and the checkpoints in its folder. */
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

/** A model of a session. */
export interface Model {
  readonly id: string
  readonly sessionId: string
  readonly rank: number
  readonly engine: Engine
  readonly scope: Scope.Closeable
  /** Requests so far, and the futures of those that are numbered. */
  requests: number
  readonly numbered: Map<number, { readonly fingerprint: string; readonly requestId: string }>
  /** Gradients that wait for the step, where a server takes means. */
  pending: Array<Call>
  steps: number
  /** Everything that is done with the model, one after the other. */
  tail: Promise<void>
}

/** Something to sample. */
export interface SamplingSession {
  readonly model: Model
  /** Keeps its weights. */
  readonly sampler: Sampler
  /** Weights to load before a sample, if the server stores none for a sampler. */
  readonly saved: Saved | undefined
  /** Steps that its weights have seen. */
  readonly steps: number
}

/** The result of an operation, once there is one. */
export type Outcome =
  | { readonly type: "done"; readonly kind: "json" | "batch" | "samples"; readonly value: unknown }
  | { readonly type: "failed"; readonly detail: string; readonly isUsers: boolean }

/** A checkpoint in the folder. */
export interface Checkpoint {
  readonly modelId: string
  readonly kind: "weights" | "sampler_weights"
  readonly name: string
  readonly baseModel: string
  readonly rank: number
  readonly saved: Saved
}

/** The whole state of a server. */
export interface State {
  readonly options: Options
  readonly dialect: Dialect.Dialect
  readonly scope: Scope.Scope
  readonly log: Array<string>
  readonly token: string
  /** Named in replies; an engine of its own tells. */
  readonly baseModel: string
  readonly contextTokens: number
  readonly sessions: Set<string>
  readonly models: Map<string, Model>
  readonly samplers: Map<string, SamplingSession>
  readonly futures: Map<string, Promise<Outcome>>
  /** Gradients that an unloaded model has left to its successor, as SkyRL's JAX engine does. */
  leftover: Array<Call>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** A fresh state. Opens an engine once, to learn its model and context. */
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

/** An id like those of the server that is stood in for. */
export const newId = (kind: string): string => `${kind}_${randomUUID().slice(0, 8)}`

// -------------------------------------------------------------------------------------------------------------------
// Futures
// -------------------------------------------------------------------------------------------------------------------

const outcomeOf = (error: EngineError): Outcome => ({
  type: "failed",
  detail: error.reason.detail,
  isUsers: error.reason._tag === "InvalidRequest" || error.reason._tag === "TooLarge"
})

/** Promises the outcome of work. */
export const promise = (state: State, work: Promise<Outcome>): string => {
  const requestId = String(state.futures.size + 1)
  state.futures.set(requestId, work)
  return requestId
}

/** Does work on a model after all that was asked of it before. */
export const inTurn = (
  state: State,
  model: Model,
  work: Effect.Effect<Outcome, EngineError>,
  /** Written down when it was carried out. */
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

/** Closes a model's engine. */
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

/** The folder that an engine saves a checkpoint's files in. */
export const filesOf = ({ folder }: Options): string => path.join(folder, "states")

/** Writes a checkpoint down. */
export const keep = (options: Options, checkpoint: Checkpoint) =>
  Effect.promise(async () => {
    const file = fileOf(options, checkpoint)
    await fs.mkdir(path.dirname(file), { recursive: true })
    await fs.writeFile(file, JSON.stringify(checkpoint))
  })

/** A checkpoint that was written down. */
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
