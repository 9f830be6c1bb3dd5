/** Runs as event streams. */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { RunEvent } from "../events/RunEvent.ts"
import { JournalError, JournalMismatch } from "../journal/Journal.ts"
import { OptionsError } from "../Options.ts"
import type * as Task from "../task/Task.ts"
import type { Conductor, RunOptions, RunResult } from "./Conductor.ts"

/** Errors that prevent a run from starting: an unusable journal or invalid options. */
export type Unusable = JournalError | JournalMismatch | OptionsError

/** Returns the error that explains why the run's events do not include its end. */
const unusable = ({ error, runId }: RunResult): Unusable =>
  error instanceof JournalError || error instanceof JournalMismatch || error instanceof OptionsError
    ? error
    : new JournalError({ journal: "of the run", reason: { _tag: "Missing", run: runId } })

/**
 * Starts a run and returns its events as a stream. Closing the stream interrupts the run. Events are buffered until
 * they are consumed; the last one is `run-finished`.
 *
 * **Details**
 *
 * The stream fails if the run cannot start, or if its events cannot be read from the journal.
 *
 * **Example**
 *
 * ```ts
 * import { Baselines } from "@divisi/core"
 * import * as Conductor from "@divisi/core/Conductor"
 * import { RunStream } from "@divisi/core/streams"
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
): Stream.Stream<RunEvent, Unusable> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const events = yield* Queue.unbounded<RunEvent, Unusable | Cause.Done>()
      let last: RunEvent | undefined
      const listener = (event: RunEvent) => {
        last = event
        Queue.offerUnsafe(events, event)
        return options.listener?.(event)
      }
      const { result } = yield* conductor.start(task, { ...options, listener })
      const end = (exit: Exit.Exit<RunResult>) => {
        if (Exit.isFailure(exit)) return Queue.failCause(events, exit.cause)
        const isWhole = last?.type === "run-finished" && last.runId === exit.value.runId
        return isWhole ? Queue.end(events) : Queue.fail(events, unusable(exit.value))
      }
      yield* Effect.forkScoped(Effect.onExit(result, end))
      return Stream.fromQueue(events)
    })
  )
