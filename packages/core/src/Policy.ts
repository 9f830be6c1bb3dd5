/**
 * Policies: what writes workflows.
 *
 * Everything that answers a question is a policy, run by the same Conductor: a trained model, a prompted one, a lexical
 * router, "always ask worker 2", best-of-n. Most baselines are a policy that always writes the same workflow, so their
 * cost is counted exactly like everybody else's.
 */
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { BudgetExceeded } from "./Budget.ts"
import type { Task } from "./Task.ts"
import type { Worker, WorkerError, WorkerRequest } from "./Worker.ts"
import type { WorkerPool } from "./WorkerPool.ts"
import type { Workflow } from "./Workflow.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The round before this one, as a recursive round sees it. */
export interface Previous {
  readonly workflow: Workflow
  readonly answer: string
  /** What a critic said of the answer. */
  readonly feedback?: string
}

/** What a policy knows when it proposes a workflow. */
export interface Context {
  readonly task: Task
  readonly pool: WorkerPool
  /** The most steps a workflow may have. */
  readonly maxSteps: number
  /** Whether the Conductor is offered as a worker of its own pool; its ordinal is then the size of the pool. */
  readonly self: boolean
  /** 0 for the first round. */
  readonly round: number
  /** Present in recursive rounds. There, a workflow without steps lets the previous answer stand. */
  readonly previous?: Previous
  /** The policy's own seed for this round; the same run gives the same seeds. */
  readonly seed: number
  /** Asks a model for a completion. The only way for a policy to call a model: it is budgeted, retried and recorded. */
  readonly complete: Complete
}

/** Asks a model for a completion and reads it; what it costs and what it says go into the run's events. */
export type Complete = <A, E extends { readonly message: string }>(options: {
  readonly model: Worker
  readonly request: WorkerRequest
  /** 0 for the first completion of a round, 1 after one that could not be read, and so on. */
  readonly attempt: number
  readonly read: (completion: string) => Result.Result<A, E>
}) => Effect.Effect<
  { readonly completion: string; readonly reading: Result.Result<A, E> },
  WorkerError | BudgetExceeded
>

/** A workflow with how it came about. */
export interface Proposal {
  readonly workflow: Workflow
  /** The name of the policy that wrote it, where that is a fallback. */
  readonly policy?: string
  /** What tolerant reading forgave. */
  readonly notes?: ReadonlyArray<string>
}

/** What writes workflows. */
export interface Policy {
  readonly name: string
  /** The longest workflow it writes, where that is more than the Conductor's limit: a baseline that is always as long. */
  readonly maxSteps?: number
  readonly propose: (context: Context) => Effect.Effect<Proposal, PolicyError | WorkerError | BudgetExceeded>
}

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The policy has no workflow for this task. */
export class PolicyError extends Data.TaggedError("PolicyError")<{ readonly policy: string; readonly detail: string }> {
  override get message(): string {
    return `The ${this.policy} policy wrote no workflow: ${this.detail}`
  }
}
