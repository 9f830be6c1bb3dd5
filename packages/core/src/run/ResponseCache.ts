/**
 * Response cache: caches worker answers by request content.
 *
 * Each call is looked up before it is sent, and identical concurrent calls are sent only once. Only complete answers
 * are cached, never failures. The {@link Store} decides where and for how long answers are stored; {@link layerMemory}
 * stores a bounded number in memory.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Options from "../Options.ts"
import type { ToolCall } from "../task/Message.ts"
import type { Usage } from "../task/Usage.ts"
import type { FinishReason, Worker, WorkerErrorReason, WorkerRequest } from "../task/Worker.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A complete worker answer. `usage` is the usage of the original call. */
export interface Answer {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly finishReason: FinishReason
  /** Tool calls in the answer. Undefined if the answer has no tool calls. */
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  /** Vendor-specific data to send back with this turn. See `AssistantMessage.echo`. */
  readonly echo?: unknown
  readonly usage: Usage
  /** Model name reported by the vendor. */
  readonly model?: string | undefined
}

/** A failed attempt that preceded the answer. Its cost is derived from its usage and the worker's price. */
export interface Failure {
  readonly reason: WorkerErrorReason
  readonly message: string
  readonly usage: Usage
  /** Delay before the next attempt, in milliseconds. */
  readonly retryInMillis?: number | undefined
  /** Set if the request was not sent, as in `RunEvent`. */
  readonly unasked?: true | undefined
}

/**
 * A cached answer with its original duration and failed attempts, so that a cache hit can be charged like a new call.
 */
export interface Entry extends Answer {
  /** Time from the first attempt to the complete answer, in milliseconds. Undefined if unknown. */
  readonly durationMillis?: number | undefined
  /** Failed attempts before the answer, in order. */
  readonly failures?: ReadonlyArray<Failure> | undefined
}

/** An answer, and whether it came from the cache or another call in flight. */
export interface Found {
  readonly value: Entry
  readonly cached: boolean
}

/** A cache of worker answers. */
export interface ResponseCache {
  /**
   * Returns the cached answer for a key, or computes and caches it.
   *
   * `compute` runs in the caller's fiber, at most once per lookup. Concurrent lookups of the same key wait for its
   * result. If it fails or is interrupted, one of the waiting lookups computes the answer instead. Interrupting a
   * waiting lookup has no effect on the others.
   */
  readonly lookup: <E, R>(key: string, compute: Effect.Effect<Entry, E, R>) => Effect.Effect<Found, E, R>
}

/** Whether a value is an empty object, which Effect would interpret as a duration of zero. */
const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Duration.isDuration(value) && Object.keys(value).length === 0

/** Accepts a duration: a number of milliseconds, or a string such as "1 hour". */
// Marked as pure, like the table below, so that a bundle without a cache leaves both out.
export const aDuration: Options.Check = /* @__PURE__ */ Options.expects(
  'milliseconds, or a string such as "1 hour"',
  (value) =>
    typeof value === "number"
      ? Options.limit(value) === undefined
      : !isEmptyObject(value) && Option.isSome(Duration.fromInput(value as Duration.Input))
)

/** Storage backend for cached answers. Its operations never fail; an answer that cannot be read counts as missing. */
export interface Store {
  readonly get: (key: string) => Effect.Effect<Entry | undefined>
  readonly set: (key: string, entry: Entry) => Effect.Effect<void>
}

/** Limits for an in-memory cache. The least recently used answers are evicted first. */
export interface MemoryOptions {
  readonly maxEntries: number
  /** Maximum size in bytes, estimated as two bytes per character of the key and the answer. Default: unlimited. */
  readonly maxBytes?: number | undefined
  /** Time after which an answer expires. A number is in milliseconds. Default: never. */
  readonly timeToLive?: Duration.Input | undefined
}

/**
 * Validates {@link MemoryOptions}, for use with `Options.check`.
 *
 * @internal
 */
export const memoryTable = /* @__PURE__ */ Options.table(
  {
    maxEntries: Options.limit,
    maxBytes: Options.limit,
    timeToLive: aDuration
  } satisfies Options.ShapeOf<MemoryOptions>,
  { required: ["maxEntries"] }
)

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/** The cache used for all calls. Default: `undefined`, i.e. no caching. */
export const ResponseCache: Context.Reference<ResponseCache | undefined> = Context.Reference(
  "@divisi/core/ResponseCache",
  { defaultValue: (): ResponseCache | undefined => undefined }
)

// -------------------------------------------------------------------------------------------------------------------
// Keys
// -------------------------------------------------------------------------------------------------------------------

const isDeterministic = (request: WorkerRequest): boolean => request.temperature === 0 || request.seed !== undefined

/** Serializes a value as JSON with sorted keys, omitting `undefined` properties. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner
  )

/**
 * Returns the cache key for a call. The order of properties does not matter.
 *
 * **Details**
 *
 * Deterministic requests (`temperature` 0, or with a `seed`) have a single key. For all other requests, `sample` is
 * part of the key; it numbers identical requests within a run, starting at 0. A run therefore never receives the same
 * sample twice, but repeating the run yields the same samples. The worker's `settings` are included, because different
 * defaults produce different answers. The key is readable text about as long as the request; stores that need short
 * keys should hash it.
 *
 * **Example**
 *
 * ```ts
 * import { ResponseCache } from "@divisi/core"
 *
 * const messages = [{ role: "user" as const, content: "Hello" }]
 * ResponseCache.key("a", { messages, seed: 1 }, 0) === ResponseCache.key("a", { seed: 1, messages }, 1) // => true
 * ResponseCache.key("a", { messages }, 0) === ResponseCache.key("a", { messages }, 1) // => false
 * ```
 */
export const key = (
  worker: string | Pick<Worker, "id" | "settings">,
  request: WorkerRequest,
  sample: number | string = 0
): string => {
  const { id, settings = undefined } = typeof worker === "string" ? { id: worker } : worker
  const who = settings === undefined ? id : { id, settings }
  return canonical([who, request, ...(isDeterministic(request) ? [] : [sample])])
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/** A lookup that waits for another lookup's answer, or for its turn to compute. */
interface Waiter {
  isNext: boolean
  /** The result. May be set before the waiter starts to listen. */
  woken: { readonly answer: Entry | undefined } | undefined
  listen: (() => void) | undefined
}

const wake = (waiter: Waiter, answer: Entry | undefined) => {
  waiter.woken = { answer }
  waiter.listen?.()
}

/** Lookups waiting for the same key, in order of arrival. */
type Flight = Set<Waiter>

/**
 * Creates a response cache backed by a store.
 *
 * **Example**
 *
 * ```ts
 * import { ResponseCache } from "@divisi/core"
 * import * as Effect from "effect/Effect"
 *
 * const kept = new Map<string, ResponseCache.Entry>()
 * const cache = ResponseCache.make({
 *   get: (key) => Effect.sync(() => kept.get(key)),
 *   set: (key, entry) => Effect.sync(() => void kept.set(key, entry))
 * })
 * ```
 */
export const make = (store: Store): ResponseCache => {
  const flights = new Map<string, Flight>()

  /** Delivers the answer to all waiting lookups. Without an answer, the first waiting lookup computes it. */
  const settle = (key: string, flight: Flight, answer: Entry | undefined) => {
    const [next] = flight
    if (answer !== undefined || next === undefined) flights.delete(key)
    if (answer !== undefined) for (const waiter of flight) wake(waiter, answer)
    else if (next !== undefined) {
      flight.delete(next)
      next.isNext = true
      wake(next, undefined)
    }
  }

  const find = <E, R>(key: string, compute: Effect.Effect<Entry, E, R>): Effect.Effect<Found, E, R> =>
    Effect.flatMap(
      store.get(key),
      (kept): Effect.Effect<Found, E, R> =>
        kept !== undefined
          ? Effect.succeed({ value: kept, cached: true })
          : Effect.flatMap(compute, (value) => Effect.as(store.set(key, value), { value, cached: false }))
    )

  const join = (waiter: Waiter) =>
    Effect.callback<Entry | undefined>((resume) => {
      waiter.listen = () => resume(Effect.succeed(waiter.woken?.answer))
      if (waiter.woken !== undefined) waiter.listen()
    })

  return {
    lookup: (key, compute) =>
      Effect.uninterruptibleMask((restore) => {
        const lead = (flight: Flight) =>
          Effect.onExit(restore(find(key, compute)), (exit) =>
            Effect.sync(() => settle(key, flight, Exit.isSuccess(exit) ? exit.value.value : undefined))
          )
        const flight = flights.get(key)
        if (flight === undefined) {
          const opened: Flight = new Set()
          flights.set(key, opened)
          return lead(opened)
        }
        // Joining must be synchronous; a waiter that joins after the flight has ended would never be woken.
        const waiter: Waiter = { isNext: false, woken: undefined, listen: undefined }
        flight.add(waiter)
        // If a waiter is interrupted when its turn comes, the next one takes over.
        const passOn = Effect.sync(() => {
          flight.delete(waiter)
          if (waiter.isNext) settle(key, flight, undefined)
        })
        return restore(join(waiter)).pipe(
          Effect.onInterrupt(() => passOn),
          Effect.flatMap((value) => (value === undefined ? lead(flight) : Effect.succeed({ value, cached: true })))
        )
      })
  }
}

const byteLength = (key: string, { echo, reasoning, text, toolCalls }: Answer) =>
  2 * (key.length + text.length + (reasoning?.length ?? 0) + jsonLength(toolCalls) + jsonLength(echo))

const jsonLength = (value: unknown): number => (value === undefined ? 0 : JSON.stringify(value).length)

const memoryStore = (options: MemoryOptions): Store => {
  const { maxBytes = Number.POSITIVE_INFINITY, maxEntries, timeToLive = Duration.infinity } = options
  const lifeMillis = Duration.toMillis(timeToLive)
  /** Entries, least recently used first. */
  const entries = new Map<string, { readonly answer: Entry; readonly bytes: number; readonly expiresAt: number }>()
  let bytes = 0

  const remove = (key: string) => {
    bytes -= entries.get(key)?.bytes ?? 0
    entries.delete(key)
  }

  const get = (key: string, now: number): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined) return undefined
    entries.delete(key)
    if (entry.expiresAt > now) entries.set(key, entry)
    else bytes -= entry.bytes
    return entry.expiresAt > now ? entry.answer : undefined
  }

  const set = (key: string, answer: Entry, now: number) => {
    remove(key)
    const size = byteLength(key, answer)
    if (size > maxBytes || maxEntries < 1) return
    entries.set(key, { answer, bytes: size, expiresAt: now + lifeMillis })
    bytes += size
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries && bytes <= maxBytes) break
      remove(oldest)
    }
  }

  return {
    get: (key) => Effect.map(Clock.currentTimeMillis, (now) => get(key, now)),
    set: (key, answer) => Effect.map(Clock.currentTimeMillis, (now) => set(key, answer, now))
  }
}

/** Creates a bounded in-memory cache. */
export const makeMemory = (options: MemoryOptions): ResponseCache => {
  Options.check("ResponseCache.makeMemory", options, memoryTable)
  return make(memoryStore(options))
}

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/**
 * A layer that provides a bounded in-memory cache for all calls.
 *
 * **Example**
 *
 * ```ts
 * import { ResponseCache } from "@divisi/core"
 *
 * const cache = ResponseCache.layerMemory({ maxEntries: 10_000, maxBytes: 64_000_000, timeToLive: "1 hour" })
 * ```
 */
export const layerMemory = (options: MemoryOptions): Layer.Layer<never> =>
  Layer.sync(ResponseCache, () => makeMemory(options))
