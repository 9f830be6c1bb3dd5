/// <reference path="./undici.d.ts" />
/**
 * A minimal HTTP client over undici for calls where the overhead matters: sends one POST and streams the answer.
 *
 * Only undici's agent is loaded. Loading all of undici would take three times as long and would replace the dispatcher
 * of the process's `fetch`.
 */
import { VendorError, type VendorEvents } from "@divisi/provider-kit"
import type { Agent, Dispatcher } from "undici"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The URL and headers for a worker's calls. */
export interface Address {
  readonly origin: string
  /** The path, including the query. */
  readonly path: string
  /** Alternating names and values. */
  readonly headers: ReadonlyArray<string>
}

/** Headers keyed by lower-case name. */
type Fields = Readonly<Record<string, string | Array<string> | undefined>>

/** An answer whose headers have arrived. */
export interface Answer extends VendorEvents.Incoming {
  readonly fields: Fields
  readonly headers: { readonly get: (name: string) => string | null }
  /** Closes the connection. */
  readonly abort: () => void
}

// -------------------------------------------------------------------------------------------------------------------
// Connections
// -------------------------------------------------------------------------------------------------------------------

let agent: Promise<Agent> | undefined

/** Returns the agent whose connections all workers share. Timeouts are handled by each worker. */
const agentOf = (): Promise<Agent> => {
  agent ??= import("undici/lib/dispatcher/agent.js").then(
    ({ default: Agent }) => new Agent({ allowH2: false, bodyTimeout: 0, headersTimeout: 0 })
  )
  return agent
}

let isLoaded: Promise<boolean> | undefined

/**
 * Whether undici can be loaded. This is not the case in an app bundled into a single ES module, because undici is a
 * CommonJS package that requires Node modules at run time. Such an app uses `fetch` instead.
 */
export const canLoad = (): Promise<boolean> => {
  isLoaded ??= agentOf().then(
    () => true,
    () => false
  )
  return isLoaded
}

/** The symbols under which a process stores the dispatcher of `fetch`. */
const newest = Symbol.for("undici.globalDispatcher.2")
const older = Symbol.for("undici.globalDispatcher.1")

/**
 * Whether the process's `fetch` is rerouted: by a proxy from the environment (`NODE_USE_ENV_PROXY`), or by a custom
 * dispatcher.
 */
export const isRerouted = (): boolean => {
  const dispatcher: unknown = Reflect.get(globalThis, newest) ?? Reflect.get(globalThis, older)
  return typeof dispatcher === "object" && dispatcher !== null && dispatcher.constructor.name !== "Agent"
}

// -------------------------------------------------------------------------------------------------------------------
// Exchanges
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of unread bytes before the connection is paused. */
const capacity = 256 * 1024

/** The maximum size and time for draining an unread answer so that its connection can be reused. */
const remainder = { bytes: 64 * 1024, millis: 1000 }

const failureOf = (error: unknown, url: string): VendorError.Failure => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  // For example, a header that cannot be sent.
  return code === "UND_ERR_INVALID_ARG"
    ? new VendorError.Failure({ _tag: "InvalidRequest", detail: String(message) })
    : new VendorError.Failure(VendorError.fromConnection(error, { host: new URL(url).host }))
}

/** A request in progress, and its answer. */
class Exchange implements Dispatcher.DispatchHandler, Answer {
  readonly url: string
  status = 0
  fields: Fields = {}
  #controller: Dispatcher.DispatchController | undefined
  #pieces: Array<Uint8Array> = []
  #waiting = 0
  #isOver = false
  #isAborted = false
  #failure: VendorError.Failure | undefined
  /** Wakes the reader that is waiting for the headers or for more bytes. */
  #wake: (() => void) | undefined
  /** Number of bytes received since the reader canceled. */
  #discarded: number | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(url: string) {
    this.url = url
  }

  get contentType(): string | undefined {
    return this.headers.get("content-type") ?? undefined
  }

  readonly headers = {
    get: (name: string): string | null => {
      const value = this.fields[name]
      return (typeof value === "object" ? value.join(", ") : value) ?? null
    }
  }

  /** Resolves when the headers have arrived. */
  async head(): Promise<Answer> {
    while (this.status === 0) await this.#more()
    return this
  }

  readonly read = async (): Promise<Uint8Array | undefined> => {
    while (this.#pieces.length === 0) {
      if (this.#isOver && this.#failure === undefined) return undefined
      await this.#more()
    }
    const bytes = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
    this.#pieces = []
    const isPaused = this.#waiting >= capacity
    this.#waiting = 0
    // More data may arrive before this call returns.
    if (isPaused) this.#controller?.resume()
    return bytes
  }

  /** Drains the answer if little is left, so that the connection can be reused. */
  readonly cancel = (): void => {
    if (this.#isOver || this.#discarded !== undefined) return
    this.#discarded = 0
    this.#controller?.resume()
    this.#timer = setTimeout(this.abort, remainder.millis).unref()
  }

  /** Closes the connection, or prevents the request from being sent. */
  readonly abort = (): void => {
    this.#isAborted = true
    if (!this.#isOver) this.#controller?.abort(new Error("The call was interrupted."))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isAborted) this.abort()
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, fields: Fields): void {
    // Lower status codes are informational and precede the answer.
    if (status < 200) return
    this.fields = fields
    this.status = status
    this.#wake?.()
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Uint8Array): void {
    if (this.#discarded === undefined) this.#keep(bytes, controller)
    else this.#discard(this.#discarded + bytes.length)
  }

  onResponseEnd(): void {
    this.#end()
  }

  onResponseError(_: unknown, error: unknown): void {
    this.#failure = failureOf(error, this.url)
    this.#end()
  }

  #keep(bytes: Uint8Array, controller: Dispatcher.DispatchController) {
    this.#pieces.push(bytes)
    this.#waiting += bytes.length
    if (this.#waiting >= capacity) controller.pause()
    this.#wake?.()
  }

  #discard(total: number) {
    this.#discarded = total
    if (total > remainder.bytes) this.abort()
  }

  #end() {
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#wake?.()
  }

  #more(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}

/** Sends a body and returns the answer when its headers have arrived. Aborting `signal` closes the connection. */
export const post = async ({ headers, origin, path }: Address, body: string, signal: AbortSignal): Promise<Answer> => {
  const agent = await agentOf()
  const exchange = new Exchange(`${origin}${path}`)
  if (signal.aborted) exchange.abort()
  else signal.addEventListener("abort", exchange.abort, { once: true })
  agent.dispatch({ method: "POST", origin, path, headers: headers as Array<string>, body }, exchange)
  return exchange.head()
}
