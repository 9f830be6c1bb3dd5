/**
 * One call through an SDK as a stream of parts: pulled event by event, aborted when nobody reads any more, out of time
 * when the vendor falls silent.
 */
import { type Usage, WorkerError, type WorkerErrorReason, type WorkerPart } from "@tutti/core/Worker"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What an event comes to: the next state, what the reader gets of it, and why the call has failed, if it has. */
export interface Step<State> {
  readonly state: State
  readonly parts: ReadonlyArray<WorkerPart>
  readonly failure?: WorkerErrorReason
}

/** What a vendor has begun to answer: parts that are known at once, and events to come. */
export interface Opened<Event> {
  readonly parts: ReadonlyArray<WorkerPart>
  readonly events: AsyncIterable<Event>
}

/** A call: how it begins, and how its events are read. */
export interface Call<Event, State> {
  readonly worker: string
  /** The longest silence of the vendor, in milliseconds. */
  readonly timeoutMillis: number
  /** Shown to nobody: an error that repeats it is cleaned. */
  readonly secret: string
  readonly open: (signal: AbortSignal) => Promise<Opened<Event>>
  readonly initial: State
  readonly next: (state: State, event: Event) => Step<State>
  /** The last part, from all events and how many characters they brought; or why they are not all of an answer. */
  readonly end: (state: State, characters: number) => WorkerPart | WorkerErrorReason
  /** Whether the vendor has said that the answer is complete: whatever happens then is no failure. */
  readonly isComplete: (state: State) => boolean
  readonly usage: (state: State) => Usage | undefined
  readonly reason: (error: unknown) => WorkerErrorReason
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** More than this of what a vendor says floods a log. */
const longest = 500

/** A reason that can be shown: short, in one line, and without the key. */
const presentable = (reason: WorkerErrorReason, secret: string): WorkerErrorReason => {
  if (reason.detail === undefined) return reason
  const text = secret === "" ? reason.detail : reason.detail.replaceAll(secret, "<the API key>")
  const short = text.length > longest ? `${text.slice(0, longest)}…` : text
  return { ...reason, detail: short.replace(/\s+/g, " ").trim() }
}

const failure = (worker: string, secret: string, reason: WorkerErrorReason, usage: Usage | undefined) =>
  Effect.fail(
    new WorkerError({ worker, reason: presentable(reason, secret), ...(usage === undefined ? {} : { usage }) })
  )

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

type Parts = [WorkerPart, ...Array<WorkerPart>]
type Pulled = Effect.Effect<Parts, WorkerError | Cause.Done>

/** The longest that a timer can be set to. */
const longestTimer = 2 ** 31 - 1

/** So many parts are read ahead. */
const capacity = 256

/**
 * Reads events into a buffer that the stream takes as a whole: those that came together cost one step of Effect, not one
 * each. It pauses while the buffer is full; only the vendor's silence counts, not the reader's.
 */
class Reader<Event, State> {
  readonly #call: Call<Event, State>
  readonly #controller = new AbortController()
  #parts: Array<WorkerPart> = []
  #characters = 0
  #state: State
  /** What the stream ends with once the buffer is empty. */
  #ending: Effect.Effect<never, WorkerError | Cause.Done> | undefined
  #wake: (() => void) | undefined
  #proceed: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(call: Call<Event, State>) {
    this.#call = call
    this.#state = call.initial
  }

  /** What has come since the last time, or waits for it. */
  readonly pull: Pulled = Effect.suspend(() => this.#taken() ?? this.#next)

  readonly #next: Pulled = Effect.callback((resume) => {
    // Events of one packet are read in one turn of the event loop, and taken together after it.
    this.#wake = () => setImmediate(() => resume(this.#taken() ?? Cause.done()))
    if (this.#timer === undefined) this.#start()
  })

  /** Ends the call, on the wire as well. */
  readonly close = (): void => {
    if (this.#ending === undefined) this.#abort(Cause.done())
  }

  #start() {
    const { open, timeoutMillis } = this.#call
    this.#timer = setTimeout(this.#fallSilent, Math.min(timeoutMillis, longestTimer))
    this.#read(open(this.#controller.signal)).then(this.#finish, this.#fail)
  }

  async #read(opening: Promise<Opened<Event>>): Promise<void> {
    const { events, parts } = await opening
    this.#add(parts)
    for await (const event of events) {
      if (this.#ending !== undefined) return
      this.#timer?.refresh()
      const { failure, parts, state } = this.#call.next(this.#state, event)
      this.#state = state
      this.#add(parts)
      if (failure !== undefined) return this.#refuse(failure)
      if (this.#parts.length >= capacity) await this.#space()
    }
  }

  #add(parts: ReadonlyArray<WorkerPart>) {
    if (parts.length === 0) return
    for (const part of parts) {
      if (part.type === "text" || part.type === "reasoning") this.#characters += part.text.length
      this.#parts.push(part)
    }
    this.#notify()
  }

  #space(): Promise<void> {
    return new Promise((resolve) => {
      this.#proceed = resolve
    })
  }

  #notify() {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  #taken(): Pulled | undefined {
    if (this.#parts.length === 0) return this.#ending
    const parts = this.#parts as Parts
    this.#parts = []
    this.#proceed?.()
    this.#proceed = undefined
    return Effect.succeed(parts)
  }

  readonly #fallSilent = () => {
    if (this.#proceed !== undefined) {
      this.#timer?.refresh()
      return
    }
    const { isComplete, timeoutMillis } = this.#call
    const detail = `nothing came for ${timeoutMillis / 1000} s`
    if (!isComplete(this.#state)) return this.#refuse({ _tag: "Timeout", afterMillis: timeoutMillis, detail })
    this.#finish()
    this.#controller.abort()
  }

  readonly #finish = () => {
    if (this.#ending !== undefined) return
    const last = this.#call.end(this.#state, this.#characters)
    if ("_tag" in last) return this.#refuse(last)
    this.#parts.push(last)
    this.#end(Cause.done())
  }

  readonly #fail = (error: unknown) => {
    if (this.#ending !== undefined) return
    if (this.#call.isComplete(this.#state)) this.#finish()
    else this.#refuse(this.#call.reason(error))
  }

  #refuse(reason: WorkerErrorReason) {
    const { secret, usage, worker } = this.#call
    this.#abort(failure(worker, secret, reason, usage(this.#state)))
  }

  /** Ends on the wire as well. An answer that has come to its end needs no such thing. */
  #abort(ending: Effect.Effect<never, WorkerError | Cause.Done>) {
    this.#end(ending)
    this.#controller.abort()
  }

  #end(ending: Effect.Effect<never, WorkerError | Cause.Done>) {
    clearTimeout(this.#timer)
    this.#ending ??= ending
    this.#proceed?.()
    this.#notify()
  }
}

/** The parts of one call. It begins when the stream runs, and anew each time that it does. */
export const stream = <Event, State>(call: Call<Event, State>): Stream.Stream<WorkerPart, WorkerError> =>
  Stream.suspend(() => {
    const reader = new Reader(call)
    return Stream.ensuring(Stream.fromPull(Effect.succeed(reader.pull)), Effect.sync(reader.close))
  })

/** A stream that fails before anything is sent. */
export const refuse = (worker: string, reason: WorkerErrorReason): Stream.Stream<never, WorkerError> =>
  Stream.fail(new WorkerError({ worker, reason }))
