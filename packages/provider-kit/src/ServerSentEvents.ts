/**
 * Reads a stream of server-sent events whose data are JSON: for authors of providers.
 *
 * A reader of its own, as those of vendors' SDKs take time that grows with the square of a packet, give a flood of
 * comments all of the process, and fail in words of JavaScript.
 */
import { unreadable } from "./VendorError.ts"

/** The longest event, in characters. */
const longestEvent = 32 * 1024 * 1024

/** For how long packets that are there already are read in a row, in milliseconds; then all else has its turn. */
const turnMillis = 10

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

/** Splits text into the data of events. The time that it takes grows with the length of the text alone. */
class Parser {
  readonly #decoder = new TextDecoder()
  /** The beginning of a line. */
  #rest = ""
  /** The data of the event under way. */
  #data: string | undefined
  #isAfterReturn = false

  /** The data of the events that these bytes complete; without bytes, of what is left. */
  take(bytes: Uint8Array | undefined): ReadonlyArray<string> {
    const events: Array<string> = []
    const text = bytes === undefined ? `${this.#decoder.decode()}\n\n` : this.#decoder.decode(bytes, { stream: true })
    this.#split(this.#withoutReturns(text), events)
    if (this.#rest.length + (this.#data?.length ?? 0) > longestEvent) throw unreadable("an event has no end")
    return events
  }

  #withoutReturns(text: string): string {
    if (!this.#isAfterReturn && !text.includes("\r")) return text
    const own = this.#isAfterReturn && text.startsWith("\n") ? text.slice(1) : text
    this.#isAfterReturn = text.endsWith("\r")
    return own.replaceAll(/\r\n?/g, "\n")
  }

  #split(text: string, events: Array<string>) {
    let start = 0
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.#line(this.#rest + text.slice(start, end), events)
      this.#rest = ""
      start = end + 1
    }
    this.#rest += text.slice(start)
  }

  /** Comments and other fields are ignored. */
  #line(line: string, events: Array<string>) {
    if (line === "") {
      if (this.#data) events.push(this.#data)
      this.#data = undefined
    } else if (line.startsWith("data:")) {
      const data = line.slice(line[5] === " " ? 6 : 5)
      this.#data = this.#data === undefined ? data : `${this.#data}\n${data}`
    }
  }
}

const parsed = (data: string): unknown => {
  try {
    return JSON.parse(data)
  } catch {
    throw unreadable("an event is not JSON")
  }
}

const bodyOf = ({ body, headers, status }: Response): ReadableStream<Uint8Array> => {
  const contentType = headers.get("content-type") ?? ""
  if (body === null) throw unreadable(`status ${status} came without an answer`)
  // Servers without this API answer with a page or an object.
  if (!/html|json/i.test(contentType)) return body
  body.cancel().catch(() => undefined)
  throw unreadable(`${contentType} came instead of a stream of events`)
}

/**
 * The data of a response's events, read from JSON, up to its end or to `[DONE]`.
 *
 * **Details**
 *
 * Fails with a {@link VendorError.Failure} where the response is no stream of events, or an event is not JSON or has
 * more than 32 million characters. Aborting `signal` closes the connection.
 *
 * **Example**
 *
 * ```ts
 * import * as ServerSentEvents from "@divisi/provider-kit/ServerSentEvents"
 *
 * const response = new Response(': hello\n\ndata: {"text":"42"}\n\ndata: [DONE]\n\n')
 * const events: Array<unknown> = []
 * for await (const event of ServerSentEvents.read(response, new AbortController().signal)) events.push(event)
 * events // => [{ text: "42" }]
 * ```
 */
export const read = async function* (response: Response, signal: AbortSignal): AsyncGenerator<unknown, void> {
  const reader = bodyOf(response).getReader()
  const parser = new Parser()
  const cancel = () => {
    reader.cancel().catch(() => undefined)
  }
  signal.addEventListener("abort", cancel, { once: true })
  let turnedAt = performance.now()
  try {
    for (let isDone = false; !isDone; ) {
      const { done, value } = await reader.read()
      isDone = done
      for (const data of parser.take(value)) {
        if (data === "[DONE]") return
        yield parsed(data)
      }
      if (performance.now() - turnedAt < turnMillis) continue
      await turn()
      turnedAt = performance.now()
    }
  } finally {
    signal.removeEventListener("abort", cancel)
    cancel()
  }
}
