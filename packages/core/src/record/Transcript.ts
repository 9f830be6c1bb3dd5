/**
 * Transcripts: the whole record of a run, folded from its events.
 *
 * A transcript is plain JSON and can be looked at at any moment of a run: what has not happened yet is absent. Every
 * dollar and token of `spend` is in exactly one place of it: an answer, a failed call, a completion or a grade.
 */
import type { Spend } from "../run/Budget.ts"
import type { Grade } from "../task/Grader.ts"
import type { Task } from "../task/Task.ts"
import type { FinishReason, WorkerErrorReason } from "../task/Worker.ts"
import type { Workflow } from "../workflow/Workflow.ts"
import type { Of, Outcome, Paid, Parent, PoolMember, RunEvent } from "./RunEvent.ts"
import { version } from "./RunEvent.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A call that failed or was interrupted. */
export interface LostCall extends Paid {
  readonly worker: string
  readonly at: number
  /** Absent when the call was interrupted. */
  readonly reason?: WorkerErrorReason
  readonly message?: string
}

/** What became of a step. */
export interface StepRecord {
  readonly step: number
  readonly worker: string
  readonly state: "waiting" | "running" | "answered" | "failed" | "skipped"
  readonly startedAt?: number
  readonly durationMillis?: number
  /** The answer; while the step runs, what has arrived of it. */
  readonly text: string
  readonly reasoning: string
  readonly finishReason?: FinishReason
  readonly cached?: boolean
  /** What the answer took. */
  readonly paid?: Paid
  /** Calls of this step that failed. */
  readonly lost: ReadonlyArray<LostCall>
  /** The workers that had the step before. */
  readonly reassignedFrom: ReadonlyArray<string>
  /** Why it failed, or why it was skipped. */
  readonly detail?: string
  /** The nested run, when the Conductor gave the step to itself. */
  readonly nested?: Transcript
}

/** A completion of a language policy. */
export interface CompletionRecord {
  readonly attempt: number
  readonly text: string
  readonly reasoning: string
  /** Why it could not be read as a workflow. */
  readonly error?: string
  readonly cached?: boolean
  readonly paid?: Paid
}

/** What became of a round. */
export interface RoundRecord {
  readonly round: number
  readonly startedAt: number
  readonly completions: ReadonlyArray<CompletionRecord>
  /** Failed calls of the policy and of the critic. */
  readonly lost: ReadonlyArray<LostCall>
  readonly policy?: string
  readonly workflow?: Workflow
  readonly notes: ReadonlyArray<string>
  readonly steps: ReadonlyArray<StepRecord>
  readonly grade?: { readonly critic: string; readonly grade: Grade; readonly paid?: Paid }
  readonly answer?: string
  readonly confirmed: boolean
}

/** The record of a run. */
export interface Transcript {
  readonly version: typeof version
  readonly runId: string
  readonly task: Task
  readonly pool: ReadonlyArray<PoolMember>
  readonly policy: string
  readonly seed: number
  readonly startedAt: number
  readonly parent?: Parent
  readonly rounds: ReadonlyArray<RoundRecord>
  /** These are absent until the run has ended. */
  readonly outcome?: Outcome
  readonly answer?: string
  readonly detail?: string
  readonly spend?: Spend
  readonly durationMillis?: number
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

const begin = (event: Of<"run-started">): Transcript => ({
  version,
  runId: event.runId,
  task: event.task,
  pool: event.pool,
  policy: event.policy,
  seed: event.seed,
  startedAt: event.at,
  ...(event.parent === undefined ? {} : { parent: event.parent }),
  rounds: []
})

const paidOf = ({ costUsd, usage }: Paid): Paid => ({ usage, costUsd })

const replaceAt = <A>(items: ReadonlyArray<A>, index: number, change: (item: A) => A): ReadonlyArray<A> => {
  const item = items[index]
  return item === undefined ? items : items.with(index, change(item))
}

const waitingStep = (workflow: Workflow, pool: ReadonlyArray<PoolMember>): ReadonlyArray<StepRecord> =>
  workflow.steps.map(({ worker }, step) => ({
    step,
    worker: pool[worker]?.id ?? "self",
    state: "waiting",
    text: "",
    reasoning: "",
    lost: [],
    reassignedFrom: []
  }))

const changeCompletion = (
  round: RoundRecord,
  attempt: number,
  change: (completion: CompletionRecord) => CompletionRecord
): RoundRecord => {
  const at = round.completions.findIndex((completion) => completion.attempt === attempt)
  return at >= 0
    ? { ...round, completions: replaceAt(round.completions, at, change) }
    : { ...round, completions: [...round.completions, change({ attempt, text: "", reasoning: "" })] }
}

const lostCall = (event: Of<"call-failed"> | Of<"call-interrupted">): LostCall => ({
  worker: event.worker,
  at: event.at,
  ...(event.type === "call-failed" ? { reason: event.reason, message: event.message } : {}),
  ...paidOf(event)
})

type StepEvent = Extract<RunEvent, { readonly step: number }> | Of<"call-failed"> | Of<"call-interrupted">

const onStep = (step: StepRecord, event: StepEvent): StepRecord => {
  switch (event.type) {
    case "step-started":
      return { ...step, state: "running", startedAt: event.at }
    case "step-delta":
      return { ...step, [event.kind]: step[event.kind] + event.text }
    case "call-failed":
      return { ...step, text: "", reasoning: "", lost: [...step.lost, lostCall(event)] }
    case "call-interrupted":
      return { ...step, lost: [...step.lost, lostCall(event)] }
    case "step-reassigned":
      return {
        ...step,
        worker: event.to,
        text: "",
        reasoning: "",
        reassignedFrom: [...step.reassignedFrom, event.from]
      }
    case "step-finished":
      return {
        ...step,
        state: "answered",
        worker: event.worker,
        text: event.answer,
        finishReason: event.finishReason,
        durationMillis: event.durationMillis,
        cached: event.cached,
        paid: paidOf(event)
      }
    case "step-failed":
      return { ...step, state: "failed", detail: event.message, durationMillis: event.durationMillis }
    case "step-skipped":
      return { ...step, state: "skipped", detail: event.reason }
  }
}

type RoundEvent = Exclude<RunEvent, Of<"run-started" | "run-finished" | "round-started">>

const onRound = (round: RoundRecord, event: RoundEvent, pool: ReadonlyArray<PoolMember>): RoundRecord => {
  switch (event.type) {
    case "completion-delta":
      return changeCompletion(round, event.attempt, (completion) => ({
        ...completion,
        [event.kind]: completion[event.kind] + event.text
      }))
    case "completion-finished":
      return changeCompletion(round, event.attempt, (completion) => ({
        ...completion,
        text: event.completion,
        ...(event.error === undefined ? {} : { error: event.error }),
        cached: event.cached,
        paid: paidOf(event)
      }))
    case "workflow-proposed":
      return {
        ...round,
        policy: event.policy,
        workflow: event.workflow,
        notes: event.notes,
        steps: waitingStep(event.workflow, pool)
      }
    case "answer-graded": {
      const { critic, grade, paid } = event
      return { ...round, grade: { critic, grade, ...(paid === undefined ? {} : { paid }) } }
    }
    case "round-finished":
      return {
        ...round,
        ...(event.answer === undefined ? {} : { answer: event.answer }),
        confirmed: event.confirmed
      }
    case "call-failed":
    case "call-interrupted":
      if (event.step === undefined) return { ...round, lost: [...round.lost, lostCall(event)] }
      return { ...round, steps: replaceAt(round.steps, event.step, (step) => onStep(step, event)) }
    default:
      return { ...round, steps: replaceAt(round.steps, event.step, (step) => onStep(step, event)) }
  }
}

const onRun = (transcript: Transcript, event: RunEvent): Transcript => {
  switch (event.type) {
    case "run-started":
      return transcript
    case "run-finished":
      return {
        ...transcript,
        outcome: event.outcome,
        ...(event.answer === undefined ? {} : { answer: event.answer }),
        ...(event.detail === undefined ? {} : { detail: event.detail }),
        spend: event.spend,
        durationMillis: event.durationMillis
      }
    case "round-started":
      return {
        ...transcript,
        rounds: [
          ...transcript.rounds,
          {
            round: event.round,
            startedAt: event.at,
            completions: [],
            lost: [],
            notes: [],
            steps: [],
            confirmed: false
          }
        ]
      }
    default:
      return {
        ...transcript,
        rounds: replaceAt(transcript.rounds, event.round, (round) => onRound(round, event, transcript.pool))
      }
  }
}

/** Whether an event's run is this one, or nested in it at any depth: nested ids begin with their parent's. */
const isWithin = (runId: string, eventRunId: string) => eventRunId.startsWith(`${runId}/`)

const intoNested = (transcript: Transcript, event: RunEvent): Transcript => ({
  ...transcript,
  rounds: transcript.rounds.map((round) => ({
    ...round,
    steps: round.steps.map((step) => {
      const { nested } = step
      if (nested !== undefined && (nested.runId === event.runId || isWithin(nested.runId, event.runId))) {
        return { ...step, nested: append(nested, event) }
      }
      const isParent =
        event.type === "run-started" &&
        event.parent?.runId === transcript.runId &&
        event.parent.round === round.round &&
        event.parent.step === step.step
      return isParent ? { ...step, nested: begin(event) } : step
    })
  }))
})

/** Adds one event of the run, or of a run nested in it. Events of other runs are ignored. */
export const append = (transcript: Transcript, event: RunEvent): Transcript => {
  if (event.runId === transcript.runId) return onRun(transcript, event)
  return isWithin(transcript.runId, event.runId) ? intoNested(transcript, event) : transcript
}

/**
 * The transcript of a run's events, or `undefined` when they do not begin with `run-started`.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as Policy from "@divisi/core/Policy"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as Transcript from "@divisi/core/Transcript"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const conductor = Conductor.make({ policy: Policy.single(0), pool })
 * const recorder = Transcript.recorder()
 * await Effect.runPromise(conductor.run("What is 6 times 7?", { listener: recorder.listener }))
 * recorder.transcript()?.rounds[0]?.steps[0]?.text // => "42"
 * ```
 */
export const fromEvents = (events: Iterable<RunEvent>): Transcript | undefined => {
  let transcript: Transcript | undefined
  for (const event of events) {
    if (transcript !== undefined) transcript = append(transcript, event)
    else if (event.type === "run-started") transcript = begin(event)
  }
  return transcript
}

/** Keeps a run's transcript while the run goes on. It holds one run: the first that it hears of. */
export interface Recorder {
  readonly listener: (event: RunEvent) => void
  /** What is known so far; `undefined` before the run has started. */
  readonly transcript: () => Transcript | undefined
}

/**
 * Makes a recorder for one run.
 *
 * **Details**
 *
 * Events are kept as they come and folded when the transcript is asked for, so listening costs next to nothing.
 */
export const recorder = (): Recorder => {
  let events: Array<RunEvent> = []
  let folded: Transcript | undefined
  return {
    listener: (event) => {
      events.push(event)
    },
    transcript: () => {
      folded = folded === undefined ? fromEvents(events) : events.reduce(append, folded)
      events = folded === undefined ? events : []
      return folded
    }
  }
}
