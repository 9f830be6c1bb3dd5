/**
 * The connection to one MCP server. It is opened on demand, and reopened by the next call if the server has exited.
 * Failures are readable messages that contain no secrets.
 */

import type { Tool } from "@divisi/core"
import { Elapsed } from "@divisi/core"
import { detailOf } from "@divisi/files/FileError"

import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
  UnsupportedProtocolVersionError
} from "@modelcontextprotocol/client"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import manifest from "../package.json" with { type: "json" }
import type { Definition } from "./definitions.ts"
import { HttpTransport } from "./httpTransport.ts"
import { type McpServer, withoutSecrets } from "./McpServer.ts"
import { ProcessTransport } from "./processTransport.ts"

/** A server whose tools can be called. Failures carry a message for users and models. */
export interface Connection {
  /** Lists the tools in the server's format, not yet parsed. */
  readonly list: Effect.Effect<ReadonlyArray<unknown>, string>
  /** Calls a tool and returns the result in the server's format, not yet parsed. */
  readonly call: (
    definition: Definition,
    input: Record<string, unknown>,
    onProgress: Tool.ToolCallContext["progress"]
  ) => Effect.Effect<unknown, string>
}

/** An open connection, and the error output of its server. */
interface Open {
  readonly client: LenientClient
  readonly transport: Transport
  readonly said: () => string
}

const defaultStartMillis = 30_000

const defaultTimeoutMillis = 60_000

/** The maximum time for a call that reports progress, as a multiple of its timeout. */
const progressFactor = 10

/** The maximum delay that a timer accepts, in milliseconds. */
const maxTimer = 2 ** 31 - 1

const timeoutOf = ({ timeoutMillis = defaultTimeoutMillis }: McpServer): number => Math.min(timeoutMillis, maxTimer)

/** Returns the maximum total time for a call, in milliseconds, regardless of its progress. */
export const maxTimeoutOf = (server: McpServer): number => {
  const { maxTimeoutMillis = timeoutOf(server) * progressFactor } = server
  return Math.min(Math.max(maxTimeoutMillis, timeoutOf(server)), maxTimer)
}

/** Limits for a tool list. A list with more pages, entries or characters is assumed to be endless. */
const maxPages = 64
const maxEntries = 10_000
const maxListCharacters = 32_000_000

const anything = { "~standard": { version: 1, vendor: "divisi", validate: (value: unknown) => ({ value }) } } as const

/**
 * A client that parses lists and results leniently. The SDK rejects a whole list because of one invalid tool, and a
 * whole result because of one invalid part.
 */
class LenientClient extends Client {
  override request = ((request: { readonly method: string }, ...rest: ReadonlyArray<unknown>) => {
    const isRead =
      request.method.startsWith("tools/") && (rest[0] === undefined || !("~standard" in (rest[0] as object)))
    const send = super.request as (...args: ReadonlyArray<unknown>) => Promise<unknown>
    return send.call(this, request, ...(isRead ? [anything] : []), ...rest)
  }) as Client["request"]

  readonly lists = (cursor: string | undefined, options: object): Promise<unknown> =>
    this.request({ method: "tools/list", params: cursor === undefined ? {} : { cursor } }, options) as Promise<unknown>
}

// -------------------------------------------------------------------------------------------------------------------
// Connections
// -------------------------------------------------------------------------------------------------------------------

const maxMessage = 2_000

const timeoutIn = ({ data }: SdkError): unknown => (data as { readonly timeout?: unknown } | undefined)?.timeout

const isTimeout = (error: unknown): error is SdkError =>
  error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout && timeoutIn(error) !== undefined

/** Returns only the first issue of a schema error. The SDK's message contains all issues as multi-line JSON. */
const withoutDump = (message: string): string => {
  const at = message.search(/\[\s*\{/)
  if (at < 0) return message
  try {
    const [issue] = JSON.parse(message.slice(at)) as ReadonlyArray<{ path?: ReadonlyArray<unknown>; message?: unknown }>
    const where = (issue?.path ?? []).join(".")
    return `${message.slice(0, at)}${where === "" ? "" : `${where}: `}${issue?.message}`
  } catch {
    return message
  }
}

const maxHttpText = 10_000

const httpText = ({ data }: SdkHttpError): string => {
  const text = (data as { readonly text?: unknown } | undefined)?.text
  return typeof text === "string" ? text : ""
}

/** Formats an HTTP error with its status and the server's message. */
const httpMessage = (error: SdkHttpError): string => {
  const { status, statusText } = error
  const words = httpText(error)
    .slice(0, maxHttpText)
    .replace(/<(style|script)\b[\s\S]*?<\/\1>|<[^>]*>/gi, " ")
    .replace(/\s+/g, " ")
    .trim()
  const said = words === "" ? (statusText ?? "") : words
  return `HTTP ${status}${said === "" ? "" : `: ${said}`}`
}

/**
 * Returns the message for an error. `fetch` gives the reason only in its cause, and only as a code if several addresses
 * were tried.
 */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof SdkHttpError) return httpMessage(error)
  if (isTimeout(error)) return `it did not answer within ${Elapsed.inSeconds(Number(timeoutIn(error)))}`
  const { cause, message } = error
  if (message !== "fetch failed" || !(cause instanceof Error)) return withoutDump(detailOf(error))
  const code = "code" in cause ? String(cause.code) : ""
  return `it cannot be reached (${cause.message === "" ? code : cause.message})`
}

const told = (said: string): string => (said === "" ? "" : ` (its error output: ${said})`)

/** Whether an HTTP server no longer has the session, for example after a restart. */
const isForgotten = (error: unknown): boolean =>
  error instanceof SdkHttpError && (error.status === 404 || (error.status === 400 && /session/i.test(httpText(error))))

/** Counts the characters in all strings and keys of a value, plus one for each other value, without recursion. */
const charactersIn = (value: unknown): number => {
  let characters = 0
  const pending: Array<unknown> = [value]
  while (pending.length > 0) {
    const next = pending.pop()
    characters += typeof next === "string" ? next.length : 1
    if (typeof next !== "object" || next === null) continue
    for (const [key, inner] of Object.entries(next)) {
      characters += key.length
      pending.push(inner)
    }
  }
  return characters
}

/** Lists all pages of tools; empty for a server without tools. */
const listAll = async (client: LenientClient, options: object): Promise<ReadonlyArray<unknown>> => {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const tools: Array<unknown> = []
  const cursors = new Set<string>()
  let cursor: string | undefined
  let characters = 0
  for (let page = 0; page < maxPages; page++) {
    const listed = (await client.lists(cursor, options)) as { readonly tools?: unknown; readonly nextCursor?: unknown }
    if (!Array.isArray(listed?.tools)) throw new Error("it returned a list of tools that is not a list")
    characters += charactersIn(listed.tools)
    if (tools.length + listed.tools.length > maxEntries || characters > maxListCharacters) {
      throw new Error(`it lists more than ${maxEntries} tools, or more than ${maxListCharacters} characters`)
    }
    for (const tool of listed.tools) tools.push(tool)
    // A repeated cursor would cause an endless loop.
    if (typeof listed.nextCursor !== "string" || cursors.has(listed.nextCursor)) return tools
    cursor = listed.nextCursor
    cursors.add(cursor)
  }
  throw new Error(`it returned more than ${maxPages} pages of tools`)
}

/** Creates a connection. The first use starts the server, and closing the scope stops it. */
export const make = (server: McpServer): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => reopened(server)),
      ({ end }) => Effect.promise(end)
    ),
    ({ use }) => {
      const used = <A>(how: (client: LenientClient, signal: AbortSignal) => Promise<A>): Effect.Effect<A, string> =>
        Effect.tryPromise({
          try: (signal) => use((client) => how(client, signal)),
          catch: (error) => withoutSecrets(server, messageOf(error)).slice(0, maxMessage)
        })
      return {
        list: used((client, signal) => listAll(client, { signal, timeout: startMillis(server) })),
        call: ({ input: inputSchema, name }, input, onProgress) =>
          used((client, signal) =>
            client.callTool(
              { name, arguments: input },
              {
                signal,
                timeout: timeoutOf(server),
                // Requests progress reports, which extend the timeout. The executor enforces the final limit.
                resetTimeoutOnProgress: true,
                onprogress: ({ message, ...progress }) =>
                  onProgress(
                    message === undefined
                      ? progress
                      : { ...progress, message: withoutSecrets(server, message.slice(0, maxMessage)) }
                  ),
                toolDefinition: { name, inputSchema: inputSchema as { type: "object" } }
              }
            )
          )
      }
    }
  )

/** Adds a hint to a startup error: a server that must first be downloaded needs more time. */
const whyNot = (error: unknown): string =>
  `${messageOf(error)}${isTimeout(error) ? " (to allow more time, raise startMillis)" : ""}`

const startMillis = ({ startMillis = defaultStartMillis }: McpServer): number => Math.min(startMillis, maxTimer)

const reopened = (server: McpServer) => {
  let opening: Promise<Open> | undefined
  let isEnded = false
  /** All transports that were started and may still be open. */
  const transports = new Set<Transport>()

  const close = async (transport: Transport) => {
    await transport.close().catch(() => {})
    transports.delete(transport)
  }

  const start = async (mode: "legacy" | "auto" = "legacy"): Promise<Open> => {
    if (isEnded) throw new Error("it was closed")
    const transport = server.command === undefined ? new HttpTransport(server) : new ProcessTransport(server)
    const said = () => (transport instanceof ProcessTransport ? transport.said() : "")
    const client = new LenientClient({ name: "divisi", version: manifest.version }, { versionNegotiation: { mode } })
    transports.add(transport)
    let problem = ""
    client.onerror = (error: Error & { readonly code?: unknown }) => {
      // A failed write to an exited process is a consequence, not the cause.
      if (error.code !== "EPIPE") problem = messageOf(error)
    }
    try {
      await client.connect(transport, { timeout: startMillis(server) })
    } catch (error) {
      void close(transport)
      // Nearly all servers use the 2025 protocol version. Others report that it is unsupported.
      if (mode === "legacy" && error instanceof UnsupportedProtocolVersionError) return start("auto")
      const why = new Set([whyNot(error), problem].filter((text) => text !== ""))
      const reasons = `${[...why].join(": ")}${told(said())}`
      throw new Error(server.command === undefined ? reasons : `it did not start: ${reasons}`)
    }
    return { client, transport, said }
  }

  /** Returns the open connection. If it fails or ends, it is discarded, and the next call restarts the server. */
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

  const use = async <A>(how: (client: LenientClient) => Promise<A>, isAgain = false): Promise<A> => {
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
