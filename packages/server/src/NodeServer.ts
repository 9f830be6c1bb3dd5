/** Serves the HTTP API on a port, using Node's HTTP server. */

import * as Http from "node:http"
import { Options as Tables } from "@divisi/core"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeWS from "@effect/platform-node/NodeWS"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { isThisMachine } from "./Caller.ts"
import * as ContentSetting from "./ContentSetting.ts"
import * as EarlyResponse from "./http/EarlyResponse.ts"
import * as Entrance from "./http/Entrance.ts"
import * as Upgrades from "./http/Upgrades.ts"
import * as Server from "./Server.ts"
import * as Limits from "./wire/Limits.ts"

/** Server options and the address to listen on. */
export interface Options extends Server.Options {
  /** TCP port. 0 selects a free port. Default: 8080. */
  readonly port?: number | undefined
  /** Address to listen on. Must be a loopback address if `authenticate` is not set. Default: `127.0.0.1`. */
  readonly host?: string | undefined
  /** Maximum number of concurrent connections. Default: 10,000. */
  readonly maxConnections?: number | undefined
  /**
   * Time limit for receiving a complete request, in milliseconds. The headers must arrive within 10,000 ms. Default:
   * 120,000.
   */
  readonly requestMillis?: number | undefined
}

const table = Tables.table(
  {
    ...Server.optionsTable.shape,
    port: Tables.whole(0, 65_535),
    host: Tables.name,
    maxConnections: Tables.whole(1),
    requestMillis: Tables.number(1)
  },
  { required: ["pool"] }
)

/** A listening server. */
export interface NodeServer extends Server.Server {
  /** Base URL for OpenAI clients, e.g. `http://127.0.0.1:8080/v1`. */
  readonly url: string
  readonly port: number
}

/** Raised when the server cannot listen on its address. */
export class ListenError extends Data.TaggedError("ListenError")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

const reasonOf = ({ code, message }: NodeJS.ErrnoException, host: string, port: number): string => {
  if (code === "EADDRINUSE") return `Port ${port} is in use. Choose another port (0 for any free port).`
  if (code === "EACCES")
    return `Port ${port} requires privileges that this process does not have. Choose a port above 1023.`
  return `Cannot listen on ${host}:${port}: ${message}.`
}

/** Limits for slow and idle clients. An idle connection is closed after one minute. */
const limitsOf = (requestMillis: number): Http.ServerOptions => ({
  headersTimeout: Math.min(10_000, requestMillis),
  requestTimeout: requestMillis,
  keepAliveTimeout: 60_000,
  maxHeaderSize: 32_768,
  // By default, Node checks the timeouts only every 30 seconds.
  connectionsCheckingInterval: Math.min(2_000, requestMillis),
  IncomingMessage: Entrance.Incoming,
  ServerResponse: Entrance.Outgoing
})

/**
 * Reports text frames as bytes, as they arrived: decoding a large frame takes long, so it is done in steps. Answers the
 * client's close frame and emits `close` in its turn, because a client may close hundreds at once.
 */
class BytesWebSocket extends NodeWS.WebSocket {
  override emit(event: string | symbol, ...values: ReadonlyArray<unknown>): boolean {
    if (event === "message") return super.emit(event, values[0], true)
    if (event !== "close") return super.emit(event, ...values)
    Entrance.stop(() => super.emit(event, ...values))
    return true
  }

  override close(...reason: [code?: number, data?: string | Buffer]): void {
    Entrance.stop(() => super.close(...reason))
  }
}

/** Maximum number of connections that wait to be accepted. Further ones of a burst may be reset. Node's default is 511. */
const backlog = 4_096

const listen = (server: Http.Server, host: string, port: number): Effect.Effect<void, ListenError> =>
  Effect.callback((resume) => {
    const fail = (error: NodeJS.ErrnoException) =>
      resume(Effect.fail(new ListenError({ detail: reasonOf(error, host, port) })))
    server.once("error", fail)
    server.listen({ port, host, backlog }, () => {
      server.off("error", fail)
      resume(Effect.void)
    })
  })

/** Closes all connections immediately. `drain` has already waited for pending responses. */
const close = (server: Http.Server, sockets: NodeWS.WebSocketServer): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
    for (const socket of sockets.clients) socket.terminate()
  })

/** Starts a server that listens until the scope closes. */
export const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<NodeServer, ListenError, Scope.Scope> {
  const unusable = ({ message }: Tables.OptionsError) => new ListenError({ detail: message })
  yield* Effect.mapError(Tables.checked("NodeServer.make", options, table), unusable)
  const { host = "127.0.0.1", maxConnections = 10_000, port = 8080, requestMillis = 120_000 } = options
  if (options.authenticate === undefined && !isThisMachine(host)) {
    const detail = `Refusing to listen on ${host} without API keys. Create a key with \`divisi key make <name>\`, or omit --host to listen on this machine only.`
    return yield* new ListenError({ detail })
  }
  const { content = "full" } = options
  if (!ContentSetting.values.includes(content)) {
    return yield* new ListenError({ detail: `content must be ${ContentSetting.values.join(" or ")}.` })
  }
  const { host: _host, maxConnections: _connections, port: _port, requestMillis: _request, ...ofServer } = options
  const server = yield* Effect.mapError(Server.make(ofServer), unusable)
  const scope = yield* Effect.scope
  const handler = yield* ContentSetting.traced(
    content,
    NodeHttpServer.makeHandler(EarlyResponse.readable(server.app), { scope })
  )
  const entrance = Entrance.make()
  const node = Http.createServer(limitsOf(requestMillis), entrance.requests(handler))
  node.maxConnections = maxConnections
  node.on("connection", Entrance.connected)
  const sockets = new NodeWS.WebSocketServer({
    noServer: true,
    maxPayload: Limits.of(options).frameBytes,
    WebSocket: BytesWebSocket
  })
  const upgrade = yield* ContentSetting.traced(
    content,
    NodeHttpServer.makeUpgradeHandler(Effect.succeed(sockets), server.app, { scope })
  )
  node.on("upgrade", Upgrades.webSocketsOnly(node, entrance.upgrades(upgrade)))
  yield* Effect.addFinalizer(() => close(node, sockets))
  yield* listen(node, host, port)
  const address = node.address()
  const at = typeof address === "object" && address !== null ? address.port : port
  return { ...server, port: at, url: `http://${host.includes(":") ? `[${host}]` : host}:${at}/v1` }
})
