/**
 * A local server that responds in a vendor's format, as defined by a script, and records every request. Used in tests
 * with real sockets and the vendor's real SDK.
 */
import * as http from "node:http"
import type { AddressInfo } from "node:net"
import { setImmediate } from "node:timers/promises"
import type { Captured, Dialect, Sent, Streamed } from "./Dialect.ts"
import type { Answer, Fault, Refusal, Script } from "./Script.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A request and the state of its response. */
export interface Exchange extends Captured {
  readonly sent: Sent
  /** Resolves when the response has ended or its connection was closed. `isWhole` is true if it was sent completely. */
  readonly closed: Promise<{ readonly isWhole: boolean }>
  /** Resolves when the script has written all of its data. A hanging script sends nothing after that. */
  readonly written: Promise<void>
}

/** A running server. */
export interface WireServer extends AsyncDisposable {
  /** The URL without a path, such as `http://127.0.0.1:4711`. */
  readonly url: string
  /** All requests received. */
  readonly exchanges: ReadonlyArray<Exchange>
  /** Waits for the request with the given index and returns it. */
  readonly exchange: (index: number) => Promise<Exchange>
  /** Returns the number of responses in progress. */
  readonly open: () => number
  readonly close: () => Promise<void>
}

/** One script per request, the last of which is repeated, or a function of the request and its index. */
export type Scripts = ReadonlyArray<Script> | ((request: Captured, index: number) => Script | Promise<Script>)

// -------------------------------------------------------------------------------------------------------------------
// Writing
// -------------------------------------------------------------------------------------------------------------------

type Response = http.ServerResponse

const write = (response: Response, text: string | Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (response.destroyed) return resolve()
    response.write(text, () => resolve())
  })

const json = "application/json"

const head = (response: Response, dialect: Dialect, sent: Sent, headers: Answer["headers"] = {}) => {
  const contentType = sent.isStream ? dialect.contentType : json
  return response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache", ...headers })
}

/** Splits an answer into the requested pieces. An answer that is not a stream has two halves and no deltas. */
const piecesOf = (dialect: Dialect, answer: Answer, { isStream, model = "unknown" }: Sent): Streamed => {
  if (isStream) return dialect.stream(answer, answer.model ?? model)
  const text = JSON.stringify(dialect.whole(answer, answer.model ?? model))
  const half = Math.ceil(text.length / 2)
  return { opening: [text.slice(0, half)], deltas: [], closing: [text.slice(half)] }
}

const begin = ({ deltas, opening }: Streamed, after: number) => [...opening, ...deltas.slice(0, after)].join("")

const reset = (response: Response) => {
  response.socket?.resetAndDestroy()
}

const writeAnswer = async (response: Response, dialect: Dialect, answer: Answer, sent: Sent) => {
  const { closing, deltas, opening } = piecesOf(dialect, answer, sent)
  head(response, dialect, sent, answer.headers)
  for (const piece of [...opening, ...deltas, ...closing]) await write(response, piece)
  response.end()
}

const writeRefusal = async (response: Response, dialect: Dialect, refusal: Refusal, sent: Sent) => {
  // Without streaming, the vendor refuses before it answers.
  if (refusal.after !== undefined && sent.isStream) {
    const answer: Answer = { type: "answer", deltas: refusal.after, ending: "stop" }
    head(response, dialect, sent, refusal.headers)
    await write(response, begin(piecesOf(dialect, answer, sent), refusal.after.length))
    response.end(dialect.refuseInStream(refusal))
    return
  }
  const reply = dialect.refuse(refusal, sent.isStream)
  if (reply === undefined) throw new Error(`${dialect.name} has no refusal for ${refusal.kind}.`)
  response.writeHead(refusal.status ?? reply.status, {
    "content-type": json,
    ...reply.headers,
    ...refusal.headers
  })
  response.end(reply.body)
}

const drip = async (response: Response, { closing, deltas, opening }: Streamed) => {
  for (const byte of Buffer.from([...opening, ...deltas, ...closing].join(""))) {
    if (response.destroyed) return
    await write(response, Uint8Array.of(byte))
    await setImmediate()
  }
  response.end()
}

const cut = async (response: Response, fault: Fault & { type: "cut" }, streamed: Streamed) => {
  const next = [...streamed.deltas, ...streamed.closing][fault.after] ?? ""
  await write(response, begin(streamed, fault.after))
  if (fault.how === "half-event") await write(response, next.slice(0, next.length / 2))
  if (fault.how === "reset") return reset(response)
  response.end()
}

const repeat = async (response: Response, fault: Fault & { type: "endless" }, opening: string) => {
  await write(response, opening)
  // Written in large pieces, so that the client never has to wait.
  const piece = fault.piece.repeat(Math.ceil(65_536 / fault.piece.length))
  while (!response.destroyed) await write(response, piece)
}

const breakDown = async (response: Response, dialect: Dialect, fault: Fault, sent: Sent) => {
  const streamed = (answer: Answer) => piecesOf(dialect, answer, sent)
  switch (fault.type) {
    case "reset":
      return reset(response)
    case "raw":
      response.writeHead(fault.status, { "content-type": fault.contentType, ...fault.headers })
      response.end(fault.body)
      return
    case "endless":
      if (fault.status === undefined) head(response, dialect, sent)
      else response.writeHead(fault.status, { "content-type": json })
      return repeat(response, fault, fault.answer === undefined ? "" : begin(streamed(fault.answer), 1))
    case "drip":
      head(response, dialect, sent)
      return drip(response, streamed(fault.answer))
    case "hang":
      if (fault.answer === undefined) return
      head(response, dialect, sent)
      return write(response, begin(streamed(fault.answer), fault.after ?? 0))
    case "cut":
      head(response, dialect, sent)
      return cut(response, fault, streamed(fault.answer))
    case "malformed":
      head(response, dialect, sent)
      // Sent as one chunk, so that it arrives as one everywhere: otherwise, an SDK that loses the preceding data
      // would do so only sometimes.
      response.end(begin(streamed(fault.answer), fault.after) + dialect.malformed)
  }
}

const play = (response: Response, dialect: Dialect, script: Script, sent: Sent) => {
  if (script.type === "answer") return writeAnswer(response, dialect, script, sent)
  if (script.type === "refusal") return writeRefusal(response, dialect, script, sent)
  return breakDown(response, dialect, script, sent)
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const capture = async (request: http.IncomingMessage): Promise<Captured> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: Object.fromEntries(headers),
    text,
    body: parse(text)
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The server
// -------------------------------------------------------------------------------------------------------------------

const scriptOf = (scripts: Scripts, captured: Captured, index: number): Script | Promise<Script> => {
  if (typeof scripts === "function") return scripts(captured, index)
  const script = scripts[Math.min(index, scripts.length - 1)]
  if (script === undefined) throw new Error("A wire server needs at least one script.")
  return script
}

/**
 * Starts a server on a free local port.
 *
 * **Details**
 *
 * The server answers every path, and the dialect interprets the request. If a script is invalid or cannot be expressed
 * in the dialect, the response has status 599 and contains the reason.
 *
 * **Example**
 *
 * ```ts
 * import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
 *
 * const server = await WireServer.start(OpenAiChat.dialect, [Script.answer("Hello")])
 * const response = await fetch(`${server.url}/chat/completions`, {
 *   method: "POST",
 *   body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] })
 * })
 * const body = (await response.json()) as { choices: Array<{ message: { content: string } }> }
 * body.choices[0]?.message.content // => "Hello"
 * server.exchanges[0]?.sent.messages // => [{ role: "user", content: "Hi" }]
 * await server.close()
 * ```
 */
export const start = async (dialect: Dialect, scripts: Scripts): Promise<WireServer> => {
  const exchanges: Array<Exchange> = []
  const arrivals = new Map<number, PromiseWithResolvers<Exchange>>()
  let open = 0

  const arrival = (index: number) => {
    const known = arrivals.get(index) ?? Promise.withResolvers<Exchange>()
    arrivals.set(index, known)
    return known
  }

  const handle = async (request: http.IncomingMessage, response: Response) => {
    open += 1
    const closed = new Promise<{ isWhole: boolean }>((resolve) =>
      response.once("close", () => {
        open -= 1
        resolve({ isWhole: response.writableFinished })
      })
    )
    const captured = await capture(request)
    const sent = dialect.read(captured)
    const written = Promise.withResolvers<void>()
    const exchange: Exchange = { ...captured, sent, closed, written: written.promise }
    const index = exchanges.push(exchange) - 1
    arrival(index).resolve(exchange)
    try {
      await play(response, dialect, await scriptOf(scripts, captured, index), sent)
    } catch (error) {
      if (!response.headersSent) response.writeHead(599, { "content-type": "text/plain" })
      response.end(String(error))
    }
    written.resolve()
  }

  const server = http.createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    exchanges,
    exchange: (index) => arrival(index).promise,
    open: () => open,
    close,
    [Symbol.asyncDispose]: close
  }
}
