/**
 * Reads the events of a vendor's response: server-sent events or newline-delimited JSON. For authors of providers.
 *
 * It replaces the parsers of vendors' SDKs, which take quadratic time in the packet size, can be blocked by a flood of
 * comments, and fail with JavaScript's own error messages.
 */
import { hintOf, shownAddress } from "./Endpoint.ts"
import { unpacked } from "./internal/unpack.ts"
import { type Failure, unreadable } from "./VendorError.ts"
import { trimmed } from "./VendorJson.ts"

/** Maximum number of characters shown from a response that is not an answer. */
const shown = 300

/** Maximum length of an event in characters. */
const longestEvent = 32 * 1024 * 1024

/**
 * Maximum length of multi-line JSON outside of events. It is parsed again after each line, because any line may be the
 * last.
 */
const longestStray = 16 * 1024

/** Time in milliseconds for which packets that have already arrived are processed before yielding to other work. */
const turnMillis = 10

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

// -------------------------------------------------------------------------------------------------------------------
// Splitting
// -------------------------------------------------------------------------------------------------------------------

/** Splits bytes into the JSON text of events, in linear time. */
interface Splitter {
  /** Returns the events completed by these bytes. Without bytes, returns the events in the remaining input. */
  readonly take: (bytes: Uint8Array | undefined) => ReadonlyArray<string>
}

/** Splits by lines. */
abstract class LineSplitter implements Splitter {
  readonly #decoder = new TextDecoder()
  /** Start of an incomplete line. */
  #rest = ""
  #isAfterReturn = false

  /** Processes a line. Returns the event that it completes, if any. */
  protected abstract line(line: string): string | undefined
  /** Adds the events of the usual form at the start of a text. Returns the position after them. */
  protected usual(_text: string, _events: Array<string>): number {
    return 0
  }
  /** Number of buffered characters in the current event, without the incomplete line. */
  protected abstract readonly pending: number

  /** Returns the events completed by these bytes. Without bytes, returns the events in the remaining input. */
  take(bytes: Uint8Array | undefined): ReadonlyArray<string> {
    const text = bytes === undefined ? `${this.#decoder.decode()}\n\n` : this.#decoder.decode(bytes, { stream: true })
    const events = this.#split(this.#withoutReturns(text))
    if (this.#rest.length + this.pending > longestEvent) throw tooLarge()
    return events
  }

  #withoutReturns(text: string): string {
    if (!this.#isAfterReturn && !text.includes("\r")) return text
    const own = this.#isAfterReturn && text.startsWith("\n") ? text.slice(1) : text
    this.#isAfterReturn = text.endsWith("\r")
    return own.replaceAll(/\r\n?/g, "\n")
  }

  #split(text: string): ReadonlyArray<string> {
    const events: Array<string> = []
    let start = this.#rest === "" ? this.usual(text, events) : 0
    for (let end = text.indexOf("\n", start); end !== -1; end = text.indexOf("\n", start)) {
      const event = this.line(this.#rest + text.slice(start, end))
      if (event) events.push(event)
      this.#rest = ""
      start = end + 1
    }
    this.#rest += text.slice(start)
    return events
  }
}

/** Adds the event name to a JSON object as its `type`, unless it already has one. */
const withType = (data: string, name: string): string => {
  if (!data.startsWith("{") || data.startsWith('{"type"')) return data
  const rest = data.slice(1).trimStart()
  return `{"type":${JSON.stringify(name)}${rest.startsWith("}") ? "" : ","}${rest}`
}

/** Normalizes the field name in a line. Some servers write `DATA:` or `Data :`. */
const plainField = (line: string): string => {
  const [, name] = /^(data|event) ?:/i.exec(line) ?? []
  return name === undefined ? line : `${name.toLowerCase()}${line.slice(line.indexOf(":"))}`
}

/**
 * Comments and fields other than the name and the data are ignored. Input without any field is not an event stream.
 * JSON outside of a field counts as an event, because servers report errors this way, on one line or several.
 */
class ServerSent extends LineSplitter {
  #data: string | undefined
  #name: string | undefined
  #hasData = false
  /** The first line that is not a field. */
  #stray: string | undefined
  /** Incomplete JSON outside of any field. */
  #json: string | undefined

  override take(bytes: Uint8Array | undefined): ReadonlyArray<string> {
    const events = super.take(bytes)
    if (bytes === undefined && !this.#hasData && this.#stray !== undefined) {
      throw unreadable(`the response is plain text: ${this.#stray.slice(0, shown)}`)
    }
    return events
  }

  get pending() {
    return (this.#data?.length ?? 0) + (this.#json?.length ?? 0)
  }

  /** Events that consist of one line of data, as most vendors send them. */
  protected override usual(text: string, events: Array<string>): number {
    if (this.#data !== undefined || this.#name !== undefined || this.#json !== undefined) return 0
    let at = 0
    while (text.startsWith("data: ", at)) {
      const end = text.indexOf("\n", at)
      if (end === -1 || text[end + 1] !== "\n") break
      if (end > at + 6) events.push(text.slice(at + 6, end))
      this.#hasData = true
      at = end + 2
    }
    return at
  }

  line(text: string): string | undefined {
    const before = this.#data
    const line = text === "" || text.startsWith("data:") ? text : plainField(text)
    if (this.#json !== undefined && !line.startsWith("data:")) return this.#withJson(`${this.#json}\n${line}`)
    this.#json = undefined
    if (line === "") {
      const name = this.#name
      this.#data = undefined
      this.#name = undefined
      return before === undefined || name === undefined ? before : withType(before, name)
    }
    if (line.startsWith("data:") || (line[0] === " " && line.trimStart().startsWith("data:"))) {
      const start = line.indexOf("data:") + 5
      const data = line.slice(line[start] === " " ? start + 1 : start)
      this.#data = before === undefined ? data : `${before}\n${data}`
      this.#hasData = true
    } else if (line.startsWith("event:")) this.#name = line.slice(6).trim() || undefined
    else if (before === undefined && /^[{[]/.test(line)) return this.#withJson(line)
    // An older llama-server writes errors as a field of their own.
    else if (/^error ?: ?\{/i.test(line)) return `{"error":${line.slice(line.indexOf("{"))}}`
    else if (!this.#hasData) this.#stray ??= /^(?:event|id|retry)?:/.test(line) ? undefined : line
    return undefined
  }

  /** Adds a line of JSON. It is only parsed if the line ends like JSON. */
  #withJson(text: string): string | undefined {
    const isWhole = /[}\]]\s*$/.test(text.slice(-16)) && isJson(text)
    this.#json = isWhole || text.length > longestStray ? undefined : text
    return isWhole ? text : undefined
  }
}

class Lines extends LineSplitter {
  readonly pending = 0

  line(line: string): string {
    return line.trim()
  }
}

/** Reads JSON at the end of the response: one value, or one value per line. */
class Whole implements Splitter {
  readonly #decoder = new TextDecoder()
  readonly #pieces: Array<string> = []
  #length = 0

  take(bytes: Uint8Array | undefined): ReadonlyArray<string> {
    const piece = bytes === undefined ? this.#decoder.decode() : this.#decoder.decode(bytes, { stream: true })
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length > longestEvent) throw tooLarge()
    if (bytes !== undefined) return []
    const text = this.#pieces.join("").trim()
    // JSON that is whole has its end.
    return isJson(text) ? [text, done] : text.split("\n").filter((line) => line.trim() !== "")
  }
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * Creates the failure for an event that is too large. The call is not retried, because the next answer would be just as
 * large and cost just as much.
 */
const tooLarge = () => unreadable("an event is larger than 32 million characters", "lower the output limit of the call")

/**
 * Creates the failure for an HTML page with a success status, which indicates a wrong base URL. It is not retried.
 * Gateways report outages with a 5xx status instead.
 */
const page = (beginning: string, url = ""): Failure => {
  const from = shownAddress(url)
  const hint = hintOf(url)
  return unreadable(
    `an HTML page${from === undefined ? "" : ` from ${from}`}${titleOf(beginning)}`,
    `check the base URL${hint === undefined ? "" : ` (${hint})`}`
  )
}

const titleOf = (page: string): string => {
  const title = /<title[^>]*>([^<]{1,200})<\/title>/i.exec(page)?.[1]?.trim()
  return title === undefined ? "" : `: ${title}`
}

/** Decides by the first non-space character, because servers label events as JSON, and JSON as events. */
class Sniffing implements Splitter {
  #splitter: Splitter | undefined
  readonly #url: string | undefined

  constructor(url: string | undefined) {
    this.#url = url
  }

  take(bytes: Uint8Array | undefined): ReadonlyArray<string> {
    this.#splitter ??= this.#choose(bytes)
    return this.#splitter?.take(bytes) ?? []
  }

  #choose(bytes: Uint8Array | undefined): Splitter | undefined {
    // `data:`, `event:` or a comment.
    if (bytes !== undefined && (bytes[0] === 0x64 || bytes[0] === 0x65 || bytes[0] === 0x3a)) return new ServerSent()
    const beginning = trimmed(new TextDecoder().decode(bytes?.subarray(0, 2000)))
    if (beginning === "") return bytes === undefined ? new ServerSent() : undefined
    if (beginning.startsWith("<")) throw page(beginning, this.#url)
    return /^[{[]/.test(beginning) ? new Whole() : new ServerSent()
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

/** A response read as bytes, for providers that use an HTTP client other than `fetch`. */
export interface Incoming {
  readonly status: number
  readonly contentType: string | undefined
  /** The URL of the request, for errors. */
  readonly url?: string | undefined
  /** Returns the next bytes, or `undefined` at the end. */
  readonly read: () => Promise<Uint8Array | undefined>
  /** Called when reading ends: after the last event, after a failure, or when the signal is aborted. */
  readonly cancel: () => void
}

const ofResponse = ({ body, headers, status, url }: Response): Incoming => {
  if (body === null) throw withoutAnswer(status)
  const reader = body.getReader()
  return {
    status,
    contentType: headers.get("content-type") ?? undefined,
    url,
    read: async () => (await reader.read()).value,
    cancel: () => {
      reader.cancel().catch(() => undefined)
    }
  }
}

const withoutAnswer = (status: number) => unreadable(`status ${status} without a response`)

/** Checks the status of a response. The content type is ignored; the first bytes determine the format. */
const check = ({ status }: Incoming): void => {
  if (status === 204 || status === 205) throw withoutAnswer(status)
}

/**
 * Marks the end of a stream in OpenAI's APIs.
 *
 * @internal
 */
export const done = "[DONE]"

/**
 * Parses the data of an event; `undefined` if it is invalid. Some servers encode it twice, so that it is a JSON string
 * that contains the event.
 */
const json = (text: string): unknown => {
  // An exception with its stack would cost as much as parsing all events of a short answer.
  if (text === done) return done
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== "string") return value
  const inner = value.trim()
  return inner === done ? done : inner.startsWith("{") ? (json(inner) ?? value) : value
}

/** Keep-alive messages that some servers send as data. */
const heartbeat = /^\W{0,3}(?:ping|pong|heart-?beat|keep-?alive|processing|\d{4}-\d\d-\d\d[ T][\d:.]{5,20}Z?)\W{0,3}$/i

/** Escapes control characters inside JSON, which some servers fail to do. */
const escaped = (text: string): string =>
  text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Maximum length of text that is searched for non-JSON numbers. */
const longestWithWords = 2 ** 17

/** Replaces `NaN` and `Infinity`, which Python writes, with `null`. */
const withNulls = (text: string): string => {
  if (text.length > longestWithWords || !/NaN|Infinity/.test(text)) return text
  // Also matches an unterminated string, so that each character is examined only once.
  const words = /("[^"\\]*(?:\\[\s\S][^"\\]*)*"?)|-?\b(?:NaN|Infinity)\b/g
  return text.replaceAll(words, (all, quoted) => (quoted === undefined ? "null" : all))
}

/**
 * Recovers events from invalid JSON, such as several events without an empty line between them, a repeated `data:`, or
 * unescaped characters. Returns `undefined` if any part cannot be parsed.
 */
const salvaged = (given: string): ReadonlyArray<unknown> | undefined => {
  // Some proxies send comments as data.
  if (heartbeat.test(given) || given.trimStart().startsWith(":")) return []
  const text = trimmed(given)
  if (text === done) return [done]
  const whole = json(text) ?? json(withNulls(text)) ?? json(escaped(text))
  if (whole !== undefined) return [whole]
  const pieces = text
    .split(/\n|(?<=[}\]])\s{0,8}(?:data:\s{0,8})?(?=\{)|^(?:data:\s{0,8}){1,4}/)
    .filter((piece) => piece?.trim())
  const events: Array<unknown> = []
  for (const piece of pieces) {
    const plain = piece.replace(/^\s{0,8}(?:data:\s{0,8}){0,4}/, "")
    if (plain.trim() === done) return [...events, done]
    const event = json(plain) ?? json(escaped(plain))
    if (event === undefined) return undefined
    events.push(event)
  }
  return events
}

/** Parses the events in a packet. Events before an unreadable one are still emitted. */
const parsedAll = (
  texts: ReadonlyArray<string>,
  { givesDone }: Reading
): { readonly events: ReadonlyArray<unknown>; readonly end?: End } => {
  const events: Array<unknown> = []
  // Usage may follow the end.
  const ended = (at: number) => {
    for (const text of texts.slice(at + 1)) {
      const event = text.startsWith("{") ? json(text) : undefined
      if (event !== undefined) events.push(event)
    }
    if (givesDone === true) events.push(done)
    return { events, end: {} }
  }
  for (let at = 0; at < texts.length; at += 1) {
    const text = texts[at]!
    const event = json(text)
    if (event !== undefined && event !== done) {
      events.push(event)
      continue
    }
    if (event === done || text.trim() === done) return ended(at)
    const several = salvaged(text)
    if (several === undefined) {
      return { events, end: { error: unreadable(`an event is not valid JSON: ${text.slice(0, shown)}`) } }
    }
    for (const one of several) {
      if (one === done) return ended(at)
      events.push(one)
    }
  }
  return { events }
}

/** End of the stream, with or without an error. */
interface End {
  readonly error?: unknown
}

/** Options for reading a response. */
export interface Reading {
  /** Whether `[DONE]` is emitted as the last event. Default: `false`. */
  readonly givesDone?: boolean | undefined
}

/** Yields events packet by packet for as long as the consumer pulls. */
const packets = async function* (
  response: Response | Incoming,
  signal: AbortSignal,
  splitter: Splitter,
  reading: Reading
): AsyncGenerator<ReadonlyArray<unknown>, void> {
  const incoming = "read" in response ? response : ofResponse(response)
  const read = unpacked(incoming.read)
  signal.addEventListener("abort", incoming.cancel, { once: true })
  let turnedAt = performance.now()
  try {
    check(incoming)
    for (let isDone = false; !isDone; ) {
      const bytes = await read()
      isDone = bytes === undefined
      const { end, events } = parsedAll(splitter.take(bytes), reading)
      if (events.length > 0) yield events
      if (end !== undefined) {
        if (end.error !== undefined) throw end.error
        return
      }
      if (performance.now() - turnedAt < turnMillis) continue
      await turn()
      turnedAt = performance.now()
    }
  } finally {
    signal.removeEventListener("abort", incoming.cancel)
    incoming.cancel()
  }
}

const each = async function* (packets: AsyncIterable<ReadonlyArray<unknown>>): AsyncGenerator<unknown, void> {
  for await (const events of packets) yield* events
}

/** Events, either one at a time or in faster batches of one packet each. */
export interface Events extends AsyncGenerator<unknown, void> {
  readonly packets: AsyncGenerator<ReadonlyArray<unknown>, void>
}

const read = (response: Response | Incoming, signal: AbortSignal, splitter: Splitter, reading: Reading): Events => {
  const all = packets(response, signal, splitter, reading)
  return Object.assign(each(all), { packets: all })
}

/**
 * Reads the data of a response's server-sent events as JSON, up to its end or to `[DONE]`.
 *
 * **Details**
 *
 * The content type is ignored. A response that starts with a brace is read as JSON, complete or one value per line.
 * Fails with a {@link VendorError.Failure} if the response is an HTML page, or if an event is not JSON or exceeds 32
 * million characters. Aborting `signal` closes the connection.
 *
 * **Example**
 *
 * ```ts
 * import { VendorEvents } from "@divisi/provider-kit"
 *
 * const response = new Response(': hello\n\ndata: {"text":"42"}\n\ndata: [DONE]\n\n')
 * const events: Array<unknown> = []
 * for await (const event of VendorEvents.serverSent(response, new AbortController().signal)) events.push(event)
 * events // => [{ text: "42" }]
 * ```
 */
export const serverSent = (response: Response | Incoming, signal: AbortSignal, reading: Reading = {}): Events =>
  read(response, signal, new Sniffing(response.url), reading)

/** Like {@link serverSent}, for newline-delimited JSON. */
export const lines = (response: Response | Incoming, signal: AbortSignal): Events =>
  read(response, signal, new Lines(), {})
