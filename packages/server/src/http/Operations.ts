/** The state of a server for its operators: `GET /v1/operations`. */
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

type Answer = typeof OwnSchemas.Operations.Type

/** A key, its limits and its spending. Times are in milliseconds since 1970. */
export interface Key {
  readonly id: string
  readonly name: string
  readonly state: "valid" | "expired" | "revoked" | "damaged"
  readonly expires_at: number | null
  readonly rights: ReadonlyArray<string>
  /** Limits in USD by UTC day, by UTC month and in all, and of requests and tokens a minute; absent ones do not hold. */
  readonly limits: {
    readonly day_usd?: number
    readonly month_usd?: number
    readonly total_usd?: number
    readonly requests_per_minute?: number
    readonly tokens_per_minute?: number
  }
  /** USD of this day and month (UTC), and in all. */
  readonly spent: { readonly day_usd: number; readonly month_usd: number; readonly total_usd: number }
}

/** One of the servers that share a database. */
export interface Machine {
  readonly name: string
  readonly state: "healthy" | "draining" | "unreachable"
  /** Runs in progress, if the database records them for this machine. */
  readonly runs: number | null
  /** Time since it reported, in milliseconds; `null` for a process that does not report. */
  readonly seen_millis: number | null
}

/** Facts about keys and machines from the stores of the server. Absent ones are answered as `null`. */
export interface Facts {
  readonly keys?: ReadonlyArray<Key> | null
  readonly machines?: ReadonlyArray<Machine> | null
}

/** Reads the facts at each request. */
export type Read = Effect.Effect<Facts, ApiError>

/** Dependencies of the endpoint. */
export interface Context {
  readonly authenticate: Authenticate
  /** Whether the server has no keys: then any caller, which is on this machine, may ask. */
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
  const body: Answer = {
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

/** The endpoint. */
export const make =
  (context: Context) =>
  (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.catch(answer(context, request), (error) => Effect.succeed(Respond.error({ error: OpenAi.errorBody }, error)))
