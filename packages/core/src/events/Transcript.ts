/**
 * Transcripts: the complete record of a run, folded from its events.
 *
 * A transcript is plain JSON and can be taken at any moment of a run. It records times, so a finished run can be shown
 * as of any time ({@link at}): a view is a function of a transcript and a time. Every call, dollar and token in `spend`
 * is recorded exactly once: in an answer to a step, a critic or a check, in a failed call, or in a completion.
 */

import { defined } from "../Fields.ts"
import type { Grade } from "../task/Grader.ts"
import type { Content, ToolCall } from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import type { ToolProgress } from "../task/Tool.ts"
import type { Paid, Spend } from "../task/Usage.ts"
import type { FinishReason, WorkerErrorReason } from "../task/Worker.ts"
import type { EarlierStep, Rules, Workflow } from "../workflow/Workflow.ts"
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
  /** The index of the call within its step, or among the policy's calls; 0 if absent. */
  readonly turn?: number
  readonly at: number
  /** Absent if the call was interrupted or its answer was lost. */
  readonly reason?: WorkerErrorReason
  readonly message?: string
  /** The delay between the failure and the retry with the same worker; absent if there is no retry. */
  readonly retryInMillis?: number
  /** Present if the request was not sent because the provider's gate refused it. Such a call is not counted. */
  readonly unasked?: true
  /** Present if the process ended before the answer arrived. The cost is then the worst case. */
  readonly isInDoubt?: true
  /** Present if a check of the step or the critic of the round made the call. */
  readonly by?: "check" | "critic"
  /** Present if the policy made the call when it already had a plan for the round: the plan does not depend on it. */
  readonly isAfterPlan?: true
  /** Present if a later completion of the policy in its round has the same time: that completion depends on it. */
  readonly isBeforeCompletion?: true
}

/** The result of a check on a worker's answer. */
export interface CheckRecord {
  /** The index of the check within the step, from 0. */
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
  /** The index of the call among the calls of the step's checks, from 0. */
  readonly turn: number
  readonly at: number
  readonly check: string
  readonly worker: string
  readonly text: string
  readonly cached: boolean
  /** A digest of the request; present if other calls of the step's checks were in flight when it started. */
  readonly request?: string
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
 * A turn that did not complete its step: the worker called tools, its answer had the wrong shape, or its answer failed
 * a check and another worker took over.
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
  /** Why its text does not have the requested shape, or failed its check. */
  readonly error?: string
  readonly cached: boolean
  readonly paid: Paid
}

/** A tool that was called. */
export interface ToolRecord {
  /** The latest progress; absent if the tool has not reported any, or has ended. */
  readonly progress?: ToolProgress
  readonly call: ToolCall
  readonly startedAt?: number
  /** Absent while the tool is running or waiting. */
  readonly endedAt?: number
  readonly durationMillis?: number
  readonly content?: Content
  readonly isError?: boolean
}

/** A worker that lost a step to another worker. */
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
  /** The records of the items that have started or were skipped, by index; absent if the step runs once. */
  readonly items?: ReadonlyArray<StepRecord>
  /** The number of items discovered so far; absent if the step runs once. */
  readonly unfolded?: number
  /** The steps and items in its access list that it did not wait for, as in `step-started`. */
  readonly without?: ReadonlyArray<string>
  readonly worker: string
  readonly state: "waiting" | "running" | "suspended" | "answered" | "failed" | "skipped"
  readonly startedAt?: number
  /** The time at which it was answered, failed or was skipped. */
  readonly endedAt?: number
  readonly durationMillis?: number
  /** The answer; while the step runs, the part that has arrived. */
  readonly text: string
  readonly reasoning: string
  readonly finishReason?: FinishReason
  /** The model name in the vendor's response. */
  readonly model?: string
  readonly cached?: boolean
  /** The usage and cost of the answer. */
  readonly paid?: Paid
  /** Absent if the worker answered in its first turn. */
  readonly turns?: ReadonlyArray<TurnRecord>
  /** The tool calls that a suspended step waits for. */
  readonly waitingFor?: ReadonlyArray<WaitingCall>
  /** Descriptions of content that was not sent to a worker because it does not accept it. */
  readonly notices?: ReadonlyArray<string>
  /** The results of checks, in order; absent if there were no checks. */
  readonly checks?: ReadonlyArray<CheckRecord>
  /** Absent if the checks called no worker. */
  readonly checkAnswers?: ReadonlyArray<CheckAnswer>
  /** Calls of this step and of its checks that failed or were interrupted. */
  readonly lost: ReadonlyArray<LostCall>
  /** The previous workers of the step, in order. */
  readonly reassigned: ReadonlyArray<Reassignment>
  /** Why the step failed or was skipped. */
  readonly detail?: string
  /** The class of the worker's error, if an error of the worker made the step fail. */
  readonly reason?: WorkerErrorReason["_tag"]
  /** The nested run, if the Conductor assigned the step to itself. */
  readonly nested?: Transcript
}

/** A completion of a language policy. */
export interface CompletionRecord {
  readonly attempt: number
  /** The time at which it was complete; absent while it is being generated. */
  readonly endedAt?: number
  readonly text: string
  readonly reasoning: string
  /** The tool calls of the model; absent if it did not call any. */
  readonly toolCalls?: ReadonlyArray<ToolCall>
  /** Why the model stopped. Default: `stop`. */
  readonly finishReason?: FinishReason
  /** Vendor data of a completion with tool calls. */
  readonly echo?: unknown
  /** Why the completion could not be parsed as a workflow. */
  readonly error?: string
  readonly cached?: boolean
  /** A digest of the request; present if other completions of the round were in flight when it started. */
  readonly request?: string
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
  /** The index of the call among those of the round's critic; by default, the index of the answer. */
  readonly turn?: number
  /** A digest of the request; present if other calls of the critic were in flight when it started. */
  readonly request?: string
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
  /** The plan that runs: the proposed one, or a person's replacement for it. */
  readonly workflow?: Workflow
  /** The plan, while it waits for approval. */
  readonly waitingFor?: ReadonlyArray<WaitingCall>
  /** A person's decision on the plan; absent if it did not need approval. */
  readonly decision?: { readonly decision: PlanDecision; readonly reason?: string; readonly text?: string }
  readonly notes: ReadonlyArray<string>
  /** The probability of this plan, if its policy samples. */
  readonly probability?: number
  readonly steps: ReadonlyArray<StepRecord>
  /** The policy's decisions after answers failed their checks; absent if it was not consulted. */
  readonly revisions?: ReadonlyArray<RevisionRecord>
  readonly grade?: GradeRecord
  /** Absent if the critic called no worker. */
  readonly criticAnswers?: ReadonlyArray<CriticAnswer>
  /** Absent while the round is running, or if it was cut short. */
  readonly endedAt?: number
  readonly answer?: string
  /** Present if the policy answered directly, without workers. */
  readonly isOwn?: true
  /**
   * Whether this is the last round of the run. If `false`, its answer is a draft. If absent, the settings of the run
   * decide.
   */
  readonly isLast?: boolean
  /** Whether the policy confirmed the previous answer. */
  readonly confirmed: boolean
}

/** The most complete intermediate text of a run that ended without an answer. It does not answer the question. */
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
  /** Why the run ended. This and the following fields are absent until it has ended. */
  readonly ending?: Ending
  readonly answer?: string
  /** Present if the run ended without an answer but has the text of a step or a draft. */
  readonly partial?: PartialAnswer
  readonly detail?: string
  readonly spend?: Spend
  readonly durationMillis?: number
}

// -------------------------------------------------------------------------------------------------------------------
// Folding
// -------------------------------------------------------------------------------------------------------------------

/** Folds the events of one run and its nested runs into a transcript. */
export interface Recorder {
  /** Receives the next event. Ignores events before the run's start and events of other runs. */
  readonly listener: Listener
  /** The transcript so far; `undefined` before the run has started. */
  readonly transcript: () => Transcript | undefined
}

/**
 * Makes a recorder for one run: the first run whose events it receives.
 *
 * **Details**
 *
 * The recorder updates its record in place and copies a transcript from it on request; it does not store events.
 * Repeated requests without an event in between return the same object.
 */
export const recorder: () => Recorder = fold

/**
 * Returns the transcript of a run's events, or `undefined` if they do not include the run's start.
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

/** A step of a run, or an item of a step. All indices count from 0. */
export interface Place {
  readonly round: number
  readonly step: number
  /** The item, if the step runs per item: `"3"`, or `"3.1"` in a nested list. */
  readonly item?: string | undefined
  /** The place in the run that is nested in the step. */
  readonly nested?: Place | undefined
}

const placed = /(\d{1,6})\.(\d{1,6})(?:\[(\d[\d.]{0,60})\])?/

/** The text form of a place: `0.2`, `0.2[3.1]` for an item, or `0.2/0.1` for step 1 of the run nested in step 2. */
export const placePattern = new RegExp(`^${placed.source}(?:/${placed.source}){0,15}$`)

/**
 * Parses a place: round and step, with an optional item in brackets and an optional place in the nested run after a
 * slash; `undefined` for any other text.
 *
 * **Example**
 *
 * ```ts
 * import { Transcript } from "@divisi/core"
 *
 * Transcript.readPlace("0.2[1]") // => { round: 0, step: 2, item: "1" }
 * Transcript.readPlace("0.2/0.1") // => { round: 0, step: 2, nested: { round: 0, step: 1 } }
 * Transcript.readPlace("2") // => undefined
 * ```
 */
export const readPlace = (text: string): Place | undefined => {
  if (!placePattern.test(text)) return undefined
  return text.split("/").reduceRight<Place | undefined>((nested, part) => {
    const [, round, step, item] = placed.exec(part)!
    return { round: Number(round), step: Number(step), ...defined({ item, nested }) }
  }, undefined)
}

// -------------------------------------------------------------------------------------------------------------------
// Plans
// -------------------------------------------------------------------------------------------------------------------

/**
 * Returns the rules for a replacement plan, as far as the transcript contains them: the pool, the earlier rounds, and
 * the checks, shapes and tools named in its plans. The number of steps is not limited.
 *
 * **Example**
 *
 * ```ts
 * import { Transcript, WorkflowText } from "@divisi/core"
 * import { conduct, single, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "echo", answer: () => "42" })]
 * const { transcript } = await conduct({ question: "What is 6 times 7?", pool, policy: single("echo") })
 * const rules = Transcript.planRules(transcript, 0)
 * rules.poolSize // => 1
 * const text = 'model_id = [1]\nsubtasks = [""]\naccess_list = [[]]'
 * WorkflowText.read(text, { ...rules, mode: "strict" })._tag // => "Failure"
 * ```
 */
export const planRules = ({ pool, rounds }: Transcript, round: number): Rules => {
  const steps = rounds.flatMap(({ workflow }) => workflow?.steps ?? [])
  const own = rounds[round]?.workflow?.steps ?? []
  return {
    // A plan that assigns a step to the Conductor itself may do so again.
    poolSize: Math.max(pool.length, ...own.map(({ worker }) => worker + 1)),
    maxSteps: Number.MAX_SAFE_INTEGER,
    earlier: round === 0 ? undefined : rounds.slice(0, round).map(({ workflow }) => workflow?.steps.length ?? 0),
    checks: steps.flatMap(({ check }) => (typeof check?.by === "string" ? check.by : [])),
    shapes: steps.flatMap(({ gives }) => (gives !== undefined && "shape" in gives ? gives.shape : [])),
    tools: steps.flatMap(({ tools }) => (typeof tools === "object" ? tools : []))
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Pending calls
// -------------------------------------------------------------------------------------------------------------------

/** The calls that a run and its nested runs wait for: plans to approve, and tool calls for the caller. */
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

/** The time of the last event in a transcript, in milliseconds since 1970. */
export const endOf: (transcript: Transcript) => number = Timeline.endOf

/**
 * Returns the transcript of a run as of a time, in milliseconds since 1970.
 *
 * **Details**
 *
 * It equals the transcript of the events up to that time, with one difference: a transcript does not store when the
 * chunks of a text arrived, so each text appears once it is complete.
 */
export const at: (transcript: Transcript, time: number) => Transcript = Timeline.at
