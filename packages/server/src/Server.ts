/**
 * An HTTP endpoint for a Conductor, compatible with OpenAI and Anthropic clients.
 *
 * The server is an Effect HTTP application. Run it on Node with `NodeServer`, or on any other runtime that can serve
 * Effect HTTP applications.
 */

import { type Budget, Journal, Resilience, type RunEvent, Options as Tables } from "@divisi/core"
import { settingsTable } from "@divisi/core/Conductor"
import type { RunSettings } from "@divisi/core/RunSettings"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as PartitionedSemaphore from "effect/PartitionedSemaphore"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { type Authenticate, type Caller, onThisMachine } from "./Caller.ts"
import * as ContentSetting from "./ContentSetting.ts"
import { chat } from "./chat/Chat.ts"
import * as Defects from "./Defects.ts"
import * as Cancels from "./http/Cancels.ts"
import * as Endpoint from "./http/Endpoint.ts"
import * as Fair from "./http/Fair.ts"
import * as Forks from "./http/Forks.ts"
import * as InFlight from "./http/InFlight.ts"
import * as Loopback from "./http/Loopback.ts"
import * as OpenApi from "./http/OpenApi.ts"
import * as Operations from "./http/Operations.ts"
import * as Origins from "./http/Origins.ts"
import * as Pages from "./http/Pages.ts"
import * as Passthrough from "./http/Passthrough.ts"
import * as Paths from "./http/Paths.ts"
import * as PlanPrices from "./http/PlanPrices.ts"
import * as Ratings from "./http/Ratings.ts"
import * as Respond from "./http/Respond.ts"
import * as Resumes from "./http/Resumes.ts"
import * as Runs from "./http/Runs.ts"
import * as Metrics from "./Metrics.ts"
import * as Models from "./Models.ts"
import * as CountTokens from "./messages/CountTokens.ts"
import { messages } from "./messages/Messages.ts"
import * as Threads from "./messages/Threads.ts"
import * as Offer from "./Offer.ts"
import type * as RequestLog from "./RequestLog.ts"
import type { Archive } from "./responses/Archive.ts"
import { compaction } from "./responses/Compaction.ts"
import { responses } from "./responses/Responses.ts"
import * as ResponsesEndpoints from "./responses/ResponsesEndpoints.ts"
import * as ResponsesSocket from "./responses/ResponsesSocket.ts"
import * as SharedResponses from "./responses/SharedResponses.ts"
import * as CallId from "./segment/CallId.ts"
import * as Failure from "./segment/Failure.ts"
import * as Seal from "./segment/Seal.ts"
import type { Notes } from "./segment/SegmentParts.ts"
import * as Segments from "./segment/Segments.ts"
import { ApiError, invalid } from "./wire/ApiError.ts"
import type { JsonObject } from "./wire/Json.ts"
import * as Limits from "./wire/Limits.ts"
import * as OpenAi from "./wire/OpenAi.ts"
import type { Wire } from "./wire/Wire.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Models and run settings, which can be replaced while the server runs. */
export interface Replaceable extends Models.Options {
  /**
   * Run settings. By default, the server enables `reassign`: if a worker fails after all retries, the next worker takes
   * over.
   */
  readonly settings?: RunSettings | undefined
  /** How much progress is shown to clients. Default: `"titles"`, which shows the subtask assigned to each worker. */
  readonly notes?: Notes | undefined
}

/** Options for creating a server. */
export interface Options extends Replaceable {
  /**
   * Stores runs, so that suspended runs can be resumed. Defaults to an in-memory journal of at most 32 MiB, which
   * evicts the oldest runs.
   */
  readonly journal?: Journal.Journal | undefined
  /** Reports whether dependencies such as a database are available, for `/health/ready`. Defaults to always ready. */
  readonly isReady?: Effect.Effect<boolean> | undefined
  /** Stores responses for later retrieval and continuation. Default: in memory, up to 64 MiB. */
  readonly responses?: Archive | undefined
  /**
   * Shares background responses with other servers, so that any server can stream or cancel them and take over those of
   * a crashed server. Requires a shared `journal` and shared `responses`. By default, responses are not shared.
   */
  readonly shared?: SharedResponses.Shared | undefined
  /**
   * Authenticates requests. If omitted, only programs on this machine have access, and they are all treated as the same
   * caller.
   */
  readonly authenticate?: Authenticate | undefined
  /**
   * Whether the server currently accepts callers without keys. While it does, endpoints that never require a key, such
   * as `/health/live`, also reject requests from web pages and proxies. Defaults to true if `authenticate` is omitted.
   */
  readonly isKeyless?: (() => boolean) | undefined
  /** Origins of web pages that may call the server, e.g. `http://localhost:3000`. Default: none. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** An account that is charged for all runs. */
  readonly ledger?: Budget.Ledger | undefined
  /**
   * How long a run continues after its client disconnects, in milliseconds. 0 stops the run immediately. Default:
   * 30,000.
   */
  readonly graceMillis?: number | undefined
  /** Interval between keep-alive messages on idle streams, in milliseconds. Default: 15,000. */
  readonly heartbeatMillis?: number | undefined
  /** Maximum size of a request body, in bytes. Overrides `limits.bodyBytes`. Default: 32 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Limits on the depth, number of values and string lengths of a request, and on the bytes in flight. */
  readonly limits?: Limits.Given | undefined
  /**
   * Secret for encrypting the state of suspended runs, which clients send back to resume a run whose journal entry is
   * gone. Servers with the same secret can resume each other's runs. Defaults to a random secret for each process.
   */
  readonly secret?: Redacted.Redacted | undefined
  /** Receives the events from all runs. */
  readonly listener?: RunEvent.Listener | undefined
  /** Called with an entry for each completed request. Entries include no content. */
  readonly log?: RequestLog.Log | undefined
  /**
   * Whether content (questions, answers, reasoning, tool arguments and tool results) may be stored and logged. With
   * `"none"`, `journal`, `responses` and `keepRating` are ignored: runs exist only in memory, responses are not stored,
   * and run pages and logs include no text from requests or answers. Default: `"full"`.
   */
  readonly content?: ContentSetting.ContentSetting | undefined
  /**
   * Stores ratings that clients submit for their runs (`POST /v1/runs/{id}/rating`). If omitted, the endpoint is
   * disabled.
   */
  readonly keepRating?: Ratings.Keep | undefined
  /**
   * Serves pages under `/studio`, for example `Assets.respond` from `@divisi/studio`. Requests to `/` from a browser
   * are redirected to `/studio`, and requests from the server's own origin are allowed. Default: none.
   */
  readonly pages?: Pages.Pages | undefined
  /** Loads the keys and machines returned by `GET /v1/operations` to callers with the `admin` right. Default: none. */
  readonly operations?: Operations.Read | undefined
}

/**
 * The validation table for {@link Options}, for use with `Options.check`.
 *
 * @internal
 */
export const optionsTable = Tables.table(
  {
    pool: Tables.expects("a WorkerPool", (value) => typeof value === "object" && value !== null && "workers" in value),
    policy: Tables.madeBy("a policy", "propose"),
    fast: Tables.madeBy("a policy", "propose"),
    housekeeping: Tables.oneOf("fast", "as-asked"),
    policies: Tables.recordOf(Tables.madeBy("a policy", "propose")),
    aliases: Tables.recordOf(Tables.text),
    settings: Tables.table(settingsTable, { rules: [Tables.needs("threshold", "critic", "checks")] }),
    notes: Tables.oneOf("off", "titles", "full"),
    journal: Tables.madeBy("a journal", "append"),
    isReady: Tables.expects("an Effect", Effect.isEffect),
    responses: Tables.anObject,
    shared: Tables.anObject,
    authenticate: Tables.aFunction,
    isKeyless: Tables.aFunction,
    origins: Tables.listOf(Tables.text),
    ledger: Tables.madeBy("a ledger", "reserve"),
    graceMillis: Tables.limit,
    heartbeatMillis: Tables.number(1),
    maxBodyBytes: Tables.whole(1),
    limits: Limits.table,
    secret: Tables.expects("a Redacted", Redacted.isRedacted),
    listener: Tables.aFunction,
    log: Tables.aFunction,
    content: Tables.oneOf("full", "none"),
    keepRating: Tables.aFunction,
    pages: Tables.aFunction,
    operations: Tables.expects("an Effect", Effect.isEffect)
  } satisfies Tables.ShapeOf<Options>,
  { required: ["pool"] }
)

/** A server that has not started listening. */
export interface Server {
  /** Handles one HTTP request. */
  readonly app: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
  /** Rejects new requests and waits up to `millis` milliseconds for requests in flight. */
  readonly drain: (millis: number) => Effect.Effect<void>
  /** Returns the number of active runs. */
  readonly running: () => number
  /**
   * Replaces the options for new requests. Requests in flight finish with the old options; suspended runs resume with
   * the new ones. The returned effect completes when the old options are no longer in use and their resources can be
   * released. Invalid options are a defect, and the server keeps the old ones.
   */
  readonly replace: (options: Replaceable) => Effect.Effect<Effect.Effect<void>>
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

const noneClosed: Effect.Effect<ReadonlyArray<Resilience.ClosedProvider>> = Effect.succeed([])

const kibi = 2 ** 10
const mebi = 2 ** 20

/** Time allowed for another server to store a response after its run has finished, in milliseconds. */
const storedWithinMillis = 10_000

/**
 * Polling interval in milliseconds, and maximum number of attempts, when waiting for a run to appear in the journal.
 */
const [lookMillis, maxLooks] = [10, 1_000]

/** Maximum size of the in-memory journal, in bytes. */
const keptBytes = 32 * mebi

const modelOf = (id: string, created: number) => ({
  id,
  object: "model",
  created,
  owned_by: "divisi",
  // Fields for Anthropic clients.
  type: "model",
  display_name: id,
  created_at: new Date(created * 1000).toISOString()
})

const notFound = (message: string, field?: string): ApiError => new ApiError({ kind: "not-found", message, field })

/** Returns the error format for paths that no wire handles: Anthropic's under `/v1/messages`, OpenAI's elsewhere. */
const errorsOf = (url: string): Pick<Wire<unknown>, "error"> =>
  url.startsWith("/v1/messages") ? messages : { error: OpenAi.errorBody }

const isUnknownRoute = (error: unknown): boolean =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Responds to a request without a route: 405 if the path has another method, otherwise 404 with a suggestion. */
const unknownRoute = (method: string, url: string): HttpServerResponse.HttpServerResponse => {
  const path = url.replace(/\?.*$/s, "")
  const shown = path.slice(0, 200)
  const allowed = Paths.methodOf(path)
  if (allowed === undefined) {
    const message = `${method} ${shown} is not an endpoint of this server.${Paths.hint(path)}`
    return Respond.error(errorsOf(url), notFound(message))
  }
  const message = `${shown} does not support ${method}. Use ${allowed}.`
  const error = new ApiError({ kind: "method-not-allowed", message })
  return Respond.error(errorsOf(url), error, { allow: allowed })
}

/** Extracts the model name from a path. Returns the raw text if it cannot be decoded. */
const namedIn = (url: string): string => {
  const name = url.replace(/\?.*$/, "").slice("/v1/models/".length)
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/**
 * Creates a server. Its runs are stopped when the scope closes. Fails with an `OptionsError` if the options are
 * invalid.
 */
export const make = Effect.fnUntraced(function* (
  given: Options
): Effect.fn.Return<Server, Tables.OptionsError, Scope.Scope> {
  yield* Tables.checked("Server.make", given, optionsTable)
  const options = ContentSetting.applied(given)
  const { content } = options
  const {
    graceMillis = 30_000,
    heartbeatMillis = 15_000,
    isKeyless = () => options.authenticate === undefined
  } = options
  const origins = Origins.of(options.origins)
  const authenticate = options.authenticate ?? onThisMachine(options.origins, { ownPages: options.pages !== undefined })
  const startedAt = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  let isDraining = false
  const services = yield* Effect.context<never>()
  const defects = Defects.make({
    hasMessages: content !== "none",
    log: (text) => void Effect.runForkWith(services)(Effect.logError(text)),
    count: (part) => metrics.defect(part)
  })
  const segments = yield* Segments.make({
    graceMillis,
    heartbeatMillis,
    keptMillis: 60_000,
    keptCharacters: 16 * mebi,
    defect: ({ id, runId }, cause) => defects("store", { id, runId }, cause)
  })
  const recent = Journal.makeMemory(Journal.memory({ maxBytes: keptBytes }))
  const journal = options.journal ?? recent
  const sealer = Seal.make(options.secret)
  const offerOf = (given: Replaceable): Offer.Offer =>
    Offer.make(given, {
      settings: given.settings ?? {},
      journal,
      recent: options.journal === undefined ? recent : undefined,
      notes: given.notes ?? "titles",
      sealer,
      ledger: options.ledger,
      listener: options.listener
    })
  let offer = offerOf(options)
  const metrics = Metrics.make((asked) => offer.modelOf(asked))
  const limits = Limits.of(options)
  const inFlight = InFlight.make(limits)
  const context: Endpoint.Context = {
    offer: () => offer,
    segments,
    authenticate,
    limits,
    inFlight: inFlight.open,
    lane: yield* PartitionedSemaphore.make<string>({ permits: 1 }),
    fair: Fair.make(),
    ledger: options.ledger,
    isDraining: () => isDraining,
    defects,
    log: (logged) => {
      // A name that is not a model can be any text of the request.
      const model = () => (logged.model === undefined ? undefined : offer.modelOf(logged.model))
      const entry = content === "none" ? { ...logged, model: model(), providerMessage: undefined } : logged
      for (const log of [metrics.log, options.log]) {
        try {
          log?.(entry)
        } catch (cause) {
          defects("log", { path: entry.wire, owner: entry.owner, status: entry.status, runId: entry.runId }, cause)
        }
      }
    }
  }

  /** Wraps an endpoint so that only authenticated callers receive a response. */
  const known =
    (respond: (url: string, caller: Caller) => HttpServerResponse.HttpServerResponse) =>
    ({ headers, url }: HttpServerRequest.HttpServerRequest) =>
      Effect.match(authenticate(headers), {
        onFailure: (error) => Respond.error({ error: OpenAi.errorBody }, error),
        onSuccess: (caller) => respond(url, caller)
      })

  /** Returns all models, or the model named in the path. */
  const models = known((url, { models, workers }) => {
    const id = namedIn(url)
    const names = Models.names(offer.models, workers).filter((name) => Models.mayName(name, models))
    if (Models.named(id, names) !== undefined) return Respond.json(modelOf(id, startedAt))
    if (id !== "") return Respond.error(errorsOf(url), notFound(`Model "${id}" does not exist.`, "model"))
    const data = names.map((name) => modelOf(name, startedAt))
    const page = { object: "list", data, has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id }
    const { policies = {} } = offer.models
    const tools = offer.turns.settings.tools ?? []
    // An extension for clients that let users pick a policy or tools, such as the studio.
    const divisi = { policies: Object.keys(policies), tools: tools.map(({ name }) => name) }
    return Respond.json({ ...page, divisi })
  })

  /** A response is stored shortly after its run ends, so a finished run may still have a response to wait for. */
  const isAwaited = (run: string): Effect.Effect<boolean, ApiError> =>
    Effect.matchEffect(journal.find(run), {
      onFailure: (error) => (Failure.isUnreachable(error) ? Effect.fail(Failure.unreachable) : Effect.succeed(false)),
      onSuccess: (known) => {
        const isEnded = known?.ending !== undefined && known.ageMillis < storedWithinMillis
        const mayRun = known?.owner !== undefined || known?.isOwnerUnconfirmed === true
        return Effect.succeed(mayRun || isEnded)
      }
    })
  /**
   * Waits until the journal contains the run of a segment, so that a run id that a client received can be looked up.
   * Returns whether the run was found.
   */
  const recorded = (segment: Segments.Segment, looks = 0): Effect.Effect<boolean> =>
    Effect.flatMap(
      Effect.orElseSucceed(journal.find(segment.about.runId), () => undefined),
      (known) =>
        known !== undefined || segment.isOver() || looks >= maxLooks
          ? Effect.succeed(known !== undefined)
          : Effect.delay(recorded(segment, looks + 1), lookMillis)
    )
  const { journal: stored, responses: archive, shared: sharing } = options
  const shared =
    sharing === undefined || stored === undefined || archive === undefined
      ? undefined
      : yield* SharedResponses.make({
          ...sharing,
          archive,
          journal: stored,
          recorded,
          segments,
          offer: () => offer,
          heartbeatMillis,
          isDraining: () => isDraining
        })
  const store = yield* ContentSetting.storeOf(content, {
    shared,
    maxCharacters: 64 * mebi,
    archive: options.responses,
    isAwaited,
    recorded
  })
  const kept = ResponsesEndpoints.make(context, store, shared)
  const gate = yield* Resilience.Gate
  const closedProviders = gate?.closed ?? noneClosed
  const measured = (request: HttpServerRequest.HttpServerRequest) =>
    Effect.flatMap(closedProviders, (closed) =>
      known(() =>
        HttpServerResponse.text(metrics.text(segments.running(), inFlight.bytes(), closed), {
          contentType: "text/plain; version=0.0.4; charset=utf-8"
        })
      )(request)
    )

  /** Responds to callers without a key. While the server has no keys at all, web pages and proxies are rejected. */
  const keyless =
    (respond: Effect.Effect<HttpServerResponse.HttpServerResponse>) =>
    ({ headers, url }: HttpServerRequest.HttpServerRequest) => {
      const refusal = isKeyless() ? Loopback.refusal(headers, origins, options.pages !== undefined) : undefined
      return refusal === undefined ? respond : Effect.succeed(Respond.error(errorsOf(url), refusal))
    }

  let described: JsonObject | undefined
  const description = () => {
    described ??= OpenApi.make()
    return described
  }

  const router = yield* HttpRouter.make
  const health = (state: Effect.Effect<"ok" | "draining" | "unavailable">, closed = noneClosed) =>
    keyless(
      Effect.map(Effect.all([state, closed]), ([status, providers]) => {
        const closed = providers.map(({ until, ...rest }) => ({ ...rest, until: new Date(until).toISOString() }))
        return Respond.json({ status, ...(closed.length > 0 ? { closed } : {}) }, status === "ok" ? 200 : 503)
      })
    )
  const alive = keyless(Effect.succeed(HttpServerResponse.empty({ status: 200 })))
  const { isReady = Effect.succeed(true) } = options
  const ready = Effect.suspend(() =>
    isDraining
      ? Effect.succeed("draining" as const)
      : Effect.map(isReady, (isReady) => (isReady ? "ok" : "unavailable"))
  )
  yield* router.addAll([
    HttpRouter.route("POST", "/v1/chat/completions", Endpoint.make(context, chat)),
    HttpRouter.route(
      "POST",
      "/v1/responses",
      Endpoint.make(context, responses, ResponsesEndpoints.keeping(store, shared))
    ),
    HttpRouter.route("GET", "/v1/responses", ResponsesSocket.make(context, store)),
    HttpRouter.route(
      "POST",
      "/v1/responses/compact",
      Endpoint.make(context, compaction, ResponsesEndpoints.recalling(store))
    ),
    HttpRouter.route("POST", "/v1/responses/input_tokens", kept.count),
    HttpRouter.route("GET", "/v1/responses/:id", kept.retrieve),
    HttpRouter.route("DELETE", "/v1/responses/:id", kept.remove),
    HttpRouter.route("POST", "/v1/responses/:id/cancel", kept.cancel),
    HttpRouter.route("GET", "/v1/responses/:id/input_items", kept.input),
    HttpRouter.route("POST", "/v1/messages", Endpoint.make(context, messages, Threads.make({ maxBytes: 32 * mebi }))),
    HttpRouter.route("POST", "/v1/messages/count_tokens", CountTokens.make(context)),
    HttpRouter.route("POST", "/v1/embeddings", Passthrough.make(context, "embeddings")),
    HttpRouter.route("POST", "/v1/completions", Passthrough.make(context, "completions")),
    HttpRouter.route("GET", "/v1/models/*", models),
    // Claude Code asks for the head of these before it connects.
    HttpRouter.route("HEAD", "/", alive),
    HttpRouter.route("HEAD", "/api/hello", alive),
    HttpRouter.route("GET", "/v1/runs/*", Runs.make({ journal, authenticate, content, defects, heartbeatMillis })),
    HttpRouter.route(
      "POST",
      "/v1/runs/:id/rating",
      Ratings.make({
        journal,
        authenticate,
        limits: { ...limits, bodyBytes: 64 * kibi },
        inFlight: inFlight.open,
        lane: context.lane,
        keep: options.keepRating,
        content
      })
    ),
    HttpRouter.route("POST", "/v1/runs/:id/fork", Forks.make({ ...context, journal, content, recorded })),
    HttpRouter.route("POST", "/v1/runs/:id/resume", Resumes.make({ ...context, journal, content, recorded })),
    HttpRouter.route(
      "POST",
      "/v1/runs/:id/price",
      PlanPrices.make({ ...context, limits: { ...limits, bodyBytes: 64 * kibi }, journal, content })
    ),
    HttpRouter.route("POST", "/v1/runs/:id/cancel", Cancels.make({ ...context, journal, content })),
    ...Pages.routes(
      options.pages,
      Effect.sync(() =>
        Respond.error(errorsOf("/"), notFound(`GET / is not an endpoint of this server.${Paths.hint("/")}`))
      )
    ),
    HttpRouter.route(
      "GET",
      "/v1/operations",
      Operations.make({
        authenticate,
        isKeyless,
        read: options.operations ?? Effect.succeed({}),
        isDraining: () => isDraining,
        running: segments.running,
        bytesInFlight: inFlight.bytes,
        closed: closedProviders
      })
    ),
    HttpRouter.route("GET", "/metrics", measured),
    HttpRouter.route("GET", "/openapi.json", keyless(Effect.sync(() => Respond.json(description())))),
    HttpRouter.route("GET", "/health/live", health(Effect.succeed("ok"))),
    HttpRouter.route("GET", "/health/ready", health(ready, closedProviders))
  ])

  const routed = Effect.catchCause(router.asHttpEffect(), (cause) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      const { method, url } = request
      if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
      if (isUnknownRoute(Cause.squash(cause))) {
        return keyless(Effect.sync(() => unknownRoute(method, url)))(request)
      }
      const id = CallId.random()
      defects("request", { id, method, path: url.replace(/\?.*$/s, ""), status: 500 }, cause)
      return Effect.succeed(Respond.error(errorsOf(url), Endpoint.mistake(id), Endpoint.idHeaders(id)))
    })
  )

  const open = Origins.open(origins)
  const unreadable = Respond.error(errorsOf("/"), invalid("url", "The URL of the request cannot be read."))
  const readable = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) =>
    // Guarantees that the path of a request can be parsed.
    /^\/(?![/\\])/.test(url) || URL.canParse(url, "http://localhost") ? routed : Effect.succeed(unreadable)
  )
  const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => open(readable, request))

  const drain = (millis: number) => {
    const look: Effect.Effect<void> = Effect.suspend(() =>
      segments.running() === 0 ? Effect.void : Effect.andThen(Effect.sleep(20), look)
    )
    return Effect.suspend(() => {
      isDraining = true
      return Effect.asVoid(Effect.timeoutOption(look, millis))
    })
  }

  const replace = (given: Replaceable) =>
    Effect.sync(() => {
      Tables.check("Server.replace", given, optionsTable)
      const before = offer
      offer = offerOf(given)
      return before.retire
    })

  return { app, drain, running: segments.running, replace }
})
