/** Calls workers outside a run and streams their answers, including those of workers that do not stream. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { PartStream, Worker, WorkerRequest } from "./Worker.ts"

/**
 * Calls a worker and streams the parts of its answer.
 *
 * **Example**
 *
 * ```ts
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import { WorkerStream } from "@divisi/core/streams"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const worker = ScriptedWorker.make({ id: "a", replies: ["42"] })
 * const answer = WorkerStream.generate(worker, { messages: [{ role: "user", content: "What is 6 times 7?" }] })
 * const parts = await Effect.runPromise(Stream.runCollect(answer))
 * parts[0] // => { type: "text", text: "42" }
 * ```
 */
export const generate = (worker: Worker, request: WorkerRequest): PartStream => {
  const given = worker.generate(request)
  if (!Effect.isEffect(given)) return given
  return Stream.unwrap(Effect.map(given, (parts) => (Stream.isStream(parts) ? parts : Stream.fromArray(parts))))
}
