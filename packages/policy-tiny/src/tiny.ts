/** The tiny Conductors for programs without Effect. Each policy loads its model when it creates its first plan. */

import { Options as Tables } from "@divisi/core"
import type { Policy } from "@divisi/core/Policy"
import { WorkerStream } from "@divisi/core/streams"
import { free } from "@divisi/core/Usage"
import { type Worker, WorkerError } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ReadingPolicy from "./ReadingPolicy.ts"
import * as TinyConductor from "./TinyConductor.ts"

/** Creates a worker that loads its model file on the first call. If loading fails, the next call tries again. */
const lazily = (
  { file, id, ...about }: { readonly id: string; readonly file: string; readonly isCacheable?: boolean },
  load: Effect.Effect<Worker, Error>
): Worker => {
  let loading: Promise<Worker> | undefined
  const read = () => {
    loading ??= Effect.runPromise(load)
    loading.catch(() => {
      loading = undefined
    })
    return loading
  }
  const unreadable = (cause: unknown) =>
    new WorkerError({ worker: id, reason: { _tag: "InvalidRequest", detail: (cause as Error).message } })
  const worker = Effect.tryPromise({ try: read, catch: unreadable })
  return {
    ...about,
    id,
    settings: { file },
    pricing: free,
    generate: (request) => Stream.unwrap(Effect.map(worker, (one) => WorkerStream.generate(one, request)))
  }
}

/**
 * Creates the policy of the tiny Conductor. See `TinyConductor.make` for when the fallback plans.
 *
 * **Example**
 *
 * ```ts
 * import { conduct } from "@divisi/core/promise"
 * import { make } from "@divisi/gym/GymPool"
 * import { tiny } from "@divisi/policy-tiny"
 *
 * const question = "How many minutes are there in 3 days?"
 * const { answer } = await conduct({ question, policy: tiny(), pool: make({ latencyMillis: 0 }).workers })
 * answer // => "4320"
 * ```
 */
export const tiny = (options: TinyConductor.Options = {}): Policy => {
  Tables.check("tiny", options, TinyConductor.optionsTable)
  const { file = TinyConductor.file, ...rest } = options
  return TinyConductor.make(lazily({ id: "divisi-tiny", file }, TinyConductor.worker(file)), rest)
}

/**
 * Creates the policy that reads the workers' descriptions. See `ReadingPolicy.make` for its plans.
 *
 * **Example**
 *
 * ```ts
 * import { conduct } from "@divisi/core/promise"
 * import { make } from "@divisi/gym/GymPool"
 * import { reading } from "@divisi/policy-tiny"
 *
 * const question = "How many minutes are there in 3 days?"
 * const pool = make({ latencyMillis: 0 }).workers
 * const { answer } = await conduct({ question, policy: reading({ priceWeight: 0.1 }), pool })
 * answer // => "4320"
 * ```
 */
export const reading = ({
  file = ReadingPolicy.file,
  ...options
}: ReadingPolicy.Options & {
  /** Path of the model file. Default: the included one. */
  readonly file?: string | undefined
} = {}): Policy => {
  const load = Effect.map(ReadingPolicy.load(file), (model) =>
    ReadingPolicy.worker(model, options.name, options.priceWeight)
  )
  return ReadingPolicy.of(lazily({ id: "divisi-reader", file, isCacheable: false }, load), options)
}
