/** The parts common to all API calls: a connection, a request, and a result that arrives later. */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Semaphore from "effect/Semaphore"
import type * as Dialect from "../Dialect.ts"
import * as Errors from "../TinkerError.ts"
import * as Futures from "./futures.ts"
import * as Transport from "./transport.ts"

/** A session with a server, and the state shared by its calls. */
export interface Connection {
  readonly settings: Transport.Settings
  readonly waiting: Futures.Waiting
  readonly wire: "json" | "protobuf"
  readonly sessionId: string
  /** The scope in which requests run. */
  readonly scope: Scope.Scope
  readonly dialect: () => Dialect.Dialect | undefined
  readonly settle: (dialect: Dialect.Dialect) => void
  readonly chunk: { readonly data: number; readonly bytes: number }
  /** Limits concurrent sampling requests, with one permit per request until its result arrives. */
  readonly sampling: Semaphore.Semaphore
  /** The time until which no sampling request is sent, after the server was overloaded. */
  readonly pause: { untilMillis: number }
  readonly counters: { models: number; samplers: number }
}

/** An operation accepted by the server. */
export interface Taken {
  readonly requestId: string
  readonly reply: Transport.Reply
  /** Sends the same request again, if the server has lost the promised result. */
  readonly again: Effect.Effect<Taken, Errors.TinkerError>
}

/** Returns a required string in a reply. */
export const expectText = (
  settings: Transport.Settings,
  outgoing: Transport.Outgoing,
  reply: Transport.Reply,
  field: string
): Effect.Effect<string, Errors.TinkerError> => {
  const value = ((reply.json ?? {}) as Readonly<Record<string, unknown>>)[field]
  if (typeof value === "string" && value !== "") return Effect.succeed(value)
  const detail = `${settings.baseUrl} answered without "${field}": check that the URL is a Tinker API server`
  return Effect.fail(Errors.make(outgoing.path, { _tag: "ServerFailure", detail }))
}

/** Sends a request that starts an operation. */
export const take = (
  connection: Pick<Connection, "settings">,
  outgoing: Transport.Outgoing,
  onRateLimited?: Effect.Effect<void>
): Effect.Effect<Taken, Errors.TinkerError> =>
  Effect.gen(function* () {
    const { settings } = connection
    const reply = yield* Transport.request(settings, outgoing, onRateLimited)
    const requestId = yield* expectText(settings, outgoing, reply, "request_id")
    return { requestId, reply, again: take(connection, outgoing, onRateLimited) }
  })

/** Creates a call with a JSON body. */
export const jsonCall = (path: string, body: Readonly<Record<string, unknown>>): Transport.Outgoing => ({
  path,
  body: JSON.stringify({ ...body, type: path === "asample" ? "sample" : path })
})

const mostAgain = 3

/** Waits for the result of an accepted operation. */
export const result = (
  { settings, waiting }: Connection,
  call: string,
  taken: Taken,
  accept?: string
): Effect.Effect<Transport.Reply, Errors.TinkerError> => {
  const wait = (current: Taken, times: number): Effect.Effect<Transport.Reply, Errors.TinkerError> =>
    Effect.catchIf(
      Futures.retrieve(settings, waiting, {
        requestId: current.requestId,
        call,
        accept
      }),
      ({ reason }) => reason._tag === "Expired" && reason.isPromise === true && times > 0,
      () => Effect.flatMap(current.again, (again) => wait(again, times - 1))
    )
  return wait(taken, mostAgain)
}
