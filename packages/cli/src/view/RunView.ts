/**
 * What a run looks like at one moment: a fold of its events, `(state, event) => state`. Every view is drawn from this.
 */
import * as Budget from "@divisi/core/Budget"
import type { Of, Outcome, Paid, RunEvent } from "@divisi/core/RunEvent"
import * as Task from "@divisi/core/Task"
import { addUsage, type Usage } from "@divisi/core/Worker"
import type { Workflow } from "@divisi/core/Workflow"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A step of a plan, as far as it has come. */
export interface StepView {
  readonly worker: string
  readonly subtask: string
  readonly state: "waiting" | "running" | "done" | "failed" | "skipped" | "stopped"
  readonly startedAt?: number
  readonly durationMillis?: number
  readonly usage?: Usage
  /** USD; absent when nothing is paid yet, or the price is unknown. */
  readonly costUsd?: number
  readonly cached: boolean
  readonly answer?: string
  /** Why it failed, was skipped, or is tried again. */
  readonly message?: string
  /** The end of what it has written so far. */
  readonly streamed: string
  /** The run that answers this step, when the Conductor is its worker. */
  readonly nested?: RunView
}

/** A round: a plan as it is written, and then as it is run. */
export interface RoundView {
  readonly policy: string
  /** What the policy has written so far, and in which attempt. */
  readonly completion: string
  readonly attempt: number
  /** Why the attempt before could not be read. */
  readonly unreadable?: string
  readonly workflow?: Workflow
  readonly notes: ReadonlyArray<string>
  readonly steps: ReadonlyArray<StepView>
  readonly confirmed: boolean
  readonly answer?: string
  readonly verdict?: string
}

/** A run, as far as it has come. */
export interface RunView {
  readonly runId: string
  readonly question: string
  readonly policy: string
  readonly pool: ReadonlyArray<string>
  readonly startedAt: number
  readonly rounds: ReadonlyArray<RoundView>
  /** What has been paid so far, nested runs included. */
  readonly spend: Budget.Spend
  readonly outcome?: Outcome
  readonly answer?: string
  readonly detail?: string
  readonly durationMillis?: number
}

/** The state before the first event. */
export const empty: RunView | undefined = undefined

/** How much of a step's stream is kept: views show the end of it. */
const streamedLength = 400

// -------------------------------------------------------------------------------------------------------------------
// The fold
// -------------------------------------------------------------------------------------------------------------------

const start = (event: Of<"run-started">): RunView => ({
  runId: event.runId,
  question: Task.question(event.task),
  policy: event.policy,
  pool: event.pool.map((member) => member.id),
  startedAt: event.at,
  rounds: [],
  spend: Budget.noSpend
})

const pay = (spend: Budget.Spend, { costUsd, usage }: Paid, calls: number): Budget.Spend => ({
  usage: addUsage(spend.usage, usage),
  costUsd: spend.costUsd + (costUsd ?? 0),
  calls: spend.calls + calls,
  unpricedCalls: spend.unpricedCalls + (costUsd === undefined ? calls : 0)
})

/** Whether a step is answered by a nested run: what that has paid has been counted as it was paid. */
const isNested = (view: RunView, { round, step }: { readonly round: number; readonly step: number }): boolean =>
  view.rounds[round]?.steps[step]?.nested !== undefined

/** What an event of a run says was paid. An answer from the cache is not a call. */
const paidBy = (view: RunView, event: RunEvent): { readonly paid: Paid; readonly calls: number } | undefined => {
  switch (event.type) {
    case "step-finished":
      return isNested(view, event) ? undefined : { paid: event, calls: event.cached ? 0 : 1 }
    case "completion-finished":
      return { paid: event, calls: event.cached ? 0 : 1 }
    case "call-failed":
    case "call-interrupted":
      return { paid: event, calls: 1 }
    case "answer-graded":
      return event.paid === undefined ? undefined : { paid: event.paid, calls: 1 }
    default:
      return undefined
  }
}

const updateAt = <A>(list: ReadonlyArray<A>, index: number, update: (item: A) => A): ReadonlyArray<A> =>
  list[index] === undefined ? list : list.with(index, update(list[index]))

const updateRound = (view: RunView, round: number, update: (round: RoundView) => RoundView): RunView => ({
  ...view,
  rounds: updateAt(view.rounds, round, update)
})

const updateStep = (
  view: RunView,
  event: { readonly round: number; readonly step: number },
  update: (step: StepView) => StepView
): RunView =>
  updateRound(view, event.round, (round) => ({ ...round, steps: updateAt(round.steps, event.step, update) }))

/** A worker's name by its ordinal; the ordinal after the last is the Conductor itself. */
const workerName = (view: RunView, ordinal: number): string =>
  view.pool[ordinal] ?? (ordinal === view.pool.length ? "self" : `worker ${ordinal}`)

const propose = (view: RunView, event: Of<"workflow-proposed">): RunView =>
  updateRound(view, event.round, (round) => ({
    ...round,
    policy: event.policy,
    workflow: event.workflow,
    notes: event.notes,
    steps: event.workflow.steps.map((step) => ({
      worker: workerName(view, step.worker),
      subtask: step.subtask,
      state: "waiting",
      cached: false,
      streamed: ""
    }))
  }))

const finishCompletion = (view: RunView, event: Of<"completion-finished">): RunView =>
  updateRound(view, event.round, (round) => ({
    ...round,
    attempt: event.attempt,
    completion: event.completion,
    ...(event.error === undefined ? {} : { unreadable: event.error })
  }))

const failCall = (view: RunView, event: Of<"call-failed">): RunView => {
  const { round, step } = event
  return step === undefined
    ? updateRound(view, round, (round) => ({ ...round, unreadable: event.message }))
    : updateStep(view, { round, step }, (step) => ({ ...step, message: event.message, streamed: "" }))
}

const stopStep = (view: RunView, round: number, step: number, costUsd: number | undefined): RunView =>
  updateStep(view, { round, step }, (step) => ({
    ...step,
    state: "stopped",
    ...(costUsd === undefined ? {} : { costUsd })
  }))

const paidFields = ({ costUsd, usage }: Paid) => ({ usage, ...(costUsd === undefined ? {} : { costUsd }) })

const finishStep = (view: RunView, event: Of<"step-finished">): RunView =>
  updateStep(view, event, ({ message: _, ...step }) => ({
    ...step,
    worker: event.worker,
    state: "done",
    durationMillis: event.durationMillis,
    // What a nested run took is what its step took.
    ...paidFields(step.nested === undefined ? event : step.nested.spend),
    cached: event.cached,
    answer: event.answer
  }))

const skipReasons = {
  unseen: "nobody sees its answer",
  budget: "the budget does not allow it"
} as const

const finishRun = (view: RunView, event: Of<"run-finished">): RunView => ({
  ...view,
  outcome: event.outcome,
  ...(event.answer === undefined ? {} : { answer: event.answer }),
  ...(event.detail === undefined ? {} : { detail: event.detail }),
  spend: event.spend,
  durationMillis: event.durationMillis
})

/** An event of the run itself, not of a nested one. */
const applyOwn = (view: RunView, event: RunEvent): RunView => {
  switch (event.type) {
    case "run-started":
      return view
    case "round-started":
      return {
        ...view,
        rounds: [
          ...view.rounds,
          { policy: view.policy, completion: "", attempt: 0, notes: [], steps: [], confirmed: false }
        ]
      }
    case "completion-delta":
      return updateRound(view, event.round, (round) => ({
        ...round,
        attempt: event.attempt,
        completion: event.attempt === round.attempt ? round.completion + event.text : event.text
      }))
    case "completion-finished":
      return finishCompletion(view, event)
    case "workflow-proposed":
      return propose(view, event)
    case "step-started":
      return updateStep(view, event, (step) => ({
        ...step,
        worker: event.worker,
        state: "running",
        startedAt: event.at
      }))
    case "step-delta":
      return updateStep(view, event, (step) => ({
        ...step,
        streamed: (step.streamed + event.text).slice(-streamedLength)
      }))
    case "call-failed":
      return failCall(view, event)
    case "call-interrupted":
      return event.step === undefined ? view : stopStep(view, event.round, event.step, event.costUsd)
    case "step-reassigned":
      return updateStep(view, event, (step) => ({
        ...step,
        worker: event.to,
        streamed: "",
        message: `taken over from ${event.from}`
      }))
    case "step-finished":
      return finishStep(view, event)
    case "step-failed":
      return updateStep(view, event, (step) => ({
        ...step,
        state: "failed",
        durationMillis: event.durationMillis,
        message: event.message
      }))
    case "step-skipped":
      return updateStep(view, event, (step) => ({ ...step, state: "skipped", message: skipReasons[event.reason] }))
    case "answer-graded":
      return updateRound(view, event.round, (round) => ({
        ...round,
        verdict: `${event.critic} scores ${Number(event.grade.score.toFixed(3))}`
      }))
    case "round-finished":
      return updateRound(view, event.round, (round) => ({
        ...round,
        confirmed: event.confirmed,
        ...(event.answer === undefined ? {} : { answer: event.answer })
      }))
    case "run-finished":
      return finishRun(view, event)
  }
}

/** A run, or one nested in it, by its id; and how deep it is nested. */
export const find = (
  view: RunView,
  runId: string,
  depth = 0
): { readonly view: RunView; readonly depth: number } | undefined => {
  if (view.runId === runId) return { view, depth }
  for (const { steps } of view.rounds) {
    for (const { nested } of steps) {
      const found = nested === undefined ? undefined : find(nested, runId, depth + 1)
      if (found !== undefined) return found
    }
  }
  return undefined
}

type Payment = ReturnType<typeof paidBy>

/** The run with the event applied to it or to a run nested in it; the run itself when the event is another's. */
const applyWithin = (view: RunView, event: RunEvent, payment: Payment): RunView => {
  const settle = (next: RunView): RunView =>
    payment === undefined || next.outcome !== undefined
      ? next
      : { ...next, spend: pay(next.spend, payment.paid, payment.calls) }
  if (event.runId === view.runId) return settle(applyOwn(view, event))
  if (event.type === "run-started" && event.parent?.runId === view.runId) {
    return updateStep(view, event.parent, (step) => ({ ...step, nested: start(event) }))
  }
  for (const [round, { steps }] of view.rounds.entries()) {
    for (const [step, { nested }] of steps.entries()) {
      const next = nested === undefined ? undefined : applyWithin(nested, event, payment)
      if (next !== nested) return settle(updateStep(view, { round, step }, (step) => ({ ...step, nested: next! })))
    }
  }
  return view
}

/**
 * Adds an event. Events before the first `run-started`, and those of unknown runs, change nothing.
 *
 * **Example**
 *
 * ```ts
 * import { RunView } from "@divisi/cli"
 *
 * const view = RunView.apply(RunView.empty, {
 *   type: "run-started",
 *   version: 1,
 *   runId: "run-1",
 *   at: 0,
 *   task: { id: "task-1", messages: [{ role: "user", content: "Why?" }] },
 *   pool: [{ id: "a" }],
 *   policy: "lexical",
 *   seed: 0
 * })
 * view?.question // => "Why?"
 * ```
 */
export const apply = (view: RunView | undefined, event: RunEvent): RunView | undefined => {
  if (view === undefined) return event.type === "run-started" ? start(event) : undefined
  const owner = find(view, event.runId)?.view
  return applyWithin(view, event, owner === undefined ? undefined : paidBy(owner, event))
}
