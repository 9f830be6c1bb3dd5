/**
 * A server of the Tinker API on this machine, over any engine, with faults on demand: it tests clients through real
 * HTTP.
 *
 * It does what it is asked for: models learn, samplers keep their weights, checkpoints are files that outlive the
 * server. It behaves as one of the known servers does, traps included: with SkyRL's JAX engine as its dialect it takes
 * means, and turns weights back when an old sampler is used. It listens on the loopback interface only.
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

/** One request, as faults are decided by. */
export interface Seen {
  /** Below `/api/v1/`, e.g. `optim_step`. */
  readonly path: string
  /** How many requests of this path came before. */
  readonly count: number
  readonly body: unknown
}

/** The failure of one request. */
export type Fault =
  /** The request is lost on its way: nothing is carried out, the connection breaks. */
  | { readonly type: "drop-request" }
  /** The request is carried out, its reply is lost. */
  | { readonly type: "drop-reply" }
  /** This reply instead; `carriedOut` says whether the request is carried out all the same. */
  | {
      readonly type: "status"
      readonly status: number
      readonly body?: string | undefined
      readonly carriedOut?: boolean | undefined
      readonly headers?: Readonly<Record<string, string>> | undefined
    }
  /** The reply comes later. */
  | { readonly type: "delay"; readonly millis: number }

/** Options of a server. */
export interface Options {
  /** A fresh model: one is opened for each that a client creates, and closed when it is unloaded. */
  readonly engine: Effect.Effect<Engine, EngineError, Scope.Scope>
  /** The folder of checkpoints; the next server of the same folder can load them. */
  readonly folder: string
  /** The model's name; the engine's name for it by default. */
  readonly baseModel?: string | undefined
  /**
   * An adapter that stands for every checkpoint's, as a folder; without it, the engine's own export where it has one.
   */
  readonly adapter?: string | undefined
  /** Which server's ways it keeps; the hosted one's by default. */
  readonly dialect?: DialectName | undefined
  /** The key that clients must have; none by default. */
  readonly apiKey?: string | undefined
  /** Whether keys have to be exchanged for tokens; false by default. */
  readonly exchangesKeys?: boolean | undefined
  /** The most models at once; 8 by default. */
  readonly places?: number | undefined
  /** How long a poll is held; 20 s by default. */
  readonly pollMillis?: number | undefined
  /** 0, the default, for one that is free. */
  readonly port?: number | undefined
  /** Asked for each request. */
  readonly fault?: ((seen: Seen) => Fault | undefined) | undefined
}

/** A server that runs until its scope closes. */
export interface LocalTinkerServer {
  readonly url: string
  /** How many requests of a path came, and what was carried out: gradients, steps, saves, samples. */
  readonly counts: () => Readonly<Record<string, number>>
  /** Completed operations, in order: `forward_backward`, `optim_step`, … */
  readonly carriedOut: () => ReadonlyArray<string>
  /** Forgets sessions, models and futures, as a crash does; checkpoints stay. */
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
