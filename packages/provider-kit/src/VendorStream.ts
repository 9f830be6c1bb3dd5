/**
 * Converts a vendor's stream of events to a worker's stream of parts. For authors of providers.
 *
 * A provider defines how a call starts and what each event means. This module handles everything else: it applies
 * backpressure, fails with `Timeout` if the vendor is silent for too long, aborts the request if the call is
 * interrupted, fails if the stream is truncated, and redacts keys in errors.
 */

import type { Tool } from "@divisi/core"
import { Elapsed } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import type { Message } from "@divisi/core/Message"
import { estimateUsage, type Usage } from "@divisi/core/Usage"
import { type FinishReason, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Arguments from "./dialects/arguments.ts"
import { offeredName } from "./dialects/names.ts"
import * as Omitted from "./dialects/omitted.ts"
import * as VendorError from "./VendorError.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The result of processing an event: the next state, the parts to emit, and the reason if the call failed. */
export interface Step<State> {
  readonly state: State
  readonly parts: ReadonlyArray<WorkerPart>
  readonly failure?: WorkerErrorReason | undefined
  /** A message to log if the vendor's data is contradictory. */
  readonly warning?: string | undefined
  /** Kinds of non-text content, such as `pictures`. The caller receives a notice for each kind. */
  readonly omitted?: ReadonlyArray<string> | undefined
}

/**
 * Pure functions that read the events of an API. Events may be any value; if `next` throws, the call fails as
 * `Malformed`.
 */
export interface Protocol<Event, State> {
  readonly initial: State
  readonly next: (state: State, event: Event) => Step<State>
  /**
   * Folds events that arrived together, with the same result as `next` for each of them, except that consecutive texts
   * may be one part. Default: `next` for each event.
   */
  readonly all?: ((state: State, events: ReadonlyArray<Event>) => Step<State>) | undefined
  /** Returns the finish reason once the vendor has marked the answer as complete. Later errors do not fail the call. */
  readonly finishReason: (state: State) => FinishReason | undefined
  /**
   * Whether no more events can follow. The answer then ends immediately, even if the connection stays open. Without
   * this function, the stream is read to its end after the finish reason.
   */
  readonly isOver?: ((state: State) => boolean) | undefined
  /**
   * Returns the reason for a failed answer, if the vendor reported it at its end. Later events, such as usage, are
   * still read.
   */
  readonly failed?: ((state: State) => WorkerErrorReason | undefined) | undefined
  /** Returns the parts that are complete only at the end of an answer, such as tool calls. */
  readonly last?: ((state: State) => ReadonlyArray<WorkerPart>) | undefined
  /** Returns the complete text if it differs from the streamed text. Called for a complete answer. */
  readonly text?: ((state: State) => string | undefined) | undefined
  /**
   * Returns the usage reported by the vendor up to this point. For a complete answer without a report, it is estimated.
   */
  readonly usage: (state: State) => Usage | undefined
  /** Returns the model name in the vendor's response. Called for a complete answer. */
  readonly model?: ((state: State) => string | undefined) | undefined
  /**
   * Returns the data that the vendor expects back with this turn, unchanged. Called for a complete answer. Default:
   * none.
   */
  readonly echo?: ((state: State) => unknown) | undefined
  /** Returns the reason if the events ended too early. Default: a `Network` failure. */
  readonly incomplete?: ((state: State) => WorkerErrorReason) | undefined
}

/** An opened response: parts that are known immediately, such as an allowance, and the stream of events. */
export interface Opened<Event> {
  readonly parts?: ReadonlyArray<WorkerPart> | undefined
  /** The events. Those from `VendorEvents` are read packet by packet. */
  readonly events: AsyncIterable<Event> & { readonly packets?: AsyncIterable<ReadonlyArray<Event>> }
}

/** Options for reading the response to a call. */
export interface Call<Event, State> {
  /** The worker's id, for errors. */
  readonly worker: string
  /** The messages of the request, for estimating tokens if the vendor does not report usage. */
  readonly messages: ReadonlyArray<Message>
  /** The tools of the request. A call to a variant of a name, such as `functions.look`, counts as a call to `look`. */
  readonly tools?: ReadonlyArray<Tool.ToolDefinition> | undefined
  readonly protocol: Protocol<Event, State>
  /** Sends the request. `signal` is aborted when the answer is no longer read. */
  readonly open: (signal: AbortSignal) => Promise<Opened<Event>>
  /**
   * Maps exceptions from `open` and its events to a reason. Not called for a `VendorError.Failure`, which already has
   * one.
   */
  readonly reason: (error: unknown) => WorkerErrorReason
  /**
   * The maximum silence of the vendor before its first event and between events, in milliseconds. Time spent waiting
   * for the consumer does not count. `Infinity` disables it.
   */
  readonly timeoutMillis: number
  /** Strings that must not appear in errors, such as the API key. */
  readonly secrets?: ReadonlyArray<string> | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns a stream that fails before anything is sent, because the key is missing or the model does not support a
 * setting.
 */
export const fail = (worker: string, reason: WorkerErrorReason): Stream.Stream<never, WorkerError> =>
  Stream.fail(new WorkerError({ worker, reason }))

const cut: WorkerErrorReason = { _tag: "Network", detail: "the stream ended before the answer was complete" }

const presentable = (reason: WorkerErrorReason, secrets: ReadonlyArray<string> | undefined): WorkerErrorReason =>
  reason.detail === undefined ? reason : { ...reason, detail: VendorError.detail(String(reason.detail), secrets) }

// -------------------------------------------------------------------------------------------------------------------
// Reading
// -------------------------------------------------------------------------------------------------------------------

type Parts = [WorkerPart, ...Array<WorkerPart>]
type Pulled = Effect.Effect<Parts, WorkerError | Cause.Done>
type Ending = Effect.Effect<never, WorkerError | Cause.Done>

/** Maximum delay of a timer. */
const longestTimer = 2 ** 31 - 1

/**
 * Time in milliseconds allowed for a stream to end after the answer is complete, so that the connection can be reused.
 */
const farewellMillis = 1_000
/** Maximum number of warnings per batch of parts. */
const mostWarnings = 8

/** Maximum number of content kinds for which an answer gets notices. */
const mostOmitted = 8

/** Number of parts to buffer, and of their characters. */
const capacity = 256
const characterCapacity = 2 ** 18

/** Schedules a function to run after the current packet has been processed, or slightly earlier outside of Node. */
const later: (run: () => void) => void = globalThis.process?.nextTick ?? queueMicrotask

/**
 * Reads events into a buffer that the stream drains as a whole, so that events that arrive together require only one
 * Effect step. Reading pauses while the buffer is full.
 */
class Reader<Event, State> {
  readonly #call: Call<Event, State>
  readonly #controller = new AbortController()
  #parts: Array<WorkerPart> = []
  #characters = 0
  /** Number of characters in `#parts`. */
  #waiting = 0
  #state: State
  /** How the stream ends once the buffer is empty. */
  #ending: Ending | undefined
  #wake: (() => void) | undefined
  /** Resumes after a pause. */
  #proceed: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #farewell: ReturnType<typeof setTimeout> | undefined
  #heardAt = 0
  /** Whether the vendor has started to answer. */
  #isOpen = false
  #warnings: Array<string> = []
  /** Content kinds that have already been reported. */
  #omitted: Array<string> = []
  /** Names of the offered tools. Undefined if no tools are offered. */
  readonly #tools: ReadonlySet<string> | undefined
  /** The first tool call whose arguments are not an object, and later calls. They are emitted at the end. */
  #held: Array<WorkerPart> = []

  constructor(call: Call<Event, State>) {
    this.#call = call
    const { tools = [] } = call
    if (tools.length > 0) this.#tools = new Set(tools.map(({ name }) => name))
    this.#state = call.protocol.initial
  }

  /** Returns the parts that have arrived since the last pull, or waits for more. */
  readonly pull: Pulled = Effect.suspend(() => this.#taken() ?? this.#next)

  readonly #next: Pulled = Effect.callback((resume) => {
    // V8 allocates a function literal that is assigned to a field in the old generation, together with everything it
    // references: each call would be copied twice, and released by a full collection only.
    const wake = () => later(() => resume(this.#taken() ?? Cause.done()))
    this.#wake = wake
    if (this.#timer === undefined) this.#start()
    return this.close
  })

  /** Ends the call and aborts its request. */
  readonly close: Effect.Effect<void> = Effect.sync(() => {
    if (this.#ending === undefined) this.#abort(Cause.done())
  })

  #start() {
    this.#heardAt = performance.now()
    this.#watch(this.#call.timeoutMillis)
    this.#read()
      .then(this.#finish, this.#failed)
      .catch(this.#crash)
      .finally(() => clearTimeout(this.#farewell))
  }

  async #read(): Promise<void> {
    const { open } = this.#call
    const { events, parts } = await open(this.#controller.signal)
    if (this.#ending !== undefined) return
    this.#isOpen = true
    if (parts !== undefined) this.#add(parts)
    const { packets } = events
    if (packets === undefined) {
      for await (const event of events) {
        this.#heardAt = performance.now()
        if (this.#take(event)) await this.#pause()
        if (this.#hasLeft) return
      }
      return
    }
    for await (const packet of packets) {
      this.#heardAt = performance.now()
      const step = this.#folded(packet)
      if (step !== undefined) {
        if (this.#apply(step)) await this.#pause()
      } else for (const event of packet) if (this.#take(event)) await this.#pause()
      if (this.#hasLeft) return
    }
  }

  /** Folds the events of a packet at once. Events that cannot be read are left to `#take`, for those before them. */
  #folded(packet: ReadonlyArray<Event>): Step<State> | undefined {
    const { all } = this.#call.protocol
    if (all === undefined || this.#ending !== undefined) return undefined
    try {
      return all(this.#state, packet)
    } catch {
      return undefined
    }
  }

  /** Processes an event. Returns whether parts must be consumed before the next one. */
  #take(event: Event): boolean {
    if (this.#ending !== undefined) return false
    let step: Step<State>
    try {
      step = this.#call.protocol.next(this.#state, event)
    } catch (error) {
      throw error instanceof VendorError.Failure ? error : VendorError.unreadable("an event has an unknown shape")
    }
    return this.#apply(step)
  }

  /** Applies what one or more events add. Returns whether parts must be consumed before the next event. */
  #apply(step: Step<State>): boolean {
    const { protocol } = this.#call
    const { failure, omitted, parts, state, warning } = step
    this.#state = state
    if (omitted !== undefined) this.#omit(omitted)
    if (warning !== undefined && this.#warnings.length < mostWarnings) this.#warnings.push(warning)
    this.#add(parts)
    if (failure !== undefined) this.#refuse(failure)
    else if (protocol.isOver?.(state) === true) this.#leave()
    return this.#ending === undefined && (this.#parts.length >= capacity || this.#waiting >= characterCapacity)
  }

  #omit(kinds: ReadonlyArray<string>) {
    for (const kind of kinds) {
      if (this.#omitted.includes(kind) || this.#omitted.length >= mostOmitted) continue
      this.#omitted.push(kind)
      this.#add([{ type: "notice", notice: Omitted.noticeOf(kind) }])
    }
  }

  /** Whether reading has ended. */
  get #hasLeft() {
    return this.#ending !== undefined && this.#farewell === undefined
  }

  /** Completes the answer and briefly waits for the stream to end. */
  #leave() {
    this.#finish()
    this.#farewell = setTimeout(() => this.#controller.abort(), farewellMillis)
  }

  #add(parts: ReadonlyArray<WorkerPart>) {
    if (parts.length === 0) return
    for (const part of parts) {
      const characters =
        part.type === "text" || part.type === "reasoning"
          ? part.text.length
          : part.type === "tool-call"
            ? part.name.length + part.arguments.length
            : 0
      this.#characters += characters
      this.#waiting += characters
      const own = this.#tools === undefined ? part : this.#named(part, this.#tools)
      const isHeld = own.type === "tool-call" && (this.#held.length > 0 || !Arguments.isObject(own.arguments))
      const parts = isHeld ? this.#held : this.#parts
      parts.push(own)
    }
    if (this.#wake !== undefined) this.#notify()
  }

  /** Replaces the name in a tool call with the offered tool that it refers to. */
  #named(part: WorkerPart, tools: ReadonlySet<string>): WorkerPart {
    if (part.type !== "tool-call" && part.type !== "tool-call-delta") return part
    const name = offeredName(part.name, tools)
    return name === part.name ? part : { ...part, name }
  }

  /** Emits the calls that were held. If the answer was cut, calls without complete arguments become notices. */
  #release(reason: FinishReason) {
    for (const part of this.#held) {
      const isCut = reason === "length" && part.type === "tool-call" && !Arguments.isObject(part.arguments)
      this.#parts.push(isCut ? { type: "notice", notice: Omitted.cutCallOf(part.name) } : part)
    }
  }

  #taken(): Pulled | undefined {
    if (this.#parts.length === 0) return this.#ending
    const parts = this.#parts as Parts
    this.#parts = []
    this.#waiting = 0
    this.#resume()
    return this.#warnings.length === 0 ? Effect.succeed(parts) : Effect.as(this.#warn(), parts)
  }

  #warn(): Effect.Effect<void> {
    const { secrets, worker } = this.#call
    const warnings = this.#warnings.map((warning) => VendorError.detail(warning, secrets))
    this.#warnings = []
    return Effect.logWarning(`${worker}: ${warnings.join("; ")}`)
  }

  #notify() {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      this.#proceed = resolve
    })
  }

  #resume() {
    if (this.#proceed === undefined) return
    this.#heardAt = performance.now()
    this.#proceed()
    this.#proceed = undefined
  }

  /**
   * Detects silence. A single timer checks when the last event arrived, because a timer per event would cost more than
   * reading it.
   */
  #watch(millis: number) {
    this.#timer = setTimeout(this.#look, Math.min(millis, longestTimer))
  }

  readonly #look = () => {
    try {
      this.#judge()
    } catch (defect) {
      this.#crash(defect)
    }
  }

  #judge() {
    const { timeoutMillis } = this.#call
    const silence = this.#proceed === undefined ? performance.now() - this.#heardAt : 0
    if (silence < timeoutMillis) return this.#watch(timeoutMillis - silence)
    if (this.#hasEnded()) {
      this.#finish()
      return this.#controller.abort()
    }
    this.#refuse({
      _tag: "Timeout",
      afterMillis: timeoutMillis,
      detail: `no data for ${Elapsed.inSeconds(timeoutMillis)}`
    })
  }

  /** Whether the vendor has reported a finish reason. */
  #hasEnded() {
    const { failed, finishReason } = this.#call.protocol
    return finishReason(this.#state) !== undefined || failed?.(this.#state) !== undefined
  }

  readonly #finish = () => {
    if (this.#ending !== undefined) return
    const { messages, protocol } = this.#call
    const failure = protocol.failed?.(this.#state)
    if (failure !== undefined) return this.#refuse(failure)
    const reason = protocol.finishReason(this.#state)
    if (reason === undefined) return this.#refuse(protocol.incomplete?.(this.#state) ?? cut)
    try {
      this.#add(protocol.last?.(this.#state) ?? [])
    } catch (error) {
      if (!(error instanceof VendorError.Failure)) throw error
      return this.#refuse(error.reason)
    }
    this.#release(reason)
    const outputTokens = Math.ceil(this.#characters / 4)
    const usage = protocol.usage(this.#state) ?? { ...estimateUsage(messages, ""), outputTokens }
    const [model, echo] = [protocol.model?.(this.#state), protocol.echo?.(this.#state)]
    this.#parts.push(defined({ type: "finish", reason, usage, model, echo, text: protocol.text?.(this.#state) }))
    this.#end(Cause.done())
  }

  readonly #failed = (error: unknown) => {
    if (this.#ending !== undefined) return
    if (this.#hasEnded()) this.#finish()
    else this.#refuse(VendorError.fromThrown(error, this.#call.reason, this.#isOpen))
  }

  #refuse(reason: WorkerErrorReason) {
    const { protocol, secrets, worker } = this.#call
    const usage = protocol.usage(this.#state)
    const shown = presentable(reason, secrets)
    this.#abort(Effect.fail(new WorkerError({ worker, reason: shown, usage })))
  }

  /** Handles an exception of the protocol, which is a bug in the provider. */
  readonly #crash = (defect: unknown) => this.#abort(Effect.die(defect))

  /** Ends the call, and aborts the request unless the answer is complete. */
  #abort(ending: Ending) {
    this.#end(ending)
    this.#controller.abort()
  }

  #end(ending: Ending) {
    clearTimeout(this.#timer)
    this.#ending ??= ending
    this.#resume()
    this.#notify()
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the parts of a call, for a worker's `generate`.
 *
 * **Details**
 *
 * Each execution of the stream makes a new call. At most 256 parts are buffered; then reading from the vendor pauses.
 * Interrupting the stream aborts the signal passed to `open`. A failure is emitted after the parts already received. It
 * contains one short line without secrets, and the usage up to that point.
 *
 * **Gotchas**
 *
 * An answer is complete when the protocol indicates it, not when its events end, so a truncated answer fails. A
 * complete answer succeeds even if the connection then breaks or stays open. Disable retries in a vendor's SDK, because
 * the runtime already retries.
 *
 * **Example**
 *
 * ```ts
 * import { text } from "@divisi/core/Message"
 * import { VendorError, VendorStream } from "@divisi/provider-kit"
 * import type { Worker } from "@divisi/core/Worker"
 * import { WorkerStream } from "@divisi/core/streams"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * // A vendor that streams the pieces of an answer, and null at its end.
 * const ask = async function* (_question: string, _signal: AbortSignal) {
 *   yield* ["For", "ty-two", null]
 * }
 *
 * const protocol: VendorStream.Protocol<string | null, { readonly isDone: boolean }> = {
 *   initial: { isDone: false },
 *   next: (state, piece) =>
 *     piece === null
 *       ? { state: { isDone: true }, parts: [] }
 *       : { state, parts: [{ type: "text", text: piece }] },
 *   finishReason: ({ isDone }) => (isDone ? "stop" : undefined),
 *   usage: () => undefined
 * }
 *
 * const worker: Worker = {
 *   id: "acme:tiny",
 *   generate: ({ messages }) =>
 *     VendorStream.make({
 *       worker: "acme:tiny",
 *       messages,
 *       protocol,
 *       open: async (signal) => ({ events: ask(text(messages.at(-1)), signal) }),
 *       reason: (error) => VendorError.fromException(error, {}),
 *       timeoutMillis: 60_000
 *     })
 * }
 *
 * const parts = WorkerStream.generate(worker, { messages: [{ role: "user", content: "6 times 7?" }] })
 * const texts = Stream.map(parts, (part) => (part.type === "text" ? part.text : part.type))
 * await Effect.runPromise(Stream.runCollect(texts)) // => ["For", "ty-two", "finish"]
 * ```
 */
export const make = <Event, State>(call: Call<Event, State>): Stream.Stream<WorkerPart, WorkerError> =>
  Stream.fromChannel(
    // As `Stream.fromPull` with `Stream.ensuring`, which would cost a frame of Effect at every pull.
    Channel.fromTransform((_, scope) => {
      const reader = new Reader(call)
      return Effect.as(Scope.addFinalizer(scope, reader.close), reader.pull)
    })
  )

/** Limits the time between parts of a stream. A longer silence fails with `Timeout`. */
export const limitSilence = (
  worker: string,
  afterMillis: number | undefined,
  parts: Stream.Stream<WorkerPart, WorkerError>
): Stream.Stream<WorkerPart, WorkerError> =>
  afterMillis === undefined
    ? parts
    : Stream.timeoutOrElse(parts, {
        duration: afterMillis,
        orElse: () => Stream.fail(new WorkerError({ worker, reason: { _tag: "Timeout", afterMillis } }))
      })
