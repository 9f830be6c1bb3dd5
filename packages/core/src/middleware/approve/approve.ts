/** Requires a person to approve, refuse or replace each plan before its first call. */
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Result from "effect/Result"
import { settle } from "../../Callback.ts"
import { type PlanDecided, type PlanDecision, planId } from "../../events/approval.ts"
import type { WaitingCall } from "../../events/RunEvent.ts"
import { submitted } from "../../events/submittedPlan.ts"
import { defined } from "../../Fields.ts"
import { admitsPlans } from "../../loop/plan.ts"
import { admissionPrice, priceOf, refusalByAccounts } from "../../loop/price.ts"
import { held, rulesOf } from "../../loop/proposal.ts"
import type { Carry, CarryMiddleware, Planned, State } from "../../loop/round.ts"
import { PolicyError } from "../../policy/Policy.ts"
import type { Given } from "../../task/Tool.ts"
import { isEmpty, type Workflow } from "../../workflow/Workflow.ts"

/** A decision about a plan, or the reason why a replacement plan is invalid. */
type Decision =
  | { readonly type: "approved" }
  | { readonly type: "refused"; readonly reason?: string | undefined }
  | { readonly type: "edited"; readonly workflow: Workflow; readonly text?: string | undefined }
  | { readonly type: "unreadable"; readonly problem: string }

/** Parses a decision: an approval, or the text of a replacement plan, which is parsed strictly. */
const decisionOf = (state: State, { ask, author }: Planned, given: Given): Effect.Effect<Decision> => {
  const decision = submitted(given)
  if ("approved" in decision) {
    return Effect.succeed(decision.approved ? { type: "approved" } : { type: "refused", reason: decision.reason })
  }
  const { text } = decision
  return Effect.map(
    // Loaded on first use, so that runs without approvals do not load the parser.
    Effect.promise(() => import("../../workflow/WorkflowText.ts")),
    ({ read }): Decision => {
      const reading = read(text, { ...rulesOf(state, author, ask.previous), mode: "strict", how: true })
      if (Result.isFailure(reading)) return { type: "unreadable", problem: reading.failure.message }
      return { type: "edited", workflow: reading.success.workflow, text }
    }
  )
}

/** Creates the pending call for a plan, with its text, its price, and the error if an edited plan was invalid. */
const waitingCall = (
  state: State,
  id: string,
  { ask, author, workflow }: Planned,
  problem: string | undefined
): Effect.Effect<WaitingCall> =>
  Effect.map(
    Effect.promise(() => import("../../workflow/WorkflowText.ts")),
    ({ write }) => {
      const { round } = ask
      const price = priceOf(state, workflow, author, ask.previous)
      const admission = admitsPlans(state)
        ? refusalByAccounts(state, admissionPrice(state, workflow, author, ask.previous))?.message
        : undefined
      const text = defined({ plan: write(workflow), answer: workflow.answer, price, admission, problem })
      return {
        id,
        round,
        step: 0,
        worker: author.name,
        for: "plan",
        call: { id, name: "plan", arguments: JSON.stringify(text) }
      }
    }
  )

const plain = (workflow: Workflow): unknown => JSON.parse(JSON.stringify(workflow))

/** Whether two plans are equal. Compares their JSON form, because recorded plans have no `undefined` fields. */
const isSame = (one: Workflow, other: Workflow): boolean => Equal.equals(plain(one), plain(other))

export const approve =
  (state: State): CarryMiddleware =>
  (next) =>
  (planned) => {
    const { context, equipment, policy, runOptions } = state
    const { ask, author, workflow } = planned
    const { round } = ask
    const id = planId(equipment.path, round)
    const recorded = context.recorded?.plan(round)
    const shown = recorded?.workflow ?? workflow

    const decided = (decision: PlanDecision, more?: Pick<PlanDecided, "reason" | "text">) =>
      context.emit?.({ type: "plan-decided", round, decision, ...more })
    const replace = (plan: Workflow): ReturnType<Carry> =>
      Effect.flatMap(
        Effect.fromResult(held(state, { author, policy: author.name, workflow: plan }, ask.previous)),
        (workflow) => {
          const notes = ["A person replaced the plan."]
          context.emit?.({ type: "workflow-proposed", round, policy: author.name, workflow, notes, durationMillis: 0 })
          return isEmpty(workflow) ? Effect.succeed({ ...planned, workflow }) : next({ ...planned, workflow })
        }
      )
    const refuse = (reason: string | undefined): ReturnType<Carry> => {
      decided("refused", defined({ reason }))
      const detail = `the plan was refused${(reason ?? "") === "" ? "" : `: ${reason}`}`
      return Effect.fail(new PolicyError({ policy: policy.name, detail, isRefusal: true }))
    }
    const wait = (problem?: string): ReturnType<Carry> =>
      Effect.map(waitingCall(state, id, planned, problem), (call) => {
        context.emit?.({ type: "plan-waiting", round, call })
        state.waitingFor = [call]
        return { ...planned, isWaiting: true }
      })
    const apply = (decision: Decision): ReturnType<Carry> => {
      switch (decision.type) {
        case "approved":
          decided("approved")
          // The approved plan runs, even if the policy has written a different one since.
          return isSame(shown, workflow) ? next(planned) : replace(shown)
        case "refused":
          return refuse(decision.reason)
        case "unreadable":
          return wait(decision.problem)
        case "edited":
          decided("edited", defined({ text: decision.text }))
          return replace(decision.workflow)
      }
    }
    const known = recorded?.decision
    if (known !== undefined) {
      if (known.decision === "refused") return refuse(known.reason)
      return apply(
        known.decision === "edited" ? { type: "edited", workflow: shown, text: known.text } : { type: "approved" }
      )
    }
    const given = equipment.given[id]
    if (given !== undefined) return Effect.flatMap(decisionOf(state, planned, given), apply)
    const { approvePlan } = runOptions
    if (approvePlan === undefined) return wait()
    return Effect.flatMap(waitingCall(state, id, planned, undefined), (call) =>
      Effect.flatMap(
        settle(() => approvePlan(call)),
        (answer) => Effect.flatMap(decisionOf(state, planned, answer), apply)
      )
    )
  }
