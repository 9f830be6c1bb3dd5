/**
 * A local server with the batch APIs of OpenAI and Anthropic, which records all batches, for tests with real sockets
 * and the vendor's real SDK.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import type { Captured, Reply, Sent } from "./Dialect.ts"
import { anthropic } from "./internal/batches/anthropic.ts"
import { openAi } from "./internal/batches/openAi.ts"
import { type Answer, answer, type Refusal } from "./Script.ts"

// The outcome of a request: answered, refused, not processed before its batch expired, or forgotten.

/** The outcome of a request: it is answered, refused, not processed before its batch expires, or forgotten. */
export type Fate = Answer | Refusal | "expired" | "forgotten"

/** A request in a batch. */
export interface Item {
  /** The client's `custom_id`. */
  readonly id: string
  readonly sent: Sent
}

/** A batch. */
export interface Batch {
  readonly id: string
  readonly items: ReadonlyArray<Item>
  readonly metadata: unknown
  /** The creation time, in milliseconds since 1970. */
  readonly createdAt: number
  /** The requested API, if a vendor has several. */
  readonly endpoint: string
  /** Why none of the batch's requests are executed. */
  readonly failure?: string | undefined
  state: "under way" | "ended" | "cancelled"
  /** Number of times it was polled. */
  looks: number
}

/** Options of a server. */
export interface Options {
  readonly vendor: "openai" | "anthropic"
  /** The only accepted API key. Default: any key is accepted. */
  readonly key?: string | undefined
  /** Returns the outcome of a request. By default, the request is answered with `ok`. */
  readonly fate?: ((item: Item) => Fate) | undefined
  /** Number of polls after which a batch ends. With `Infinity`, it ends only when `end` is called. Default: 2. */
  readonly looks?: number | undefined
  /** Returns a fault to send instead of the correct response, if any. */
  readonly instead?: ((request: Captured) => Fault | undefined | Promise<Fault | undefined>) | undefined
}

/**
 * A fault that replaces the correct response: another response, or none. With `isTaken`, the operation is carried out
 * first.
 */
export type Fault =
  | (Reply & { readonly type?: undefined; readonly contentType?: string | undefined })
  | { readonly type: "reset"; readonly isTaken: boolean }

/** A running server. */
export interface BatchServer extends AsyncDisposable {
  /** Base URL without a path. */
  readonly url: string
  /** All requests received, without their bodies. */
  readonly requests: ReadonlyArray<{ readonly method: string; readonly path: string }>
  readonly batches: ReadonlyArray<Batch>
  /** Ends all batches in progress. */
  readonly end: () => void
  /** Returns the number of requests that were answered and would be charged. */
  readonly paid: () => number
  readonly close: () => Promise<void>
}

/**
 * An HTTP response: JSON, or JSON lines.
 */
export type Given = Reply | { readonly lines: Iterable<unknown> }

/**
 * The server's state, shared by the vendor APIs.
 */
export interface Books {
  readonly batches: Array<Batch>
  readonly files: Map<string, () => Iterable<unknown>>
  readonly uploads: Map<string, string>
  readonly fate: (item: Item) => Fate
  readonly add: (batch: Omit<Batch, "looks" | "state" | "createdAt">) => Batch
  /** Polls a batch, which can end it. */
  readonly look: (id: string) => Batch | undefined
}

/**
 * The batch API of a vendor. Returns the response to a request.
 */
export type Api = (request: Captured & { readonly bytes: Buffer<ArrayBuffer> }, books: Books) => Given | Promise<Given>

// -------------------------------------------------------------------------------------------------------------------
// The server
// -------------------------------------------------------------------------------------------------------------------

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const capture = async (request: http.IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const isJson = /json/.test(headers["content-type"] ?? "")
  const text = isJson ? bytes.toString() : ""
  return { method: request.method ?? "", path: request.url ?? "", headers, text, body: parse(text), bytes }
}

const write = async (response: http.ServerResponse, given: Given) => {
  if ("lines" in given) {
    response.writeHead(200, { "content-type": "application/octet-stream" })
    for (const line of given.lines) {
      const isRoom = response.write(`${JSON.stringify(line)}\n`)
      if (!isRoom && !response.destroyed) await new Promise((resolve) => response.once("drain", resolve))
    }
    response.end()
    return
  }
  response.writeHead(given.status, { "content-type": "application/json", ...given.headers })
  response.end(given.body)
}

/**
 * Starts a server on a free port of this machine.
 *
 * **Example**
 *
 * ```ts
 * import { BatchServer } from "@divisi/testkit/providers"
 *
 * const server = await BatchServer.start({ vendor: "anthropic" })
 * const params = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] }
 * const response = await fetch(`${server.url}/v1/messages/batches`, {
 *   method: "POST",
 *   headers: { "content-type": "application/json", "x-api-key": "sk-1" },
 *   body: JSON.stringify({ requests: [{ custom_id: "a", params }] })
 * })
 * const { processing_status } = (await response.json()) as { processing_status: string }
 * processing_status // => "in_progress"
 * server.batches[0]?.items[0]?.sent.messages // => [{ role: "user", content: "Hi" }]
 * await server.close()
 * ```
 */
export const start = async (options: Options): Promise<BatchServer> => {
  const { fate = () => answer("ok"), looks = 2, vendor } = options
  const requests: Array<{ method: string; path: string }> = []
  const batches: Array<Batch> = []
  const books: Books = {
    batches,
    files: new Map(),
    uploads: new Map(),
    fate,
    add: (batch) => {
      const added: Batch = { ...batch, createdAt: Date.now(), looks: 0, state: "under way" }
      batches.push(added)
      return added
    },
    look: (id) => {
      const batch = batches.find((one) => one.id === id)
      if (batch === undefined) return undefined
      batch.looks += 1
      if (batch.state === "under way" && batch.looks >= looks) batch.state = "ended"
      return batch
    }
  }
  const api = { openai: openAi, anthropic }[vendor](options.key)

  const handle = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const captured = await capture(request)
    requests.push({ method: captured.method, path: captured.path })
    const fault = await options.instead?.(captured)
    if (fault === undefined) return write(response, await api(captured, books))
    if (fault.type === "reset") {
      if (fault.isTaken) await api(captured, books)
      response.socket?.resetAndDestroy()
      return
    }
    const { contentType = "application/json", ...reply } = fault
    return write(response, { ...reply, headers: { "content-type": contentType, ...reply.headers } })
  }

  const server = http.createServer((request, response) => {
    handle(request, response).catch((error) => {
      if (!response.headersSent) response.writeHead(599, { "content-type": "text/plain" })
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const isPaid = (item: Item) => {
    const given = fate(item)
    return typeof given === "object" && given.type === "answer"
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    batches,
    end: () => {
      for (const batch of batches) if (batch.state === "under way") batch.state = "ended"
    },
    paid: () =>
      batches
        .filter(({ failure, state }) => state === "ended" && failure === undefined)
        .reduce((sum, { items }) => sum + items.filter(isPaid).length, 0),
    close,
    [Symbol.asyncDispose]: close
  }
}
