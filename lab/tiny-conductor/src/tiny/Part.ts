/** The parts of the measurement. Each returns records in JSON and a table. */
import type { Policy } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import type * as Effect from "effect/Effect"
import type { Sample } from "./Sample.ts"

/** A policy with its name in tables. */
export interface Contender {
  readonly name: string
  readonly policy: Policy
}

/** The inputs of the parts. */
export interface Context {
  readonly tiny: Contender
  /** Other weights of the same network. */
  readonly others: ReadonlyArray<Contender>
  readonly pool: WorkerPool
  /** The number of tasks for each figure. */
  readonly count: number
  /** The tasks on which policies are compared. */
  readonly tasks: ReadonlyArray<Task>
  /** The results of the tiny Conductor on these tasks, measured once. */
  readonly samples: Effect.Effect<ReadonlyArray<Sample>>
  /** Reports progress. */
  readonly say: (text: string) => void
}

/** The result of a part. */
export interface Found {
  /** The records, one JSON line each. */
  readonly records: ReadonlyArray<object>
  readonly markdown: string
}
