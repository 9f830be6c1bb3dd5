/**
 * The core of a round: `play` obtains a workflow from the policy and runs it, and `close` determines how the round
 * ends.
 *
 * Middleware around `play` consults the policy during a round; middleware around `close` grades the answer.
 */
import * as Effect from "effect/Effect"
import type * as RunEvent from "../events/RunEvent.ts"
import { defined } from "../Fields.ts"
import { onDemand } from "../OnDemand.ts"
import type * as Policy from "../policy/Policy.ts"
import { within } from "../run/Caller.ts"
import type { Round as Done, Options, RunOptions } from "../run/Conductor.ts"
import type { Equipment, Unsupported } from "../run/Equipment.ts"
import * as Seed from "../Seed.ts"
import type { ShapeError } from "../task/compileShape.ts"
import type { GraderError } from "../task/Grader.ts"
import type * as Task from "../task/Task.ts"
import type * as Usage from "../task/Usage.ts"
import type { Refusal, WorkerError } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import type { PastRound } from "../workflow/StepMessages.ts"
import * as Workflow from "../workflow/Workflow.ts"
import { refusalOf, workersOf as workersOfPlan } from "./accounts.ts"
import type { CallContext } from "./call.ts"
import { checksOf, type Plan, reassignOf } from "./plan.ts"
import {
  type Completions,
  completionsOf,
  objections,
  type Proposed,
  previousOf,
  propose,
  proposed,
  type Revised,
  type Revision,
  textOf
} from "./proposal.ts"
import { answerOf, bestSoFar, failureOf, type StepFailed, workersOf } from "./result.ts"
import { type Execution, schedule } from "./scheduler.ts"
import type { Delegate, DelegateError, Step } from "./step.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Errors that end a run without an answer. */
export type RunError =
  | Policy.PolicyError
  | StepFailed
  | Refusal
  | DelegateError
  | WorkerError
  | GraderError
  | Usage.BudgetExceeded
  | ShapeError
  | Unsupported

/** A workflow that is running. */
export interface Running {
  readonly workflow: Workflow.Workflow
  readonly execution: Execution
  readonly isDraft: boolean
  /** The answer that the policy selected when it stopped the run, until the round ends. */
  readonly selected?: string | undefined
}

/** The state of a run. */
export interface State {
  readonly runId: string
  readonly options: Options
  readonly runOptions: RunOptions
  readonly task: Task.Task
  readonly pool: WorkerPool
  readonly policy: Policy.Policy
  readonly context: CallContext
  readonly seed: number
  readonly sendSeed: boolean
  readonly depth: number
  readonly rounds: Array<Done>
  /** Step results of all past rounds, including rounds that confirmed an answer. */
  readonly past: Array<PastRound>
  /** Remaining number of regular rounds, and of rounds that may start early. */
  recursion: number
  revisions: number
  /** The workflow for the next round, if the policy wrote a new plan. */
  revised: Revised | undefined
  /** Names of the tools shown to the policy: those that the run was started with. */
  readonly toolNames: ReadonlyArray<string>
  /** The tools and the output format for the workers. Prepared before the first round. */
  equipment: Equipment
  /** Tool calls that the run is waiting for. */
  waitingFor: ReadonlyArray<RunEvent.WaitingCall>
  /** Composes the step middleware for a workflow. */
  readonly stepOf: (context: CallContext, plan: Plan) => Effect.Effect<Step>
  /** Returns the function that runs the round's steps assigned to the Conductor itself. */
  readonly delegateOf: (state: State, round: number) => Delegate | undefined
  /** The workflow that is currently running. */
  current: Running | undefined
  /** The limit that stopped the run. */
  stopped: Usage.BudgetExceeded | undefined
}

/** The input of a round. */
export interface RoundAsk {
  readonly round: number
  readonly seed: number
  readonly previous: Policy.Previous | undefined
  readonly completions: Completions
}

/** A round whose workflow is about to run. */
export interface Planned extends Proposed {
  readonly ask: RoundAsk
}

/** A round after its workflow has run as far as possible. */
export interface Played extends Planned {
  /**
   * Undefined if the policy answers directly or confirms the previous answer, or if the plan is waiting for approval.
   */
  readonly execution?: Execution
  /** Whether the run is suspended before the first step. */
  readonly isWaiting?: boolean
  /** The policy's decision during the round. */
  readonly revision?: Revision | undefined
}

/**
 * How a round ended: as the last one (`"over"`), with another round to follow (`"ended"`), or with one that starts
 * early (`"revised"`).
 */
export interface RoundEnd {
  readonly end: "over" | "ended" | "revised"
  /** Undefined if the round is suspended. */
  readonly done?: Done
}

export type Play = (ask: RoundAsk) => Effect.Effect<Played, RunError>
export type PlayMiddleware = (next: Play) => Play
/** Runs the steps of a workflow. */
export type Carry = (planned: Planned) => Effect.Effect<Played, RunError>
export type CarryMiddleware = (next: Carry) => Carry
export type Close = (played: Played) => Effect.Effect<RoundEnd, RunError>
export type CloseMiddleware = (next: Close) => Close
export type Round = (round: number) => Effect.Effect<RoundEnd["end"], RunError>

// -------------------------------------------------------------------------------------------------------------------
// Play
// -------------------------------------------------------------------------------------------------------------------

/** Default number of items that run concurrently. */
const defaultItemsAtOnce = 16

/** Returns the steps to run, or `undefined` if all of them run. */
const wantedOf = (workflow: Workflow.Workflow, skipUnseen: boolean): ReadonlySet<number> | undefined => {
  if (!skipUnseen) return undefined
  const wanted = Workflow.needed(workflow)
  return wanted.size === workflow.steps.length ? undefined : wanted
}

const planOf = (
  state: State,
  { previous, round, seed }: RoundAsk,
  { author, workflow }: Pick<Played, "author" | "workflow">
): Plan => {
  const { equipment, options, pool, sendSeed, task } = state
  const { skipUnseen = true } = options
  return {
    task,
    pool,
    workflow,
    wanted: wantedOf(workflow, skipUnseen),
    round,
    previous,
    settings: {
      worker: options.worker ?? {},
      reassign: reassignOf(options),
      onStepFailure: options.onStepFailure ?? "report",
      onAuthenticationFailure: options.onAuthenticationFailure ?? "report",
      toolAccess: options.toolAccess ?? "last-step",
      itemsAtOnce: options.itemsAtOnce ?? defaultItemsAtOnce
    },
    equipment,
    seed,
    sendSeed,
    checks: checksOf(state, author),
    threshold: options.threshold ?? 1,
    mayRevise: state.revisions > 0,
    delegate: state.delegateOf(state, round)
  }
}

/** Obtains a workflow from the policy, unless one was already proposed, and runs it as far as possible. */
export const play =
  (state: State, carry: Carry): Play =>
  (ask) => {
    const { revised } = state
    const { previous, round } = ask
    const proposing = revised === undefined ? propose(state, ask) : proposed(state, { ...revised, round, previous })
    return Effect.flatMap(proposing, (proposal): ReturnType<Play> => {
      state.revised = undefined
      if (proposal.isLast === true) state.recursion = 0
      const planned = { ...proposal, ask }
      return Workflow.isEmpty(proposal.workflow) ? Effect.succeed(planned) : carry(planned)
    })
  }

const withKept = onDemand(() => import("./keepLast.ts"))

/** Runs the steps of a workflow as far as possible. */
export const carry =
  (state: State): Carry =>
  (planned): ReturnType<Carry> => {
    const { context, depth, options } = state
    const { ask, workflow } = planned
    const unkept = planOf(state, ask, planned)
    const unpriced = refusalOf(context, workersOfPlan(unkept))
    if (unpriced !== undefined) return Effect.fail(unpriced)
    const run = (plan: Plan) =>
      Effect.flatMapEager(state.stepOf(context, plan), (step) =>
        Effect.flatMapEager(schedule(context, plan, step), (execution) => {
          state.current = { workflow, execution, isDraft: planned.isLast === false }
          return Effect.as(execution.run, { ...planned, execution })
        })
      )
    if (options.budget?.keep !== "answer" || depth > 0) return run(unkept)
    return withKept(({ keepLast }) => {
      const kept = keepLast(context.ledger, unkept)
      return kept === undefined ? run(unkept) : Effect.ensuring(run({ ...unkept, kept }), Effect.sync(kept.release))
    })
  }

// -------------------------------------------------------------------------------------------------------------------
// Close
// -------------------------------------------------------------------------------------------------------------------

const over = (done: Done): Effect.Effect<RoundEnd> => Effect.succeed({ end: "over", done })

/** Determines how a round ends, based on its results. */
export const close =
  (state: State): Close =>
  ({ answer: own, ask, execution, isLast, isWaiting, revision, workflow }) => {
    if (isWaiting === true) return Effect.succeed({ end: "over" })
    const draft = isLast === false ? { isDraft: true } : {}
    const { said } = ask.completions.asked
    const past = said.length === 0 ? { workflow } : { workflow, said }
    if (execution === undefined) {
      state.past.push({ ...past, answers: [], verdicts: [] })
      if (own !== undefined) {
        const done = { workflow, failed: [], answer: own, confirmed: false, isOwn: true, ...draft }
        // A critic may request another round; a draft always leads to one.
        const isFinal = isLast !== false && state.options.critic === undefined
        return Effect.succeed({ end: isFinal ? "over" : "ended", done })
      }
      return over({ workflow, failed: [], answer: state.rounds.at(-1)?.answer, confirmed: true })
    }
    const results = execution.results()
    state.current = undefined
    const { stopped = state.stopped } = results
    const isSuspended = stopped === undefined && results.waitingFor.length > 0
    // While any step is waiting for tools, the decision about steps that were held back is deferred.
    if (!isSuspended) execution.skipHeld(stopped === undefined ? "revised" : "budget")
    state.past.push({ ...past, answers: results.answers, verdicts: results.verdicts })
    const done = { workflow, failed: workersOf(workflow, results, "failed"), confirmed: false, ...draft }

    if (stopped !== undefined) {
      state.stopped = stopped
      return over({ ...done, answer: bestSoFar(workflow, results) })
    }
    if (isSuspended) {
      state.waitingFor = results.waitingFor
      return Effect.succeed({ end: "over" })
    }
    if (revision?.type === "stop") {
      return over({ ...done, answer: textOf(state, revision.answer), revision: "stop" })
    }
    const answer = answerOf(workflow, results)
    if (revision?.type === "re-plan") {
      // Objections are shown to the policy, but not to workers.
      const failure = "it was ended early because an answer failed its check"
      state.revised = revision
      const early = { ...done, answer, failure, objections: objections(results), revision: "re-plan" as const }
      return Effect.succeed({ end: "revised", done: early })
    }
    if (answer !== undefined) return Effect.succeed({ end: "ended", done: { ...done, answer } })
    const failure = failureOf(workflow, results)
    if (state.recursion === 0) return Effect.fail(failure)
    // In the next round, the policy is shown which workers failed or refused, and can select a different one.
    const failed = [...done.failed, ...workersOf(workflow, results, "refused")]
    const why =
      failure._tag === "Refusal"
        ? { refusal: { worker: failure.worker, text: failure.text } }
        : { failure: failure.detail, cause: failure.cause }
    return Effect.succeed({ end: "ended", done: { ...done, failed, answer: undefined, ...why } })
  }

// -------------------------------------------------------------------------------------------------------------------
// Round
// -------------------------------------------------------------------------------------------------------------------

const askOf = (state: State, round: number): RoundAsk => {
  const { context, rounds } = state
  const seed = Seed.derive(state.seed, round)
  const last = rounds.at(-1)
  const previous = last && previousOf(last, state)
  return { round, seed, previous, completions: completionsOf(context, round, seed) }
}

/** Runs a complete round, and reports its start and end. */
export const roundOf =
  (state: State, play: Play, close: Close): Round =>
  (round) =>
    Effect.suspend(() => {
      const { context, rounds, runId } = state
      const { emit } = context
      emit?.({ type: "round-started", round })
      const ended = Effect.map(
        Effect.flatMap(
          Effect.suspend(() => play(askOf(state, round))),
          close
        ),
        ({ done, end }) => {
          if (done !== undefined) {
            rounds.push(done)
            emit?.(defined({ type: "round-finished", round, answer: done.answer, confirmed: done.confirmed }))
          }
          return end
        }
      )
      return within(context, { type: "round", runId }, ended)
    })
