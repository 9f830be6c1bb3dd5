/**
 * The executor: runs one workflow over a pool.
 *
 * Its promises, which the tests hold it to by number:
 *
 * 1. A step starts the moment the last step it can see has ended; steps that cannot see each other run at once.
 * 2. A worker sees the user's question, what its access list names, and its own subtask: nothing else.
 * 3. A step whose answer nobody can see and that is not the last is not paid for. This can be turned off.
 * 4. A budget is never exceeded: the worst case of a call is reserved before it starts and settled after it ends.
 * 5. A failed call is retried while a retry can help, then reassigned if the caller allows it. Then, as the caller chose,
 *    the failure ends the run, or is reported to the steps that see it (that of the last step to the next round).
 * 6. Interrupting a run stops its calls at once and still yields the transcript so far.
 * 7. The same seeds and the same answers give the same transcript, event order aside where steps run at once.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import { millisSince, ticks } from "../Elapsed.ts"
import type { Previous } from "../policy/Policy.ts"
import type { WaitingCall } from "../record/RunEvent.ts"
import * as Seed from "../Seed.ts"
import type { Message } from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import { Refusal, type Worker, type WorkerError, type WorkerRequest } from "../task/Worker.ts"
import type { WorkerPool } from "../task/WorkerPool.ts"
import { type StepAnswer, workerMessages } from "../workflow/StepMessages.ts"
import { voteOf } from "../workflow/vote.ts"
import { needed, type Step, type Workflow } from "../workflow/Workflow.ts"
import { type Reassign, reassign } from "./Resilience.ts"
import type { ToolAccess, WorkerSettings } from "./RunSettings.ts"
import { begin, converse, type Equipment, handOver } from "./StepTurns.ts"
import type { Answered, CallContext } from "./WorkerCall.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How steps are run. */
export interface Settings {
  readonly worker: WorkerSettings
  readonly reassign: Reassign
  /** What happens when a step fails for good: the steps that see it are shown the failure, or the run ends. */
  readonly onStepFailure: "report" | "end"
  /** Whether steps whose answer nobody sees are skipped. */
  readonly skipUnseen: boolean
  /** Which steps are given the tools. */
  readonly toolAccess: ToolAccess
}

/** What a step that the Conductor gives to itself may use. */
export interface Offered {
  readonly hasTools: boolean
  readonly isShaped: boolean
}

/**
 * Runs a step that is assigned to the Conductor itself, from the messages that a worker would be sent; gives its answer,
 * or the calls that it waits for.
 */
export type Delegate = (
  step: number,
  messages: ReadonlyArray<Message>,
  offered: Offered
) => Effect.Effect<Answered | ReadonlyArray<WaitingCall>, DelegateError | BudgetExceeded>

/** One workflow about to be run. */
export interface Plan {
  readonly task: Task
  readonly pool: WorkerPool
  readonly workflow: Workflow
  readonly round: number
  readonly previous?: Previous | undefined
  readonly settings: Settings
  /** The seed of this round; it is sent to the workers only when `sendSeed` is set. */
  readonly seed: number
  readonly sendSeed: boolean
  /** Its tools, and the shape of its answer. */
  readonly equipment: Equipment
  /** Present when the Conductor is a worker of its own pool. */
  readonly delegate?: Delegate | undefined
}

/** The results of a workflow so far. */
export interface Results {
  /** By step; `undefined` where there is no result yet. */
  readonly answers: ReadonlyArray<StepAnswer | undefined>
  /** The limit that kept a step from being run. */
  readonly stopped: BudgetExceeded | undefined
  /** The tool calls that steps wait for. */
  readonly waitingFor: ReadonlyArray<WaitingCall>
}

/** A workflow that is being run. */
export interface Execution {
  /**
   * Runs it. It fails only when a step fails and the settings say that this ends the run. A step that does not fit the
   * budget is skipped with all that wait for it; steps already running go on, as they are paid for.
   */
  readonly run: Effect.Effect<void, StepFailure>
  /** The results so far, also after `run` has failed or was interrupted. */
  readonly results: () => Results
}

type StepFailure = WorkerError | DelegateError

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** The answering step gave no answer. */
export class StepFailed extends Data.TaggedError("StepFailed")<{
  readonly step: number
  readonly detail: string
  /** The error of its worker. */
  readonly cause?: unknown
}> {
  override get message(): string {
    return `Step ${this.step}, which answers, failed: ${this.detail}`
  }
}

/** The nested run of a step gave no answer. */
export class DelegateError extends Data.TaggedError("DelegateError")<{ readonly detail: string }> {
  override get message(): string {
    return `The nested run gave no answer: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Answer
// -------------------------------------------------------------------------------------------------------------------

const majority = (texts: ReadonlyArray<string>): string | undefined => {
  const votes = new Map<string, { readonly text: string; count: number }>()
  for (const text of texts) {
    const key = voteOf(text)
    const vote = votes.get(key)
    if (vote === undefined) votes.set(key, { text, count: 1 })
    else vote.count += 1
  }
  let winner: { readonly text: string; readonly count: number } | undefined
  for (const vote of votes.values()) if (winner === undefined || vote.count > winner.count) winner = vote
  return winner?.text
}

const textsOf = (answers: ReadonlyArray<StepAnswer | undefined>): ReadonlyArray<string> =>
  answers.flatMap((answer) => (answer?.type === "answered" ? [answer.text] : []))

/** The answer of a workflow that ran to its end: the last step's, or what most agree on. */
export const answerOf = (workflow: Workflow, results: Results): string | undefined => {
  if (workflow.answer === "majority") return majority(textsOf(results.answers))
  const last = results.answers[workflow.steps.length - 1]
  return last?.type === "answered" ? last.text : undefined
}

/** The workers, by ordinal, whose steps have no answer of this kind. */
export const workersOf = (
  { steps }: Workflow,
  { answers }: Results,
  type: "failed" | "refused"
): ReadonlyArray<number> => steps.filter((_, step) => answers[step]?.type === type).map(({ worker }) => worker)

/** Why a workflow that ran to its end has no answer. */
export const failureOf = (workflow: Workflow, { answers }: Results): StepFailed | Refusal => {
  const last = workflow.steps.length - 1
  const deciding = workflow.answer === "majority" ? answers : [answers[last]]
  const refusal = deciding.findLast((answer) => answer?.type === "refused")
  if (refusal !== undefined) return new Refusal({ worker: refusal.worker, text: refusal.text })
  const failure = answers[last]
  return failure?.type === "failed"
    ? new StepFailed({ step: last, detail: failure.message, cause: failure.cause })
    : new StepFailed({ step: last, detail: "no step answered" })
}

/**
 * The answer of a workflow that was cut short: its own, or that of the last step that was asked the question itself.
 * What a step says of a subtask is no answer to the question.
 */
export const bestSoFar = (workflow: Workflow, results: Results): string | undefined =>
  answerOf(workflow, results) ??
  textsOf(results.answers.filter((_, step) => workflow.steps[step]!.subtask === "")).at(-1)

// -------------------------------------------------------------------------------------------------------------------
// Execute
// -------------------------------------------------------------------------------------------------------------------

/** The steps to run; `undefined` for all of them. */
const wantedOf = (workflow: Workflow, skipUnseen: boolean): ReadonlySet<number> | undefined => {
  if (!skipUnseen) return undefined
  const wanted = needed(workflow)
  return wanted.size === workflow.steps.length ? undefined : wanted
}

const sees = ({ access }: Step, step: number): boolean => access === "all" || access.includes(step)

/** The Conductor is called `self` as a worker of its own pool. */
const workerName = ({ pool }: Plan, ordinal: number): string => pool.workers[ordinal]?.id ?? "self"

/** Prepares to run a workflow; its steps emit events. */
export const make = (context: CallContext, plan: Plan): Execution => {
  const { emit } = context
  const { round, settings, workflow } = plan
  const { steps } = workflow
  const wanted = wantedOf(workflow, settings.skipUnseen)
  const isWanted = (step: number) => wanted === undefined || wanted.has(step)
  /** How many steps each still waits for. A wanted step sees only wanted ones. */
  const waitsFor = steps.map(({ access }, step) => (access === "all" ? step : access.length))
  const answers: Array<StepAnswer | undefined> = steps.map(() => undefined)
  const waitingFor: Array<WaitingCall> = []
  let stopped: BudgetExceeded | undefined

  const skip = (step: number, reason: "unseen" | "budget") =>
    emit?.({ type: "step-skipped", round, step, worker: workerName(plan, steps[step]!.worker), reason })

  const released = (step: number): Array<number> => {
    const ready: Array<number> = []
    for (let later = step + 1; later < steps.length; later++) {
      if (!isWanted(later) || !sees(steps[later]!, step)) continue
      waitsFor[later]! -= 1
      if (waitsFor[later] === 0) ready.push(later)
    }
    return ready
  }

  // The last of a step's dependencies to end runs that step in its own fiber: no barrier, no new fiber for a chain.
  const drive = (ready: ReadonlyArray<number>): Effect.Effect<void, StepFailure> => {
    if (ready.length === 0) return Effect.void
    if (ready.length === 1) return one(ready[0]!)
    return Effect.forEach(ready, one, { concurrency: "unbounded", discard: true })
  }

  const one = (step: number): Effect.Effect<void, StepFailure> =>
    Effect.suspend(() => {
      if (stopped !== undefined) {
        skip(step, "budget")
        return drive(released(step))
      }
      const running = start(context, plan, step)
      const onAnswer = (answer: Answered) => {
        const { finishReason, text } = answer
        answers[step] =
          finishReason === "refusal" ? { type: "refused", text, worker: running.worker } : { type: "answered", text }
        finish(context, plan, running, answer)
      }
      return Effect.matchEffect(ask(context, plan, answers, running, onAnswer), {
        onSuccess: (waiting) => {
          if (waiting.length === 0) return drive(released(step))
          // Those that see it wait with it; the others go on.
          waitingFor.push(...waiting)
          emit?.({ type: "step-waiting", round, step, worker: running.worker, calls: waiting })
          return Effect.void
        },
        onFailure: (error) => {
          answers[step] = { type: "failed", message: error.message, cause: error }
          fail(context, plan, running, error.message)
          if (error._tag === "BudgetExceeded") stopped ??= error
          else if (settings.onStepFailure === "end") return Effect.fail(error)
          return drive(released(step))
        }
      })
    })

  return {
    run: Effect.suspend(() => {
      const ready: Array<number> = []
      for (let step = 0; step < steps.length; step++) {
        if (!isWanted(step)) skip(step, "unseen")
        else if (waitsFor[step] === 0) ready.push(step)
      }
      return drive(ready)
    }),
    results: () => ({ answers, stopped, waitingFor })
  }
}

const mayCall = (access: ToolAccess, isLast: boolean, { tools }: Step): boolean => {
  if (access === "policy") return tools === true
  return access === "every-step" || (access === "last-step" && isLast)
}

/** What a step is given: the answer's shape where its answer may be the run's, and the tools where it may call them. */
const offeredTo = ({ equipment, settings, workflow }: Plan, step: number): Offered => {
  const isLast = step === workflow.steps.length - 1
  return {
    hasTools: equipment.tools !== undefined && mayCall(settings.toolAccess, isLast, workflow.steps[step]!),
    isShaped: equipment.shape !== undefined && (isLast || workflow.answer === "majority")
  }
}

const isWaiting = (given: Answered | ReadonlyArray<WaitingCall>): given is ReadonlyArray<WaitingCall> =>
  Array.isArray(given)

type StepAnswers = ReadonlyArray<StepAnswer | undefined>

/** A step that is being answered. One small object, as there are many at once. */
interface Running {
  readonly step: number
  /** By the monotonic clock. */
  readonly startedAt: number
  /** Who answers it: another once it was reassigned. */
  worker: string
}

const start = ({ clock, emit }: CallContext, plan: Plan, step: number): Running => {
  const worker = workerName(plan, plan.workflow.steps[step]!.worker)
  emit?.({ type: "step-started", round: plan.round, step, worker })
  return { step, startedAt: ticks(clock), worker }
}

const finish = (
  { clock, emit }: CallContext,
  { round }: Plan,
  { startedAt, step, worker }: Running,
  given: Answered
) => {
  const { addedMillis, cached, costUsd, finishReason, model, text: answer, usage } = given
  const durationMillis = millisSince(clock, startedAt) + addedMillis
  const said = { answer, finishReason, ...(model === undefined ? undefined : { model }) }
  emit?.({ type: "step-finished", round, step, worker, ...said, durationMillis, cached, usage, costUsd })
}

const fail = ({ clock, emit }: CallContext, { round }: Plan, { startedAt, step, worker }: Running, message: string) =>
  emit?.({
    type: "step-failed",
    round,
    step,
    worker,
    message,
    durationMillis: millisSince(clock, startedAt)
  })

/** Asks the worker of a step, and those that take over from it. */
const ask = (
  context: CallContext,
  plan: Plan,
  answers: StepAnswers,
  running: Running,
  onAnswer: (answer: Answered) => void
): Effect.Effect<ReadonlyArray<WaitingCall>, StepFailure | BudgetExceeded> => {
  const { delegate, equipment, pool, previous, round, seed, settings, task, workflow } = plan
  const { step } = running
  const { worker: ordinal } = workflow.steps[step]!
  const messages = workerMessages({ task, workflow, step, answers, previous })
  const offered = offeredTo(plan, step)
  if (ordinal === pool.workers.length && delegate !== undefined) {
    return Effect.map(delegate(step, messages, offered), (given) => {
      if (isWaiting(given)) return given
      onAnswer(given)
      return []
    })
  }

  const { hasTools, isShaped } = offered
  const sample = Seed.derive(seed, step)
  const { maxOutputTokens, reasoning, temperature } = settings.worker
  const request: WorkerRequest = {
    messages,
    maxOutputTokens,
    temperature,
    reasoning,
    seed: plan.sendSeed ? sample : undefined
  }
  const { emit } = context
  const onDelta =
    emit && ((kind: "text" | "reasoning", text: string) => emit({ type: "step-delta", round, step, kind, text }))

  const conversation = begin()
  const from = (
    at: number,
    tried: ReadonlyArray<number>
  ): Effect.Effect<ReadonlyArray<WaitingCall>, StepFailure | BudgetExceeded> => {
    const worker: Worker = pool.workers[at]!
    const asked = converse(context, {
      worker,
      request,
      sample,
      round,
      step,
      equipment,
      hasTools,
      isShaped,
      conversation,
      onDelta,
      onAnswer
    })
    if (settings.reassign === "never") return asked
    return Effect.catchTag(asked, "WorkerError", (error) => {
      const next = reassign(settings.reassign, { pool, failed: at, tried, error })
      if (next === undefined) return Effect.fail(error)
      const { id: to } = pool.workers[next]!
      emit?.({ type: "step-reassigned", round, step, from: running.worker, to })
      running.worker = to
      handOver(conversation)
      return from(next, [...tried, next])
    })
  }
  return from(ordinal, [ordinal])
}
