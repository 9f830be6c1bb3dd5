/** The parts of the measurement. Each returns records in JSON and a table. */
import type { Policy } from "@divisi/core/Policy"
import type { Task } from "@divisi/core/Task"
import type { WorkerPool } from "@divisi/core/WorkerPool"
import type * as Effect from "effect/Effect"
import type { Sample } from "./Sample.ts"

/** A policy under the name that tables have for it. */
export interface Contender {
  readonly name: string
  readonly policy: Policy
}

/** What parts measure. */
export interface Context {
  readonly tiny: Contender
  /** Other weights of the same network. */
  readonly others: ReadonlyArray<Contender>
  readonly pool: WorkerPool
  /** How many tasks for each figure. */
  readonly count: number
  /** The tasks that policies are compared on. */
  readonly tasks: ReadonlyArray<Task>
  /** What the tiny Conductor does with them: measured once. */
  readonly samples: Effect.Effect<ReadonlyArray<Sample>>
  /** Says how far it is. */
  readonly say: (text: string) => void
}

/** What a part found. */
export interface Found {
  /** One JSON line each. */
  readonly records: ReadonlyArray<object>
  readonly markdown: string
}
