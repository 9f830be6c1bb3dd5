/** Endpoints for stored responses: retrieving a response, its events or its input items, and cancelling it. */
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Endpoint from "../http/Endpoint.ts"
import * as Respond from "../http/Respond.ts"
import { tokensOf } from "../messages/CountTokens.ts"
import { type ApiError, invalid } from "../wire/ApiError.ts"
import * as Canonical from "../wire/Canonical.ts"
import type { JsonObject } from "../wire/Json.ts"
import * as Steps from "../wire/Steps.ts"
import * as ResponseObject from "./ResponseObject.ts"
import * as ResponseStore from "./ResponseStore.ts"
import { responses } from "./Responses.ts"
import { read } from "./ResponsesReader.ts"
import { beginAfter } from "./ResponsesWriter.ts"
import type { SharedResponses } from "./SharedResponses.ts"

type Incoming = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

// -------------------------------------------------------------------------------------------------------------------
// Creation
// -------------------------------------------------------------------------------------------------------------------

/** Stores responses. Background requests return before their response is complete. */
export const keeping = ({ keep, recall }: ResponseStore.ResponseStore, shared?: SharedResponses): Endpoint.Keeping => ({
  recall,
  keep,
  shared: ({ background, store }) => (background === true && store !== false ? shared?.journal : undefined),
  reading: shared?.segmentOf,
  atOnce: ({ about }) =>
    about.body.background === true && !about.request.isStreamed
      ? ResponseObject.make(about, { status: "queued", output: [] })
      : undefined
})

/** Resolves references but stores nothing: the client keeps compacted conversations. */
export const recalling = ({ recall }: ResponseStore.ResponseStore): Endpoint.Keeping => ({
  recall,
  keep: () => Effect.void,
  atOnce: () => undefined
})

// -------------------------------------------------------------------------------------------------------------------
// Stored responses
// -------------------------------------------------------------------------------------------------------------------

const addressOf = ({ url }: Incoming): URL => new URL(url, "http://localhost")

/** Returns the response id in the path. */
const namedIn = (request: Incoming): string => addressOf(request).pathname.split("/")[3] ?? ""

const wholeOf = (parameters: URLSearchParams, name: string, least: number): number | undefined => {
  const text = parameters.get(name)
  if (text === null) return undefined
  const number = Number(text)
  if (text !== "" && Number.isSafeInteger(number) && number >= least) return number
  throw invalid(name, `${name} must be a whole number of at least ${least}.`)
}

/** Returns the number of the last event received by the client, from the `Last-Event-ID` header. */
const lastEventOf = ({ headers }: Incoming): number | undefined => {
  const last = headers["last-event-id"]
  return last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) : undefined
}

/** Streams the events after a given number. Also works for a response that is still running. */
const streamOf = ({ segment }: ResponseStore.Kept, request: Incoming, after: number): Effect.Effect<Response> => {
  const wire = { ...responses, begin: (about: typeof segment.about) => beginAfter(about, after) }
  return Respond.stream(request, wire, segment, {}, () => {})
}

const retrieve = (kept: ResponseStore.Kept, request: Incoming): Effect.Effect<Response> => {
  const { searchParams } = addressOf(request)
  const after = wholeOf(searchParams, "starting_after", 0) ?? lastEventOf(request) ?? -1
  return searchParams.get("stream") === "true"
    ? streamOf(kept, request, after)
    : Effect.succeed(Respond.json(ResponseStore.bodyOf(kept)))
}

/** Returns a page of input items. Defaults to 20 items, most recent first. */
const inputOf = ({ input }: ResponseStore.Kept, request: Incoming): Response => {
  const { searchParams } = addressOf(request)
  const ordered = searchParams.get("order") === "asc" ? input : input.toReversed()
  const after = searchParams.get("after")
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1
  const data = ordered.slice(from, from + Math.min(wholeOf(searchParams, "limit", 1) ?? 20, 100))
  return Respond.json({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: from + data.length < ordered.length
  })
}

const cancel = (
  store: ResponseStore.ResponseStore,
  kept: ResponseStore.Kept,
  shared: SharedResponses | undefined
): Effect.Effect<Response, ApiError> => {
  const { segment } = kept
  if (segment.about.body.background !== true) {
    return Effect.fail(invalid("response_id", "Only a response created with background: true can be cancelled."))
  }
  if (shared !== undefined && segment.about.shared !== undefined && !segment.isOver()) {
    return shared.cancel(kept.id, { ...kept, about: segment.about }).pipe(
      Effect.andThen(store.get(kept.id, kept.owner)),
      Effect.map((cancelled) => Respond.json(ResponseStore.bodyOf(cancelled)))
    )
  }
  if (kept.isBegun === true && !segment.isOver()) {
    return Effect.fail(invalid("response_id", "This response is in progress on another server. Cancel it there."))
  }
  if (!segment.isOver()) kept.isCancelled = true
  return Effect.map(segment.stop, () => Respond.json(ResponseStore.bodyOf(kept)))
}

// -------------------------------------------------------------------------------------------------------------------
// Endpoints
// -------------------------------------------------------------------------------------------------------------------

/** Creates the endpoints for stored responses. */
export const make = (context: Endpoint.Context, store: ResponseStore.ResponseStore, shared?: SharedResponses) => {
  /** Wraps an endpoint so that it receives the stored response, and only its owner has access. */
  const of =
    (answer: (kept: ResponseStore.Kept, request: Incoming) => Effect.Effect<Response, ApiError>) =>
    (request: Incoming): Effect.Effect<Response> =>
      context.authenticate(request.headers).pipe(
        Effect.flatMap(({ owner }) => store.get(namedIn(request), owner)),
        Effect.flatMap((kept) => answer(kept, request)),
        Effect.catch((error) => Effect.succeed(Respond.error(responses, error)))
      )

  const count = (request: Incoming): Effect.Effect<JsonObject, ApiError> =>
    Effect.gen(function* () {
      const caller = yield* context.authenticate(request.headers)
      return yield* Endpoint.withBody(context, request, caller.owner, (given) =>
        Effect.gen(function* () {
          const body = yield* Steps.attempt(() => Canonical.of(given, "input"))
          const recalled = yield* store.recall(body, caller.owner)
          return yield* Steps.paced(function* () {
            const asked = yield* read(recalled, request.headers)
            yield
            return {
              object: "response.input_tokens",
              input_tokens: tokensOf(asked, Endpoint.teamOf(context.offer(), caller, asked))
            }
          })
        })
      )
    })

  return {
    retrieve: of((kept, request) => Effect.flatten(Steps.attempt(() => retrieve(kept, request)))),
    input: of((kept, request) => Steps.attempt(() => inputOf(kept, request))),
    cancel: of((kept) => cancel(store, kept, shared)),
    remove: of(({ id, segment }) => {
      const isOpen = segment.about.shared !== undefined && !segment.isOver()
      const stopped = isOpen && shared !== undefined ? shared.stop(id, segment.about) : Effect.void
      return Effect.as(
        Effect.andThen(stopped, store.forget(id)),
        Respond.json({ id, object: "response", deleted: true })
      )
    }),
    count: (request: Incoming): Effect.Effect<Response> =>
      Effect.match(count(request), {
        onFailure: (error) => Respond.error(responses, error),
        onSuccess: (body) => Respond.json(body)
      })
  }
}
