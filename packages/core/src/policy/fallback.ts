/** Plans with a fallback if a policy cannot. Loaded when a policy with a fallback plans. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError, WorkerErrorReason } from "../task/Worker.ts"
import { check } from "../workflow/Workflow.ts"
import type { Declines } from "./Policy.ts"
import * as Policy from "./Proposal.ts"

/** Failures caused by a misconfigured model. Using a fallback would hide them. */
const mistakes: ReadonlySet<WorkerErrorReason["_tag"]> = new Set(["InvalidRequest", "Authentication"])

/** Validates a proposal against the rules of its round. */
const valid = (
  policy: Policy.Policy,
  context: Policy.Context,
  proposal: Policy.Proposal
): Effect.Effect<Policy.Proposal, Policy.PolicyError | BudgetExceeded> => {
  if (proposal?.answer !== undefined) {
    const detail = Policy.answerProblem(proposal, context.misfit)
    return detail === undefined
      ? Effect.succeed(proposal)
      : Effect.fail(new Policy.PolicyError({ policy: policy.name, detail }))
  }
  const { checks = [], maxItems, maxSteps, pool, previous, self, shapes, tools } = context
  const size = pool.workers.length
  const checked = check(proposal?.workflow, {
    poolSize: size + (self ? 1 : 0),
    maxSteps: Math.max(maxSteps, policy.maxSteps ?? 0),
    allowEmpty: Policy.canStand(previous),
    earlier: previous?.rounds?.map(({ workflow }) => workflow.steps.length),
    checks: [...checks, ...Object.keys(proposal?.author?.checks ?? {})],
    judges: size,
    maxItems,
    shapes,
    tools
  })
  if (Result.isFailure(checked))
    return Effect.fail(new Policy.PolicyError({ policy: policy.name, detail: checked.failure.message }))
  const tooDear = checked.success.steps.length === 0 ? undefined : context.admission?.(checked.success)
  return tooDear === undefined ? Effect.succeed(proposal) : Effect.fail(tooDear)
}

/** Returns the proposal of another policy, in its name and with a note. */
export const inPlaceOf = (other: Policy.Policy, context: Policy.Context, note: string) =>
  Effect.map(Policy.propose(other, context), (proposal) => ({
    policy: other.name,
    author: other,
    ...proposal,
    notes: [note, ...(proposal.notes ?? [])]
  }))

const standIn = (fallback: Policy.Policy, context: Policy.Context, why: string) =>
  inPlaceOf(fallback, context, `Using the fallback policy ${fallback.name}. ${why}`)

/** Returns the first result, or that of the fallback. Errors that a fallback would hide are passed on. */
const orElse = <A>(
  said: Effect.Effect<A, Policy.PolicyError | WorkerError | BudgetExceeded>,
  other: (why: string) => Effect.Effect<A, Policy.PolicyError | WorkerError | BudgetExceeded>
) =>
  Effect.catch(said, (error) => {
    const isHidden =
      error._tag === "PolicyError"
        ? error.isRefusal === true
        : // A plan that is too expensive has not cost anything, and the fallback may write a cheaper one.
          error._tag === "BudgetExceeded"
          ? error.plan === undefined
          : mistakes.has(error.reason._tag)
    return isHidden ? Effect.fail(error) : other(error.message)
  })

export const propose = (
  policy: Policy.Policy,
  fallback: Policy.Policy,
  declines: Declines | undefined,
  context: Policy.Context
): ReturnType<Policy.Policy["propose"]> => {
  const valued = Effect.flatMap(Policy.propose(policy, context), (proposal) =>
    Policy.reading(policy.name, () => valid(policy, context, proposal))
  )
  const proposed = orElse(valued, (why) => standIn(fallback, context, why))
  if (declines === undefined) return proposed
  const declined = Policy.calledOf<string | undefined>(policy.name, "declines", () => declines(context))
  return Effect.flatMap(declined, (why) => (why === undefined ? proposed : standIn(fallback, context, why)))
}

export const revise = (
  policy: Policy.Policy,
  fallback: Policy.Policy,
  context: Policy.Revising
): ReturnType<NonNullable<Policy.Policy["revise"]>> =>
  orElse<Policy.Revision>(
    Policy.calledOf(policy.name, "revise", () => policy.revise!(context)),
    (why) => Effect.map(standIn(fallback, context, why), Policy.revisionOf)
  )
