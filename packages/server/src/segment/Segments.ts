/**
 * The segments that this process knows: those that go on, and for a while those that have ended.
 *
 * A segment is read from its first part by however many requests ask for it: a client that comes again, as its connection
 * broke off, attaches to what it has begun and pays nothing more. A segment whose clients have all gone goes on for a
 * while, and is then stopped.
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

/** A part of a run that one request asks for. */
export interface Segment {
  readonly about: About
  /** All that was said, from the first part on. */
  readonly parts: ReadonlyArray<Part>
  readonly isOver: () => boolean
  /** Calls `hear` once it is over, before its readers know: who hears is none of them. */
  readonly onOver: (hear: () => void) => void
  /** Has its last parts written before its readers are told them; where it is over, at once, without parts. */
  readonly onEnd: (write: (last: ReadonlyArray<Part>) => Effect.Effect<void>) => Effect.Effect<void>
  /** The parts from the first on, in batches of those that have come meanwhile; and a heartbeat where none come. */
  readonly read: Stream.Stream<ReadonlyArray<Part>>
  /** Gives its parts to a function as they come, as `read` does, but past the machinery of a stream. */
  readonly follow: (take: Take) => Effect.Effect<void>
  /** Waits until all was said, as one of its readers. */
  readonly over: Effect.Effect<void>
  /** Waits for a first part, or for its end, at most so long. */
  readonly begun: (millis: number) => Effect.Effect<void>
  /** Stops it, and waits until it is over. */
  readonly stop: Effect.Effect<void>
}

/** Takes parts, and whether they are the last. Where it returns false, the next ones wait until it calls `goOn`. */
export type Take = (parts: ReadonlyArray<Part>, isLast: boolean, goOn: () => void) => boolean

/** How long segments are kept, and how many. */
export interface Options {
  /** How long a segment goes on without a client, in milliseconds. */
  readonly graceMillis: number
  /** How often something is sent where nothing happens, in milliseconds. */
  readonly heartbeatMillis: number
  /** How long a segment that has ended can be asked for again, in milliseconds. */
  readonly keptMillis: number
  /** How many characters of ended segments and of their requests are kept at most. */
  readonly keptCharacters: number
}

/** What asks for a segment. */
export interface Asking {
  /** What the same request has the same of: who asks, and what. */
  readonly key: string
  /** Whether the client says that it has asked before. Otherwise it attaches only to what its client has left. */
  readonly isRepeated: boolean
  readonly about: About
  /** How long its request is. */
  readonly characters: number
  /** Runs it: tells parts as they come, and returns the last. */
  readonly run: (tell: (parts: ReadonlyArray<Part>) => void) => Effect.Effect<ReadonlyArray<Part>>
}

/** The segments of a server. */
export interface Segments {
  readonly open: (asking: Asking) => Effect.Effect<Segment>
  /** How many go on. */
  readonly running: () => number
}

interface Kept extends Segment {
  readonly parts: Array<Part>
  readers: number
  /** Whether a client went away before it had read all. */
  isLeft: boolean
  characters: number
  overAt: number | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// One segment
// -------------------------------------------------------------------------------------------------------------------

const failed = new ApiError({
  kind: "server",
  message: "This server made a mistake. The log of the server says which."
})

const sizeOf = (part: Part): number =>
  "text" in part
    ? part.text.length
    : part.type === "tool-call"
      ? part.arguments.length
      : part.type === "given"
        ? JSON.stringify(part.item).length
        : 0

/** What a segment needs besides its texts, in characters: more than there are in most. */
const overhead = 4096

const isLast = ({ type }: Part): boolean => type === "finish" || type === "error"

const heartbeat: ReadonlyArray<Part> = [{ type: "heartbeat" }]

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** Makes the segments of a server. Those that go on are stopped when the scope closes. */
export const make = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Segments, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const now = () => clock.currentTimeMillisUnsafe()
  /** In the order in which they were begun. */
  const known = new Map<string, Kept>()
  let characters = 0
  let running = 0

  const forget = (key: string, segment: Kept) => {
    if (known.get(key) !== segment) return
    known.delete(key)
    if (segment.overAt !== undefined) characters -= segment.characters
  }

  /** Lets go of what has ended too long ago, and of the oldest where there is too much. */
  const sweep = () => {
    for (const [key, segment] of known) {
      if (segment.overAt === undefined) continue
      const isOld = now() - segment.overAt > options.keptMillis
      if (!isOld && characters <= options.keptCharacters) return
      forget(key, segment)
    }
  }

  const begin = Effect.fnUntraced(function* ({ about, characters: asked, key, run }: Asking): Effect.fn.Return<Kept> {
    const waiting = new Set<() => void>()
    /** Those that wait for the last part alone. */
    const ending = new Set<() => void>()
    /** Those that write the last parts down. */
    const writing: Array<(last: ReadonlyArray<Part>) => Effect.Effect<void>> = []
    const parts: Array<Part> = []
    const isOver = () => segment.overAt !== undefined

    const tell = (news: ReadonlyArray<Part>) => {
      if (news.length === 0 || isOver()) return
      for (const part of news) {
        parts.push(part)
        segment.characters += sizeOf(part)
      }
      const last = news.at(-1)!
      if (isLast(last)) {
        running -= 1
        // What went wrong is tried again when it is asked for again.
        if (last.type === "error") forget(key, segment)
        segment.overAt = now()
        if (known.get(key) === segment) characters += segment.characters
      }
      if (isOver()) for (const wake of ending) wake()
      if (waiting.size > 0 && !isTelling) {
        isTelling = true
        queueMicrotask(told)
      }
    }

    /** What comes in one turn is told at once: a packet of a vendor holds many pieces. */
    let isTelling = false
    const told = () => {
      isTelling = false
      for (const wake of [...waiting]) wake()
    }

    /** Waits until there is more than so many parts, at most so long. */
    const more = (count: number, millis: number): Effect.Effect<void> =>
      Effect.callback<void>((resume) => {
        if (parts.length > count || isOver()) return resume(Effect.void)
        const wake = () => {
          clearTimeout(timer)
          waiting.delete(wake)
          resume(Effect.void)
        }
        const timer = setTimeout(wake, millis)
        waiting.add(wake)
        return Effect.sync(() => {
          clearTimeout(timer)
          waiting.delete(wake)
        })
      })

    const end = Effect.callback<void>((resume) => {
      if (isOver()) return resume(Effect.void)
      const wake = () => resume(Effect.void)
      ending.add(wake)
      return Effect.sync(() => ending.delete(wake))
    })

    const follow = (take: Take): Effect.Effect<void> =>
      Effect.callback<void>((resume) => {
        let count = 0
        let timer: NodeJS.Timeout | undefined
        const stop = () => {
          clearTimeout(timer)
          waiting.delete(wake)
        }
        const wait = () => {
          if (parts.length > count || isOver()) return wake()
          waiting.add(wake)
          if (timer === undefined) timer = setTimeout(beat, options.heartbeatMillis)
          else timer.refresh()
        }
        const wake = () => {
          waiting.delete(wake)
          const from = count
          count = parts.length
          give(from === 0 ? [...parts] : parts.slice(from))
        }
        const beat = () => {
          if (waiting.delete(wake)) give(heartbeat)
        }
        const give = (some: ReadonlyArray<Part>) => {
          try {
            const isLast = isOver() && count === parts.length
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

    const leave = (isCut: boolean) =>
      Effect.suspend(() => {
        segment.readers -= 1
        if (isCut) segment.isLeft = true
        return segment.readers > 0 || isOver() ? Effect.void : Effect.asVoid(Effect.forkIn(abandon, scope))
      })

    const asReader = (reading: Effect.Effect<void>) =>
      Effect.suspend(() => {
        segment.readers += 1
        return Effect.onExit(reading, (exit) => leave(Exit.isFailure(exit)))
      })

    const segment: Kept = {
      about,
      parts,
      readers: 0,
      isLeft: false,
      characters: overhead + asked,
      overAt: undefined,
      isOver,
      onOver: (hear) => (isOver() ? hear() : void ending.add(hear)),
      onEnd: (write) =>
        Effect.suspend(() => {
          if (isOver()) return write([])
          writing.push(write)
          return Effect.void
        }),
      stop: Effect.suspend(() => Fiber.interrupt(fiber)),
      // As a stream of Effect's own, which would cost more for each pull than all else that is done for it.
      read: Stream.fromChannel(
        Channel.fromTransform((_, scope) => {
          segment.readers += 1
          let count = 0
          const pull: Effect.Effect<readonly [ReadonlyArray<Part>], Cause.Done> = Effect.suspend(() => {
            if (parts.length > count) return Effect.succeed(news())
            return isOver() ? Cause.done() : Effect.map(more(count, options.heartbeatMillis), news)
          })
          const news = (): readonly [ReadonlyArray<Part>] => {
            if (parts.length === count) return [heartbeat]
            const from = count
            count = parts.length
            return [from === 0 ? [...parts] : parts.slice(from)]
          }
          return Effect.as(
            Scope.addFinalizerExit(scope, (exit) => leave(Exit.isFailure(exit))),
            pull
          )
        })
      ),
      follow: (take) => asReader(follow(take)),
      over: asReader(end),
      begun: (millis) =>
        Effect.suspend(() => {
          segment.readers += 1
          return Effect.onExit(more(0, millis), (exit) => {
            if (Exit.isFailure(exit)) return leave(true)
            segment.readers -= 1
            return Effect.void
          })
        })
    }

    running += 1
    const before = known.get(key)
    if (before !== undefined) forget(key, before)
    known.set(key, segment)
    const whole = Effect.onExit(run(tell), (exit) => {
      const last: ReadonlyArray<Part> = Exit.isSuccess(exit)
        ? exit.value
        : [{ type: "error", error: Cause.hasInterruptsOnly(exit.cause) ? Failure.stopped : failed }]
      const told = Effect.sync(() => tell(last))
      if (writing.length === 0) return told
      const written = Effect.suspend(() =>
        Effect.forEach(writing, (write) => write(isOver() ? [] : last), { discard: true })
      )
      return Effect.andThen(written, told)
    })
    const fiber = yield* Effect.forkIn(whole, scope, { startImmediately: true })

    /** Stops what nobody has come back to. */
    const abandon = Effect.andThen(
      Effect.sleep(options.graceMillis),
      Effect.suspend(() => (segment.readers > 0 || isOver() ? Effect.void : Fiber.interrupt(fiber)))
    )
    return segment
  })

  const open = (asking: Asking): Effect.Effect<Segment> =>
    Effect.suspend(() => {
      sweep()
      const before = known.get(asking.key)
      const isOurs = before !== undefined && (asking.isRepeated || (before.readers === 0 && before.isLeft))
      return isOurs ? Effect.succeed(before) : begin(asking)
    })

  return { open, running: () => running }
})
