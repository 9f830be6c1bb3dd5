/** What a run asks of its policy: a workflow for a round, and what is to become of one whose answers failed checks. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { millisSince, ticks } from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import type { Results } from "../loop/scheduler.ts"
import * as Policy from "../policy/Policy.ts"
import * as Seed from "../Seed.ts"
import type { Checks } from "../task/Check.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError } from "../task/Worker.ts"
import { size } from "../task/WorkerPool.ts"
import type { PastRound, StepAnswer } from "../workflow/StepMessages.ts"
import * as Workflow from "../workflow/Workflow.ts"
import { answerOf } from "./answers.ts"
import type { Round } from "./Conductor.ts"
import { completing } from "./completing.ts"
import type { State } from "./Rounds.ts"
import { proposalOf, revisionOf } from "./shapes.ts"

/** A round that is to be planned. */
interface Planning {
  readonly round: number
  readonly seed: number
  readonly previous: Policy.Previous | undefined
  readonly completions: ReturnType<typeof completing>
}

/** A workflow that was proposed, how long that took, and by whom. */
export interface Revised extends Policy.Proposal {
  readonly policy: string
  readonly author: Policy.Policy
  readonly durationMillis: number
}

/** What a policy said of a round whose answers failed checks. */
export type Revision = Exclude<Policy.Revision, { readonly type: "re-plan" }> | ({ readonly type: "re-plan" } & Revised)

/** A round that is under way, and whose answers failed checks. */
interface Revising {
  readonly round: number
  readonly seed: number
  readonly index: number
  /** Who wrote its workflow. */
  readonly author: Policy.Policy
  readonly workflow: Workflow.Workflow
  readonly results: Results
  readonly completions: ReturnType<typeof completing>
}

// -------------------------------------------------------------------------------------------------------------------
// What was before
// -------------------------------------------------------------------------------------------------------------------

const stepAnswerOf = ({ answer, cause, failure, refusal }: Round): StepAnswer => {
  if (answer !== undefined) return { type: "answered", text: answer }
  return refusal === undefined ? { type: "failed", message: failure ?? "", cause } : { type: "refused", ...refusal }
}

const feedbackOf = ({ grade, objections }: Round): string | undefined => {
  if (objections !== undefined) return objections
  return grade === undefined ? undefined : (grade.explanation ?? `It was scored ${grade.score} of 1.`)
}

/** What a round sees of those before it. */
export const previousOf = (last: Round, { past, rounds }: Pick<State, "past" | "rounds">): Policy.Previous => ({
  workflow: last.workflow,
  answers: past.at(-1)?.answers ?? [],
  failed: [...new Set(rounds.flatMap(({ failed }) => failed))],
  answer: stepAnswerOf(last),
  feedback: feedbackOf(last),
  rounds: past
})

/** The checks that a run has by name: its own, and those that who wrote the workflow brings. */
export const checksOf = ({ options: { checks = noChecks } }: State, author: Policy.Policy): Checks =>
  author.checks === undefined ? checks : { ...checks, ...author.checks }

const noChecks: Checks = {}
const noNames: ReadonlyArray<string> = []

const namesOf = (checks: Checks): ReadonlyArray<string> => (checks === noChecks ? noNames : Object.keys(checks))

const contextOf = (state: State, { completions, previous, round, seed }: Planning): Policy.Context => ({
  task: state.task,
  pool: state.pool,
  maxSteps: state.options.maxSteps ?? Workflow.defaultMaxSteps,
  self: mayDelegate(state),
  round,
  previous,
  checks: namesOf(checksOf(state, state.policy)),
  tools: state.toolNames,
  seed: Seed.derive(seed, "policy"),
  complete: completions.complete
})

const mayDelegate = ({ depth, options }: State): boolean => depth < (options.self?.maxDepth ?? 0)

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

/** Holds a workflow to the rules: a policy written in code can be wrong, too. */
const held = (
  state: State,
  { author, policy, workflow }: Pick<Revised, "author" | "policy" | "workflow">,
  before: Policy.Previous | undefined
) => {
  const { options, pool } = state
  const checked = Workflow.check(workflow, {
    poolSize: size(pool) + (mayDelegate(state) ? 1 : 0),
    maxSteps: Math.max(options.maxSteps ?? Workflow.defaultMaxSteps, state.policy.maxSteps ?? 0),
    allowEmpty: Policy.canStand(before),
    earlier: before?.rounds?.map(({ workflow }) => workflow.steps.length),
    checks: namesOf(checksOf(state, author)),
    judges: size(pool)
  })
  return Result.mapError(checked, ({ message }) => new Policy.PolicyError({ policy, detail: message }))
}

/** A workflow that a round is to carry out, and who wrote it. */
interface Proposed {
  readonly workflow: Workflow.Workflow
  readonly author: Policy.Policy
}

/** Asks the policy for the workflow of a round. */
export const propose = Effect.fnUntraced(function* (
  state: State,
  planning: Planning
): Effect.fn.Return<Proposed, Policy.PolicyError | WorkerError | BudgetExceeded> {
  const { context, policy } = state
  const startedAt = ticks(context.clock)
  const proposal = yield* proposalOf(policy, contextOf(state, planning))
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

/** Takes a proposal for the workflow of a round. */
export const proposed = (
  state: State,
  proposal: Revised & Pick<Planning, "round" | "previous">
): Effect.Effect<Proposed, Policy.PolicyError> => {
  const { author, durationMillis, notes = [], policy, previous, probability, round } = proposal
  return Effect.map(Effect.fromResult(held(state, proposal, previous)), (workflow) => {
    const told = { type: "workflow-proposed", round, policy, workflow, notes, probability, durationMillis } as const
    state.context.emit?.(defined(told))
    return { workflow, author }
  })
}

// -------------------------------------------------------------------------------------------------------------------
// Revisions
// -------------------------------------------------------------------------------------------------------------------

const failedOf = ({ steps }: Workflow.Workflow, { held, verdicts }: Results): ReadonlyArray<Policy.FailedCheck> =>
  held
    .toSorted((one, other) => one - other)
    .map((step) => {
      const by = steps[step]!.check!.by
      const check = typeof by === "string" ? by : `worker ${by}`
      return { step, check, objection: verdicts[step]?.objection ?? "" }
    })

/** What is wrong with the answers that failed their checks, for people and for policies. */
export const objections = ({ verdicts }: Results): string =>
  verdicts
    .flatMap((verdict, step) =>
      verdict?.passed === false ? [`Step ${step} failed its check: ${verdict.objection}`] : []
    )
    .join("\n")

/** The text of a step that has an answer. */
export const textOf = ({ past }: Pick<State, "past">, { round, step }: Workflow.EarlierStep): string | undefined => {
  const answer = past[round]?.answers[step]
  return answer?.type === "answered" ? answer.text : undefined
}

/** Holds a revision to what there is. */
const heldRevision = (
  state: State,
  revision: Policy.Revision,
  { author, durationMillis, previous }: { author: Policy.Policy; durationMillis: number; previous: Policy.Previous }
): Result.Result<Revision, Policy.PolicyError> => {
  if (revision.type === "go-on") return Result.succeed(revision)
  if (revision.type === "stop") {
    const { round, step } = revision.answer
    if (textOf({ past: previous.rounds as Array<PastRound> }, revision.answer) !== undefined)
      return Result.succeed(revision)
    const detail = `it stops with the answer of step ${step} of round ${round}, which has none`
    return Result.fail(new Policy.PolicyError({ policy: author.name, detail }))
  }
  const writer = { author: revision.author ?? author, policy: revision.policy ?? revision.author?.name ?? author.name }
  return Result.map(held(state, { ...revision, ...writer }, previous), (workflow) =>
    workflow.steps.length === 0
      ? { type: "go-on", notes: revision.notes }
      : { ...revision, ...writer, workflow, durationMillis }
  )
}

/**
 * Asks the policy what is to become of a round whose answers failed checks. Where the policy cannot say, the round goes
 * on; where the budget does not allow it to be asked, there is no revision, and the run stops.
 */
export const revise = (
  state: State,
  { author, completions, index, results, round, seed, workflow }: Revising
): Effect.Effect<Revision | undefined> =>
  Effect.suspend(() => {
    const { context, past, policy, rounds } = state
    const startedAt = ticks(context.clock)
    const failed = failedOf(workflow, results) as Policy.Evidence["failed"]
    const soFar: PastRound = { workflow, answers: [...results.answers], verdicts: [...results.verdicts] }
    const answer = answerOf(workflow, results)
    const before = previousOf(
      { workflow, answer, failed: [], confirmed: false, objections: objections(results) },
      { past: [...past, soFar], rounds }
    )
    const asked = completing(context, round, seed, completions.asked)
    const view: Policy.Revising = {
      ...contextOf(state, { round: round + 1, seed, previous: before, completions: asked }),
      seed: Seed.derive(seed, "revise", index),
      previous: before,
      evidence: { failed }
    }
    const took = () => millisSince(context.clock, startedAt) + asked.addedMillis()
    const said = Effect.flatMap(revisionOf(policy, author, view), (revision) =>
      Effect.fromResult(heldRevision(state, revision, { author, previous: before, durationMillis: took() }))
    )
    const goesOn = ({ message }: { readonly message: string }) =>
      Effect.succeed<Revision>({ type: "go-on", notes: [`It goes on as it is: ${message}`] })
    const known = Effect.catchTags(said, { PolicyError: goesOn, WorkerError: goesOn })
    const told = Effect.map(known, (revision) => {
      const { notes = [], type: decision } = revision
      const answer = revision.type === "stop" ? revision.answer : undefined
      const name = revision.type === "re-plan" ? revision.policy : author.name
      const told = { type: "round-revised", round, index, policy: name, decision, notes } as const
      context.emit?.({ ...defined({ ...told, answer }), durationMillis: took() })
      return revision
    })
    return Effect.catch(told, (error) => {
      state.stopped = error
      return Effect.undefined
    })
  })
