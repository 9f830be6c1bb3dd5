/**
 * A client for the Tinker API: sessions, trained models, samplers and checkpoints on one server.
 *
 * The client implements the whole protocol: heartbeats keep the session alive, each model's requests are sent in order
 * and executed once even if replies are lost, results are awaited by long polling, and everything is closed with the
 * scope. {@link @divisi/trainer-tinker/TinkerEngine} provides an engine based on this client.
 */
import { Callback, Elapsed, Options as Tables } from "@divisi/core"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Dialect from "./Dialect.ts"
import * as Credential from "./internal/credential.ts"
import type * as Futures from "./internal/futures.ts"
import * as Model from "./internal/model.ts"
import type { Connection } from "./internal/operations.ts"
import * as Operations from "./internal/operations.ts"
import * as Transport from "./internal/transport.ts"
import type * as Protocol from "./Protocol.ts"
import * as Errors from "./TinkerError.ts"

export type { Created, SamplerHandle, TrainedModel } from "./internal/model.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The address of a server, and timeouts in milliseconds. */
export interface Options {
  /**
   * Base URL without `/api/v1`. URLs with a user name, a password or a query are rejected. Default: the hosted service.
   */
  readonly baseUrl?: string | undefined
  /** API key. Omit it for a server that requires none, such as SkyRL. */
  readonly apiKey?: Redacted.Redacted<string> | undefined
  /** The server's dialect. Default: detected. */
  readonly dialect?: Dialect.Name | Dialect.Dialect | undefined
  /** Format of training requests and results. Default: `"json"`, which all known servers support. */
  readonly wire?: "json" | "protobuf" | undefined
  /** Tags shown in the server's lists. */
  readonly tags?: ReadonlyArray<string> | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  /** Timeout for one HTTP exchange. It does not limit slow operations, because results are polled. Default: 60 s. */
  readonly timeoutMillis?: number | undefined
  /** Timeout for one poll. Default: 45 s. */
  readonly pollMillis?: number | undefined
  /** Maximum time to wait for a result. Default: 2 hours. */
  readonly resultMillis?: number | undefined
  /** Interval between heartbeats. Default: 10 s. */
  readonly heartbeatMillis?: number | undefined
  /**
   * How failed exchanges are retried. Default: after 0.5 s, then with increasing delays of up to 30 s, for 5 minutes.
   */
  readonly retry?: Partial<Transport.Retry> | undefined
  /** Maximum number of concurrent sampling requests. The default depends on the dialect. */
  readonly sampleConcurrency?: number | undefined
  /** Maximum number of data and bytes per training request; larger requests are split. Default: 1,024 and 5,000,000. */
  readonly chunk?: { readonly data?: number | undefined; readonly bytes?: number | undefined } | undefined
  /** Called with notices about settings that the server ignores and about long waits. */
  readonly onNotice?: ((notice: string) => void) | undefined
  /** Replacement for the global `fetch`, for tests. */
  readonly fetch?: typeof fetch | undefined
}

/**
 * Validation table for {@link Options}, used by `Options.check`.
 *
 * @internal
 */
export const optionsTable = {
  baseUrl: Tables.name,
  apiKey: Tables.anObject,
  dialect: Tables.either(Tables.name, Tables.anObject),
  wire: Tables.oneOf("json", "protobuf"),
  tags: Tables.listOf(Tables.text),
  metadata: Tables.recordOf(Tables.text),
  timeoutMillis: Tables.number(1),
  pollMillis: Tables.number(1),
  resultMillis: Tables.number(1),
  heartbeatMillis: Tables.number(1),
  retry: { firstMillis: Tables.number(0), mostMillis: Tables.number(0), patienceMillis: Tables.number(0) },
  sampleConcurrency: Tables.whole(1),
  chunk: { data: Tables.whole(1), bytes: Tables.whole(1) },
  onNotice: Tables.aFunction,
  fetch: Tables.aFunction
} satisfies Tables.ShapeOf<Options>

/** Validates options; an invalid option is reported as a user mistake. */
const checked = (options: Options): Effect.Effect<void, Errors.TinkerError> =>
  Effect.mapError(Tables.checked("TinkerClient.make", options, optionsTable), ({ message }) =>
    Errors.make("create_session", { _tag: "UserMistake", detail: message })
  )

/** Options for a trained model. */
export interface ModelOptions {
  readonly baseModel: string
  readonly lora?: Partial<Protocol.LoraConfig> | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** A session with a server. */
export interface TinkerClient {
  readonly baseUrl: string
  readonly sessionId: string
  /** Returns the dialect. If it was not given in the options, it is `undefined` until a model has been created. */
  readonly dialect: () => Dialect.Dialect | undefined
  /** Sets the dialect after it has been detected. */
  readonly settle: (dialect: Dialect.Dialect) => void
  /** Returns the models that the server can train. */
  readonly models: Effect.Effect<ReadonlyArray<Protocol.SupportedModel>, Errors.TinkerError>
  /** Creates a new model. It is unloaded when the scope closes. */
  readonly createModel: (options: ModelOptions) => Effect.Effect<Model.TrainedModel, Errors.TinkerError, Scope.Scope>
  /** Returns how a saved state was trained. */
  readonly weightsInfo: (path: string) => Effect.Effect<Protocol.WeightsInfo, Errors.TinkerError>
  /** Returns a sampler for the base model, used as the reference for a KL penalty. It requires no trained model. */
  readonly baseSampler: (baseModel: string) => Effect.Effect<Model.SamplerHandle, Errors.TinkerError>
  /** Returns the URL of a sampler checkpoint's archive. Download it without the API key. */
  readonly archiveUrl: (path: string) => Effect.Effect<string, Errors.TinkerError>
}

// -------------------------------------------------------------------------------------------------------------------
// Parts
// -------------------------------------------------------------------------------------------------------------------

/** URL of the hosted service. */
const hostedUrl = "https://tinker.thinkingmachines.dev/services/tinker-prod"

const dialectOf = (option: Options["dialect"]): Dialect.Dialect | undefined =>
  typeof option === "string" ? Dialect.dialects[option] : option

/** Returns the base URL for error messages. A URL with a password is rejected and not repeated. */
const addressOf = ({ baseUrl = hostedUrl }: Options): Effect.Effect<string, Errors.TinkerError> => {
  const refused = (why: string) =>
    Effect.fail(Errors.make("create_session", { _tag: "UserMistake", detail: `the base URL (baseUrl) ${why}.` }))
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return refused("must start with http:// or https://")
  if (url.username !== "" || url.password !== "")
    return refused("contains a user name or password: remove it, and pass the key as apiKey")
  if (url.search !== "") return refused("contains a query, which is not sent: remove it, and pass the key as apiKey")
  return Effect.succeed(`${url.origin}${url.pathname}`.replace(/\/+(?:api\/v1\/?)?$/, ""))
}

const settingsOf = (baseUrl: string, options: Options, credential: Credential.Credential): Transport.Settings => ({
  baseUrl,
  timeoutMillis: options.timeoutMillis ?? 60_000,
  retry: { firstMillis: 500, mostMillis: 30_000, patienceMillis: 300_000, ...options.retry },
  fetch: options.fetch ?? fetch,
  credential: credential.value,
  refused: credential.forget,
  secrets: credential.secrets
})

const waitingOf = (options: Options, dialect: () => Dialect.Dialect | undefined): Futures.Waiting => ({
  pollMillis: options.pollMillis ?? 45_000,
  patienceMillis: options.resultMillis ?? 2 * 3_600_000,
  billingMillis: 3_600_000,
  isBadRequestFinal: () => dialect()?.isBadRequestFinal ?? true,
  onNotice: noticing(options)
})

/**
 * Time without a heartbeat after which a session is reported, in milliseconds. SkyRL unloads the session's models after
 * 300 s.
 */
const silenceMillis = 120_000

const noticing =
  ({ onNotice }: Pick<Options, "onNotice">) =>
  (notice: string): void =>
    Callback.notifyLogged("onNotice", () => onNotice?.(notice))

const heartbeats = (connection: Connection, everyMillis: number, onNotice: (notice: string) => void) =>
  Effect.gen(function* () {
    let heard = yield* Clock.currentTimeMillis
    let isTold = false
    const outgoing = {
      path: "session_heartbeat",
      body: JSON.stringify({ session_id: connection.sessionId, type: "session_heartbeat" }),
      timeoutMillis: 10_000
    }
    while (true) {
      yield* Effect.sleep(everyMillis)
      const result = yield* Effect.result(Transport.exchange(connection.settings, outgoing))
      const now = yield* Clock.currentTimeMillis
      if (result._tag === "Success" && result.success.status < 300) {
        heard = now
        isTold = false
      } else if (!isTold && now - heard >= silenceMillis) {
        onNotice(
          `${connection.settings.baseUrl} has received nothing from this session for ${Elapsed.inSeconds(now - heard)}.`
        )
        isTold = true
      }
    }
  })

interface ClientConfig {
  readonly pjwt_auth_enabled?: boolean | undefined
}

/** Version of the SDK whose protocol this client implements. */
const sdkVersion = "0.24.1"

/** Reads the server's requirements for clients. A server without this endpoint has no requirements. */
const configure = (settings: Transport.Settings, credential: Credential.Credential) =>
  Effect.gen(function* () {
    const body = JSON.stringify({ sdk_version: sdkVersion })
    const reply = yield* Transport.request(settings, { path: "client/config", body }).pipe(
      Effect.catchIf(
        ({ reason }) => reason._tag === "Expired",
        () => Effect.succeed(undefined)
      )
    )
    if (((reply?.json ?? {}) as ClientConfig).pjwt_auth_enabled === true) credential.exchange(settings)
  })

const startSession = (settings: Transport.Settings, options: Options) =>
  Effect.gen(function* () {
    const outgoing = {
      path: "create_session",
      body: JSON.stringify({
        tags: options.tags ?? ["divisi"],
        user_metadata: options.metadata ?? {},
        sdk_version: sdkVersion,
        type: "create_session"
      })
    }
    const reply = yield* Transport.request(settings, outgoing)
    const said = (reply.json ?? {}) as {
      readonly session_id?: string | undefined
      readonly info_message?: string | null | undefined
      readonly warning_message?: string | null | undefined
      readonly error_message?: string | null | undefined
    }
    for (const message of [said.info_message, said.warning_message, said.error_message]) {
      if (typeof message === "string") noticing(options)(`The server says: ${message}`)
    }
    return yield* Operations.expectText(settings, outgoing, reply, "session_id")
  })

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Opens a session with a server. It ends when the scope closes.
 *
 * **Example**
 *
 * ```ts no-run
 * import { TinkerClient } from "@divisi/trainer-tinker"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function* () {
 *   const client = yield* TinkerClient.make({ baseUrl: "http://127.0.0.1:8000" })
 *   const model = yield* client.createModel({ baseModel: "Qwen/Qwen3-0.6B", lora: { rank: 8 } })
 *   return model.id
 * })
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 */
export const make = (options: Options = {}): Effect.Effect<TinkerClient, Errors.TinkerError, Scope.Scope> =>
  Effect.gen(function* () {
    yield* checked(options)
    const scope = yield* Effect.scope
    let dialect = dialectOf(options.dialect)
    const credential = Credential.make(options.apiKey)
    const settings = settingsOf(yield* addressOf(options), options, credential)
    yield* configure(settings, credential)
    const sessionId = yield* startSession(settings, options)
    const connection: Connection = {
      settings,
      waiting: waitingOf(options, () => dialect),
      wire: options.wire ?? "json",
      sessionId,
      scope,
      dialect: () => dialect,
      settle: (found) => {
        dialect = found
      },
      chunk: { data: options.chunk?.data ?? 1024, bytes: options.chunk?.bytes ?? 5_000_000 },
      sampling: Semaphore.makeUnsafe(options.sampleConcurrency ?? dialect?.sampleConcurrency ?? 256),
      pause: { untilMillis: 0 },
      counters: { models: 0, samplers: 0 }
    }
    yield* Effect.forkScoped(heartbeats(connection, options.heartbeatMillis ?? 10_000, noticing(options)))
    const get = (path: string) => Transport.request(settings, { method: "GET", path })
    return {
      baseUrl: settings.baseUrl,
      sessionId,
      dialect: () => dialect,
      settle: connection.settle,
      models: Effect.map(get("get_server_capabilities"), ({ json }) => {
        const { supported_models: models } = (json ?? {}) as {
          supported_models?: ReadonlyArray<Protocol.SupportedModel> | undefined
        }
        return models ?? []
      }),
      createModel: (modelOptions) => Model.create(connection, modelOptions),
      weightsInfo: (path) =>
        Effect.map(
          Transport.request(settings, { path: "weights_info", body: JSON.stringify({ tinker_path: path }) }),
          ({ json }) => (json ?? {}) as Protocol.WeightsInfo
        ),
      baseSampler: (baseModel) => Model.baseSampler(connection, baseModel),
      archiveUrl: (path) => Model.archiveUrl(connection, path)
    }
  })
