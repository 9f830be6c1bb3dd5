/**
 * Tracks the active and recently finished segments in this process.
 *
 * Any number of requests can read a segment from its first part. A client that reconnects after a lost connection
 * attaches to its segment at no extra cost. A segment without clients continues for a grace period and is then stopped.
 */
import * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ApiError } from "../wire/ApiError.ts"
import type { About, Part } from "../wire/Wire.ts"
import * as Failure from "./Failure.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The part of a run that is produced for one HTTP request. */
export interface Segment {
  readonly about: About
  /** All parts produced, starting with the first. */
  readonly parts: ReadonlyArray<Part>
  readonly isOver: () => boolean
  /** Calls `hear` when the segment ends, before its readers are notified. */
  readonly onOver: (hear: () => void) => void
  /**
   * Registers a function that stores the final parts before readers receive them. If the segment has already ended,
   * `write` is called immediately with no parts.
   */
  readonly onEnd: (write: (last: ReadonlyArray<Part>) => Effect.Effect<void>) => Effect.Effect<void>
  /** Streams the parts in batches, starting with the first. Emits heartbeats while idle. */
  readonly read: Stream.Stream<ReadonlyArray<Part>>
  /** Like `read`, but passes parts to a callback, which avoids the overhead of a stream. */
  readonly follow: (take: Take) => Effect.Effect<void>
  /** Waits for the end of the segment, and counts as a reader in the meantime. */
  readonly over: Effect.Effect<void>
  /** Waits for the first part or the end of the segment, up to a time limit in milliseconds. */
  readonly begun: (millis: number) => Effect.Effect<void>
  /** Stops the segment and waits for it to end. */
  readonly stop: Effect.Effect<void>
}

/** Receives parts, and whether they are the last. If it returns `false`, it must call `goOn` to receive more. */
export type Take = (parts: ReadonlyArray<Part>, isLast: boolean, goOn: () => void) => boolean

/** Time and size limits for segments. */
export interface Options {
  /** How long a segment continues without a client, in milliseconds. */
  readonly graceMillis: number
  /** Interval between heartbeats on idle streams, in milliseconds. */
  readonly heartbeatMillis: number
  /** How long a finished segment remains available for retries, in milliseconds. */
  readonly keptMillis: number
  /** Maximum total size of finished segments and their requests, in characters. */
  readonly keptCharacters: number
  /** Called if storing the final parts fails. */
  readonly defect?: ((about: About, cause: unknown) => void) | undefined
}

/** A request to start or attach to a segment. */
export interface Asking {
  /** Deduplication key, derived from the caller and the request body. */
  readonly key: string
  /**
   * Whether the client marked the request as a retry. If not, it attaches only to segments that were left by their
   * client.
   */
  readonly isRepeated: boolean
  readonly about: About
  /** Size of the request, in characters. */
  readonly characters: number
  /** Whether to keep all parts separate instead of merging text deltas. Default: `false`. */
  readonly isExact?: boolean | undefined
  /** Runs the segment. Emits parts through `tell` as they arrive, and returns the final ones. */
  readonly run: (tell: (parts: ReadonlyArray<Part>) => void) => Effect.Effect<ReadonlyArray<Part>>
}

/** The active and recently finished segments of a server. */
export interface Segments {
  readonly open: (asking: Asking) => Effect.Effect<Segment>
  /** Returns the number of active segments. */
  readonly running: () => number
  /** Returns the active segment of a run. */
  readonly of: (runId: string) => Segment | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// One segment
// -------------------------------------------------------------------------------------------------------------------

const failed = (id: string, cause: unknown): ApiError =>
  new ApiError({
    kind: "server",
    message: `Internal server error. The server log has the details of request ${id}.`,
    cause
  })

const sizeOf = (part: Part): number =>
  "text" in part
    ? part.text.length
    : part.type === "tool-call"
      ? part.arguments.length
      : part.type === "given"
        ? JSON.stringify(part.item).length
        : 0

/** Estimated size of a segment without its text, in characters. Above most measured values. */
const overhead = 4096

const isLast = ({ type }: Part): boolean => type === "finish" || type === "error"

const heartbeat: ReadonlyArray<Part> = [{ type: "heartbeat" }]

type Write = (last: ReadonlyArray<Part>) => Effect.Effect<void>

/** State shared by all segments of a server. */
interface Host {
  readonly options: Options
  readonly scope: Scope.Scope
  readonly now: () => number
  /** Called when a segment ends. */
  readonly ended: (segment: Kept, last: Part) => void
}

/**
 * A tracked segment. After it ends, it retains its output but not its run or its readers, because a server may hold
 * thousands of finished segments.
 */
class Kept implements Segment {
  readonly key: string
  readonly about: About
  readonly parts: Array<Part> = []
  readers = 0
  /** Whether a client disconnected before reading all parts. */
  isLeft = false
  /** Number of times the last client disconnected. Each disconnect restarts the grace period. */
  #leaves = 0
  characters: number
  overAt: number | undefined = undefined
  readonly #host: Host
  readonly #isExact: boolean
  /** Number of parts that a reader has received. These parts are no longer extended. */
  #given = 0
  /** Listeners for the next part, including the last one. */
  readonly #waiting = new Set<() => void>()
  readonly #ending = new Set<() => void>()
  /** Functions that store the final parts. */
  #writing: ReadonlyArray<Write> = []
  #isTelling = false
  #fiber: Fiber.Fiber<void> | undefined = undefined

  constructor(host: Host, { about, characters, isExact = false, key }: Asking) {
    this.#host = host
    this.#isExact = isExact
    this.key = key
    this.about = about
    this.characters = overhead + characters
  }

  readonly isOver = (): boolean => this.overAt !== undefined

  // -----------------------------------------------------------------------------------------------------------------
  // Telling
  // -----------------------------------------------------------------------------------------------------------------

  /** Runs the segment until it ends. */
  run(run: Asking["run"]): Effect.Effect<void> {
    const whole = Effect.onExit(run(this.#tell), (exit) => {
      const last: ReadonlyArray<Part> = Exit.isSuccess(exit)
        ? exit.value
        : [
            {
              type: "error",
              error: Cause.hasInterruptsOnly(exit.cause)
                ? Failure.stopped
                : failed(this.about.id, Cause.squash(exit.cause))
            }
          ]
      const writing = this.#writing
      if (writing.length === 0) {
        this.#tell(last)
        return Effect.void
      }
      // Stored parts count as delivered.
      this.#given = this.parts.length
      const written = Effect.suspend(() =>
        Effect.forEach(writing, (write) => write(this.isOver() ? [] : last), { discard: true })
      )
      return Effect.andThen(
        this.#guarded(written),
        Effect.sync(() => this.#tell(last))
      )
    })
    return Effect.map(Effect.forkIn(whole, this.#host.scope, { startImmediately: true }), (fiber) => {
      if (!this.isOver()) this.#fiber = fiber as Fiber.Fiber<void>
    })
  }

  /** Reports a failed write as a defect. Readers still receive the answer. */
  #guarded(written: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.catchCause(written, (cause) => Effect.sync(() => this.#host.options.defect?.(this.about, cause)))
  }

  readonly #tell = (news: ReadonlyArray<Part>): void => {
    if (news.length === 0 || this.isOver()) return
    for (const part of news) this.#add(part)
    const last = news.at(-1)!
    if (isLast(last)) this.#end(last)
    if (this.#waiting.size > 0 && !this.#isTelling) {
      this.#isTelling = true
      queueMicrotask(this.#told)
    }
  }

  /** Merges text deltas that have not been read yet, which saves work for readers. */
  #add(part: Part) {
    const { parts } = this
    this.characters += sizeOf(part)
    const mayMerge = part.type === "text" && parts.length > this.#given && !this.#isExact
    const before = mayMerge ? parts.at(-1) : undefined
    if (part.type === "text" && before?.type === "text" && before.by === part.by) {
      parts[parts.length - 1] = { ...part, text: before.text + part.text }
    } else parts.push(part)
  }

  #end(last: Part) {
    this.#fiber = undefined
    this.#writing = []
    this.overAt = this.#host.now()
    this.#host.ended(this, last)
    const ending = [...this.#ending]
    this.#ending.clear()
    for (const wake of ending) wake()
  }

  /** Delivers all deltas from one event loop turn together, because a network packet often contains several. */
  readonly #told = (): void => {
    this.#isTelling = false
    for (const wake of [...this.#waiting]) wake()
  }

  // -----------------------------------------------------------------------------------------------------------------
  // Reading
  // -----------------------------------------------------------------------------------------------------------------

  onOver(hear: () => void): void {
    if (this.isOver()) hear()
    else this.#ending.add(hear)
  }

  onEnd(write: Write): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.isOver()) return this.#guarded(write([]))
      this.#writing = [...this.#writing, write]
      return Effect.void
    })
  }

  get stop(): Effect.Effect<void> {
    return Effect.suspend(() => (this.#fiber === undefined ? Effect.void : Fiber.interrupt(this.#fiber)))
  }

  /** Returns the parts after the first `count`. */
  #from(count: number): ReadonlyArray<Part> {
    this.#given = this.parts.length
    return this.parts.slice(count)
  }

  /** Waits until there are more than `count` parts, or until the time limit. */
  #more(count: number, millis: number): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      if (this.parts.length > count || this.isOver()) return resume(Effect.void)
      const wake = () => {
        stop()
        resume(Effect.void)
      }
      const stop = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
      }
      const timer = setTimeout(wake, millis)
      this.#waiting.add(wake)
      return Effect.sync(stop)
    })
  }

  // Implemented as a low-level channel, because pulling from a regular Effect stream costs more than all other work per
  // part.
  get read(): Stream.Stream<ReadonlyArray<Part>> {
    return Stream.fromChannel(
      Channel.fromTransform((_, scope) => {
        this.readers += 1
        let count = 0
        const news = (): readonly [ReadonlyArray<Part>] => {
          if (this.parts.length === count) return [heartbeat]
          const some = this.#from(count)
          count = this.parts.length
          return [some]
        }
        const pull: Effect.Effect<readonly [ReadonlyArray<Part>], Cause.Done> = Effect.suspend(() => {
          if (this.parts.length > count) return Effect.succeed(news())
          return this.isOver() ? Cause.done() : Effect.map(this.#more(count, this.#host.options.heartbeatMillis), news)
        })
        return Effect.as(
          Scope.addFinalizerExit(scope, (exit) => this.#leave(Exit.isFailure(exit))),
          pull
        )
      })
    )
  }

  follow(take: Take): Effect.Effect<void> {
    return this.#asReader(this.#follow(take))
  }

  #follow(take: Take): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      let count = 0
      let timer: NodeJS.Timeout | undefined
      const stop = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
      }
      const wait = () => {
        if (this.parts.length > count || this.isOver()) return wake()
        this.#waiting.add(wake)
        if (timer === undefined) timer = setTimeout(beat, this.#host.options.heartbeatMillis)
        else timer.refresh()
      }
      const wake = () => {
        this.#waiting.delete(wake)
        const some = this.#from(count)
        count = this.parts.length
        give(some)
      }
      const beat = () => {
        if (this.#waiting.delete(wake)) give(heartbeat)
      }
      const give = (some: ReadonlyArray<Part>) => {
        try {
          const isLast = this.isOver() && count === this.parts.length
          const goesOn = take(some, isLast, wait)
          if (!isLast) return goesOn ? wait() : undefined
          stop()
          resume(Effect.void)
        } catch (defect) {
          stop()
          resume(Effect.die(defect))
        }
      }
      wait()
      return Effect.sync(stop)
    })
  }

  get over(): Effect.Effect<void> {
    return this.#asReader(
      Effect.callback<void>((resume) => {
        if (this.isOver()) return resume(Effect.void)
        const wake = () => resume(Effect.void)
        this.#ending.add(wake)
        return Effect.sync(() => this.#ending.delete(wake))
      })
    )
  }

  begun(millis: number): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.readers += 1
      return Effect.onExit(this.#more(0, millis), (exit) => {
        if (Exit.isFailure(exit)) return this.#leave(true)
        this.readers -= 1
        return Effect.void
      })
    })
  }

  #asReader(reading: Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.readers += 1
      return Effect.onExit(reading, (exit) => this.#leave(Exit.isFailure(exit)))
    })
  }

  #leave(isCut: boolean): Effect.Effect<void> {
    this.readers -= 1
    if (isCut) this.isLeft = true
    if (this.readers > 0 || this.isOver()) return Effect.void
    this.#leaves += 1
    return Effect.asVoid(Effect.forkIn(this.#abandoned(this.#leaves), this.#host.scope))
  }

  /** Stops a segment that still has no client after its grace period. */
  #abandoned(leaves: number): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sleep(this.#host.options.graceMillis),
      Effect.suspend(() => (this.readers > 0 || this.#leaves > leaves ? Effect.void : this.stop))
    )
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Creates the segment tracker for a server. Active segments are stopped when the scope closes. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Segments, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  /** Segments in the order in which they were started. */
  const known = new Map<string, Kept>()
  const active = new Set<Kept>()
  let characters = 0
  let sweepsAt = 0

  const forget = (segment: Kept) => {
    if (known.get(segment.key) !== segment) return
    known.delete(segment.key)
    if (segment.overAt !== undefined) characters -= segment.characters
  }

  /**
   * Evicts expired segments, then the oldest ones until the size limit holds. Evicts in batches, because iterating over
   * a `Map` visits deleted entries again.
   */
  const sweep = () => {
    const isFull = characters > options.keptCharacters
    if (!isFull && now() < sweepsAt) return
    sweepsAt = now() + options.keptMillis / 64
    const enough = isFull ? options.keptCharacters - options.keptCharacters / 64 : options.keptCharacters
    for (const segment of known.values()) {
      if (segment.overAt === undefined) continue
      const isOld = now() - segment.overAt > options.keptMillis
      if (!isOld && characters <= enough) return
      forget(segment)
    }
  }

  const ended = (segment: Kept, { type }: Part) => {
    active.delete(segment)
    if (known.get(segment.key) !== segment) return
    characters += segment.characters
    // A failed segment is removed, so that the next request retries it.
    if (type === "error") forget(segment)
  }

  const host: Host = { options, scope, now, ended }

  const begin = (asking: Asking): Effect.Effect<Kept> => {
    const segment = new Kept(host, asking)
    active.add(segment)
    const before = known.get(asking.key)
    if (before !== undefined) forget(before)
    known.set(asking.key, segment)
    return Effect.as(segment.run(asking.run), segment)
  }

  const open = (asking: Asking): Effect.Effect<Segment> =>
    Effect.suspend(() => {
      sweep()
      const before = known.get(asking.key)
      const isOurs = before !== undefined && (asking.isRepeated || (before.readers === 0 && before.isLeft))
      return isOurs ? Effect.succeed(before) : begin(asking)
    })

  const of = (runId: string) => [...active].find(({ about }) => about.runId === runId)

  return { open, running: () => active.size, of }
})
