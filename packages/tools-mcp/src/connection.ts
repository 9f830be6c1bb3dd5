/**
 * The way to one MCP server: it is opened when it is needed, and opened anew by the next call where the server has died.
 * Whatever goes wrong is a text for who reads it, and no secret is in it.
 */
import {
  type CallToolResult,
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
  type Transport,
  UnsupportedProtocolVersionError
} from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import manifest from "../package.json" with { type: "json" }
import { type HttpServer, type McpServer, revealed, type StdioServer, withoutSecrets } from "./McpServer.ts"

/** A server that tools can be called of. Failures are for people and models. */
export interface Connection {
  readonly list: Effect.Effect<ReadonlyArray<Tool>, string>
  readonly call: (name: string, input: Record<string, unknown>) => Effect.Effect<CallToolResult, string>
}

/** An open connection, and what its server wrote for people before it died. */
interface Open {
  readonly client: Client
  readonly transport: Transport
  readonly said: () => string
}

const defaultStartMillis = 30_000

/** The executor ends a call that takes too long, and cancels it; the library's own limit must not come before. */
const noTimeout = 2 ** 31 - 1

/**
 * What a server may send at once: a result of 10 MB is cut and not lost, one without end is stopped. The library's reader
 * takes quadratic time, two seconds for 10 MB.
 */
const mostBytes = 16 * 1024 * 1024

// -------------------------------------------------------------------------------------------------------------------
// Transports
// -------------------------------------------------------------------------------------------------------------------

const mostSaid = 4_000

/** The line that says most: the last one that speaks of an error, or else the last. */
const gist = (text: string): string => {
  const lines = text.split("\n").map((line) => line.replace(/\p{Cc}+/gu, " ").trim())
  const line = lines.findLast((line) => /error/i.test(line)) ?? lines.findLast((line) => line !== "") ?? ""
  return line.slice(0, 300)
}

/** The library does not wait for a process that it ends a second time. */
class Process extends StdioClientTransport {
  #end: Promise<void> | undefined

  override close(): Promise<void> {
    this.#end ??= super.close()
    return this.#end
  }
}

/** Where certificates are: without them a program behind a company's proxy, such as npx, reaches nothing. */
const certificates = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"]

const trusted = (): Record<string, string> =>
  Object.fromEntries(
    certificates.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )

const stdio = ({ args = [], command, cwd, env }: StdioServer) => {
  const transport = new Process({
    command,
    args: [...args],
    env: { ...trusted(), ...revealed(env) },
    stderr: "pipe",
    maxBufferSize: mostBytes,
    ...(cwd === undefined ? {} : { cwd })
  })
  let said = ""
  transport.stderr?.on("data", (chunk: Buffer) => {
    said = `${said}${chunk.toString("utf8")}`.slice(-mostSaid)
  })
  return { transport, said: () => gist(said) }
}

/** An answer that fails once it has become too large. The stream of a server's own messages may go on for days. */
const bounded: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  if (init?.method !== "POST" || response.body === null) return response
  let left = mostBytes
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, controller) => {
        left -= chunk.byteLength
        if (left < 0) controller.error(new Error(`it sent more than ${mostBytes / 1024 / 1024} MB at once`))
        else controller.enqueue(chunk)
      }
    })
  )
  return new Response(body, response)
}

const http = ({ headers, url }: HttpServer) => {
  const requestInit = { headers: revealed(headers) }
  return { transport: new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch: bounded }), said: () => "" }
}

// -------------------------------------------------------------------------------------------------------------------
// Connections
// -------------------------------------------------------------------------------------------------------------------

/** `fetch` says why it failed in its cause alone, and where several addresses were tried in a code. */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const { cause, message } = error
  if (message !== "fetch failed" || !(cause instanceof Error)) return message
  const code = "code" in cause ? String(cause.code) : ""
  return `it cannot be reached (${cause.message === "" ? code : cause.message})`
}

const told = (said: string): string => (said === "" ? "" : ` (it said: ${said})`)

/** Whether a server over HTTP no longer knows the session, as one does that was started anew. */
const isForgotten = (error: unknown): boolean => error instanceof SdkHttpError && error.status === 404

/** Makes a connection; nothing is started yet. What was started ends with the scope. */
export const make = (server: McpServer): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => reopened(server)),
      ({ end }) => Effect.promise(end)
    ),
    ({ use }) => {
      const used = <A>(how: (client: Client, signal: AbortSignal) => Promise<A>): Effect.Effect<A, string> =>
        Effect.tryPromise({
          try: (signal) => use((client) => how(client, signal)),
          catch: (error) => withoutSecrets(server, messageOf(error))
        })
      return {
        list: used(
          async (client, signal) => (await client.listTools({}, { signal, timeout: startMillis(server) })).tools
        ),
        call: (name, input) =>
          used((client, signal) => client.callTool({ name, arguments: input }, { signal, timeout: noTimeout }))
      }
    }
  )

/** What a server that is fetched first needs is time. */
const whyNot = (error: unknown, millis: number): string =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout
    ? `it did not answer within ${millis / 1000} s (startMillis gives it longer)`
    : messageOf(error)

const startMillis = (server: McpServer): number => server.startMillis ?? defaultStartMillis

const reopened = (server: McpServer) => {
  let opening: Promise<Open> | undefined
  let isEnded = false
  /** All that were started and may not have ended. */
  const transports = new Set<Transport>()

  const close = async (transport: Transport) => {
    await transport.close().catch(() => {})
    transports.delete(transport)
  }

  const start = async (mode: "legacy" | "auto" = "legacy"): Promise<Open> => {
    if (isEnded) throw new Error("it was closed")
    const { said, transport } = server.command === undefined ? http(server) : stdio(server)
    const client = new Client({ name: "divisi", version: manifest.version }, { versionNegotiation: { mode } })
    transports.add(transport)
    let problem = ""
    client.onerror = (error: Error & { readonly code?: unknown }) => {
      // What cannot be written to who has ended is no reason of its own.
      if (error.code !== "EPIPE") problem = messageOf(error)
    }
    try {
      await client.connect(transport, { timeout: startMillis(server) })
    } catch (error) {
      void close(transport)
      // Nearly all servers speak the protocol of 2025. One that does not says so.
      if (mode === "legacy" && error instanceof UnsupportedProtocolVersionError) return start("auto")
      const why = new Set([whyNot(error, startMillis(server)), problem].filter((text) => text !== ""))
      throw new Error(`it did not start: ${[...why].join(": ")}${told(said())}`)
    }
    return { client, transport, said }
  }

  /** The open connection. One that fails or ends is forgotten, so that the next call starts anew. */
  const open = (): Promise<Open> => {
    if (opening !== undefined) return opening
    const started = start()
    opening = started
    const forget = () => {
      if (opening === started) opening = undefined
    }
    started.then(({ client }) => {
      client.onclose = forget
    }, forget)
    return started
  }

  const use = async <A>(how: (client: Client) => Promise<A>, isAgain = false): Promise<A> => {
    const { client, said, transport } = await open()
    try {
      return await how(client)
    } catch (error) {
      if (isForgotten(error) && !isAgain) {
        await close(transport)
        return use(how, true)
      }
      throw error instanceof ProtocolError ? error : new Error(`${messageOf(error)}${told(said())}`)
    }
  }

  const end = async () => {
    isEnded = true
    await Promise.all([...transports].map(close))
  }

  return { use, end }
}
