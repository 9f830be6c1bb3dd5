/** `GET /v1/operations`: the state of a server, for its operators. */
import type { Resilience } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { Authenticate } from "../Caller.ts"
import * as Rights from "../Rights.ts"
import { ApiError } from "../wire/ApiError.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import type * as OwnSchemas from "./OwnSchemas.ts"
import * as Respond from "./Respond.ts"

/** The response. */
export type State = typeof OwnSchemas.Operations.Type

/**
 * A key with its limits and spending. `limits` and `spent` are in USD per UTC day, per UTC month and in total, and an
 * omitted limit means unlimited; `expires_at` is in milliseconds since 1970.
 */
export type Key = NonNullable<State["keys"]>[number]

/**
 * One of the servers that share a database. `runs` is the number of runs in progress, or `null` if it is unknown;
 * `seen_millis` the time since the last heartbeat, or `null` for a process that sends no heartbeats.
 */
export type Machine = NonNullable<State["machines"]>[number]

/** Data about keys and machines from the server's stores. Omitted fields are returned as `null`. */
export interface Facts {
  readonly keys?: ReadonlyArray<Key> | null
  readonly machines?: ReadonlyArray<Machine> | null
}

/** Loads the data. Run for each request. */
export type Read = Effect.Effect<Facts, ApiError>

/** Dependencies of the operations endpoint. */
export interface Context {
  readonly authenticate: Authenticate
  /** Whether the server has no keys. If so, every caller has access, because all callers are on this machine. */
  readonly isKeyless: () => boolean
  readonly read: Read
  readonly isDraining: () => boolean
  readonly running: () => number
  readonly bytesInFlight: () => number
  readonly closed: Effect.Effect<ReadonlyArray<Resilience.ClosedProvider>>
}

const refused = new ApiError({
  kind: "permission",
  message: 'The state of the server needs an API key with the right "admin".'
})

const answer = Effect.fnUntraced(function* (
  { authenticate, bytesInFlight, closed, isDraining, isKeyless, read, running }: Context,
  { headers }: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, ApiError> {
  const { rights } = yield* authenticate(headers)
  if (!isKeyless() && !Rights.has(rights, "admin")) return yield* refused
  const { keys = null, machines = null } = yield* read
  const body: State = {
    object: "operations",
    status: isDraining() ? "draining" : "ok",
    running: running(),
    bytes_in_flight: bytesInFlight(),
    closed: yield* closed,
    keys,
    machines
  }
  return Respond.json(body)
})

/** Creates the endpoint `GET /v1/operations`. */
export const make =
  (context: Context) =>
  (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.catch(answer(context, request), (error) => Effect.succeed(Respond.error({ error: OpenAi.errorBody }, error)))
