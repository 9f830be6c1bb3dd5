/**
 * Policies write workflows.
 *
 * A trained model, a prompted model, a lexical router, "always ask worker 2" and best-of-n are all policies, and the
 * same Conductor runs them. Baselines are policies too, so their cost is counted like that of any other policy.
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
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerRequest } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import * as WorkerPools from "../task/WorkerPool.ts"
import type { Price } from "../workflow/Price.ts"
import type { PastRound, Said, StepAnswer } from "../workflow/StepMessages.ts"
import * as Workflows from "../workflow/Workflow.ts"
import { check, type EarlierStep, type Workflow, type WorkflowInput } from "../workflow/Workflow.ts"

export type { Said } from "../workflow/StepMessages.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The previous rounds, as a recursive round sees them. */
export interface Previous {
  /** The workflow of the last round. */
  readonly workflow: Workflow
  /** Its answer, or the reason why it has no answer. Without an answer the policy should write another plan. */
  readonly answer: StepAnswer
  /** The results of its steps, by step index; `undefined` for a step that did not run. */
  readonly answers?: ReadonlyArray<StepAnswer | undefined> | undefined
  /** The indices of the workers that permanently failed a step in any round. */
  readonly failed: ReadonlyArray<number>
  /** A critic's feedback on the answer, or the problems of the answers that failed their checks. */
  readonly feedback?: string | undefined
  /** All rounds so far, for steps that use earlier answers (`Step.earlier`). */
  readonly rounds?: ReadonlyArray<PastRound> | undefined
}

/** An answer that failed its check and that other steps depend on. */
export interface FailedCheck {
  /** The index of its step. */
  readonly step: number
  readonly check: string
  readonly objection: string
}

/** The failed checks because of which a policy is consulted during a round. */
export interface Evidence {
  /** The answers that failed their checks, in step order. */
  readonly failed: readonly [FailedCheck, ...ReadonlyArray<FailedCheck>]
}

/** A policy's decision after answers failed their checks. */
export type Revision =
  /** The workflow continues unchanged. If the last step failed its check, its answer is still used. */
  | { readonly type: "go-on"; readonly notes?: ReadonlyArray<string> | undefined }
  /** The run ends with the answer of a step of this round or an earlier one. */
  | { readonly type: "stop"; readonly answer: EarlierStep; readonly notes?: ReadonlyArray<string> | undefined }
  /** The round ends, and the next begins with this workflow. */
  | ({ readonly type: "re-plan" } & Proposal)

/** The information available to a policy when it proposes a workflow. */
export interface Context {
  readonly task: Task
  readonly pool: WorkerPool
  /** The maximum number of steps of a workflow. */
  readonly maxSteps: number
  /** Whether the Conductor is a worker in its own pool. If so, its index is the size of the pool. */
  readonly self: boolean
  /** The index of the round, from 0. */
  readonly round: number
  /** Set in recursive rounds. In these, an empty workflow confirms the previous answer, if there is one. */
  readonly previous?: Previous | undefined
  /**
   * Set if answers failed their checks and the policy may re-plan. `previous` is then the current round, and `round`
   * the index of the next one.
   */
  readonly evidence?: Evidence | undefined
  /** The names of the checks that steps may use, in addition to workers as judges. */
  readonly checks?: ReadonlyArray<string> | undefined
  /** The names of the shapes that steps may request (`Step.gives`). */
  readonly shapes?: ReadonlyArray<string> | undefined
  /** The maximum number of items of all steps of a workflow together. Default: 1,000. */
  readonly maxItems?: number | undefined
  /** The names of the tools that steps may use. Only workers whose `capabilities` include tools can call them. */
  readonly tools?: ReadonlyArray<string> | undefined
  /** Returns why a text does not have the shape of the run's output. Absent if the run accepts any text. */
  readonly misfit?: ((text: string) => string | undefined) | undefined
  /** The policy's seed for this round, derived from the run's seed. */
  readonly seed: number
  /** Returns the price of a workflow under the settings of the run. The price of an invalid workflow is meaningless. */
  readonly price: (workflow: Workflow) => Price
  /**
   * Returns why a workflow would exceed the run's own budget, with its price, or `undefined` if it fits. Present if
   * whole plans are admitted (`budget.admit`). A shared account may still refuse the plan.
   */
  readonly admission?: ((workflow: Workflow) => BudgetExceeded | undefined) | undefined
  /**
   * Requests a completion from a model. Policies must call models through this function, so that calls are budgeted,
   * retried and recorded.
   */
  readonly complete: Complete
}

/** Requests a completion from a model and parses it. Its cost and text appear in the run's events. */
export type Complete = <A, E extends { readonly message: string }>(options: {
  readonly model: Worker
  readonly request: WorkerRequest
  /**
   * The index of the attempt within the round, from 0. It increases after each completion that could not be parsed. By
   * default, the run numbers the completions in the order in which they start.
   */
  readonly attempt?: number | undefined
  /** Parses the text of the completion (`completion`) or the complete response (`said`). */
  readonly read: (completion: string, said: Said) => Result.Result<A, E>
}) => Effect.Effect<
  {
    readonly completion: string
    readonly reading: Result.Result<A, E>
    readonly said: Said
    /** The index of the attempt. */
    readonly attempt: number
    /** The `echo` of the response. */
    readonly echo?: unknown
  },
  WorkerError | BudgetExceeded
>

/** A policy's workflow or direct answer, with its author and notes. */
export interface Proposal {
  /** Empty if the policy answers directly. */
  readonly workflow: Workflow
  /**
   * The policy's own answer, without a call to a worker. It must have the shape of the run's output, and a critic
   * scores it like any other answer. Without a critic it ends the run, unless `isLast` is `false`. The paper's
   * Conductor never answers directly.
   */
  readonly answer?: string | undefined
  /**
   * If `true`, the run ends with this round, even if more rounds are allowed. If `false`, the answer of this round is a
   * draft, which is not the run's answer if a limit ends the run. By default, the last allowed round is the last.
   */
  readonly isLast?: boolean | undefined
  /** The name of the policy that wrote it, if it was a fallback. */
  readonly policy?: string | undefined
  /**
   * The policy that wrote it, if the run's policy delegated to another. Its checks are used, and its `revise` is
   * called.
   */
  readonly author?: Policy | undefined
  /** Deviations that the tolerant parser accepted, and the reason why a fallback wrote the workflow. */
  readonly notes?: ReadonlyArray<string> | undefined
  /**
   * The probability of this choice, above 0 and at most 1, if the policy samples. Required for learning from the
   * answer.
   */
  readonly probability?: number | undefined
}

/** Writes the workflows of runs. */
export interface Policy {
  readonly name: string
  /** Why a run uses this policy, as a sentence; it is reported at the start of the run. */
  readonly reason?: string | undefined
  /**
   * The length of its longest workflow. Set it if that can exceed the Conductor's limit, as for a baseline with a fixed
   * length.
   */
  readonly maxSteps?: number | undefined
  /**
   * The number of extra rounds that it needs. Set it if that can exceed the Conductor's limit, as for a policy that
   * retries. `Infinity` allows as many as the budget permits, but fewer than 10,000, which bounds runs that cost
   * nothing.
   */
  readonly recursion?: number | undefined
  /** Checks that its steps use by name, in addition to the checks of the run. */
  readonly checks?: Checks | undefined
  /**
   * Whether the next eligible worker takes over a step whose worker failed permanently. Default: `true`. Use `false` if
   * the caller chose the worker explicitly. `RunSettings.reassign` overrides it.
   */
  readonly failover?: boolean | undefined
  readonly propose: (context: Context) => Effect.Effect<Proposal, PolicyError | WorkerError | BudgetExceeded>
  /**
   * Called if answers failed checks with `onFailure: "revise"`, no other step of the round can run, and another round
   * is allowed. Without `revise`, `propose` is called, and an empty workflow means "continue". If it fails, the round
   * continues.
   */
  readonly revise?:
    | ((context: Revising) => Effect.Effect<Revision, PolicyError | WorkerError | BudgetExceeded>)
    | undefined
}

/** The information available to a policy when it may re-plan. */
export interface Revising extends Context {
  readonly previous: Previous
  readonly evidence: Evidence
}

/** Converts a proposal made during a round to a revision. A proposal without steps and answer means "continue". */
export const revisionOf = (proposal: Proposal): Revision =>
  proposal.workflow.steps.length === 0 && proposal.answer === undefined
    ? { type: "go-on", notes: proposal.notes }
    : { ...proposal, type: "re-plan" }

/** Whether an error has a meaning for the run. Journal errors stop the run, and a policy cannot hide them. */
const isKnown = (error: unknown): boolean =>
  isA(error, PolicyError) ||
  isA(error, WorkerError) ||
  isA(error, BudgetExceeded) ||
  // Compared by tag, because the policy layer is below the layer that defines these errors.
  Predicate.isTagged(error, "JournalError") ||
  Predicate.isTagged(error, "JournalMismatch")

const failed = (policy: string, callback: string, cause: unknown) =>
  new PolicyError({ policy, detail: `its ${callback} failed: ${messageOf(cause)}`, cause })

/** Calls a policy's function, which may be async. Exceptions become `PolicyError`s. */
const calledOf = <A>(
  policy: string,
  callback: string,
  call: () => Given<A, PolicyError | WorkerError | BudgetExceeded>
): Effect.Effect<A, PolicyError | WorkerError | BudgetExceeded> =>
  Effect.mapError(called(callback, call, isKnown), (error) =>
    isA(error, CallbackError) ? failed(policy, error.callback, error.cause) : error
  )

/** Accepts a proposal whose workflow may name workers by id. */
const proposalOf = (
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

/** Replaces worker ids in a proposal's workflow by ordinals. A direct answer needs no workflow. */
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
 * Requests a workflow from a policy. Use this instead of `policy.propose(context)`, because user code may be async and
 * may throw.
 */
export const propose = (
  policy: Policy,
  context: Context
): Effect.Effect<Proposal, PolicyError | WorkerError | BudgetExceeded> =>
  Effect.flatMap(
    calledOf(policy.name, "propose", () => policy.propose(context)),
    (proposal) => byOrdinals(policy.name, context, proposal)
  )

/** Asks the author of a workflow, or else the run's policy, how to handle answers that failed their checks. */
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

/** Returns what is wrong with a proposal in which the policy answers directly, or `undefined`. */
export const answerProblem = ({ answer, workflow }: Proposal, misfit: Context["misfit"]): string | undefined => {
  if (typeof answer !== "string") return "its own answer must be a string"
  if (answer.trim() === "") return "its own answer is empty"
  if (workflow.steps.length > 0) return "it proposed both an answer and steps; give one of them"
  const problem = misfit?.(answer)
  return problem === undefined ? undefined : `its own answer does not match the output schema: ${problem}`
}

/** Whether there is a previous answer that a recursive round can confirm. */
export const canStand = (previous: Previous | undefined): boolean => previous?.answer.type === "answered"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The policy could not write a workflow for this task. */
export class PolicyError extends Data.TaggedError("PolicyError")<{
  readonly policy: string
  readonly detail: string
  /**
   * True if no worker of the pool can answer such a task. The run then ends as `refused`, without trying a fallback.
   */
  readonly isRefusal?: boolean | undefined
  /** The exception, if the policy's code threw. */
  readonly cause?: unknown
}> {
  override get message(): string {
    return this.isRefusal === true ? this.detail : `Policy ${this.policy} produced no workflow: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Fallback
// -------------------------------------------------------------------------------------------------------------------

/** Failures caused by a wrong configuration of the model. A fallback would hide them. */
const mistakes: ReadonlySet<WorkerErrorReason["_tag"]> = new Set(["InvalidRequest", "Authentication"])

/** Checks a proposal against the rules of its round. */
const valid = (
  policy: Policy,
  context: Context,
  proposal: Proposal
): Effect.Effect<Proposal, PolicyError | BudgetExceeded> => {
  if (proposal?.answer !== undefined) {
    const detail = answerProblem(proposal, context.misfit)
    return detail === undefined
      ? Effect.succeed(proposal)
      : Effect.fail(new PolicyError({ policy: policy.name, detail }))
  }
  const { checks = [], maxItems, maxSteps, pool, previous, self, shapes, tools } = context
  const size = pool.workers.length
  const checked = check(proposal?.workflow, {
    poolSize: size + (self ? 1 : 0),
    maxSteps: Math.max(maxSteps, policy.maxSteps ?? 0),
    allowEmpty: canStand(previous),
    earlier: previous?.rounds?.map(({ workflow }) => workflow.steps.length),
    checks: [...checks, ...Object.keys(proposal?.author?.checks ?? {})],
    judges: size,
    maxItems,
    shapes,
    tools
  })
  if (Result.isFailure(checked))
    return Effect.fail(new PolicyError({ policy: policy.name, detail: checked.failure.message }))
  const tooDear = checked.success.steps.length === 0 ? undefined : context.admission?.(checked.success)
  return tooDear === undefined ? Effect.succeed(proposal) : Effect.fail(tooDear)
}

/**
 * Combines a policy with a fallback that plans if the policy cannot.
 *
 * **Details**
 *
 * The fallback is used if the policy does not return a valid workflow (it throws, rejects, or returns nothing or an
 * invalid workflow), or if its model fails. It is not used if the budget is exhausted (unless only the whole plan is
 * too expensive, `budget.admit`), the policy declines the task, or a call is refused because of the model's settings or
 * key. `declines` can return a reason to skip the policy. Proposals of the fallback have its name, and their first note
 * states the reason.
 *
 * **Example**
 *
 * ```ts
 * import { Baselines } from "@divisi/core"
 * import * as Policy from "@divisi/core/Policy"
 *
 * const policy = Policy.withFallback(Baselines.single("the-expert"), Baselines.single(0), {
 *   declines: ({ pool }) => (pool.workers.length === 1 ? "There is nobody to choose from." : undefined)
 * })
 * policy.name // => "single:the-expert"
 * ```
 */
export const withFallback = (
  policy: Policy,
  fallback: Policy,
  options: {
    readonly declines?: ((context: Context) => string | undefined | PromiseLike<string | undefined>) | undefined
  } = {}
): Policy => {
  const standIn = (context: Context, why: string) =>
    Effect.map(propose(fallback, context), (proposal) => ({
      policy: fallback.name,
      author: fallback,
      ...proposal,
      notes: [`Using the fallback policy ${fallback.name}. ${why}`, ...(proposal.notes ?? [])]
    }))
  const longest = Math.max(policy.maxSteps ?? 0, fallback.maxSteps ?? 0)
  const rounds = Math.max(policy.recursion ?? 0, fallback.recursion ?? 0)
  /** Returns the first result or else the fallback's, except for errors that a fallback would hide. */
  const orElse = <A>(
    said: Effect.Effect<A, PolicyError | WorkerError | BudgetExceeded>,
    other: (why: string) => Effect.Effect<A, PolicyError | WorkerError | BudgetExceeded>
  ) =>
    Effect.catchTags(said, {
      PolicyError: (error) => (error.isRefusal === true ? Effect.fail(error) : other(error.message)),
      // A plan that is too expensive has cost nothing yet, and the fallback may plan more cheaply.
      BudgetExceeded: (error) => (error.plan === undefined ? Effect.fail(error) : other(error.message)),
      WorkerError: (error) => (mistakes.has(error.reason._tag) ? Effect.fail(error) : other(error.message))
    })
  const { revise } = policy
  const proposal = (context: Context) =>
    Effect.flatMap(propose(policy, context), (proposal) => valid(policy, context, proposal))
  return {
    name: policy.name,
    maxSteps: longest === 0 ? undefined : longest,
    recursion: rounds === 0 ? undefined : rounds,
    checks: policy.checks,
    revise:
      revise &&
      ((context) =>
        orElse(
          calledOf(policy.name, "revise", () => revise(context)),
          (why) => Effect.map(standIn(context, why), revisionOf)
        )),
    propose: (context) => {
      const proposed = orElse(proposal(context), (why) => standIn(context, why))
      if (options.declines === undefined) return proposed
      const declined = calledOf<string | undefined>(policy.name, "declines", () => options.declines?.(context))
      return Effect.flatMap(declined, (why) => (why === undefined ? proposed : standIn(context, why)))
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Fixed policies
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a policy whose workflow is a function of the context. The function can return an error instead, which ends
 * the run as a `PolicyError`.
 *
 * **Details**
 *
 * It plans once per task: a recursive round confirms the previous answer. If the answer is missing, or a critic or a
 * check rejected it, the plan is tried again. For `maxSteps` see {@link fixed}.
 */
export const planned = (
  name: string,
  plan: (context: Context) => Result.Result<WorkflowInput, string>,
  maxSteps?: number
): Policy => ({
  name,
  maxSteps,
  propose: (context) =>
    Effect.suspend((): Effect.Effect<Proposal, PolicyError> => {
      const { previous } = context
      if (canStand(previous) && previous?.feedback === undefined) return Effect.succeed({ workflow: { steps: [] } })
      const workflow = plan(context)
      return Result.isFailure(workflow)
        ? Effect.fail(new PolicyError({ policy: name, detail: workflow.failure }))
        : proposalOf(name, context, workflow.success)
    })
})

/**
 * A policy whose workflow is a function of the pool and the task, without a model.
 *
 * **Details**
 *
 * `maxSteps` is the length of its longest workflow; set it if that can exceed the Conductor's limit. In a recursive
 * round it confirms the previous answer. If the answer is missing or a critic rejected it, it writes its workflow
 * again.
 *
 * **Example**
 *
 * ```ts
 * import * as Policy from "@divisi/core/Policy"
 * import * as Task from "@divisi/core/Task"
 *
 * const longQuestionsToTheLast = Policy.fixed("by-length", (pool, task) => ({
 *   steps: [
 *     { worker: Task.question(task).length > 200 ? pool.workers.length - 1 : 0, subtask: "", access: [] }
 *   ]
 * }))
 * ```
 */
export const fixed = (
  name: string,
  plan: (pool: WorkerPool, task: Task, context: Context) => WorkflowInput,
  options: { readonly maxSteps?: number | undefined } = {}
): Policy => planned(name, (context) => Result.succeed(plan(context.pool, context.task, context)), options.maxSteps)
