/**
 * The response cache: answers of workers, found again by the content of what was asked.
 *
 * The executor looks every call up here. Equal calls that run at once are made once; only whole answers are kept, never
 * failures. What is kept, and where, is a matter of the implementation: {@link layerMemory} keeps a bounded number in
 * memory. Without a cache every call is made.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { FinishReason, Usage, WorkerRequest } from "./Worker.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A whole answer of a worker. `usage` is what the call used when it was made. */
export interface Answer {
  readonly text: string
  readonly reasoning?: string
  readonly finishReason: FinishReason
  readonly usage: Usage
}

/** An answer, and whether it was made by another call (and so cost this one nothing). */
export interface Found {
  readonly value: Answer
  readonly cached: boolean
}

/** Answers by key. */
export interface ResponseCache {
  /**
   * The answer under a key, computed when there is none.
   *
   * `compute` runs in the caller's own fiber, at most once per lookup. Lookups of the same key that come meanwhile wait
   * for it; when it fails or is interrupted, one of them computes in its stead and the others go on waiting. A waiting
   * lookup that is interrupted disturbs nobody.
   */
  readonly lookup: <E, R>(key: string, compute: Effect.Effect<Answer, E, R>) => Effect.Effect<Found, E, R>
}

// -------------------------------------------------------------------------------------------------------------------
// Service
// -------------------------------------------------------------------------------------------------------------------

/** The cache of all calls; none by default. */
export const ResponseCache: Context.Reference<ResponseCache | undefined> = Context.Reference(
  "@tutti/core/ResponseCache",
  { defaultValue: (): ResponseCache | undefined => undefined }
)

// -------------------------------------------------------------------------------------------------------------------
// Keys
// -------------------------------------------------------------------------------------------------------------------

const isDeterministic = (request: WorkerRequest): boolean => request.temperature === 0 || request.seed !== undefined

/** JSON with the properties of every object in one order and absent ones left out. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([left], [right]) => (left < right ? -1 : 1)))
      : inner
  )

/**
 * The key of a call: the same for the same content, whatever the order of properties.
 *
 * **Details**
 *
 * A request that is deterministic (`temperature` 0, or a `seed`) has one answer. Of any other, each sample is its own:
 * `sample` says which of a run's equal requests this is, from 0, so that a run that is made again finds the same
 * samples and no two samples of one run are the same. The key is readable text, as long as the request; a store that
 * wants short keys hashes it.
 *
 * **Example**
 *
 * ```ts
 * import * as ResponseCache from "@tutti/core/ResponseCache"
 *
 * const messages = [{ role: "user" as const, content: "Hello" }]
 * ResponseCache.key("a", { messages, seed: 1 }, 0) === ResponseCache.key("a", { seed: 1, messages }, 1) // => true
 * ResponseCache.key("a", { messages }, 0) === ResponseCache.key("a", { messages }, 1) // => false
 * ```
 */
export const key = (worker: string, request: WorkerRequest, sample: number | string = 0): string =>
  canonical([worker, request, ...(isDeterministic(request) ? [] : [sample])])
