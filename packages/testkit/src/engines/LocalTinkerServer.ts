/**
 * A local Tinker API server on top of any engine, with injected faults, for testing clients over real HTTP.
 *
 * The server is fully functional: models learn, samplers keep their weights, and checkpoints are files that survive the
 * server. It imitates a known server, including its pitfalls. For example, with the dialect of SkyRL's JAX engine, it
 * averages losses and reverts the weights when an old sampler is used. It listens only on the loopback interface.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import type { Engine, EngineError } from "@divisi/trainer/Engine"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Name as DialectName } from "./internal/tinker/dialect.ts"
import * as Routes from "./internal/tinker/routes.ts"
import * as State from "./internal/tinker/state.ts"

export type { Name as DialectName } from "./internal/tinker/dialect.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A request, passed to the function that decides which faults to inject. */
export interface Seen {
  /** The path below `/api/v1/`, such as `optim_step`. */
  readonly path: string
  /** Number of earlier requests to this path. */
  readonly count: number
  readonly body: unknown
}

/** A fault to inject for one request. */
export type Fault =
  /** The request is lost: nothing is executed, and the connection is closed. */
  | { readonly type: "drop-request" }
  /** The request is executed, but its reply is lost. */
  | { readonly type: "drop-reply" }
  /** This reply is sent instead. `carriedOut` determines whether the request is executed anyway. */
  | {
      readonly type: "status"
      readonly status: number
      readonly body?: string | undefined
      readonly carriedOut?: boolean | undefined
      readonly headers?: Readonly<Record<string, string>> | undefined
    }
  /** The reply is delayed. */
  | { readonly type: "delay"; readonly millis: number }

/** Options for the server. */
export interface Options {
  /** Opens a new model. Called for each model that a client creates. The model is closed when it is unloaded. */
  readonly engine: Effect.Effect<Engine, EngineError, Scope.Scope>
  /** Folder for checkpoints. Servers started later with the same folder can load them. */
  readonly folder: string
  /** Name of the model. Defaults to the name reported by the engine. */
  readonly baseModel?: string | undefined
  /**
   * Folder with an adapter that is returned for every checkpoint. Defaults to the engine's own export, if supported.
   */
  readonly adapter?: string | undefined
  /** The server to imitate. Defaults to the hosted service. */
  readonly dialect?: DialectName | undefined
  /** The key that clients must send. Default: none. */
  readonly apiKey?: string | undefined
  /** Whether API keys must be exchanged for tokens. Default: `false`. */
  readonly exchangesKeys?: boolean | undefined
  /** Maximum number of concurrent models. Default: 8. */
  readonly places?: number | undefined
  /** Duration of a long poll, in milliseconds. Default: 20,000. */
  readonly pollMillis?: number | undefined
  /** The port. Default: 0, which selects a free port. */
  readonly port?: number | undefined
  /** Returns the fault to inject for a request, if any. */
  readonly fault?: ((seen: Seen) => Fault | undefined) | undefined
}

/** A server that runs until its scope closes. */
export interface LocalTinkerServer {
  readonly url: string
  /**
   * Returns the number of requests by path, and the number of executed operations: gradients, steps, saves and samples.
   */
  readonly counts: () => Readonly<Record<string, number>>
  /** Returns the completed operations in order: `forward_backward`, `optim_step`, … */
  readonly carriedOut: () => ReadonlyArray<string>
  /** Discards sessions, models and futures, as a crash would. Checkpoints remain. */
  readonly restart: Effect.Effect<void>
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

const read = async (request: http.IncomingMessage): Promise<Buffer> => {
  const parts: Array<Buffer> = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

const parse = (bytes: Buffer, contentType: string | undefined): unknown => {
  if (contentType?.includes("protobuf") || bytes.length === 0) return bytes
  try {
    return JSON.parse(bytes.toString("utf8"))
  } catch {
    return undefined
  }
}

const answer = (response: http.ServerResponse, reply: Routes.Answer) => {
  if (response.destroyed) return
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers })
  response.end(reply.status === 204 ? undefined : reply.body)
}

const serve = async (
  request: http.IncomingMessage,
  response: http.ServerResponse,
  state: () => State.State,
  options: Options,
  counts: Map<string, number>
): Promise<void> => {
  const bytes = await read(request)
  const url = new URL(request.url ?? "/", "http://localhost")
  const path = url.pathname.replace(/^\/api\/v1\//, "")
  const body = parse(bytes, request.headers["content-type"])
  const count = counts.get(path) ?? 0
  counts.set(path, count + 1)
  const fault = options.fault?.({ path, count, body })
  if (fault?.type === "drop-request") return void request.socket.destroy()
  const isInstead = fault?.type === "status" && fault.carriedOut !== true
  const gone = new AbortController()
  response.on("close", () => gone.abort())
  const reply: Routes.Answer = isInstead
    ? {
        status: fault.status,
        body: fault.body ?? "",
        headers: fault.headers
      }
    : await Routes.handle(state(), {
        method: request.method ?? "GET",
        path,
        body,
        headers: request.headers,
        signal: gone.signal
      })
  if (fault?.type === "drop-reply") return void request.socket.destroy()
  if (fault?.type === "status")
    return answer(response, {
      status: fault.status,
      body: fault.body ?? "",
      headers: fault.headers
    })
  if (fault?.type === "delay") await new Promise((resolve) => setTimeout(resolve, fault.millis))
  answer(response, reply)
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Starts a server.
 *
 * **Example**
 *
 * ```ts
 * import { LocalTinkerServer } from "@divisi/testkit/engines"
 * import * as ToyEngine from "@divisi/trainer/ToyEngine"
 * import * as Effect from "effect/Effect"
 * import fs from "node:fs"
 * import os from "node:os"
 * import path from "node:path"
 *
 * const program = Effect.gen(function* () {
 *   const folder = fs.mkdtempSync(path.join(os.tmpdir(), "checkpoints-"))
 *   const server = yield* LocalTinkerServer.make({ engine: Effect.sync(() => ToyEngine.make()), folder })
 *   yield* Effect.promise(() => fetch(`${server.url}/api/v1/create_session`, { method: "POST" }))
 *   return server.counts()
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => { create_session: 1 }
 * ```
 */
export const make = (options: Options): Effect.Effect<LocalTinkerServer, EngineError, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const log: Array<string> = []
    const counts = new Map<string, number>()
    const open = Effect.gen(function* () {
      const stateScope = yield* Scope.fork(scope)
      return { stateScope, state: yield* State.open(options, stateScope, log) }
    })
    let current = yield* open
    const server = http.createServer((request, response) => {
      serve(request, response, () => current.state, options, counts).catch(() => {
        answer(response, { status: 500, body: "Internal Server Error", headers: { "content-type": "text/plain" } })
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(options.port ?? 0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      counts: () => Object.fromEntries(counts),
      carriedOut: () => log,
      restart: Effect.gen(function* () {
        yield* Scope.close(current.stateScope, Exit.void)
        current = yield* Effect.orDie(open)
      })
    }
  })
