/**
 * Endpoints that continue a stored run: they answer like Chat Completions, or at once with the id of the run if the body
 * has `background: true`. Then the run continues without a client.
 */
import { type Journal, Nearest } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import type { Caller } from "../Caller.ts"
import type * as ContentSetting from "../ContentSetting.ts"
import { chat } from "../chat/Chat.ts"
import type { Segment } from "../segment/Segments.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import type * as Choice from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import type { Request } from "../wire/Wire.ts"
import * as Endpoint from "./Endpoint.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Dependencies of these endpoints. */
export interface Context extends Endpoint.Context {
  readonly journal: Journal.Journal
  readonly content?: ContentSetting.ContentSetting | undefined
  /** Waits until the journal has the run of a segment. */
  readonly recorded: (segment: Segment) => Effect.Effect<boolean>
}

/** How one of these endpoints reads its requests. */
export interface Reader<A> {
  readonly name: string
  /** Reads the stored run that the path names. */
  readonly recall: (caller: Caller, id: string, body: Json.JsonObject) => Effect.Effect<A, ApiError>
  /** Throws an `ApiError`. */
  readonly read: (recalled: A, body: Json.JsonObject, headers: Choice.Headers) => Request
}

/** The field that makes a request return at once. */
export const field = Schema.optionalKey(Schema.NullOr(Schema.Boolean))

/** Returns the run that a path names. */
export const idIn = ({ url }: HttpServerRequest.HttpServerRequest): string =>
  new URL(url, "http://localhost").pathname.split("/")[3] ?? ""

/** Refuses unknown fields by name. Throws an `ApiError`. */
export const checkNames = (body: Json.JsonObject, names: ReadonlyArray<string>, what: string): void => {
  const unknown = Object.keys(body).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const field = unknown.slice(0, 64)
  const meant = Nearest.nearest(field, names)
  const hint = meant === undefined ? `Fields: ${names.join(", ")}.` : `Did you mean ${meant}?`
  throw invalid(field, `${field} is not a field of ${what}. ${hint}`)
}

// -------------------------------------------------------------------------------------------------------------------
// The endpoint
// -------------------------------------------------------------------------------------------------------------------

/** How long a run in the background is watched for an error before the response is sent, in milliseconds. */
const watchedMillis = 300

const isInBackground = ({ background }: Json.JsonObject): boolean =>
  Json.optional(background, "background", Json.flag) === true

/** Makes the endpoint. */
export const endpoint =
  <A>(context: Context, { name, read, recall }: Reader<A>) =>
  (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> => {
    const known = new WeakMap<Json.JsonObject, A>()
    const wire = {
      ...chat,
      name,
      said: [],
      read: (body: Json.JsonObject, headers: Choice.Headers) => {
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
