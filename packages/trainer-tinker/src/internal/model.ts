/** A model that the server trains, with its samplers and checkpoints. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Dialect from "../Dialect.ts"
import type * as Protocol from "../Protocol.ts"
import type { ModelOptions } from "../TinkerClient.ts"
import * as Errors from "../TinkerError.ts"
import * as Batches from "./chunks.ts"
import * as Operations from "./operations.ts"
import * as Sampling from "./sampling.ts"
import * as Submissions from "./submissions.ts"
import * as Transport from "./transport.ts"

export type { SamplerHandle } from "./sampling.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A model in training. Its requests are executed in the order in which they are made. */
export interface TrainedModel {
  readonly id: string
  /** The server's immediate reply to `create_model`. */
  readonly created: Created
  readonly forward: (batch: Protocol.Batch) => Effect.Effect<Protocol.BatchResult, Errors.TinkerError>
  readonly forwardBackward: (batch: Protocol.Batch) => Effect.Effect<Protocol.BatchResult, Errors.TinkerError>
  readonly optimStep: (
    parameters: Protocol.AdamParams
  ) => Effect.Effect<Readonly<Record<string, number>>, Errors.TinkerError>
  /** Saves the state and returns its address. */
  readonly saveWeights: (name: string) => Effect.Effect<string, Errors.TinkerError>
  /** Loads a saved state. Allowed only as the first request for a model. */
  readonly loadWeights: (path: string) => Effect.Effect<void, Errors.TinkerError>
  /** Creates a sampler with the current weights. */
  readonly sampler: Effect.Effect<Sampling.SamplerHandle, Errors.TinkerError>
  /** Saves weights for sampling and download, and returns their address. */
  readonly saveForSampler: (name: string) => Effect.Effect<string, Errors.TinkerError>
  /** Unloads the model from the server. This also happens when the scope closes. */
  readonly unload: Effect.Effect<void>
}

/** The reply to `create_model`. */
export type Created = Readonly<Record<string, unknown>>

// -------------------------------------------------------------------------------------------------------------------
// Creation
// -------------------------------------------------------------------------------------------------------------------

const loraOf = (lora: ModelOptions["lora"]): Protocol.LoraConfig => ({
  rank: 32,
  train_unembed: true,
  train_mlp: true,
  train_attn: true,
  ...lora
})

const request = (connection: Operations.Connection, { baseModel, lora, metadata }: ModelOptions) =>
  Effect.gen(function* () {
    const outgoing = Operations.jsonCall("create_model", {
      session_id: connection.sessionId,
      model_seq_id: connection.counters.models++,
      base_model: baseModel,
      lora_config: loraOf(lora),
      user_metadata: metadata ?? {}
    })
    const taken = yield* Operations.take(connection, outgoing)
    const reply = yield* Operations.result(connection, "create_model", taken)
    const id = yield* Operations.expectText(connection.settings, outgoing, reply, "model_id")
    return { id, created: (taken.reply.json ?? {}) as Created }
  })

const unloadMillis = 30_000

const unload = (connection: Operations.Connection, id: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const impatient = { ...connection, settings: { ...connection.settings, timeoutMillis: 10_000 } }
    const taken = yield* Operations.take(impatient, Operations.jsonCall("unload_model", { model_id: id }))
    yield* Operations.result(impatient, "unload_model", taken)
  }).pipe(Effect.timeout(unloadMillis), Effect.ignore)

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** The dependencies for sending requests for a model. */
export interface Place {
  readonly connection: Operations.Connection
  readonly id: string
  readonly submissions: Submissions.Submissions
}

/** Sends a numbered request and waits for its result. */
const numbered = (
  { connection, id, submissions }: Place,
  path: string,
  body: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>)
) =>
  Effect.gen(function* () {
    const parts = typeof body === "function" ? body : () => body
    const taken = yield* submissions.submit(path, () => ({
      fingerprint: () => JSON.stringify([path, parts()]),
      send: (sequence) =>
        Operations.take(connection, Operations.jsonCall(path, { model_id: id, ...parts(), seq_id: sequence }))
    }))
    return yield* Operations.result(connection, path, taken)
  })

const isSavedBefore = (error: Errors.TinkerError) => error.reason._tag === "Conflict" && error.afterLostReply === true

const untilReadyMillis = 1_000

/** Repeats a request while a checkpoint is being written. */
const whenReady = <A>(ask: Effect.Effect<A, Errors.TinkerError>): Effect.Effect<A, Errors.TinkerError> =>
  Effect.catchIf(
    ask,
    ({ reason }) => reason._tag === "NotReady",
    () => Effect.andThen(Effect.sleep(untilReadyMillis), whenReady(ask))
  )

const untilReady = ({ settings }: Operations.Connection, path: string): Effect.Effect<void, Errors.TinkerError> =>
  Effect.asVoid(
    whenReady(Transport.request(settings, { path: "weights_info", body: JSON.stringify({ tinker_path: path }) }))
  )

const saveWeights = (place: Place, name: string) => {
  const path = `tinker://${place.id}/weights/${name}`
  return numbered(place, "save_weights", { path: name, overwrite: false }).pipe(
    Effect.map(({ json }) => (json as { readonly path?: string | undefined } | undefined)?.path ?? path),
    // SkyRL identifies saved states only by name, so a name that is in use after a lost reply belongs to this one.
    Effect.catchIf(isSavedBefore, () => Effect.as(untilReady(place.connection, path), path))
  )
}

const saveForSampler = (place: Place, name: string) => {
  // SkyRL's reply omits the type of checkpoint, without which it cannot find the checkpoint.
  const path = `tinker://${place.id}/sampler_weights/${name}`
  return numbered(place, "save_weights_for_sampler", { path: name }).pipe(
    Effect.as(path),
    Effect.catchIf(isSavedBefore, () => Effect.succeed(path))
  )
}

const mostSamplerAttempts = 8

const sampler = (place: Place, attempt = 1): Effect.Effect<Sampling.SamplerHandle, Errors.TinkerError> =>
  Effect.gen(function* () {
    const { connection } = place
    const sampling_session_seq_id = connection.counters.samplers++
    const reply = yield* numbered(place, "save_weights_for_sampler", { sampling_session_seq_id })
    const said = (reply.json ?? {}) as {
      readonly sampling_session_id?: string | null | undefined
      readonly path?: string | null | undefined
    }
    if (typeof said.sampling_session_id === "string") return Sampling.make(connection, said.sampling_session_id)
    return yield* Sampling.open(connection, { model_path: said.path ?? "" })
  }).pipe(
    // The first attempt created a sampler with an unknown name, so another one is created.
    Effect.catchIf(
      (error) => isSavedBefore(error) && attempt < mostSamplerAttempts,
      () => sampler(place, attempt + 1)
    )
  )

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Creates a new model. It is unloaded when the scope closes. */
export const create = (
  connection: Operations.Connection,
  options: ModelOptions
): Effect.Effect<TrainedModel, Errors.TinkerError, Scope.Scope> =>
  Effect.gen(function* () {
    let isThere = true
    const { created, id } = yield* Effect.acquireRelease(request(connection, options), (model) =>
      Effect.suspend(() => (isThere ? unload(connection, model.id) : Effect.void))
    )
    const found = connection.dialect() ?? Dialect.detect({ created })
    if (found !== undefined) connection.settle(found)
    const place: Place = { connection, id, submissions: Submissions.make(connection.scope) }
    return {
      id,
      created,
      forward: (batch) => Batches.run(place, batch, "forward"),
      forwardBackward: (batch) => Batches.run(place, batch, "forward_backward"),
      optimStep: (parameters) =>
        Effect.map(
          numbered(place, "optim_step", { adam_params: parameters }),
          ({ json }) =>
            (json as { readonly metrics?: Readonly<Record<string, number>> | undefined } | undefined)?.metrics ?? {}
        ),
      saveWeights: (name) => saveWeights(place, name),
      loadWeights: (path) => Effect.asVoid(numbered(place, "load_weights", { path, optimizer: true })),
      sampler: sampler(place),
      saveForSampler: (name) => saveForSampler(place, name),
      unload: Effect.suspend(() => {
        if (!isThere) return Effect.void
        isThere = false
        return unload(connection, id)
      })
    }
  })

/** Returns a sampler for a model that was never trained. */
export const baseSampler = (connection: Operations.Connection, baseModel: string) =>
  Sampling.open(connection, { base_model: baseModel })

/** Returns the URL of a sampler checkpoint's archive: a signed URL, or one on the same server. */
export const archiveUrl = (
  connection: Operations.Connection,
  path: string
): Effect.Effect<string, Errors.TinkerError> =>
  Effect.gen(function* () {
    const { settings } = connection
    const match = /^tinker:\/\/([^/]+)\/sampler_weights\/([^/]+)$/.exec(path)
    if (match === null) {
      const detail = `"${path}" is not a sampler checkpoint. Expected tinker://MODEL/sampler_weights/NAME.`
      return yield* Errors.make("archive", { _tag: "UserMistake", detail })
    }
    const [, id = "", name = ""] = match
    const checkpoint = connection.dialect()?.bareArchiveName === true ? name : `sampler_weights/${name}`
    const outgoing: Transport.Outgoing = {
      method: "GET",
      path: `training_runs/${encodeURI(id)}/checkpoints/${encodeURI(checkpoint)}/archive`
    }
    const reply = yield* whenReady(Transport.request(settings, outgoing))
    const location = reply.headers.get("location")
    if (location !== null) return new URL(location, `${settings.baseUrl}/`).href
    return yield* Operations.expectText(settings, outgoing, reply, "url")
  })
