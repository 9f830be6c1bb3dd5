/**
 * From a stream of the SDK to a stream of parts.
 *
 * The SDK's events are pumped into a buffer, which the stream takes as a whole: events that came together on the wire
 * cost one step of Effect, not one each. The pump stops while the buffer is full.
 */
import type { Message } from "@tutti/core/Task"
import { estimateUsage, type Usage, WorkerError, type WorkerErrorReason, type WorkerPart } from "@tutti/core/Worker"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Pull from "effect/Pull"
import type * as Result from "effect/Result"
import * as Stream from "effect/Stream"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What is left of the events so far, and what the last one brought. */
export interface Step<State> {
  readonly state: State
  readonly parts: ReadonlyArray<WorkerPart>
}

/** How one API streams: pure. */
export interface Protocol<State, Event> {
  readonly start: State
  readonly step: (state: State, event: Event) => Step<State>
  /** The last part, from all events and how many characters they brought; or why the answer is none. */
  readonly end: (state: State, characters: number) => Result.Result<WorkerPart, WorkerErrorReason>
}

/** An answer that has begun: what its headers say, and its events. */
export interface Opened<Event> {
  readonly parts: ReadonlyArray<WorkerPart>
  readonly events: AsyncIterable<Event>
}

/** One call. */
export interface Call<State, Event> {
  readonly worker: string
  readonly timeoutMillis: number
  readonly protocol: Protocol<State, Event>
  /** Sends the request. */
  readonly open: (signal: AbortSignal) => Promise<Opened<Event>>
  readonly reasonOf: (error: unknown) => WorkerErrorReason
}

type Parts = [WorkerPart, ...Array<WorkerPart>]

// -------------------------------------------------------------------------------------------------------------------
// The pump
// -------------------------------------------------------------------------------------------------------------------

/** So many parts are read ahead. */
const capacity = 256

const later: (run: () => void) => void = globalThis.setImmediate ?? queueMicrotask

class Pump<State, Event> {
  readonly #call: Call<State, Event>
  readonly #controller = new AbortController()
  #buffer: Array<WorkerPart> = []
  #characters = 0
  #outcome: "running" | "ended" | WorkerErrorReason = "running"
  #wake: (() => void) | undefined
  #drained: (() => void) | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(call: Call<State, Event>) {
    this.#call = call
  }

  /** What has come since the last time, or waits for it. */
  readonly pull: Pull.Pull<Parts, WorkerError> = Effect.suspend(() =>
    this.#hasNews()
      ? this.#take()
      : Effect.callback<Parts, WorkerError | Cause.Done>((resume) => {
          // Events of one packet are read in one turn of the event loop; they are taken together after it.
          this.#wake = () => later(() => resume(this.#take()))
        })
  )

  start(): void {
    this.#timer = setTimeout(() => this.#expire(), this.#call.timeoutMillis)
    this.#run().then(
      (last) => this.#settle("ended", last),
      (error) => this.#fail(this.#call.reasonOf(error))
    )
  }

  /** Ends the call on the wire as well; whatever still comes is not looked at. */
  stop(): void {
    if (this.#outcome !== "running") return
    clearTimeout(this.#timer)
    this.#outcome = "ended"
    this.#wake = undefined
    this.#controller.abort()
    this.#drained?.()
  }

  async #run(): Promise<WorkerPart | undefined> {
    const { open, protocol } = this.#call
    let state = protocol.start
    const { events, parts } = await open(this.#controller.signal)
    this.#add(parts)
    for await (const event of events) {
      if (this.#outcome !== "running") return undefined
      this.#timer?.refresh()
      const next = protocol.step(state, event)
      state = next.state
      this.#add(next.parts)
      if (this.#buffer.length >= capacity) await this.#drain()
    }
    const end = protocol.end(state, this.#characters)
    if (end._tag === "Success") return end.success
    this.#fail(end.failure)
    return undefined
  }

  #add(parts: ReadonlyArray<WorkerPart>): void {
    for (const part of parts) {
      if (part.type === "text" || part.type === "reasoning") this.#characters += part.text.length
      this.#buffer.push(part)
    }
    if (parts.length > 0) this.#notify()
  }

  #drain(): Promise<void> {
    return new Promise<void>((resolve) => {
      this.#drained = resolve
    })
  }

  /** A silence is the vendor's only while we read. */
  #expire(): void {
    if (this.#drained === undefined) this.#fail({ _tag: "Timeout", afterMillis: this.#call.timeoutMillis })
    else this.#timer?.refresh()
  }

  #hasNews(): boolean {
    return this.#buffer.length > 0 || this.#outcome !== "running"
  }

  #take(): Pull.Pull<Parts, WorkerError> {
    if (this.#buffer.length > 0) {
      const parts = this.#buffer as Parts
      this.#buffer = []
      this.#drained?.()
      this.#drained = undefined
      return Effect.succeed(parts)
    }
    return typeof this.#outcome === "string"
      ? Cause.done()
      : Effect.fail(new WorkerError({ worker: this.#call.worker, reason: this.#outcome }))
  }

  #notify(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #settle(outcome: "ended" | WorkerErrorReason, last?: WorkerPart): void {
    if (this.#outcome !== "running") return
    clearTimeout(this.#timer)
    this.#outcome = outcome
    if (last !== undefined) this.#buffer.push(last)
    this.#notify()
  }

  #fail(reason: WorkerErrorReason): void {
    if (this.#outcome !== "running") return
    this.#settle(reason)
    this.#controller.abort()
  }
}

// -------------------------------------------------------------------------------------------------------------------
// The stream
// -------------------------------------------------------------------------------------------------------------------

/** The parts of one call, which starts when the stream runs and stops when it is interrupted. */
export const generate = <State, Event>(call: Call<State, Event>): Stream.Stream<WorkerPart, WorkerError> =>
  Stream.suspend(() => {
    const pump = new Pump(call)
    return Stream.fromPull(
      Effect.sync(() => {
        pump.start()
        return pump.pull
      })
    ).pipe(Stream.ensuring(Effect.sync(() => pump.stop())))
  })

/** The usage of a call where nobody reports it. */
export const estimate = (messages: ReadonlyArray<Message>, characters: number): Usage => ({
  ...estimateUsage(messages, ""),
  // Four characters to a token, as everywhere.
  outputTokens: Math.ceil(characters / 4)
})

/** A reported count, where there is one. */
export const count = (key: keyof Usage, value: unknown): Partial<Usage> =>
  typeof value === "number" && Number.isFinite(value) ? { [key]: value } : {}

/** The failure of a stream that ends too early. */
export const cut: WorkerErrorReason = { _tag: "Network", detail: "the stream ended before the answer was complete" }
