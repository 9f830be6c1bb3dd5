/**
 * Endpoints that continue a stored run. They respond like Chat Completions or, if the body contains `background: true`,
 * return the run id immediately and continue the run without a client.
 */
import type { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type { Caller } from "../Caller.ts"
import type * as ContentSetting from "../ContentSetting.ts"
import { chat } from "../chat/Chat.ts"
import type { Segment } from "../segment/Segments.ts"
import type { ApiError } from "../wire/ApiError.ts"
import type * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import type { Request } from "../wire/Wire.ts"
import * as Endpoint from "./Endpoint.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Dependencies of the endpoints that continue stored runs. */
export interface Context extends Endpoint.Context {
  readonly journal: Journal.Journal
  readonly content?: ContentSetting.ContentSetting | undefined
  /** Waits until the journal contains the run of a segment. Returns whether it does. */
  readonly recorded: (segment: Segment) => Effect.Effect<boolean>
}

/** How one of these endpoints parses its requests. */
export interface Reader<A> {
  readonly name: string
  /** Loads the stored run named in the path. */
  readonly recall: (caller: Caller, id: string, body: Json.JsonObject) => Effect.Effect<A, ApiError>
  /** Builds the request that continues the run. Throws an `ApiError` if the body is invalid. */
  readonly read: (recalled: A, body: Json.JsonObject, headers: Choice.Headers) => Request
}

/** The `background` field, which makes a request return immediately. */
export const field = Schema.optionalKey(Schema.NullOr(Schema.Boolean))

/** Extracts the run id from the path. */
export const idIn = ({ url }: HttpServerRequest.HttpServerRequest): string =>
  new URL(url, "http://localhost").pathname.split("/")[3] ?? ""

// -------------------------------------------------------------------------------------------------------------------
// The endpoint
// -------------------------------------------------------------------------------------------------------------------

/** How long a background run is monitored for early errors before the response is sent, in milliseconds. */
const watchedMillis = 300

const isInBackground = ({ background }: Json.JsonObject): boolean =>
  Json.optional(background, "background", Json.flag) === true

/** Creates an endpoint that continues stored runs. */
export const endpoint =
  <A>(context: Context, { name, read, recall }: Reader<A>) =>
  (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const known = new WeakMap<Json.JsonObject, A>()
    const wire = {
      ...chat,
      name,
      said: [],
      *read(body: Json.JsonObject, headers: Choice.Headers) {
        isInBackground(body)
        return read(known.get(body)!, body, headers)
      }
    }
    const keeping: Endpoint.Keeping = {
      recall: (body, _, caller) =>
        Effect.map(recall(caller, idIn(incoming), body), (recalled) => {
          known.set(body, recalled)
          return body
        }),
      keep: (segment, body) =>
        isInBackground(body)
          ? Effect.andThen(context.recorded(segment), Effect.timeoutOption(segment.over, watchedMillis))
          : Effect.void,
      atOnce: (segment) =>
        isInBackground(segment.about.body) && !segment.isOver()
          ? { id: segment.about.runId, object: "run", state: "running" }
          : undefined
    }
    return Endpoint.make(context, wire, keeping)(incoming)
  }
