/**
 * One call through an SDK as a stream of parts: pulled event by event, aborted when nobody reads any more, out of time
 * when the vendor falls silent.
 */
import { type Usage, WorkerError, type WorkerErrorReason, type WorkerPart } from "@tutti/core/Worker"
import * as Arr from "effect/Array"
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
  /** The last part once all events are read, or why they are not all of an answer. */
  readonly end: (state: State) => WorkerPart | WorkerErrorReason
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

type Pulled = Effect.Effect<Arr.NonEmptyReadonlyArray<WorkerPart>, WorkerError | Cause.Done>

/** The longest that a timer can be set to. */
const longestTimer = 2 ** 31 - 1

/** Reads events one by one. Silence counts only while somebody waits for one. */
class Reader<Event, State> {
  readonly #call: Call<Event, State>
  readonly #controller = new AbortController()
  #events: AsyncIterator<Event> | undefined
  #state: State
  #timer: NodeJS.Timeout | undefined
  #isWaiting = false
  #isSilent = false
  #hasEnded = false
  #resume: (effect: Pulled) => void = () => undefined

  constructor(call: Call<Event, State>) {
    this.#call = call
    this.#state = call.initial
  }

  readonly pull: Pulled = Effect.callback((resume) => {
    if (this.#hasEnded) return resume(Cause.done())
    this.#resume = resume
    this.#wait()
    this.#read()
  })

  /** Ends the call, on the wire as well. */
  readonly close = (): void => {
    clearTimeout(this.#timer)
    this.#hasEnded = true
    this.#controller.abort()
  }

  #wait() {
    this.#isWaiting = true
    if (this.#timer !== undefined) this.#timer.refresh()
    else this.#timer = setTimeout(this.#fallSilent, Math.min(this.#call.timeoutMillis, longestTimer))
  }

  readonly #fallSilent = () => {
    if (!this.#isWaiting) return
    this.#isSilent = true
    this.#fail(undefined)
    this.#controller.abort()
  }

  #read() {
    if (this.#events === undefined) {
      this.#call.open(this.#controller.signal).then(this.#begin, this.#fail)
    } else {
      this.#events.next().then(this.#take, this.#fail)
    }
  }

  readonly #begin = ({ events, parts }: Opened<Event>) => {
    this.#events = events[Symbol.asyncIterator]()
    if (this.#hasEnded) return
    if (Arr.isReadonlyArrayNonEmpty(parts)) return this.#give(parts)
    this.#read()
  }

  readonly #take = (result: IteratorResult<Event>) => {
    if (this.#hasEnded) return
    if (result.done === true) return this.#finish()
    let step: Step<State>
    try {
      step = this.#call.next(this.#state, result.value)
    } catch (error) {
      return this.#fail(error)
    }
    this.#state = step.state
    if (step.failure !== undefined) return this.#refuse(step.failure)
    if (Arr.isReadonlyArrayNonEmpty(step.parts)) return this.#give(step.parts)
    this.#wait()
    this.#read()
  }

  #give(parts: Arr.NonEmptyReadonlyArray<WorkerPart>) {
    this.#isWaiting = false
    this.#resume(Effect.succeed(parts))
  }

  #finish() {
    this.#end()
    const last = this.#call.end(this.#state)
    this.#resume("_tag" in last ? this.#failed(last) : Effect.succeed([last]))
  }

  readonly #fail = (error: unknown) => {
    if (this.#hasEnded) return
    if (this.#call.isComplete(this.#state)) return this.#finish()
    const { reason, timeoutMillis } = this.#call
    const silence = { afterMillis: timeoutMillis, detail: `nothing came for ${timeoutMillis / 1000} s` }
    this.#refuse(this.#isSilent ? { _tag: "Timeout", ...silence } : reason(error))
  }

  #refuse(reason: WorkerErrorReason) {
    this.#end()
    this.#resume(this.#failed(reason))
  }

  #failed(reason: WorkerErrorReason) {
    const { secret, usage, worker } = this.#call
    return failure(worker, secret, reason, usage(this.#state))
  }

  #end() {
    clearTimeout(this.#timer)
    this.#hasEnded = true
  }
}

/** The parts of one call. It begins when the stream runs, and anew each time that it does. */
export const stream = <Event, State>(call: Call<Event, State>): Stream.Stream<WorkerPart, WorkerError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const reader = new Reader(call)
      yield* Effect.addFinalizer(() => Effect.sync(reader.close))
      return Stream.fromPull(Effect.succeed(reader.pull))
    })
  )

/** A stream that fails before anything is sent. */
export const refuse = (worker: string, reason: WorkerErrorReason): Stream.Stream<never, WorkerError> =>
  Stream.fail(new WorkerError({ worker, reason }))
