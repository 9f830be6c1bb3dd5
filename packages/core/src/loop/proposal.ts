/** Requests a round's workflow from the policy and validates it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { millisSince, ticks } from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import * as Policy from "../policy/Policy.ts"
import type { Round } from "../run/Conductor.ts"
import * as Seed from "../Seed.ts"
import type { Checks } from "../task/Check.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError } from "../task/Worker.ts"
import { size } from "../task/WorkerPool.ts"
import type { StepAnswer } from "../workflow/StepMessages.ts"
import * as Workflow from "../workflow/Workflow.ts"
import type { Completions } from "./completions.ts"
import { proposalOf } from "./forms.ts"
import { admissionPrice, admitsPlans, checksOf, noChecks, priceOf, refusalByBudget } from "./price.ts"
import type { State } from "./round.ts"
import type { Results } from "./scheduler.ts"

/** The round to plan. */
interface Planning {
  readonly round: number
  readonly seed: number
  readonly previous: Policy.Previous | undefined
  readonly completions: Completions
}

/** A proposed workflow with its author and the planning time. */
export interface Revised extends Policy.Proposal {
  readonly policy: string
  readonly author: Policy.Policy
  readonly durationMillis: number
}

/** The policy's decision about a round in which answers failed their checks. */
export type Revision = Exclude<Policy.Revision, { readonly type: "re-plan" }> | ({ readonly type: "re-plan" } & Revised)

// -------------------------------------------------------------------------------------------------------------------
// Previous rounds
// -------------------------------------------------------------------------------------------------------------------

const stepAnswerOf = ({ answer, cause, failure, refusal }: Round): StepAnswer => {
  if (answer !== undefined) return { type: "answered", text: answer }
  return refusal === undefined ? { type: "failed", message: failure ?? "", cause } : { type: "refused", ...refusal }
}

const feedbackOf = ({ grade, objections }: Round): string | undefined => {
  if (objections !== undefined) return objections
  return grade === undefined ? undefined : (grade.explanation ?? `It was scored ${grade.score} of 1.`)
}

/** Returns the previous rounds from the perspective of a new round. */
export const previousOf = (last: Round, { past, rounds }: Pick<State, "past" | "rounds">): Policy.Previous => ({
  workflow: last.workflow,
  answers: past.at(-1)?.answers ?? [],
  failed: [...new Set(rounds.flatMap(({ failed }) => failed))],
  answer: stepAnswerOf(last),
  feedback: feedbackOf(last),
  rounds: past
})

const noNames: ReadonlyArray<string> = []

const namesOf = (checks: Checks): ReadonlyArray<string> => (checks === noChecks ? noNames : Object.keys(checks))

const shapeNames = ({ shapes }: State["options"]): ReadonlyArray<string> =>
  shapes === undefined ? noNames : Object.keys(shapes)

export const policyContextOf = (state: State, { completions, previous, round, seed }: Planning): Policy.Context => ({
  task: state.task,
  pool: state.pool,
  maxSteps: state.options.maxSteps ?? Workflow.defaultMaxSteps,
  self: mayDelegate(state),
  round,
  previous,
  checks: namesOf(checksOf(state, state.policy)),
  shapes: shapeNames(state.options),
  maxItems: state.options.maxItems,
  tools: state.toolNames,
  misfit: misfitOf(state),
  seed: Seed.derive(seed, "policy"),
  price: (workflow) => priceOf(state, workflow, state.policy, previous),
  admission: admitsPlans(state)
    ? (workflow) => refusalByBudget(state, admissionPrice(state, workflow, state.policy, previous))
    : undefined,
  complete: completions.complete
})

/** Returns a function that checks whether a text matches the run's output format. */
const misfitOf = ({ equipment: { shape } }: State): Policy.Context["misfit"] =>
  shape &&
  ((text) => {
    const read = shape.read(text)
    return read.isRight ? undefined : read.why
  })

const mayDelegate = ({ depth, options }: State): boolean => depth < (options.self?.maxDepth ?? 0)

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

/** Returns the rules for a round's workflow. */
export const rulesOf = (state: State, author: Policy.Policy, before: Policy.Previous | undefined): Workflow.Rules => {
  const { options, pool } = state
  return {
    poolSize: size(pool) + (mayDelegate(state) ? 1 : 0),
    maxSteps: Math.max(options.maxSteps ?? Workflow.defaultMaxSteps, state.policy.maxSteps ?? 0),
    allowEmpty: Policy.canStand(before),
    earlier: before?.rounds?.map(({ workflow }) => workflow.steps.length),
    checks: namesOf(checksOf(state, author)),
    judges: size(pool),
    maxItems: options.maxItems,
    shapes: shapeNames(options),
    tools: state.toolNames
  }
}

/** Validates a workflow, because policies may be user-supplied. */
export const held = (
  state: State,
  { author, policy, ...proposal }: Pick<Revised, "author" | "policy" | "workflow" | "answer">,
  before: Policy.Previous | undefined
) => {
  const { answer, workflow } = proposal
  if (answer !== undefined) {
    const detail = Policy.answerProblem(proposal, misfitOf(state))
    return detail === undefined ? Result.succeed(workflow) : Result.fail(new Policy.PolicyError({ policy, detail }))
  }
  const checked = Workflow.check(workflow, rulesOf(state, author, before))
  if (
    Result.isSuccess(checked) &&
    state.equipment.shape !== undefined &&
    checked.success.steps.at(-1)?.each !== undefined
  )
    return Result.fail(new Policy.PolicyError({ policy, detail: listForOutput }))
  return Result.mapError(checked, ({ message }) => new Policy.PolicyError({ policy, detail: message }))
}

const listForOutput =
  "the last step runs once per item, so its answer is a list and cannot match the output schema; add a step that joins the items"

/** A validated workflow or direct answer, with its author. */
export interface Proposed extends Pick<Policy.Proposal, "answer" | "isLast"> {
  readonly workflow: Workflow.Workflow
  readonly author: Policy.Policy
}

/** Requests a round's workflow from the policy. */
export const propose = Effect.fnUntraced(function* (
  state: State,
  planning: Planning
): Effect.fn.Return<Proposed, Policy.PolicyError | WorkerError | BudgetExceeded> {
  const { context, policy } = state
  const startedAt = ticks(context.clock)
  const proposal = yield* proposalOf(policy, policyContextOf(state, planning))
  const durationMillis = millisSince(context.clock, startedAt) + planning.completions.addedMillis()
  const { author = policy } = proposal
  return yield* proposed(state, {
    ...planning,
    ...proposal,
    author,
    policy: proposal.policy ?? policy.name,
    durationMillis
  })
})

/** Validates a proposal and reports it as the round's workflow. */
export const proposed = (
  state: State,
  proposal: Revised & Pick<Planning, "round" | "previous">
): Effect.Effect<Proposed, Policy.PolicyError> => {
  const { answer, author, durationMillis, isLast, notes = [], policy, previous, probability, round } = proposal
  return Effect.map(Effect.fromResult(held(state, proposal, previous)), (workflow) => {
    const told = { type: "workflow-proposed", round, policy, workflow, answer, isLast, notes, probability } as const
    state.context.emit?.({ ...defined(told), durationMillis })
    return defined({ workflow, author, answer, isLast })
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Revisions
// -------------------------------------------------------------------------------------------------------------------

/** Describes the objections to answers that failed their checks, for display and for policies. */
export const objections = ({ verdicts }: Results): string =>
  verdicts
    .flatMap((verdict, step) =>
      verdict?.passed === false ? [`Step ${step} failed its check: ${verdict.objection}`] : []
    )
    .join("\n")

/** Returns the text of a step's answer, or `undefined` if the step was not answered. */
export const textOf = ({ past }: Pick<State, "past">, { round, step }: Workflow.EarlierStep): string | undefined => {
  const answer = past[round]?.answers[step]
  return answer?.type === "answered" ? answer.text : undefined
}
