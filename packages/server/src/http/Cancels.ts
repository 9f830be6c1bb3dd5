/**
 * `POST /v1/runs/{id}/cancel`: stops a run in this process, or ends a suspended run. A stopped run can be resumed; a
 * suspended run that was cancelled cannot.
 */
import { Journal } from "@divisi/core"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as ContentSetting from "../ContentSetting.ts"
import { abandon } from "../segment/Abandon.ts"
import { ownerIn } from "../segment/Owner.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import { idIn } from "./Background.ts"
import type * as Endpoint from "./Endpoint.ts"
import * as Respond from "./Respond.ts"
import * as Runs from "./Runs.ts"

/** Dependencies of the cancel endpoint. */
export interface Context extends Pick<Endpoint.Context, "authenticate" | "defects" | "segments"> {
  readonly journal: Journal.Journal
  readonly content?: ContentSetting.ContentSetting | undefined
}

const cancel = Effect.fnUntraced(function* (
  { authenticate, content, journal, segments }: Context,
  incoming: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<HttpServerResponse.HttpServerResponse, ApiError> {
  const caller = yield* authenticate(incoming.headers)
  const id = idIn(incoming)
  const events = yield* Runs.eventsOf(journal, caller, id)
  const segment = segments.of(id)
  if (segment !== undefined) yield* segment.stop
  const found = yield* Effect.mapError(journal.find(id), Runs.unusable)
  if (found === undefined) return yield* Runs.unknown(id)
  const state = Journal.stateOf(found)
  if (state === "running") {
    return yield* invalid("id", `Run "${id}" is running in another process. Cancel it at the server that runs it.`)
  }
  if (segment === undefined && (state === "waiting" || state === "stopped")) {
    yield* Effect.mapError(abandon(journal, id, ownerIn(events[0]), "The run was cancelled."), Runs.unusable)
  }
  const ended = yield* Effect.mapError(journal.find(id), Runs.unusable)
  return Respond.json(Runs.summaryOf({ content }, ended ?? found))
})

/** Creates the endpoint `POST /v1/runs/{id}/cancel`. */
export const make =
  (context: Context) =>
  (incoming: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.catch(cancel(context, incoming), Runs.refused(context, incoming))
