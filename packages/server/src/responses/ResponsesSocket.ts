/**
 * The Responses API over WebSocket. A connection handles one response at a time, and holds responses with `store:
 * false` in memory so that later requests can continue from them.
 */
import { IncomingMessage } from "node:http"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as Socket from "effect/socket/Socket"
import * as Body from "../http/Body.ts"
import * as Endpoint from "../http/Endpoint.ts"
import type { Held } from "../http/InFlight.ts"
import * as Respond from "../http/Respond.ts"
import * as Turns from "../http/Turns.ts"
import * as RequestLog from "../RequestLog.ts"
import * as CallId from "../segment/CallId.ts"
import type { Segment } from "../segment/Segments.ts"
import { ApiError, invalid } from "../wire/ApiError.ts"
import type { Headers } from "../wire/Choice.ts"
import * as Json from "../wire/Json.ts"
import * as OpenAi from "../wire/OpenAi.ts"
import * as Steps from "../wire/Steps.ts"
import * as Injected from "./Injected.ts"
import * as ResponseStore from "./ResponseStore.ts"
import { responses } from "./Responses.ts"

// -------------------------------------------------------------------------------------------------------------------
// Frames
// -------------------------------------------------------------------------------------------------------------------

/** Splits server-sent events into WebSocket frames. The end marker `[DONE]` is not sent. */
const framesOf = (events: string): ReadonlyArray<string> =>
  events.split("\n\n").flatMap((event) => {
    const at = event.indexOf("data: {")
    return at < 0 ? [] : [event.slice(at + "data: ".length)]
  })

const errorFrame = (error: ApiError): string => {
  const said = OpenAi.errorOf(error)
  return JSON.stringify({ type: "error", status: error.status, error: { ...said, code: said.code ?? said.type } })
}

const bytesOf = (frame: Uint8Array | string): Buffer =>
  typeof frame === "string" ? Buffer.from(frame) : Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength)

/**
 * Returns the headers that apply to all requests on a connection. Retry and idempotency headers are dropped, because
 * they apply to a single request.
 */
const shared = (headers: Headers): Headers => ({
  ...headers,
  "idempotency-key": undefined,
  "x-client-request-id": undefined,
  "x-stainless-retry-count": undefined
})

// -------------------------------------------------------------------------------------------------------------------
// Connections
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of frames that wait for a previous frame. Beyond this, the connection stops reading. */
const waitingFrames = 16

/** Close code for a connection whose client has too many bytes in flight. */
const tryAgainLater = 1013

/** Maximum lifetime of a connection, in milliseconds. */
const lifeMillis = 3_600_000

/** Maximum size of the responses held for a connection, in characters. */
const ownCharacters = 8 * 2 ** 20

interface Connection {
  /** Delivers tool results to the open response. */
  readonly desk: Injected.Desk
  /** Sequence number of the last event sent. */
  lastNumber: number
  readonly context: Endpoint.Context
  readonly headers: Headers
  readonly store: ResponseStore.ResponseStore
  /** Responses created on this connection, including those with `store: false`. */
  readonly own: ResponseStore.ResponseStore
  readonly send: (frames: ReadonlyArray<string>) => Effect.Effect<void, Socket.SocketError>
}

/**
 * Requests that continue from a response on this connection use its own store; all other requests use the shared store.
 */
const keepingOf = ({ own, store }: Connection): Endpoint.Keeping => ({
  recall: (body, owner) => {
    const previous = body.previous_response_id
    const isOwn = typeof previous === "string" ? own.has(previous, owner) : Effect.succeed(false)
    return Effect.flatMap(isOwn, (isOwn) => (isOwn ? own : store).recall(body, owner))
  },
  keep: (segment, body, owner, bytes) =>
    Effect.andThen(own.keep(segment, body, owner, bytes), store.keep(segment, body, owner, bytes)),
  atOnce: () => undefined
})

const say = (connection: Connection, segment: Segment): Effect.Effect<void, Socket.SocketError> =>
  Effect.suspend(() => {
    const { send } = connection
    let [state, events] = responses.begin(segment.about)
    const rest = Stream.runForEach(segment.read, (parts) => {
      let more = ""
      for (const part of parts) {
        const [next, text] = responses.write(state, part)
        state = next
        more += text
      }
      connection.lastNumber = state.sequence - 1
      return send(framesOf(more))
    })
    return Effect.andThen(send(framesOf(events)), rest)
  })

/** A frame sent by the client. Its bytes count as in flight until it is released. */
interface Frame {
  /** The frame's size and parsed body, or the error if it cannot be parsed. */
  readonly received: Body.Received & { readonly body: Json.JsonObject | ApiError }
  readonly held: Held
}

const frameOf = (context: Endpoint.Context, owner: string, sent: Buffer, held: Held): Effect.Effect<Frame> => {
  const { limits } = context
  const read = Effect.flatMap(Body.ofBytes(sent, { limits, owner, held }), (received) =>
    Effect.map(Endpoint.inLane(context, owner, received, received.json), (body) => ({
      received: { ...received, json: Effect.succeed(body), body },
      held
    }))
  )
  return Effect.catch(read, (error) => {
    held.release()
    return Effect.succeed({ received: { bytes: 0, memory: 0, json: Effect.fail(error), body: error }, held })
  })
}

/** Returns the request in a frame. Throws an `ApiError` if the frame is not a `response.create` event. */
const requestOf = ({ received: { body } }: Frame): Json.JsonObject => {
  if (body instanceof ApiError) throw body
  if (body.type === "response.create") return body
  throw invalid("type", "type must be response.create.")
}

/** Delivers tool results immediately, even while output is being sent. Rejected results are returned to the client. */
const inject = (
  connection: Connection,
  owner: string,
  body: Json.JsonObject
): Effect.Effect<void, Socket.SocketError> => {
  const { desk, lastNumber: sequence_number, own, send, store } = connection
  const taking = Effect.gen(function* () {
    const { input, isTaken, response_id } = yield* Steps.attempt(() => {
      const response_id = Json.name(body.response_id, "response_id")
      const input = Json.list(body.input, "input")
      return { response_id, input, isTaken: desk.give(response_id, input) }
    })
    if (isTaken) return JSON.stringify({ type: "response.inject.created", response_id, sequence_number })
    const isKnown = (yield* own.has(response_id, owner)) || (yield* store.has(response_id, owner))
    const error = isKnown
      ? { code: "response_already_completed", message: `Response '${response_id}' is not waiting for tool results.` }
      : { code: "response_not_found", message: `Response with id '${response_id}' not found.` }
    return JSON.stringify({ type: "response.inject.failed", response_id, sequence_number, error, input })
  })
  return Effect.flatMap(
    Effect.catch(taking, (error) => Effect.succeed(errorFrame(error))),
    (frame) => send([frame])
  )
}

/** The wire of a connection: events are sent as they arrive, whether or not a frame sets `stream`. */
const framed: typeof responses = {
  ...responses,
  *read(body, headers) {
    return { ...(yield* responses.read(body, headers)), isStreamed: true }
  }
}

/**
 * Handles one frame. If continuing from an earlier response fails, that response is removed, so the request cannot be
 * retried.
 */
const turn = (connection: Connection, frame: Frame): Effect.Effect<void, Socket.SocketError> =>
  Effect.clockWith((clock) => {
    const { context, desk, headers, own, send } = connection
    const join = (joining: Endpoint.Joining) =>
      joining.about.request.isTagged === true ? Injected.join(desk)(joining) : joining.turn.run
    const logged: RequestLog.Open = { at: clock.currentTimeMillisUnsafe(), wire: "responses socket" }
    const end = (status: number, isCut: boolean) =>
      RequestLog.tell(context.log, logged, status, clock.currentTimeMillisUnsafe(), isCut)
    const forget = (previous: unknown) => (typeof previous === "string" ? own.forget(previous) : Effect.void)
    const answered = Effect.gen(function* () {
      const body = yield* Steps.attempt(() => requestOf(frame))
      const asked = { headers, receive: () => Effect.succeed(frame.received), join }
      const failing = Effect.tapError(Endpoint.open(context, framed, keepingOf(connection), asked, logged), () =>
        forget(body.previous_response_id)
      )
      const segment = yield* failing
      yield* Effect.onExit(say(connection, segment), (exit) => Effect.sync(() => end(200, Exit.isFailure(exit))))
      if (segment.parts.at(-1)?.type === "error") yield* forget(body.previous_response_id)
    })
    const whole = Effect.ensuring(answered, Effect.sync(frame.held.release))
    const refused = (error: ApiError) => {
      logged.error = error.kind
      end(error.status, false)
      return send([errorFrame(error)])
    }
    const told = Effect.catchTag(whole, "ApiError", refused)
    return Effect.catchCause(told, (cause) => {
      if (!cause.reasons.some(Cause.isDieReason)) return Effect.failCause(cause)
      const id = logged.segment?.about.id ?? CallId.random()
      context.defects("socket", { id, path: "responses socket", owner: logged.owner, status: 500 }, cause)
      return refused(Endpoint.mistake(id))
    })
  })

const connect = Effect.fnUntraced(function* (
  context: Endpoint.Context,
  store: ResponseStore.ResponseStore,
  request: HttpServerRequest.HttpServerRequest
) {
  const { owner } = yield* context.authenticate(request.headers)
  const socket = yield* request.upgrade
  const { pull } = yield* socket.reader
  const writer = yield* socket.writer
  const unread = context.inFlight()
  const refused = yield* Deferred.make<ApiError>()
  const node = request.source instanceof IncomingMessage ? request.source.socket : undefined
  // Counts the bytes of a frame as they arrive, before the frame is complete.
  if (node !== undefined) {
    Turns.pace(node, (bytes) => {
      const refusal = unread.take(owner, bytes)
      if (refusal !== undefined) Deferred.doneUnsafe(refused, Effect.succeed(refusal))
    })
  }
  const own = yield* ResponseStore.make({ maxCharacters: ownCharacters, keepsAll: true })
  const send = ([first, ...rest]: ReadonlyArray<string>) =>
    first === undefined ? Effect.void : writer.writeAll([first, ...rest])
  const frames = yield* Queue.bounded<Frame>(waitingFrames)
  /** Received frames that have not been answered yet. */
  const held = new Set<Held>()
  const release = (frame: Held) => {
    frame.release()
    held.delete(frame)
  }
  const desk = Injected.desk(() => Queue.sizeUnsafe(frames) > 0)
  const connection: Connection = { context, desk, lastNumber: 0, headers: shared(request.headers), store, own, send }
  const take = Effect.fnUntraced(function* (sent: Buffer) {
    const bytes = context.inFlight()
    held.add(bytes)
    const frame = yield* frameOf(context, owner, sent, bytes)
    const { body } = frame.received
    if (!(body instanceof ApiError) && body.type === "response.inject") {
      return yield* Effect.ensuring(
        inject(connection, owner, body),
        Effect.sync(() => release(bytes))
      )
    }
    // If the client sends another request, the open response ends with its pending calls.
    desk.end()
    yield* Queue.offer(frames, frame)
  })
  const reading = Effect.forever(
    Effect.flatMap(pull, (news) => {
      unread.clear()
      return Effect.forEach(news, (frame) => take(bytesOf(frame)), { discard: true })
    })
  )
  const answering = Effect.forever(
    Effect.flatMap(Queue.take(frames), (frame) =>
      Effect.ensuring(
        turn(connection, frame),
        Effect.sync(() => release(frame.held))
      )
    )
  )
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      desk.end()
      unread.release()
      for (const { release } of held) release()
    })
  )
  const refusing = Effect.flatMap(Deferred.await(refused), ({ message }) =>
    Effect.andThen(
      writer.write(new Socket.CloseEvent(tryAgainLater, message)),
      // Closes without waiting for the client, which may still be sending the frame.
      Effect.sync(() => node?.destroySoon())
    )
  )
  // Detects a disconnect even while a response is being sent.
  const all = Effect.raceFirst(Effect.raceFirst(reading, answering), refusing)
  yield* Effect.timeoutOption(all, lifeMillis)
}, Effect.scoped)

/** Creates the endpoint, which upgrades a request to a WebSocket connection. */
export const make =
  (context: Endpoint.Context, store: ResponseStore.ResponseStore) =>
  (request: HttpServerRequest.HttpServerRequest): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    connect(context, store, request).pipe(
      Effect.as(HttpServerResponse.empty()),
      Effect.catch((error) =>
        Effect.succeed(
          error._tag === "ApiError"
            ? Respond.error(responses, error)
            : // The connection is over, or never was one.
              HttpServerResponse.empty({ status: 426, headers: { upgrade: "websocket" } })
        )
      )
    )
