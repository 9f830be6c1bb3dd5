/** Requests a round's workflow from the policy and validates it. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { millisSince, ticks } from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import { onDemand } from "../OnDemand.ts"
import * as Policy from "../policy/Policy.ts"
import type { Round } from "../run/Conductor.ts"
import * as Seed from "../Seed.ts"
import type { Checks } from "../task/Check.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError } from "../task/Worker.ts"
import { size } from "../task/WorkerPool.ts"
import { describe, type KeysOf, unknownKeyIn, unknownKeyOf } from "../workflow/keys.ts"
import type { StepAnswer } from "../workflow/StepMessages.ts"
import * as Workflow from "../workflow/Workflow.ts"
import type { CallContext } from "./call.ts"
import { admitsPlans, checksOf, noChecks } from "./plan.ts"
import type { State } from "./round.ts"
import type { Results } from "./scheduler.ts"

/** The completions requested so far in a round. */
export interface Asked {
  count: number
  readonly said: Array<Policy.ModelResponse>
}

/** Requests the completions of a round. */
export interface Completions {
  readonly complete: Policy.Complete
  readonly asked: Asked
  /** Returns the total original duration of cache hits that are charged, in milliseconds. */
  readonly addedMillis: () => number
}

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
// Completions
// -------------------------------------------------------------------------------------------------------------------

const withCalls = onDemand(() => import("./completionCalls.ts"))

/** Creates the `complete` function for a round. Completions of a revision are numbered after those in `asked`. */
export const completionsOf = (
  context: CallContext,
  round: number,
  seed: number,
  asked: Asked = { count: 0, said: [] }
): Completions => {
  let calls: Pick<Completions, "complete" | "addedMillis"> | undefined
  return {
    complete: (options) =>
      withCalls(({ completionCalls }) => {
        calls ??= completionCalls(context, round, seed, asked)
        return calls.complete(options)
      }),
    asked,
    addedMillis: () => calls?.addedMillis() ?? 0
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Form
// -------------------------------------------------------------------------------------------------------------------

// Policies may be written in plain JavaScript, so what they return is validated before it is used.

/** The keys of a proposal. */
export const proposalKeys: KeysOf<Policy.Proposal> = {
  workflow: true,
  answer: true,
  isLast: true,
  policy: true,
  author: true,
  notes: true,
  probability: true
}

/** Describes an unknown key in a proposal, or returns `undefined`. */
export const unknownIn = (proposal: unknown, keys: object): string | undefined => {
  const unknown =
    unknownKeyIn("its proposal", proposal, keys) ??
    unknownKeyOf((proposal as Partial<Policy.Proposal> | undefined)?.workflow)
  return unknown && describe(unknown)
}

const problemOf = (proposal: Policy.Proposal | undefined, keys: object): string | undefined => {
  const { answer, steps } = proposal?.workflow ?? {}
  const unknown = unknownIn(proposal, keys)
  if (unknown !== undefined) return unknown
  if (!Array.isArray(steps)) return "it did not return a workflow. Return { steps: [...] }"
  const wrong = Workflow.malformation(proposal!.workflow)
  if (wrong !== undefined) return wrong
  if (answer !== undefined && answer !== "majority") return `its answer is ${typeof answer}; omit it, or use "majority"`
  const { isLast, notes = [], probability = 1 } = proposal!
  if (isLast !== undefined && typeof isLast !== "boolean")
    return `its isLast is ${typeof isLast}; use true, false or nothing`
  if (!(probability > 0 && probability <= 1)) return "its probability must be above 0 and at most 1"
  return Array.isArray(notes) && notes.every((note) => typeof note === "string")
    ? undefined
    : "its notes are not strings"
}

/**
 * Requests a proposal from a policy and ensures that it contains a workflow. Does not validate the workflow's rules.
 */
const proposalOf = (policy: Policy.Policy, context: Policy.Context): ReturnType<Policy.Policy["propose"]> =>
  Effect.flatMap(Policy.propose(policy, context), (given) => checkedProposal(policy.name, given))

const byHand = "its propose function did not return { workflow }. Use policy(name, plan) from @divisi/core/promise."

/** Returns a proposal whose form is correct, or fails with a description of the mistake. */
export const checkedProposal = (
  policy: string,
  proposal: Policy.Proposal,
  keys: object = proposalKeys
): Effect.Effect<Policy.Proposal, Policy.PolicyError> => {
  const isProposal = typeof proposal === "object" && proposal !== null && "workflow" in proposal
  const detail = isProposal ? problemOf(proposal, keys) : byHand
  return detail === undefined ? Effect.succeed(proposal) : Effect.fail(new Policy.PolicyError({ policy, detail }))
}

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

/** The functions that calculate prices. */
type Prices = typeof import("./price.ts")

const withPrices = onDemand(() => import("./price.ts"))

/** For policies that use no prices. */
const noPrices = {} as Prices

export const policyContextOf = (
  state: State,
  { completions, previous, round, seed }: Planning,
  { admissionPrice, priceOf, refusalByBudget }: Prices
): Policy.Context => ({
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
  maxOutputTokens: state.options.worker?.maxOutputTokens,
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

/**
 * Validates a workflow, because policies may be user-supplied. Its form was checked when it was proposed or read
 * ({@link checkedProposal}).
 */
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
  const checked = Workflow.ruled(workflow, rulesOf(state, author, before))
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
export const propose = (
  state: State,
  planning: Planning
): Effect.Effect<Proposed, Policy.PolicyError | WorkerError | BudgetExceeded> => {
  const { context, policy } = state
  const startedAt = ticks(context.clock)
  const proposalWith = (prices: Prices) => proposalOf(policy, policyContextOf(state, planning, prices))
  const given = Policy.mayUsePrices(policy) ? withPrices(proposalWith) : proposalWith(noPrices)
  return Effect.flatMap(given, (proposal) => {
    const durationMillis = millisSince(context.clock, startedAt) + planning.completions.addedMillis()
    const { author = policy } = proposal
    return proposed(state, {
      ...planning,
      ...proposal,
      author,
      policy: proposal.policy ?? policy.name,
      durationMillis
    })
  })
}

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
