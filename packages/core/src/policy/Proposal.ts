/**
 * Policies write the workflows that the Conductor runs.
 *
 * Trained models, prompted models, lexical routers, best-of-n and "always use worker 2" are all policies, and the same
 * Conductor runs them. Baselines are policies as well, so their cost is measured in the same way.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { CallbackError, called, type Given } from "../Callback.ts"
import { isA, messageOf } from "../Thrown.ts"
import type { Checks } from "../task/Check.ts"
import type { Task } from "../task/Task.ts"
import { BudgetExceeded } from "../task/Usage.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as WorkerPools from "../task/WorkerPool.ts"
import type { Price } from "../workflow/Price.ts"
import type { ModelResponse, PastRound, StepAnswer } from "../workflow/StepMessages.ts"
import type { EarlierStep, Workflow, WorkflowInput } from "../workflow/Workflow.ts"
import * as Workflows from "../workflow/Workflow.ts"

export type { ModelResponse } from "../workflow/StepMessages.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The previous rounds, as a recursive round sees them. */
export interface Previous {
  /** The workflow of the last round. */
  readonly workflow: Workflow
  /**
   * The answer of the last round, or the reason why the round has no answer. If it has no answer, the policy should
   * write a different plan.
   */
  readonly answer: StepAnswer
  /** Results of the last round's steps, by step index. `undefined` for steps that did not run. */
  readonly answers?: ReadonlyArray<StepAnswer | undefined> | undefined
  /** Indices of the workers that failed a step after all retries, in any round. */
  readonly failed: ReadonlyArray<number>
  /** The critic's feedback on the answer, or the objections to answers that failed their checks. */
  readonly feedback?: string | undefined
  /** All previous rounds, for steps that refer to earlier answers (`Step.earlier`). */
  readonly rounds?: ReadonlyArray<PastRound> | undefined
}

/** An answer that failed its check and on which other steps depend. */
export interface FailedCheck {
  /** Index of the step that gave the answer. */
  readonly step: number
  readonly check: string
  readonly objection: string
  /** Set if the check itself failed, so that the answer was not checked. */
  readonly couldNotRun?: true | undefined
}

/** The failed checks that caused the policy to be consulted during a round. */
export interface Evidence {
  /** Answers that failed their checks, in step order. */
  readonly failed: readonly [FailedCheck, ...ReadonlyArray<FailedCheck>]
}

/** A policy's decision about answers that failed their checks. */
export type Revision =
  /** Continue the workflow unchanged. If the last step failed its check, its answer is still used. */
  | { readonly type: "go-on"; readonly notes?: ReadonlyArray<string> | undefined }
  /** End the run with the answer of a step of this round or an earlier one. */
  | { readonly type: "stop"; readonly answer: EarlierStep; readonly notes?: ReadonlyArray<string> | undefined }
  /** End the round, and start the next one with this workflow. */
  | ({ readonly type: "re-plan" } & Proposal)

/** The information available to a policy when it proposes a workflow. */
export interface Context {
  readonly task: Task
  readonly pool: WorkerPool
  /** Maximum number of steps in a workflow. */
  readonly maxSteps: number
  /** Whether the Conductor is a worker in its own pool. If so, its index equals the pool size. */
  readonly self: boolean
  /** Zero-based index of the round. */
  readonly round: number
  /** Set in recursive rounds. An empty workflow then confirms the previous answer, if there is one. */
  readonly previous?: Previous | undefined
  /**
   * Set if answers failed their checks and the policy may write a new plan. In this case, `previous` describes the
   * current round, and `round` is the index of the next one.
   */
  readonly evidence?: Evidence | undefined
  /** Names of the checks that steps may use. Workers may also act as judges. */
  readonly checks?: ReadonlyArray<string> | undefined
  /** Names of the output formats that steps may request with `Step.gives`. */
  readonly shapes?: ReadonlyArray<string> | undefined
  /** Maximum total number of items across all steps of a workflow. Default: 1,000. */
  readonly maxItems?: number | undefined
  /** Names of the tools that steps may use. Only workers with the `tools` capability can call them. */
  readonly tools?: ReadonlyArray<string> | undefined
  /**
   * Returns an error message if a text does not match the run's output format. Undefined if the run accepts any text.
   */
  readonly misfit?: ((text: string) => string | undefined) | undefined
  /** Maximum number of output tokens per call (`worker.maxOutputTokens`). A direct answer must not exceed it. */
  readonly maxOutputTokens?: number | undefined
  /** The policy's seed for this round, derived from the run's seed. */
  readonly seed: number
  /**
   * Calculates the price of a valid workflow under the run's settings. Throws an `OptionsError` if a worker is not in
   * the pool.
   */
  readonly price: (workflow: WorkflowInput) => Price
  /**
   * Returns an error with the price if a workflow would exceed the run's own budget, or `undefined` if it fits. Set
   * only if whole plans are admitted (`budget.admit`). A shared account may still reject the plan.
   */
  readonly admission?: ((workflow: Workflow) => BudgetExceeded | undefined) | undefined
  /**
   * Requests a completion from a model. Policies must make all model calls through this function, so that they are
   * charged to the budget, retried and recorded.
   */
  readonly complete: Complete
}

/** Requests a completion from a model and parses it. The run's events include its cost and text. */
export type Complete = <A, E extends { readonly message: string }>(options: {
  readonly model: Worker
  readonly request: WorkerRequest
  /**
   * Zero-based index of the attempt within the round. Incremented after each completion that could not be parsed. By
   * default, completions are numbered in the order in which they start.
   */
  readonly attempt?: number | undefined
  /** Parses the completion's text (`completion`) or the complete response (`response`). */
  readonly read: (completion: string, response: ModelResponse) => Result.Result<A, E>
}) => Effect.Effect<
  {
    readonly completion: string
    readonly reading: Result.Result<A, E>
    readonly said: ModelResponse
    /** Index of the attempt. */
    readonly attempt: number
    /** The `echo` of the model's response. */
    readonly echo?: unknown
  },
  WorkerError | BudgetExceeded
>

/** A workflow or a direct answer, with its author and notes. */
export interface Proposal {
  /** The proposed workflow. Empty if the policy answers directly. */
  readonly workflow: Workflow
  /**
   * The policy's own answer, given without calling a worker. It must match the run's output format, and a critic scores
   * it like any other answer. Without a critic, it ends the run unless `isLast` is `false`. The paper's Conductor never
   * answers directly.
   */
  readonly answer?: string | undefined
  /**
   * `true` ends the run after this round, even if more rounds are allowed. `false` marks the round's answer as a draft,
   * which does not become the run's answer if a limit ends the run. By default, the run ends after the last allowed
   * round.
   */
  readonly isLast?: boolean | undefined
  /** Name of the fallback policy that wrote the proposal, if any. */
  readonly policy?: string | undefined
  /**
   * The policy that wrote the proposal, if the run's policy delegated to another one. Its checks and its `revise` are
   * used.
   */
  readonly author?: Policy | undefined
  /** Deviations accepted by the tolerant parser, and the reason for using a fallback. */
  readonly notes?: ReadonlyArray<string> | undefined
  /**
   * The probability of this choice, greater than 0 and at most 1, if the policy samples. Required for learning from the
   * outcome.
   */
  readonly probability?: number | undefined
}

/** Writes the workflows for a run. */
export interface Policy {
  readonly name: string
  /** One-sentence explanation of why this policy is used, reported at the start of the run. */
  readonly reason?: string | undefined
  /**
   * Length of the policy's longest workflow. Set it if it can exceed the Conductor's limit, as for a baseline with a
   * fixed length.
   */
  readonly maxSteps?: number | undefined
  /**
   * Number of additional rounds that the policy needs. Set it if it can exceed the Conductor's limit, as for a policy
   * that retries. `Infinity` allows as many rounds as the budget permits, but fewer than 10,000, so that free runs end
   * as well.
   */
  readonly recursion?: number | undefined
  /** Named checks that the policy's steps may refer to, in addition to the run's checks. */
  readonly checks?: Checks | undefined
  /**
   * Whether the next eligible worker takes over a step after its worker failed all retries. Set to `false` if the
   * caller selected the worker explicitly. `RunSettings.reassign` takes precedence. Default: `true`.
   */
  readonly failover?: boolean | undefined
  readonly propose: (context: Context) => Effect.Effect<Proposal, PolicyError | WorkerError | BudgetExceeded>
  /**
   * Called when answers have failed checks with `onFailure: "revise"`, no other step of the round can run, and another
   * round is allowed. If omitted, `propose` is called instead, and an empty workflow means that the round continues. If
   * it fails, the round continues as well.
   */
  readonly revise?:
    | ((context: Revising) => Effect.Effect<Revision, PolicyError | WorkerError | BudgetExceeded>)
    | undefined
}

/** The information available to a policy when it decides about failed checks. */
export interface Revising extends Context {
  readonly previous: Previous
  readonly evidence: Evidence
}

/**
 * Converts a proposal made during a round to a revision. A proposal without steps and without an answer continues the
 * round.
 */
export const revisionOf = (proposal: Proposal): Revision =>
  proposal.workflow.steps.length === 0 && proposal.answer === undefined
    ? { type: "go-on", notes: proposal.notes }
    : { ...proposal, type: "re-plan" }

/** Whether the run handles this error itself. A policy must not hide journal errors, which stop the run. */
const isKnown = (error: unknown): boolean =>
  isA(error, PolicyError) ||
  isA(error, WorkerError) ||
  isA(error, BudgetExceeded) ||
  // Compared by tag, because policies must not depend on the modules that define these errors.
  Predicate.isTagged(error, "JournalError") ||
  Predicate.isTagged(error, "JournalMismatch")

const failed = (policy: string, callback: string, cause: unknown) =>
  new PolicyError({ policy, detail: `its ${callback} function failed: ${messageOf(cause)}`, cause })

/**
 * Calls a policy method, which may be async. Exceptions are converted to a `PolicyError`.
 *
 * @internal
 */
export const calledOf = <A>(
  policy: string,
  callback: string,
  call: () => Given<A, PolicyError | WorkerError | BudgetExceeded>
): Effect.Effect<A, PolicyError | WorkerError | BudgetExceeded> =>
  Effect.mapError(called(callback, call, isKnown), (error) =>
    isA(error, CallbackError) ? failed(policy, error.callback, error.cause) : error
  )

/**
 * Converts a workflow that may refer to workers by id to a proposal.
 *
 * @internal
 */
export const proposalOf = (
  policy: string,
  { pool }: Context,
  workflow: WorkflowInput
): Effect.Effect<Proposal, PolicyError> => {
  const resolved = Workflows.byOrdinals(workflow, WorkerPools.ids(pool))
  return Result.isSuccess(resolved)
    ? Effect.succeed({ workflow: resolved.success })
    : Effect.fail(new PolicyError({ policy, detail: resolved.failure }))
}

const noSteps: Workflow = { steps: [] }

/** Replaces worker ids in a proposal's workflow with indices. A direct answer needs no workflow. */
const byOrdinals = <A extends Proposal>(
  policy: string,
  context: Context,
  proposal: A
): Effect.Effect<A, PolicyError> =>
  proposal?.workflow === undefined && typeof proposal?.answer === "string"
    ? Effect.succeed({ ...proposal, workflow: noSteps })
    : Effect.map(proposalOf(policy, context, proposal?.workflow), ({ workflow }) =>
        workflow === proposal?.workflow ? proposal : { ...proposal, workflow }
      )

/**
 * Runs an effect that reads a policy's proposal. Its getters may throw, which is converted to a `PolicyError`.
 *
 * @internal
 */
export const reading = <A, E>(policy: string, read: () => Effect.Effect<A, E>): Effect.Effect<A, E | PolicyError> =>
  Effect.catchDefect(Effect.suspend(read), (defect) => Effect.fail(failed(policy, "propose", defect)))

/**
 * Requests a workflow from a policy. Use this instead of calling `policy.propose(context)`, because a user-supplied
 * policy may be async and may throw.
 */
export const propose = (
  policy: Policy,
  context: Context
): Effect.Effect<Proposal, PolicyError | WorkerError | BudgetExceeded> =>
  reading(policy.name, () =>
    Effect.flatMap(
      calledOf(policy.name, "propose", () => policy.propose(context)),
      (proposal) => byOrdinals(policy.name, context, proposal)
    )
  )

/**
 * Asks how to handle answers that failed their checks. The workflow's author decides; if it has no `revise`, the run's
 * policy does.
 */
export const revise = (
  policy: Policy,
  author: Policy,
  context: Revising
): Effect.Effect<Revision, PolicyError | WorkerError | BudgetExceeded> => {
  const asked = author.revise === undefined ? policy : author
  return asked.revise === undefined
    ? Effect.map(propose(policy, context), revisionOf)
    : Effect.flatMap(
        calledOf(asked.name, "revise", () => asked.revise!(context)),
        (revision): Effect.Effect<Revision, PolicyError> =>
          revision?.type === "re-plan" ? byOrdinals(asked.name, context, revision) : Effect.succeed(revision)
      )
}

/**
 * Returns an error message if a direct answer is invalid, or `undefined` if it is valid.
 *
 * @internal
 */
export const answerProblem = ({ answer, workflow }: Proposal, misfit: Context["misfit"]): string | undefined => {
  if (typeof answer !== "string") return "its own answer must be a string"
  if (answer.trim() === "") return "its own answer is empty"
  if (workflow.steps.length > 0) return "it proposed both an answer and steps; return one of them"
  const problem = misfit?.(answer)
  return problem === undefined ? undefined : `its own answer does not match the output schema: ${problem}`
}

/** Whether there is a previous answer that a recursive round can confirm. */
export const canStand = (previous: Previous | undefined): boolean => previous?.answer.type === "answered"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised when a policy cannot write a workflow for a task. */
export class PolicyError extends Data.TaggedError("PolicyError")<{
  readonly policy: string
  readonly detail: string
  /**
   * `true` if no worker in the pool can answer the task. The run then ends as `refused`, and the fallback is not used.
   */
  readonly isRefusal?: boolean | undefined
  /** The original exception, if the policy's code threw one. */
  readonly cause?: unknown
}> {
  override get message(): string {
    return this.isRefusal === true ? this.detail : `Policy "${this.policy}" produced no valid plan: ${this.detail}`
  }
}
