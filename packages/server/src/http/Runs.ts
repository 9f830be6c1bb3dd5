/**
 * Endpoints that list runs, return one run or the items of its steps, and stream its events. A caller can access its
 * own runs; keys with the `admin` right can access all runs.
 */
import { Journal, type RunEvent, Transcript } from "@divisi/core"
import { JournalStream } from "@divisi/core/streams"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Authenticate, Caller } from "../Caller.ts"
import * as ContentSetting from "../ContentSetting.ts"
import type * as Defects from "../Defects.ts"
import * as Rights from "../Rights.ts"
import * as Failure from "../segment/Failure.ts"
import { ownerIn } from "../segment/Owner.ts"
import * as OwnWords from "../segment/OwnWords.ts"
import { ApiError, invalid } from "../wire/ApiError.ts"
import { isName } from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as OwnSchemas from "./OwnSchemas.ts"
import * as Respond from "./Respond.ts"
import * as RunItems from "./RunItems.ts"

/** Dependencies of the run endpoints. */
export interface Context {
  readonly journal: Journal.Journal
  readonly authenticate: Authenticate
  readonly defects: Defects.Report
  /** With `"none"`, responses include no questions or transcripts. */
  readonly content?: ContentSetting.ContentSetting | undefined
  /**
   * Interval between heartbeat comments on event streams, in milliseconds. Heartbeats prevent proxies from closing idle
   * streams.
   */
  readonly heartbeatMillis: number
}

type Response = HttpServerResponse.HttpServerResponse

/** Maximum number of open event streams per caller. */
const maxStreams = 100

/** Number of open event streams by caller. */
type Streams = Map<string, number>

const countStream = (streams: Streams, owner: string, change: number): void => {
  const count = (streams.get(owner) ?? 0) + change
  if (count > 0) streams.set(owner, count)
  else streams.delete(owner)
}

/** Value of the query parameter `owner` that selects the runs of all keys. */
const everyone = "all"

export const unknown = (id: string) =>
  new ApiError({ kind: "not-found", message: `Run "${id}" does not exist.`, field: "id" })

export const unusable = (error: Journal.JournalError) => Failure.ofJournal(error) ?? Failure.ofStore(error)

/** Creates an error response. The cause of an internal error is reported as a defect. */
export const refused =
  ({ defects }: { readonly defects: Defects.Report }, { method, url }: HttpServerRequest.HttpServerRequest) =>
  (error: ApiError): Effect.Effect<Response> =>
    Effect.sync(() => {
      const { cause, kind, status } = error
      if (kind === "server" && cause !== undefined) {
        defects("request", { method, path: url.replace(/\?.*$/s, ""), status }, cause)
      }
      return Respond.error({ error: OpenAi.errorBody }, error)
    })

export const summaryOf = ({ content }: Pick<Context, "content">, run: Journal.Summary): typeof OwnSchemas.Run.Type => ({
  ...Journal.listed(run),
  ...(content === "none" && { question: null })
})

/** Returns the events of a run. Fails if the run does not exist or the caller may not read it. */
export const eventsOf = (journal: Journal.Journal, { owner, rights }: Caller, id: string) =>
  Effect.flatMap(Effect.mapError(journal.read(id), unusable), (entries) => {
    const events = Journal.eventsOf(entries)
    const isOwn = ownerIn(events[0]) === owner
    const maySee = isOwn || (events.length > 0 && Rights.has(rights, "admin"))
    return maySee ? Effect.succeed(events) : Effect.fail(unknown(id))
  })

/**
 * Reads a query parameter that is used for a lookup. Values that cannot occur are rejected before they reach the
 * database.
 */
const nameIn = (url: URL, name: string): Effect.Effect<string | undefined, ApiError> => {
  const value = url.searchParams.get(name) ?? undefined
  return value === undefined || isName(value)
    ? Effect.succeed(value)
    : Effect.fail(invalid(name, `${name} must be well-formed Unicode without NUL, of at most 1,000 characters.`))
}

/** Returns the owner whose runs are listed, or `undefined` for the runs of all owners. */
const listedOwner = ({ owner, rights }: Caller, url: URL): Effect.Effect<string | undefined, ApiError> => {
  const wanted = url.searchParams.get("owner") ?? owner
  if (wanted === owner) return Effect.succeed(owner)
  if (Rights.has(rights, "admin")) return wanted === everyone ? Effect.undefined : nameIn(url, "owner")
  const message = 'Listing the runs of other keys needs an API key with the right "admin".'
  return Effect.fail(new ApiError({ kind: "permission", message, field: "owner" }))
}

/** Reads a numeric query parameter. */
const numberIn = (
  url: URL,
  { name, schema }: OwnSchemas.Parameter,
  otherwise: number
): Effect.Effect<number, ApiError> => {
  const text = url.searchParams.get(name)
  if (text === null) return Effect.succeed(otherwise)
  const number = text.trim() === "" ? Number.NaN : Number(text)
  return Schema.is(schema)(number)
    ? Effect.succeed(number)
    : Effect.fail(invalid(name, `${name} must be a whole number of at least 0.`))
}

const list = Effect.fnUntraced(function* (
  context: Context,
  caller: Caller,
  url: URL
): Effect.fn.Return<Response, ApiError> {
  const limit = Math.min(yield* numberIn(url, OwnSchemas.limit, OwnSchemas.defaultLimit), OwnSchemas.mostListed)
  const after = yield* nameIn(url, "after")
  const owner = yield* listedOwner(caller, url)
  const found = yield* Effect.mapError(context.journal.list({ caller: owner, after, limit: limit + 1 }), unusable)
  const data = found.slice(0, limit).map((run) => summaryOf(context, run))
  const page: typeof OwnSchemas.Runs.Type = {
    object: "list",
    data,
    has_more: found.length > limit,
    last_id: data.at(-1)?.id ?? null
  }
  return Respond.json(page)
})

const one = Effect.fnUntraced(function* (
  context: Context,
  caller: Caller,
  id: string
): Effect.fn.Return<Response, ApiError> {
  const { content, journal } = context
  const events = yield* eventsOf(journal, caller, id)
  const summary = yield* Effect.mapError(journal.find(id), unusable)
  if (summary === undefined) return yield* unknown(id)
  if (content === "none") return Respond.json(summaryOf(context, summary))
  const transcript = transcriptOf(caller, events)
  return Respond.json({ ...summaryOf(context, summary), ...(transcript && RunItems.bounded(transcript)) })
})

/** Builds the transcript that a caller is allowed to see. */
const transcriptOf = ({ rights }: Caller, events: ReadonlyArray<RunEvent.RunEvent>) =>
  Transcript.fromEvents(Rights.has(rights, "admin") ? events : OwnWords.all(events))

/** Returns a page of a step's items. */
const items = Effect.fnUntraced(function* (
  { content, journal }: Context,
  caller: Caller,
  id: string,
  url: URL
): Effect.fn.Return<Response, ApiError> {
  const limit = yield* numberIn(url, OwnSchemas.itemLimit, OwnSchemas.mostItems)
  const transcript = transcriptOf(caller, yield* eventsOf(journal, caller, id))
  if (content === "none") return yield* ContentSetting.refused("Listing a step's items")
  if (transcript === undefined) return yield* unknown(id)
  return Respond.json(yield* RunItems.page(transcript, url, Math.min(limit, OwnSchemas.mostItems)))
})

const encoder = new TextEncoder()

/** A comment, which clients of server-sent events ignore. */
const heartbeat = encoder.encode(": heartbeat\n\n")

/** Streams a run's events as they are written, starting at number `from`, until the run ends. */
const follow = Effect.fnUntraced(function* (
  { content, heartbeatMillis, journal }: Context,
  streams: Streams,
  caller: Caller,
  id: string,
  from: number
): Effect.fn.Return<Response, ApiError> {
  const { owner } = caller
  if ((streams.get(owner) ?? 0) >= maxStreams) {
    const message = `Too many streams of events are open. Maximum for each client: ${maxStreams}. Close some and retry.`
    return yield* new ApiError({ kind: "rate-limit", message, retryAfterMillis: 1_000 })
  }
  const before = yield* eventsOf(journal, caller, id)
  if (content === "none") return yield* ContentSetting.refused("Listing a run's events")
  let next = from
  const ownWords = OwnWords.make()
  const isAdmin = Rights.has(caller.rights, "admin")
  // Reads the earlier events first, because later ones may quote failures from them.
  if (!isAdmin) for (const event of before) ownWords(event)
  const events = Stream.map(JournalStream.follow(journal, id, { from }), (entry) => {
    const seq = next
    next += 1
    if (entry.type !== "event") return encoder.encode("")
    const event = isAdmin ? entry.event : ownWords(entry.event)
    return encoder.encode(`id: ${seq}\ndata: ${JSON.stringify(event)}\n\n`)
  })
  const beats = Stream.fromEffectRepeat(Effect.as(Effect.sleep(heartbeatMillis), heartbeat))
  const lines = Stream.merge(Stream.orDie(events), beats, { haltStrategy: "left" })
  const counted = Stream.suspend(() => {
    countStream(streams, owner, 1)
    return Stream.onExit(lines, () => Effect.sync(() => countStream(streams, owner, -1)))
  })
  return HttpServerResponse.stream(counted, {
    contentType: "text/event-stream; charset=utf-8",
    headers: { "cache-control": "no-cache", "x-accel-buffering": "no" }
  })
})

const answer = Effect.fnUntraced(function* (
  context: Context,
  streams: Streams,
  { headers, url }: HttpServerRequest.HttpServerRequest
): Effect.fn.Return<Response, ApiError> {
  const caller = yield* context.authenticate(headers)
  const at = new URL(url, "http://localhost")
  const [id = "", what, ...rest] = at.pathname.slice("/v1/runs".length).split("/").slice(1)
  if (rest.length > 0 || (what !== undefined && what !== "events" && what !== "items"))
    return yield* unknown(at.pathname.slice(9))
  if (id === "") return yield* list(context, caller, at)
  if (what === undefined) return yield* one(context, caller, id)
  if (what === "items") return yield* items(context, caller, id, at)
  const last = headers["last-event-id"]
  const from =
    last !== undefined && /^\d{1,15}$/.test(last) ? Number(last) + 1 : yield* numberIn(at, OwnSchemas.from, 0)
  return yield* follow(context, streams, caller, id, from)
})

/** Creates the handler for `/v1/runs`, `/v1/runs/{id}`, `/v1/runs/{id}/items` and `/v1/runs/{id}/events`. */
export const make = (
  context: Context
): ((incoming: HttpServerRequest.HttpServerRequest) => Effect.Effect<Response>) => {
  const streams: Streams = new Map()
  return (incoming) => Effect.catch(answer(context, streams, incoming), refused(context, incoming))
}
