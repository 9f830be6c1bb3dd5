/**
 * The response cache: stores answers of workers by the content of the request.
 *
 * Every call is looked up in the cache first, and equal concurrent calls are sent once. Only complete answers are
 * stored, never failures. The implementation decides where answers are stored and for how long; {@link layerMemory}
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

/** A complete answer of a worker. `usage` is the usage of the original call. */
export interface Answer {
  readonly text: string
  readonly reasoning?: string | undefined
  readonly finishReason: FinishReason
  /** The tool calls of the answer; absent if it has no tool calls. */
  readonly toolCalls?: ReadonlyArray<ToolCall> | undefined
  /** Vendor data to return with this turn, as in `AssistantMessage.echo`. */
  readonly echo?: unknown
  readonly usage: Usage
  /** The model name in the vendor's response. */
  readonly model?: string | undefined
}

/** A call that failed before its worker answered. Its cost follows from its usage and the worker's price. */
export interface Failure {
  readonly reason: WorkerErrorReason
  readonly message: string
  readonly usage: Usage
  /** The delay before the next attempt, in milliseconds. */
  readonly retryInMillis?: number | undefined
  /** Present if the request was not sent, as in `RunEvent`. */
  readonly unasked?: true | undefined
}

/**
 * A stored answer with its original duration and failed attempts, so that a run can be charged as if the call were made
 * now.
 */
export interface Entry extends Answer {
  /** The time from the first attempt to the complete answer. Absent if unknown. */
  readonly durationMillis?: number | undefined
  /** The attempts that failed before it, in order. */
  readonly failures?: ReadonlyArray<Failure> | undefined
}

/** An answer, and whether it came from another call. */
export interface Found {
  readonly value: Entry
  readonly cached: boolean
}

/** A cache of answers by key. */
export interface ResponseCache {
  /**
   * Returns the answer for a key, and computes it if it is missing.
   *
   * `compute` runs in the caller's own fiber, at most once per lookup. Concurrent lookups of the same key wait for it.
   * If it fails or is interrupted, one of the waiting lookups computes instead, and the others continue to wait.
   * Interrupting a waiting lookup does not affect the others.
   */
  readonly lookup: <E, R>(key: string, compute: Effect.Effect<Entry, E, R>) => Effect.Effect<Found, E, R>
}

/** Whether a value is an empty object, which Effect would parse as a duration of zero. */
const isEmptyObject = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Duration.isDuration(value) && Object.keys(value).length === 0

/** Accepts a duration: milliseconds, or a text such as "1 hour". */
export const aDuration: Options.Check = Options.expects('milliseconds, or a text such as "1 hour"', (value) =>
  typeof value === "number"
    ? value >= 0
    : !isEmptyObject(value) && Option.isSome(Duration.fromInput(value as Duration.Input))
)

/** A store of answers. It never fails: an answer that cannot be read counts as missing. */
export interface Store {
  readonly get: (key: string) => Effect.Effect<Entry | undefined>
  readonly set: (key: string, entry: Entry) => Effect.Effect<void>
}

/** The limits of a cache in memory. The least recently used answers are evicted first. */
export interface MemoryOptions {
  readonly maxEntries: number
  /** The maximum size, counted as two bytes per character of key, text and reasoning. Default: unlimited. */
  readonly maxBytes?: number | undefined
  /** How long an answer is stored; a number is in milliseconds. Default: unlimited. */
  readonly timeToLive?: Duration.Input | undefined
}

/** The table of {@link MemoryOptions}, for `Options.check`. */
export const memoryTable = Options.table(
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

/** The cache for all calls. Default: none. */
export const ResponseCache: Context.Reference<ResponseCache | undefined> = Context.Reference(
  "@divisi/core/ResponseCache",
  { defaultValue: (): ResponseCache | undefined => undefined }
)

// -------------------------------------------------------------------------------------------------------------------
// Keys
// -------------------------------------------------------------------------------------------------------------------

const isDeterministic = (request: WorkerRequest): boolean => request.temperature === 0 || request.seed !== undefined

/** Serializes a value as JSON with sorted properties and without `undefined` ones. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner
  )

/**
 * Returns the key of a call. Equal content gives equal keys, regardless of the order of properties.
 *
 * **Details**
 *
 * A deterministic request (`temperature` 0, or a `seed`) has one key. For other requests, each sample has its own key:
 * `sample` numbers the equal requests of a run from 0, so a repeated run gets the same samples, and a single run never
 * gets the same sample twice. A worker's `settings` are part of the key, because other defaults give other answers. The
 * key is readable text of the length of the request; a store that needs short keys should hash it.
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

/** A lookup that waits for the answer, or for the turn to compute. */
interface Waiter {
  isNext: boolean
  /** The result, which may arrive before the waiter listens. */
  woken: { readonly answer: Entry | undefined } | undefined
  listen: (() => void) | undefined
}

const wake = (waiter: Waiter, answer: Entry | undefined) => {
  waiter.woken = { answer }
  waiter.listen?.()
}

/** The lookups that wait for a key being computed, in order. */
type Flight = Set<Waiter>

/**
 * Makes a cache on top of a store.
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

  /** Passes the answer to all waiting lookups. If there is no answer, the first of them computes instead. */
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
        // The waiter joins synchronously: after the flight is over, late waiters would never be woken.
        const waiter: Waiter = { isNext: false, woken: undefined, listen: undefined }
        flight.add(waiter)
        // If a waiter is interrupted as it gets the turn, the turn goes to the next one.
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
  /** The entries, least recently used first. */
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

/** Makes a bounded cache in memory. */
export const makeMemory = (options: MemoryOptions): ResponseCache => {
  Options.check("ResponseCache.makeMemory", options, memoryTable)
  return make(memoryStore(options))
}

// -------------------------------------------------------------------------------------------------------------------
// Layers
// -------------------------------------------------------------------------------------------------------------------

/**
 * A bounded cache in memory for all calls.
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
