/** Runs as streams of their events. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { RunEvent } from "../record/RunEvent.ts"
import type * as Task from "../task/Task.ts"
import type { Conductor, RunOptions } from "./Conductor.ts"

/**
 * The events of a run, which starts when the stream does and is interrupted when the stream is. They are buffered until
 * they are read; the last is `run-finished`.
 *
 * **Example**
 *
 * ```ts
 * import * as Baselines from "@divisi/core/Baselines"
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as RunStream from "@divisi/core/RunStream"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const conductor = Conductor.make({ policy: Baselines.single("a"), pool })
 * const events = await Effect.runPromise(Stream.runCollect(RunStream.make(conductor, "What is 6 times 7?")))
 * events.at(-1)?.type // => "run-finished"
 * ```
 */
export const make = (
  conductor: Conductor["Service"],
  task: Task.Input,
  options: RunOptions = {}
): Stream.Stream<RunEvent> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const events = yield* Queue.unbounded<RunEvent, Cause.Done>()
      const listener = (event: RunEvent) => {
        Queue.offerUnsafe(events, event)
        return options.listener?.(event)
      }
      const { result } = yield* conductor.start(task, { ...options, listener })
      yield* Effect.forkScoped(Effect.ensuring(result, Queue.end(events)))
      return Stream.fromQueue(events)
    })
  )
