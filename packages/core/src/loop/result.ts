/** Determines how rounds and runs end: the answer or failure, the ending, and the pending calls. */
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import { CallbackError } from "../Callback.ts"
import { millisSince } from "../Elapsed.ts"
import type { WaitingCall } from "../events/RunEvent.ts"
import type { StepFailure } from "../events/StepFailure.ts"
import type { PartialAnswer } from "../events/Transcript.ts"
import { defined } from "../Fields.ts"
import type { JournalMismatch } from "../journal/JournalErrors.ts"
import * as Policy from "../policy/Policy.ts"
import type { Round, RunOptions, RunResult } from "../run/Conductor.ts"
import { withToolbox } from "../run/Equipment.ts"
import type * as Toolbox from "../run/Toolbox.ts"
import { isA, messageOf } from "../Thrown.ts"
import * as Usage from "../task/Usage.ts"
import { Refusal, WorkerError } from "../task/Worker.ts"
import type { StepAnswer } from "../workflow/StepMessages.ts"
import { voteOf } from "../workflow/vote.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import { workerName } from "./reports.ts"
import type { RunError, State } from "./round.ts"
import type { Results } from "./scheduler.ts"

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Raised when the answering step has no answer. */
export class StepFailed extends Data.TaggedError("StepFailed")<{
  readonly step: number
  readonly detail: string
  /** The worker's error. */
  readonly cause?: unknown
}> {
  override get message(): string {
    return `Step ${this.step}, which gives the answer, failed: ${this.detail}`
  }
}

/** Raised when code called by a run throws an unexpected exception. Indicates a bug. */
export class RunDefect extends Data.TaggedError("RunDefect")<{ readonly cause: unknown }> {
  override get message(): string {
    return messageOf(this.cause)
  }
}

/** Raised when a run's answer does not match its `output`, because the answering step was not asked for that format. */
export class UnfittingAnswer extends Data.TaggedError("UnfittingAnswer")<{ readonly detail: string }> {
  override get message(): string {
    return `The answer does not match the output schema: ${this.detail}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Rounds
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

/** Returns the answer of a completed workflow: that of the last step, or of the majority. */
export const answerOf = (workflow: Workflow, results: Results): string | undefined => {
  if (workflow.answer === "majority") return majority(textsOf(results.answers))
  const last = results.answers[workflow.steps.length - 1]
  return last?.type === "answered" ? last.text : undefined
}

/** Returns the indices of the workers whose steps failed or were refused, depending on `type`. */
export const workersOf = (
  { steps }: Workflow,
  { answers }: Results,
  type: "failed" | "refused"
): ReadonlyArray<number> => steps.filter((_, step) => answers[step]?.type === type).map(({ worker }) => worker)

/** Returns why a completed workflow has no answer. */
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
 * Returns the step that concludes the longest chain of answered steps (the last one in case of a tie), or `undefined`
 * if no step was answered.
 */
const furthestOf = ({ steps }: Workflow, answers: ReadonlyArray<StepAnswer | undefined>): number | undefined => {
  const lengths: Array<number> = []
  let furthest: number | undefined
  for (const [step, { access }] of steps.entries()) {
    const seen = access === "all" ? lengths : access.map((index) => lengths[index]!)
    const isAnswered = answers[step]?.type === "answered"
    const length = isAnswered ? 1 + seen.reduce((most, one) => Math.max(most, one), 0) : 0
    lengths.push(length)
    if (isAnswered && (furthest === undefined || length >= lengths[furthest]!)) furthest = step
  }
  return furthest
}

/**
 * Returns the answer of a workflow that was cut short: its regular answer, or that of the last step whose task was the
 * question itself. An answer to a subtask does not answer the question.
 */
export const bestSoFar = (workflow: Workflow, results: Results): string | undefined =>
  answerOf(workflow, results) ??
  textsOf(results.answers.filter((_, step) => workflow.steps[step]!.subtask === "")).at(-1)

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the run's answer: the last one, or the one with the best score if a critic is used. If a limit ended the run,
 * drafts are ignored.
 */
const runAnswerOf = ({ current, options, rounds }: State, isCut: boolean): string | undefined => {
  const answered = rounds.filter(({ answer, isDraft }) => answer !== undefined && !(isCut && isDraft === true))
  if (rounds.at(-1)?.revision === "stop") return rounds.at(-1)!.answer
  if (current?.selected !== undefined) return current.selected
  if (options.critic !== undefined && answered.length > 0) {
    const score = (round: Round) => round.grade?.score ?? 0
    return answered.reduce((best, round) => (score(round) >= score(best) ? round : best)).answer
  }
  const running =
    current === undefined || current.isDraft ? undefined : bestSoFar(current.workflow, current.execution.results())
  return answered.at(-1)?.answer ?? running
}

/** Returns the most advanced text of the last round that has one. */
const partialOf = ({ current, past, pool, rounds }: State): PartialAnswer | undefined => {
  const running = current && { workflow: current.workflow, answers: current.execution.results().answers }
  const all = running === undefined ? past : [...past, running]
  for (let round = all.length - 1; round >= 0; round--) {
    const { answers, workflow } = all[round]!
    const step = furthestOf(workflow, answers)
    const answered = step === undefined ? undefined : answers[step]
    if (step !== undefined && answered?.type === "answered") {
      const { subtask, worker } = workflow.steps[step]!
      return { round, step, worker: workerName({ pool }, worker), subtask, text: answered.text }
    }
    const { answer, isOwn } = rounds[round] ?? {}
    if (isOwn === true && answer !== undefined) return { round, text: answer }
  }
  return undefined
}

/** Whether an error means that a model, its vendor's content filter or the policy refused the task. */
const isRefusal = (error: unknown): boolean => {
  if (isA(error, WorkerError)) return error.reason._tag === "ContentFiltered"
  if (isA(error, StepFailed)) return isRefusal(error.cause)
  return isA(error, Refusal) || (isA(error, Policy.PolicyError) && error.isRefusal === true)
}

const waitingText = (calls: ReadonlyArray<WaitingCall>): string => {
  const names = calls.map(
    ({ call, for: what, id }) =>
      `${what === "result" ? "the result" : "approval"} of ${what === "plan" ? "the plan" : call.name} (${id})`
  )
  return `The run is waiting for ${names.join(", ")}.`
}

const endingOf = (state: State, exit: Exit.Exit<void, RunError>): Pick<RunResult, "ending" | "detail" | "error"> => {
  if (state.stopped !== undefined) return { ending: "budget", detail: state.stopped.message, error: state.stopped }
  if (Exit.isSuccess(exit)) {
    return state.waitingFor.length === 0
      ? { ending: "answered", detail: undefined, error: undefined }
      : { ending: "suspended", detail: waitingText(state.waitingFor), error: undefined }
  }
  if (Cause.hasInterruptsOnly(exit.cause)) return { ending: "interrupted", detail: undefined, error: undefined }
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error
  const error = Predicate.hasProperty(failure, "_tag") ? failure : defectOf(Cause.squash(exit.cause))
  const message = messageOf(error)
  if (isA(error, Usage.BudgetExceeded)) return { ending: "budget", detail: message, error }
  // The answer of an earlier round remains valid.
  return state.rounds.every(({ answer, isDraft }) => answer === undefined || isDraft === true)
    ? { ending: isRefusal(error) ? "refused" : "failed", detail: message, error }
    : {
        ending: "answered",
        detail: `Round ${state.rounds.length} failed, so the previous answer is used: ${message}`,
        error
      }
}

/** Whether a run has ended on its own and will not be resumed. */
export const isOver = ({ stopped, waitingFor }: State, exit: Exit.Exit<void, RunError>): boolean =>
  stopped !== undefined || (waitingFor.length === 0 && !(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)))

// Loading the class of mismatches would make runs without a record larger.
const isMismatch = (cause: unknown): cause is JournalMismatch => Predicate.isTagged(cause, "JournalMismatch")

const defectOf = (cause: unknown): CallbackError | JournalMismatch | RunDefect =>
  isA(cause, CallbackError) || isMismatch(cause) ? cause : new RunDefect({ cause })

type End = Pick<RunResult, "ending" | "detail" | "error">

/**
 * Adds the decoded answer to a result. If the answer does not match the output format, the result becomes a failure.
 */
export const withValue = <E extends End>(
  ended: E,
  answer: string | undefined,
  shape: Toolbox.AnswerShape | undefined
): Omit<E, keyof End | "value"> & End & Pick<RunResult, "value"> => {
  const read = answer === undefined ? undefined : shape?.read(answer)
  if (read?.isRight === true) return { ...ended, value: read.value }
  if (read === undefined || ended.ending !== "answered") return { ...ended, value: undefined }
  const error = new UnfittingAnswer({ detail: read.why })
  return { ...ended, ending: "failed", detail: error.message, error, value: undefined }
}

/**
 * Returns a failure's position within a run as a list of numbers: the rounds and steps that lead to it. A planner's
 * failure is sorted before all steps.
 */
const pathOf = (run: string, { item, round, runId, step = -1 }: StepFailure): ReadonlyArray<number> => [
  ...runId
    .slice(run.length)
    .split(/[/.[\]]/)
    .flatMap((part) => (part === "" ? [] : [Number(part)])),
  round,
  step,
  ...(item === undefined ? [] : item.split(".").map(Number))
]

const rankOf = ({ by }: StepFailure): number => (by === undefined ? 0 : 1)

const byPlace = (one: ReadonlyArray<number>, other: ReadonlyArray<number>): number => {
  for (let at = 0; at < Math.min(one.length, other.length); at += 1) {
    if (one[at] !== other[at]) return one[at]! - other[at]!
  }
  // Failures of a nested run come before those of the enclosing step.
  return other.length - one.length
}

/**
 * Sorts the failures of a run and its nested runs by round and step. Failures of the same step remain in chronological
 * order, followed by those of its checks. The order therefore does not depend on which of two concurrent steps failed
 * first.
 */
const inOrder = (run: string, failures: ReadonlyArray<StepFailure>): ReadonlyArray<StepFailure> =>
  failures.length < 2
    ? failures
    : failures
        .map((failure) => ({ failure, path: pathOf(run, failure) }))
        .sort((one, other) => byPlace(one.path, other.path) || rankOf(one.failure) - rankOf(other.failure))
        .map(({ failure }) => failure)

/** Returns the failures of a run and its nested runs, in order. */
const failuresOf = (runId: string, all: ReadonlyArray<StepFailure>): ReadonlyArray<StepFailure> =>
  all.length === 0
    ? []
    : inOrder(
        runId,
        all.filter((failure) => failure.runId === runId || failure.runId.startsWith(`${runId}/`))
      )

/** Creates the result of a finished run, and emits its final event. */
export const finished = (state: State, startedAt: number, exit: Exit.Exit<void, RunError>): RunResult => {
  const { context, rounds, runId, waitingFor } = state
  const end = endingOf(state, exit)
  const isCut = state.stopped !== undefined || Exit.isFailure(exit)
  const answer = end.ending === "suspended" ? undefined : runAnswerOf(state, isCut)
  const partial = end.ending === "suspended" || answer !== undefined ? undefined : partialOf(state)
  const { detail, error, ending, value } = withValue(end, answer, state.equipment.shape)
  const spend = context.ledger.spent()
  const durationMillis = millisSince(context.clock, startedAt)
  const failures = failuresOf(runId, context.failures)
  const told = failures.length === 0 ? undefined : failures
  context.emit?.(
    defined({ type: "run-finished", ending, answer, partial, detail, failures: told, spend, durationMillis })
  )
  const cut = ending === "budget" && answer !== undefined ? { isPartial: true as const } : {}
  const whole = { runId, ending, answer, ...cut, partial, detail, error, failures, spend, durationMillis, rounds }
  return { ...whole, waitingFor, value }
}

/** Adds the decoded answer to a stored result, because a journal stores only the text. */
export const valued = (result: RunResult, output: RunOptions["output"]): Effect.Effect<RunResult> => {
  if (output === undefined || result.answer === undefined) return Effect.succeed(result)
  return withToolbox(({ answerShape }) =>
    Effect.match(answerShape(output), {
      onSuccess: (shape) => withValue(result, result.answer, shape),
      onFailure: (error) => ({ ...result, ending: "failed" as const, detail: error.message, error })
    })
  )
}
