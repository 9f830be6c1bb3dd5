/**
 * Transcripts: the whole record of a run, folded from its events.
 *
 * A transcript is plain JSON. It can be taken at any moment of a run; future events are absent from it. It records
 * times, so a finished run can be shown as of any time ({@link at}): a view is a function of a transcript and a time.
 * Every call, dollar and token of `spend` is in exactly one place: an answer of a step, to a critic or to a check, a
 * failed call, or a completion.
 */

import { defined } from "../Fields.ts"
import type { Grade } from "../task/Grader.ts"
import type { Content, ToolCall } from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import type { ToolProgress } from "../task/Tool.ts"
import type { Paid, Spend } from "../task/Usage.ts"
import type { FinishReason, WorkerErrorReason } from "../task/Worker.ts"
import type { EarlierStep, Workflow } from "../workflow/Workflow.ts"
import type { PlanDecision } from "./approval.ts"
import { withItems } from "./items.ts"
import type * as Payments from "./Payments.ts"
import { recorder as fold } from "./Recorder.ts"
import type {
  Attempt,
  Ending,
  ForkOf,
  Item,
  Listener,
  Parent,
  PoolMember,
  RunEvent,
  version,
  WaitingCall
} from "./RunEvent.ts"
import * as Timeline from "./Timeline.ts"

export { isNested, paidForAnswer, payments, spendByWorker, spendSoFar, withPayment } from "./Payments.ts"

/** The purpose of a call. */
export type Purpose = Payments.Purpose
/** A call of a run, or a cached answer. */
export type Payment = Payments.Payment

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A call that failed or was interrupted. */
export interface LostCall extends Paid, Attempt {
  readonly worker: string
  /** Which call of the step or the policy it was; 0 when absent. */
  readonly turn?: number
  readonly at: number
  /** Absent when the call was interrupted, or its answer was lost. */
  readonly reason?: WorkerErrorReason
  readonly message?: string
  /** How long after the failure the same worker is tried again; absent when it is not. */
  readonly retryInMillis?: number
  /** Present if the request was not sent: its provider's gate refused the call, which is counted nowhere. */
  readonly unasked?: true
  /** Present if its process ended before its answer arrived: its cost is the worst case. */
  readonly isInDoubt?: true
  /** Present if a check of the step or the critic of the round made the call. */
  readonly by?: "check" | "critic"
  /** Present if the policy made the call when it already had a plan for the round: the plan does not depend on it. */
  readonly isAfterPlan?: true
}

/** The result of a check on a worker's answer. */
export interface CheckRecord {
  /** Which check of the step it was, from 0. */
  readonly turn: number
  readonly at: number
  readonly check: string
  readonly worker: string
  readonly passed: boolean
  readonly objection?: string
  readonly durationMillis: number
}

/** The answer of a worker that a check called. */
export interface CheckAnswer extends Paid {
  /** Which call of the step's checks it was, from 0. */
  readonly turn: number
  readonly at: number
  readonly check: string
  readonly worker: string
  readonly text: string
  readonly cached: boolean
}

/** The policy's decision after answers failed their checks. */
export interface RevisionRecord {
  readonly at: number
  readonly policy: string
  readonly decision: "go-on" | "stop" | "re-plan"
  /** The step whose answer is used, if the policy stopped the run. */
  readonly answer?: EarlierStep
  readonly notes: ReadonlyArray<string>
  readonly durationMillis: number
}

/**
 * A turn of a step's worker that did not end the step: the worker called tools, was asked for another shape, or failed
 * its check and handed over.
 */
export interface TurnRecord {
  readonly turn: number
  readonly worker: string
  readonly endedAt: number
  readonly durationMillis: number
  readonly text: string
  readonly reasoning: string
  readonly tools: ReadonlyArray<ToolRecord>
  readonly echo?: unknown
  /** The reason why its text does not have the requested shape, or fails its check. */
  readonly error?: string
  readonly cached: boolean
  readonly paid: Paid
}

/** A tool that was called. */
export interface ToolRecord {
  /** Its progress; absent if the tool has not reported any, or has ended. */
  readonly progress?: ToolProgress
  readonly call: ToolCall
  readonly startedAt?: number
  /** Absent while it runs, or while it waits. */
  readonly endedAt?: number
  readonly durationMillis?: number
  readonly content?: Content
  readonly isError?: boolean
}

/** A worker that had a step until another took it over. */
export interface Reassignment {
  readonly from: string
  readonly at: number
  /** Why the worker failed; absent if its answer failed a check. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message?: string
}

/** The record of a step. */
export interface StepRecord {
  readonly step: number
  /** Present in the record of an item. */
  readonly item?: Item
  /** The records of its items that have started or were skipped, by their positions; absent if it runs once. */
  readonly items?: ReadonlyArray<StepRecord>
  /** The number of its items that are known so far; absent if it runs once. */
  readonly unfolded?: number
  /** The steps and items that it sees and did not wait for, as in `step-started`. */
  readonly without?: ReadonlyArray<string>
  readonly worker: string
  readonly state: "waiting" | "running" | "suspended" | "answered" | "failed" | "skipped"
  readonly startedAt?: number
  /** When it was answered, failed or was skipped. */
  readonly endedAt?: number
  readonly durationMillis?: number
  /** The answer; while the step runs, the part that has arrived. */
  readonly text: string
  readonly reasoning: string
  readonly finishReason?: FinishReason
  /** The model that answered, as the vendor names it in its response. */
  readonly model?: string
  readonly cached?: boolean
  /** The usage and cost of the answer. */
  readonly paid?: Paid
  /** Absent when its worker answered at once. */
  readonly turns?: ReadonlyArray<TurnRecord>
  /** The tool calls that a suspended step waits for. */
  readonly waitingFor?: ReadonlyArray<WaitingCall>
  /** Content that was withheld from workers because they do not accept it. */
  readonly notices?: ReadonlyArray<string>
  /** The results of checks, in order; absent if there were no checks. */
  readonly checks?: ReadonlyArray<CheckRecord>
  /** Absent if the checks called no worker. */
  readonly checkAnswers?: ReadonlyArray<CheckAnswer>
  /** Calls of this step and of its checks that failed or were interrupted. */
  readonly lost: ReadonlyArray<LostCall>
  /** The workers that had the step before, in order. */
  readonly reassigned: ReadonlyArray<Reassignment>
  /** Why it failed, or why it was skipped. */
  readonly detail?: string
  /** The class of the error of its worker, if it failed for that. */
  readonly reason?: WorkerErrorReason["_tag"]
  /** The nested run, if the Conductor assigned the step to itself. */
  readonly nested?: Transcript
}

/** A completion of a language policy. */
export interface CompletionRecord {
  readonly attempt: number
  /** The time at which it was complete; absent while it is being written. */
  readonly endedAt?: number
  readonly text: string
  readonly reasoning: string
  /** The tools that the model calls; absent if it calls none. */
  readonly toolCalls?: ReadonlyArray<ToolCall>
  /** Why the model stopped. Default: `stop`. */
  readonly finishReason?: FinishReason
  /** Vendor data of a completion with tool calls. */
  readonly echo?: unknown
  /** Why it could not be read as a workflow. */
  readonly error?: string
  readonly cached?: boolean
  readonly paid?: Paid
}

/** A critic's verdict on the answer of a round. */
export interface GradeRecord {
  readonly at: number
  readonly critic: string
  readonly grade: Grade
}

/** The answer of a worker that a critic called. */
export interface CriticAnswer extends Paid {
  readonly at: number
  readonly critic: string
  readonly worker: string
  readonly text: string
  readonly cached: boolean
}

/** The record of a round. */
export interface RoundRecord {
  readonly round: number
  readonly startedAt: number
  readonly completions: ReadonlyArray<CompletionRecord>
  /** Failed calls of the policy and of the critic. */
  readonly lost: ReadonlyArray<LostCall>
  readonly policy?: string
  /** When the workflow was proposed. */
  readonly plannedAt?: number
  /** The duration of planning. A cached completion that is charged adds its original duration. */
  readonly planningMillis?: number
  /** The plan that runs: the proposed one, or the one by which a person replaced it. */
  readonly workflow?: Workflow
  /** The plan, while it waits for approval. */
  readonly waitingFor?: ReadonlyArray<WaitingCall>
  /** How a person decided on the plan; absent if it needed no approval. */
  readonly decision?: { readonly decision: PlanDecision; readonly reason?: string }
  readonly notes: ReadonlyArray<string>
  /** The probability of this plan, if its policy samples. */
  readonly probability?: number
  readonly steps: ReadonlyArray<StepRecord>
  /** The policy's decisions after answers failed their checks; absent if it was not consulted. */
  readonly revisions?: ReadonlyArray<RevisionRecord>
  readonly grade?: GradeRecord
  /** Absent if the critic called no worker. */
  readonly criticAnswers?: ReadonlyArray<CriticAnswer>
  /** Absent while the round is running, and if it was cut short. */
  readonly endedAt?: number
  readonly answer?: string
  /** Present if the policy answered itself. */
  readonly isOwn?: true
  /** Whether the run ends with this round. `false`: its answer is a draft. Absent: the settings of the run decide. */
  readonly isLast?: boolean
  /** Whether the policy confirmed the previous answer. */
  readonly confirmed: boolean
}

/** The text that was furthest when a run ended without an answer. It is not an answer to the question. */
export interface PartialAnswer {
  readonly round: number
  /** Absent if the text is a draft of the policy itself. */
  readonly step?: number
  /** The worker of the step. */
  readonly worker?: string
  /** The subtask of the step; empty for the question itself. */
  readonly subtask?: string
  readonly text: string
}

/** The record of a run. */
export interface Transcript {
  readonly version: typeof version
  readonly runId: string
  readonly task: Task
  readonly pool: ReadonlyArray<PoolMember>
  readonly policy: string
  /** Why this policy was used: `Policy.reason`. */
  readonly reason?: string
  readonly seed: number
  readonly startedAt: number
  readonly parent?: Parent
  readonly forkOf?: ForkOf
  readonly rounds: ReadonlyArray<RoundRecord>
  /** The rest is absent until the run has ended. */
  readonly ending?: Ending
  readonly answer?: string
  /** Present if the run ended without an answer, and a step or a draft has a text. */
  readonly partial?: PartialAnswer
  readonly detail?: string
  readonly spend?: Spend
  readonly durationMillis?: number
}

// -------------------------------------------------------------------------------------------------------------------
// Folding
// -------------------------------------------------------------------------------------------------------------------

/** Folds the events of one run, with those of the runs nested in it. */
export interface Recorder {
  /** Receives the next event. Events before the run's start, and those of other runs, change nothing. */
  readonly listener: Listener
  /** The transcript so far; `undefined` before the run has started. */
  readonly transcript: () => Transcript | undefined
}

/**
 * Makes a recorder for one run: the first run whose events it receives.
 *
 * **Details**
 *
 * Each event changes the record in place, and a transcript is copied out of it on request. A recorder therefore holds
 * only the data of the transcript, and no events. Repeated requests without an event in between return the same
 * transcript.
 */
export const recorder: () => Recorder = fold

/**
 * The transcript of a run's events, or `undefined` when the run's start is not among them.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import { Baselines, Transcript } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const conductor = Conductor.make({ policy: Baselines.single(0), pool })
 * const recorder = Transcript.recorder()
 * await Effect.runPromise(conductor.run("What is 6 times 7?", { listener: recorder.listener }))
 * recorder.transcript()?.rounds[0]?.steps[0]?.text // => "42"
 * ```
 */
export const fromEvents = (events: Iterable<RunEvent>): Transcript | undefined => {
  const { listener, transcript } = recorder()
  for (const event of events) listener(event)
  return transcript()
}

// -------------------------------------------------------------------------------------------------------------------
// Places
// -------------------------------------------------------------------------------------------------------------------

/** A step of a run, or one of its items. All count from 0. */
export interface Place {
  readonly round: number
  readonly step: number
  /** The item of a step that runs for items: `"3"`, or `"3.1"` in a list of a list. */
  readonly item?: string | undefined
}

/** The text of a place, as people and requests write it: `0.2`, or `0.2[3.1]` for an item. */
export const placePattern = /^(\d{1,6})\.(\d{1,6})(?:\[(\d[\d.]{0,60})\])?$/

/**
 * Reads the text of a place: the round and the step, and an item in brackets; `undefined` for other texts.
 *
 * **Example**
 *
 * ```ts
 * import { Transcript } from "@divisi/core"
 *
 * Transcript.readPlace("0.2[1]") // => { round: 0, step: 2, item: "1" }
 * Transcript.readPlace("2") // => undefined
 * ```
 */
export const readPlace = (text: string): Place | undefined => {
  const [, round, step, item] = placePattern.exec(text) ?? []
  return round === undefined ? undefined : { round: Number(round), step: Number(step), ...defined({ item }) }
}

// -------------------------------------------------------------------------------------------------------------------
// Pending calls
// -------------------------------------------------------------------------------------------------------------------

/** The calls that a run waits for: plans to approve and tools of its caller, with those of the runs nested in it. */
export const pendingCalls = ({ rounds }: Transcript): ReadonlyArray<WaitingCall> =>
  rounds.flatMap(({ steps, waitingFor = [] }) => [
    ...waitingFor,
    ...withItems(steps).flatMap(({ nested, waitingFor = [] }) => [
      ...waitingFor,
      ...(nested === undefined ? [] : pendingCalls(nested))
    ])
  ])

// -------------------------------------------------------------------------------------------------------------------
// Time
// -------------------------------------------------------------------------------------------------------------------

/** The time of the last thing that a transcript records, in milliseconds since 1970. */
export const endOf: (transcript: Transcript) => number = Timeline.endOf

/**
 * A run as it was at a time, in milliseconds since 1970.
 *
 * **Details**
 *
 * It is the transcript of the events up to then, with one difference: a transcript does not store the arrival times of
 * the pieces of a text, so each text appears when it is complete.
 */
export const at: (transcript: Transcript, time: number) => Transcript = Timeline.at
