/**
 * The request handler shared by all wires: parses the request, finds or starts its segment, and writes the response in
 * the wire's format.
 */
import type { Budget, Journal } from "@divisi/core"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type { PartitionedSemaphore } from "effect/PartitionedSemaphore"
import type { Authenticate, Caller } from "../Caller.ts"
import type * as Defects from "../Defects.ts"
import * as Models from "../Models.ts"
import type { Offer } from "../Offer.ts"
import * as RequestLog from "../RequestLog.ts"
import * as CallId from "../segment/CallId.ts"
import * as Idempotent from "../segment/Idempotent.ts"
import type { Segment, Segments } from "../segment/Segments.ts"
import * as Turn from "../segment/Turn.ts"
import { ApiError } from "../wire/ApiError.ts"
import * as Canonical from "../wire/Canonical.ts"
import type { Headers } from "../wire/Choice.ts"
import { isHousekeeping } from "../wire/Housekeeping.ts"
import type { JsonObject } from "../wire/Json.ts"
import type { Limits } from "../wire/Limits.ts"
import { headerOf } from "../wire/Reading.ts"
import * as Steps from "../wire/Steps.ts"
import { type About, lastOf, type Part, type Request, totalOf, type Wire } from "../wire/Wire.ts"
import * as Body from "./Body.ts"
import type { Fair } from "./Fair.ts"
import type { Held } from "./InFlight.ts"
import * as RequestKey from "./RequestKey.ts"
import * as Respond from "./Respond.ts"
import * as Spent from "./Spent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Dependencies shared by all endpoints. */
export interface Context {
  /** Returns the offer to use for a new request. */
  readonly offer: () => Offer
  readonly segments: Segments
  readonly authenticate: Authenticate
  /** Limits on requests. */
  readonly limits: Limits
  /** Starts counting the bytes of a request in flight. */
  readonly inFlight: () => Held
  /** Ensures that large requests are parsed one at a time, alternating between callers. */
  readonly lane: PartitionedSemaphore<string>
  /** Spreads simultaneous requests over several event loop turns, alternating between callers. */
  readonly fair: Fair
  /** The account that is charged for all runs. */
  readonly ledger: Budget.Ledger | undefined
  readonly isDraining: () => boolean
  readonly log: RequestLog.Log
  readonly defects: Defects.Report
}

/**
 * How long to delay the start of a stream, in milliseconds. An error within this time can still set the HTTP status.
 */
const patienceMillis = 2_000

/** The error for a request that arrives during shutdown. */
export const draining = new ApiError({
  kind: "overloaded",
  message: "The server is shutting down. Retry in a moment, or send the request to another server.",
  retryAfterMillis: 1_000
})

// -------------------------------------------------------------------------------------------------------------------
// The request
// -------------------------------------------------------------------------------------------------------------------

type IncomingRequest = HttpServerRequest.HttpServerRequest

/** Parses a body. Large bodies are parsed one at a time, so that small requests can be handled in between. */
export const inLane = <A, E, R>(
  { lane }: Pick<Context, "lane">,
  owner: string,
  { bytes }: Body.Received,
  read: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  bytes < Body.largeBytes ? read : lane.withPermit(owner)(Effect.andThen(Effect.yieldNow, read))

/** Receives and parses the body of a request. Its bytes count as in flight until `use` completes. */
export const withBody = <A>(
  context: Pick<Context, "inFlight" | "lane" | "limits">,
  request: IncomingRequest,
  owner: string,
  use: (body: JsonObject, bytes: number) => Effect.Effect<A, ApiError>
): Effect.Effect<A, ApiError> =>
  Effect.suspend(() => {
    const { inFlight, limits } = context
    const held = inFlight()
    const used = Effect.flatMap(Body.receive(request, { limits, owner, held }), (received) =>
      Effect.flatMap(inLane(context, owner, received, received.json), (body) => use(body, received.bytes))
    )
    return Effect.ensuring(used, Effect.sync(held.release))
  })

// -------------------------------------------------------------------------------------------------------------------
// The response
// -------------------------------------------------------------------------------------------------------------------

/** Creates the error for a defect in this server. */
export const mistake = (id: string): ApiError =>
  new ApiError({ kind: "server", message: `Internal server error. The server log has the details of request ${id}.` })

/** Response headers with the request id, for requests that have no segment. */
export const idHeaders = (id: string) => ({ "x-request-id": id, "request-id": id })

/** OpenAI clients read `x-request-id`; Anthropic clients read `request-id`. */
const headersOf = (
  { id, request, runId }: About,
  notices: ReadonlyArray<string> = []
): Readonly<Record<string, string>> => ({
  "x-request-id": id,
  "request-id": id,
  "x-divisi-run": runId,
  ...headerOf([...request.notices, ...notices])
})

const errorOf = (parts: ReadonlyArray<Part>): ApiError | undefined => {
  const last = lastOf(parts)
  return last?.type === "error" ? last.error : undefined
}

/** Returns the headers of a segment that has ended. They have the notices, and the number of failed steps. */
const lastHeadersOf = ({ about, parts }: Segment): Readonly<Record<string, string>> => {
  const { failedSteps, notices } = lastOf(parts) ?? {}
  return {
    ...headersOf(about, notices),
    ...(failedSteps !== undefined && { "x-divisi-failed-steps": `${failedSteps.length}` })
  }
}

type Response = HttpServerResponse.HttpServerResponse

const streamed = <State>(
  request: IncomingRequest,
  wire: Wire<State>,
  segment: Segment,
  end: (status: number, isCut: boolean) => void
): Effect.Effect<Response> =>
  Effect.flatMap(segment.begun(patienceMillis), () => {
    // If an error is the only output, it can still set the status.
    const error = segment.parts.length === 1 ? errorOf(segment.parts) : undefined
    if (error === undefined) {
      return Respond.stream(request, wire, segment, headersOf(segment.about), (isCut) => end(200, isCut))
    }
    end(error.status, false)
    return Effect.succeed(Respond.error(wire, error, lastHeadersOf(segment)))
  })

const whole = <State>(request: IncomingRequest, wire: Wire<State>, segment: Segment): Effect.Effect<Response> =>
  Effect.map(segment.over, () => {
    const headers = lastHeadersOf(segment)
    const error = errorOf(segment.parts)
    if (error !== undefined) return Respond.error(wire, error, headers)
    return Respond.whole(request, wire.whole(segment.about, segment.parts), headers)
  })

/** Selects the workers and the policy for a caller's request. Throws an `ApiError`. */
export const teamOf = (
  { modelOf, models }: Pick<Offer, "modelOf" | "models">,
  caller: Caller,
  request: Request
): Models.Team => {
  const { choice } = request
  const model = modelOf(request.model) ?? request.model
  if (Models.mayName(model, caller.models)) {
    return Models.team(Models.allowed(models, caller.workers), model, choice, isHousekeeping(request))
  }
  const message = `This API key does not allow model "${model}". Allowed models: ${caller.models?.join(", ")}.`
  throw new ApiError({ kind: "permission", message, field: "model" })
}

/** Reports token usage to the caller's `onUsed` when a segment ends, for any reason. */
const telling = ({ onUsed }: Caller, segment: Segment, now: () => number): void => {
  if (onUsed === undefined) return
  segment.onOver(() => {
    const usage = lastOf(segment.parts)?.usage
    if (usage === undefined) return
    const { inputTokens, outputTokens } = totalOf(usage)
    onUsed(inputTokens + outputTokens, now())
  })
}

/** Reports the defect if a segment ended with an internal error. */
const reporting = ({ defects }: Context, owner: string, path: string, { about, parts }: Segment): void => {
  const error = errorOf(parts)
  if (error?.kind !== "server") return
  const { id, runId } = about
  defects("run", { id, path, owner, status: error.status, runId }, error.cause ?? error)
}

/** How a wire stores requests and responses, so that later requests can refer to them. */
export interface Keeping {
  /** Returns the body with its references resolved. */
  readonly recall: (body: JsonObject, owner: string, caller: Caller) => Effect.Effect<JsonObject, ApiError>
  /** Stores the segment for a body that was returned by `recall`. `bytes` is the memory of the body that was sent. */
  readonly keep: (segment: Segment, body: JsonObject, owner: string, bytes: number) => Effect.Effect<void, ApiError>
  /** Returns the response body if the request should return without waiting for its segment. */
  readonly atOnce: (segment: Segment) => JsonObject | undefined
  /**
   * Returns the journal for a request whose response is shared between servers, or `undefined` for all other requests.
   */
  readonly shared?: ((body: JsonObject) => Journal.Journal | undefined) | undefined
  /** Returns a segment that reads a shared response. */
  readonly reading?: ((about: About) => Effect.Effect<Segment>) | undefined
}

/** Storage for wires without stored responses. */
const keepsNothing: Keeping = { recall: Effect.succeed, keep: () => Effect.void, atOnce: () => undefined }

/** A response that can consist of several segments, because tool results can arrive while it is open. */
export interface Joining {
  readonly about: About
  /** The request body, with references resolved. */
  readonly body: JsonObject
  /** The prepared first segment. */
  readonly turn: Turn.Prepared
  /** Prepares the next segment, given a body with tool results. */
  readonly again: (body: JsonObject) => Effect.Effect<Turn.Prepared, ApiError>
}

/** A request, independent of its transport. */
export interface Asked {
  readonly headers: Headers
  /** Receives the body. Called after authentication. */
  readonly receive: (owner: string) => Effect.Effect<Body.Received, ApiError>
  /** Combines the segments of a response into one. Defaults to running the first segment only. */
  readonly join?: ((joining: Joining) => Turn.Prepared["run"]) | undefined
}

/** Authenticates a request and finds or starts its segment. */
export const open = Effect.fnUntraced(function* <State>(
  context: Context,
  wire: Wire<State>,
  keeping: Keeping,
  asked: Asked,
  logged: RequestLog.Open
): Effect.fn.Return<Segment, ApiError> {
  if (context.isDraining()) return yield* draining
  const caller = yield* context.authenticate(asked.headers)
  logged.owner = caller.owner
  // Callers without budget are rejected before their body is received.
  yield* Spent.refuse(caller, context.ledger)
  const received = yield* asked.receive(caller.owner)
  yield* context.fair.enter(caller.owner)
  return yield* inLane(context, caller.owner, received, begin(context, wire, keeping, asked, logged, caller, received))
})

/** Parses a request and finds or starts its segment. */
const begin = Effect.fnUntraced(function* <State>(
  context: Context,
  wire: Wire<State>,
  keeping: Keeping,
  asked: Asked,
  logged: RequestLog.Open,
  caller: Caller,
  { bytes, digest, json, memory }: Body.Received
): Effect.fn.Return<Segment, ApiError> {
  const clock = yield* Clock.Clock
  const { headers } = asked
  const { owner } = caller
  /** Lets other requests run between the stages of a request that is not small. */
  const pause = bytes < Body.stagedBytes ? undefined : context.fair.enter(owner)
  const given = yield* json
  const body = yield* Steps.attempt(() => Canonical.of(given, wire.conversation))
  if (pause !== undefined) yield* pause
  const recalled = yield* keeping.recall(body, owner, caller)
  const request = yield* Steps.paced(() => wire.read(recalled, headers))
  logged.model = request.model
  const offer = context.offer()
  const team = yield* Steps.attempt(() => teamOf(offer, caller, request))
  if (pause !== undefined) yield* pause
  const whole = digest ?? (recalled === body ? undefined : JSON.stringify(body))
  const key = RequestKey.make(owner, wire, headers, request, body, bytes, whole)
  if (pause !== undefined) yield* pause
  const isRepeated = RequestKey.isRepeated(headers)
  const journal = keeping.shared?.(recalled)
  const isShared = journal !== undefined
  const turns = isShared ? { ...offer.turns, journal } : offer.turns
  const { ledger } = caller
  const prepare = (request: Request, first: Pick<Turn.Turn, "digest" | "isRepeated" | "named"> = {}) =>
    Turn.prepare(turns, { ...first, key, request, team, owner, ledger, runId: CallId.random(), isShared })
  const turn = yield* prepare(request, { digest, isRepeated, named: Idempotent.runOf(owner, headers) })
  const about = {
    id: CallId.random(),
    runId: turn.runId,
    createdAt: Math.floor(logged.at / 1000),
    request,
    // A server that takes over a shared response needs the complete conversation.
    body: isShared ? recalled : recalled.store === body.store ? body : { ...body, store: recalled.store },
    ...(turn.shared !== undefined && { shared: turn.shared })
  }
  const again = (body: JsonObject) =>
    Effect.flatMap(
      Steps.paced(() => wire.read(body, headers)),
      (next) => prepare(next)
    )
  const run = asked.join?.({ about, body: recalled, turn, again }) ?? turn.run
  const segment = yield* context.segments.open({
    key,
    isRepeated,
    about,
    characters: memory,
    isExact: isShared,
    run: (tell) => offer.use(pause === undefined ? run(tell) : Effect.andThen(pause, run(tell)))
  })
  logged.segment = segment
  logged.isFirst = segment.about === about
  if (logged.isFirst) {
    telling(caller, segment, () => clock.currentTimeMillisUnsafe())
    segment.onOver(() => reporting(context, owner, wire.name, segment))
  }
  if (pause !== undefined) yield* pause
  yield* keeping.keep(segment, recalled, owner, memory)
  const isRead = keeping.reading !== undefined && segment.about.shared !== undefined
  return isRead ? yield* keeping.reading(segment.about) : segment
})

/** Creates the endpoint for a wire. */
export const make =
  <State>(context: Context, wire: Wire<State>, keeping: Keeping = keepsNothing) =>
  (incoming: IncomingRequest): Effect.Effect<Response> =>
    Effect.clockWith((clock) => {
      const now = () => clock.currentTimeMillisUnsafe()
      const logged: RequestLog.Open = { at: now(), wire: wire.name }
      const held = context.inFlight()
      const asked = {
        headers: incoming.headers,
        receive: (owner: string) => Body.receive(incoming, { limits: context.limits, owner, held })
      }
      let isEnded = false
      const end = (status: number, isCut: boolean) => {
        if (isEnded) return
        isEnded = true
        RequestLog.tell(context.log, logged, status, now(), isCut)
      }
      /** Handles defects in a reader, a store, the authentication or a writer, which are not reported anywhere else. */
      const broken = (cause: Cause.Cause<never>) => {
        const id = logged.segment?.about.id ?? CallId.random()
        const { method, url } = incoming
        const about = { id, method, path: url.replace(/\?.*$/s, ""), owner: logged.owner, status: 500 }
        context.defects(logged.segment === undefined ? "request" : "response", about, cause)
        logged.error = "server"
        end(500, false)
        return Respond.broken(incoming, wire, mistake(id), idHeaders(id))
      }
      const failed = (error: ApiError) => {
        logged.error = error.kind
        end(error.status, false)
        const { cause, kind, status } = error
        if (kind === "server" && cause !== undefined) {
          const { method, url } = incoming
          context.defects("request", { method, path: url.replace(/\?.*$/s, ""), owner: logged.owner, status }, cause)
        }
        return Respond.error(wire, error)
      }
      const answered = (segment: Segment) => {
        const atOnce = keeping.atOnce(segment)
        if (atOnce !== undefined) {
          end(200, false)
          return Effect.succeed(Respond.json(atOnce, 200, headersOf(segment.about)))
        }
        if (segment.about.request.isStreamed) return streamed(incoming, wire, segment, end)
        const answer = Effect.tap(whole(incoming, wire, segment), ({ status }) => Effect.sync(() => end(status, false)))
        return Effect.onInterrupt(answer, () => Effect.sync(() => end(200, true)))
      }
      const response = Effect.matchEffect(open(context, wire, keeping, asked, logged), {
        onFailure: (error) => Effect.sync(() => failed(error)),
        onSuccess: answered
      })
      const guarded = Effect.catchCause(response, (cause) =>
        Cause.hasInterruptsOnly(cause) ? Effect.failCause(cause) : Effect.sync(() => broken(cause))
      )
      return Effect.ensuring(guarded, Effect.sync(held.release))
    })
