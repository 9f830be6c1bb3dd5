/** `GET /v1/operations`: the state of a server, for its operators. */
import type { Resilience } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type { Authenticate } from "../Caller.ts"
import * as Rights from "../Rights.ts"
import { ApiError } from "../wire/ApiError.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as Respond from "./Respond.ts"

/** A key with its limits and spending. Times are in milliseconds since 1970. */
export const Key = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  state: Schema.Literals(["valid", "expired", "revoked", "damaged"]),
  expires_at: Schema.NullOr(Schema.Finite),
  rights: Schema.Array(Schema.String),
  /**
   * Limits in USD per UTC day, per UTC month and in total, and on requests and tokens per minute. An omitted limit
   * means unlimited.
   */
  limits: Schema.Struct({
    day_usd: Schema.optionalKey(Schema.Finite),
    month_usd: Schema.optionalKey(Schema.Finite),
    total_usd: Schema.optionalKey(Schema.Finite),
    requests_per_minute: Schema.optionalKey(Schema.Finite),
    tokens_per_minute: Schema.optionalKey(Schema.Finite)
  }),
  /** Spending in USD during the current UTC day, during the current UTC month, and in total. */
  spent: Schema.Struct({ day_usd: Schema.Finite, month_usd: Schema.Finite, total_usd: Schema.Finite })
})
export type Key = typeof Key.Type

/** One of the servers that share a database. */
export const Machine = Schema.Struct({
  name: Schema.String,
  state: Schema.Literals(["healthy", "draining", "unreachable"]),
  /** Number of runs in progress; `null` if the database does not record them for this machine. */
  runs: Schema.NullOr(Schema.Int),
  /** Time since the last heartbeat, in milliseconds; `null` for a process that sends no heartbeats. */
  seen_millis: Schema.NullOr(Schema.Finite)
})
export type Machine = typeof Machine.Type

/** The state of a server. Times are in milliseconds since 1970. */
export const State = Schema.Struct({
  object: Schema.Literal("operations"),
  status: Schema.Literals(["ok", "draining"]),
  /** Number of active runs in this process. */
  running: Schema.Int,
  bytes_in_flight: Schema.Int,
  /** Providers that are temporarily not called. */
  closed: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      because: Schema.Literals(["rate-limited", "failing"]),
      until: Schema.Finite
    })
  ),
  /** `null` if this server has no key store. */
  keys: Schema.NullOr(Schema.Array(Key)),
  /** The servers that share a database; `null` without a database. */
  machines: Schema.NullOr(Schema.Array(Machine))
})
export type State = typeof State.Type

/** Data about keys and machines from the server's stores. Omitted fields are returned as `null`. */
export interface Facts {
  readonly keys?: ReadonlyArray<Key> | null
  readonly machines?: ReadonlyArray<Machine> | null
}

/** Loads the data. Run for each request. */
export type Read = Effect.Effect<Facts, ApiError>

/**
 * Dependencies of the operations endpoint.
 *
 * @internal
 */
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
  message: 'Reading the state of this server needs an API key with the right "admin".'
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

/**
 * Creates the endpoint `GET /v1/operations`.
 *
 * @internal
 */
export const make =
  (context: Context) =>
  (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.catch(answer(context, request), (error) => Effect.succeed(Respond.error({ error: OpenAi.errorBody }, error)))
