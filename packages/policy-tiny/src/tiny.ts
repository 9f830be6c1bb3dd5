/** The tiny Conductor for programs without Effect: a policy that reads its model with its first plan. */

import type { Policy } from "@divisi/core/Policy"
import { free } from "@divisi/core/Usage"
import { type Worker, WorkerError } from "@divisi/core/Worker"
import * as WorkerStream from "@divisi/core/WorkerStream"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as TinyConductor from "./TinyConductor.ts"

/** A model as a worker that reads it with its first call. One that cannot be read is tried again. */
const lazily = (file: string): Worker => {
  const id = "divisi-tiny"
  let reading: Promise<Worker> | undefined
  const read = () => {
    reading ??= Effect.runPromise(TinyConductor.worker(file))
    reading.catch(() => {
      reading = undefined
    })
    return reading
  }
  const unreadable = (cause: unknown) =>
    new WorkerError({ worker: id, reason: { _tag: "InvalidRequest", detail: (cause as Error).message } })
  const worker = Effect.tryPromise({ try: read, catch: unreadable })
  return {
    id,
    settings: { file },
    pricing: free,
    generate: (request) => Stream.unwrap(Effect.map(worker, (one) => WorkerStream.generate(one, request)))
  }
}

/**
 * The policy. `TinyConductor.make` says what it leaves to the fallback.
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
export const tiny = ({ file = TinyConductor.file, ...options }: TinyConductor.Options = {}): Policy =>
  TinyConductor.make(lazily(file), options)
