/** Policies: what they are, how a run calls them, and how to combine and create simple ones. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { onDemand } from "../OnDemand.ts"
import * as Options from "../Options.ts"
import type { Task } from "../task/Task.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { WorkflowInput } from "../workflow/Workflow.ts"
import { type Context, canStand, type Policy, PolicyError, type Proposal, proposalOf } from "./Proposal.ts"

export * from "./Proposal.ts"

// -------------------------------------------------------------------------------------------------------------------
// Fallback
// -------------------------------------------------------------------------------------------------------------------

/** Returns a reason to skip a policy, or `undefined`. */
export type Declines = (context: Context) => string | undefined | PromiseLike<string | undefined>

const withFallbacks = onDemand(() => import("./fallback.ts"))

/**
 * Combines a policy with a fallback that plans whenever the policy cannot.
 *
 * **Details**
 *
 * The fallback is used if the policy throws, returns no valid workflow, or if its model fails. It is not used if the
 * budget is exhausted (unless the plan as a whole is too expensive, see `budget.admit`), if the policy refuses the
 * task, or if a call is rejected because of the model's settings or API key. `declines` may return a reason to skip the
 * policy. Proposals by the fallback carry its name, and their first note states the reason.
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
  options: { readonly declines?: Declines | undefined } = {}
): Policy => {
  Options.check("withFallback", options, { declines: Options.aFunction })
  const longest = Math.max(policy.maxSteps ?? 0, fallback.maxSteps ?? 0)
  const rounds = Math.max(policy.recursion ?? 0, fallback.recursion ?? 0)
  return {
    name: policy.name,
    maxSteps: longest === 0 ? undefined : longest,
    recursion: rounds === 0 ? undefined : rounds,
    checks: policy.checks,
    revise: policy.revise && ((context) => withFallbacks(({ revise }) => revise(policy, fallback, context))),
    propose: (context) => withFallbacks(({ propose }) => propose(policy, fallback, options.declines, context))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Prices
// -------------------------------------------------------------------------------------------------------------------

const unpriced = new WeakSet<Policy["propose"]>()

/**
 * Marks a policy that uses neither `price` nor `admission`, so that a run with it does not load their code.
 *
 * @internal
 */
export const withoutPrices = (policy: Policy): Policy => {
  unpriced.add(policy.propose)
  return policy
}

/**
 * Whether a policy may use `price` or `admission`.
 *
 * @internal
 */
export const mayUsePrices = ({ propose }: Policy): boolean => !unpriced.has(propose)

// -------------------------------------------------------------------------------------------------------------------
// Fixed policies
// -------------------------------------------------------------------------------------------------------------------

/**
 * Creates a policy that computes its workflow from the context. If the function returns a failure, the run ends with a
 * `PolicyError`.
 *
 * **Details**
 *
 * A recursive round confirms the previous answer. If there is no answer, or a critic or check rejected it, the same
 * plan runs again. For `maxSteps`, see {@link fixed}.
 *
 * @internal
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
 * Creates a policy that computes its workflow from the pool and the task, without a model.
 *
 * **Details**
 *
 * `maxSteps` is the length of the longest workflow; set it if that may exceed the Conductor's limit. A recursive round
 * confirms the previous answer. If there is no answer, or a critic rejected it, the same workflow runs again.
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
): Policy => {
  Options.check("Policy.fixed", options, { maxSteps: Options.whole(1) })
  return planned(name, (context) => Result.succeed(plan(context.pool, context.task, context)), options.maxSteps)
}
