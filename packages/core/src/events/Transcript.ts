/**
 * Transcripts: the complete record of a run, derived from its events.
 *
 * A transcript is plain JSON and can be created at any moment during a run. Because it includes timestamps, a finished
 * run can be displayed as of any time ({@link at}). Every call, dollar and token in `spend` is recorded exactly once:
 * as an answer to a step, critic or check, as a failed call, or as a completion.
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
  AnswerSource,
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

export { isAllPlay, isNested, paidForAnswer, payments, spendByWorker, spendSoFar, withPayment } from "./Payments.ts"

/** The purpose of a call. */
export type Purpose = Payments.Purpose
/** A call made by a run, or a cache hit. */
export type Payment = Payments.Payment

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** A call that failed or was interrupted. */
export interface LostCall extends Paid, Attempt {
  readonly worker: string
  /** Index of the call within its step, or among the policy's calls. Default: 0. */
  readonly turn?: number
  readonly at: number
  /** Undefined if the call was interrupted or its answer was lost. */
  readonly reason?: WorkerErrorReason
  readonly message?: string
  /** Delay before the retry with the same worker, in milliseconds. Undefined if there was no retry. */
  readonly retryInMillis?: number
  /** Set if the provider's gate rejected the request, so that it was not sent. Such calls are not counted. */
  readonly unasked?: true
  /** Set if the process ended before the answer arrived. The cost is then the worst case. */
  readonly isInDoubt?: true
  /** Set if the call was made by a check of the step or by the critic of the round. */
  readonly by?: "check" | "critic"
  /** Set if the policy made the call after it had already planned the round, so that the plan does not depend on it. */
  readonly isAfterPlan?: true
  /**
   * Set if a later completion of the policy in the same round has the same timestamp. That completion depends on this
   * call.
   */
  readonly isBeforeCompletion?: true
}

/** The result of a check on a worker's answer. */
export interface CheckRecord {
  /** Zero-based index of the check within the step. */
  readonly turn: number
  readonly at: number
  readonly check: string
  readonly worker: string
  readonly passed: boolean
  readonly objection?: string
  readonly couldNotRun?: true
  readonly durationMillis: number
}

/** An answer by a worker that a check called. */
export interface CheckAnswer extends Paid, AnswerSource {
  /** Zero-based index among the calls made by the step's checks. */
  readonly turn: number
  readonly at: number
  readonly check: string
  readonly worker: string
  readonly text: string
  /** Digest of the request. Set if the step's checks had other calls in flight when this one started. */
  readonly request?: string
}

/** A policy's decision about answers that failed their checks. */
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
 * A turn that did not complete its step: the worker called tools, its answer had the wrong format, or its answer failed
 * a check and another worker took over.
 */
export interface TurnRecord extends AnswerSource {
  readonly turn: number
  readonly worker: string
  readonly endedAt: number
  readonly durationMillis: number
  readonly text: string
  readonly reasoning: string
  readonly tools: ReadonlyArray<ToolRecord>
  readonly echo?: unknown
  /** Why the answer has the wrong format, or the objection raised by the check. */
  readonly error?: string
  readonly paid: Paid
}

/** A tool call and its result. */
export interface ToolRecord {
  /** The latest progress. Undefined if the tool has not reported any, or has finished. */
  readonly progress?: ToolProgress
  readonly call: ToolCall
  readonly startedAt?: number
  /** Undefined while the tool is running or waiting. */
  readonly endedAt?: number
  readonly durationMillis?: number
  readonly content?: Content
  readonly isError?: boolean
}

/** A worker from which a step was taken over by another worker. */
export interface Reassignment {
  readonly from: string
  readonly at: number
  /** Class of the worker's error. Undefined if its answer failed a check. */
  readonly reason?: WorkerErrorReason["_tag"]
  readonly message?: string
}

/** The record of a step. */
export interface StepRecord extends Partial<AnswerSource> {
  readonly step: number
  /** Set if this is the record of an item. */
  readonly item?: Item
  /** Records of the items that have started or were skipped, by index. Undefined if the step does not run for items. */
  readonly items?: ReadonlyArray<StepRecord>
  /** Number of items discovered up to this point. Undefined if the step does not run for items. */
  readonly unfolded?: number
  /** Steps and items in the access list that the step did not wait for, as in `step-started`. */
  readonly without?: ReadonlyArray<string>
  readonly worker: string
  readonly state: "waiting" | "running" | "suspended" | "answered" | "failed" | "skipped"
  readonly startedAt?: number
  /** Time at which the step was answered, failed or was skipped. */
  readonly endedAt?: number
  readonly durationMillis?: number
  /** The answer. While the step is running, the part received up to this point. */
  readonly text: string
  readonly reasoning: string
  readonly finishReason?: FinishReason
  /** Model name reported by the vendor. */
  readonly model?: string
  /** Usage and cost of the answer. */
  readonly paid?: Paid
  /** Undefined if the worker answered in its first turn. */
  readonly turns?: ReadonlyArray<TurnRecord>
  /** The tool calls that a suspended step is waiting for. */
  readonly waitingFor?: ReadonlyArray<WaitingCall>
  /** Human-readable descriptions of content that was not sent because the worker does not support it. */
  readonly notices?: ReadonlyArray<string>
  /** Results of the step's checks, in order. Undefined if there were no checks. */
  readonly checks?: ReadonlyArray<CheckRecord>
  /** Undefined if the checks did not call any worker. */
  readonly checkAnswers?: ReadonlyArray<CheckAnswer>
  /** Calls made by this step and its checks that failed or were interrupted. */
  readonly lost: ReadonlyArray<LostCall>
  /** The workers previously assigned to the step, in order. */
  readonly reassigned: ReadonlyArray<Reassignment>
  /** Why the step failed or was skipped. */
  readonly detail?: string
  /** Class of the worker's error, if the step failed because of one. */
  readonly reason?: WorkerErrorReason["_tag"]
  /** Transcript of the nested run, if the step was assigned to the Conductor itself. */
  readonly nested?: Transcript
}

/** A language policy's completion. */
export interface CompletionRecord extends Partial<AnswerSource> {
  readonly attempt: number
  /** Time at which the completion finished. Undefined while it is being generated. */
  readonly endedAt?: number
  readonly text: string
  readonly reasoning: string
  /** Tool calls made by the model. Undefined if there are no tool calls. */
  readonly toolCalls?: ReadonlyArray<ToolCall>
  /** Why the model stopped generating. Default: `stop`. */
  readonly finishReason?: FinishReason
  /** Vendor-specific data for a completion with tool calls. */
  readonly echo?: unknown
  /** Why the completion could not be parsed as a workflow. */
  readonly error?: string
  /** Digest of the request. Set if other completions of the round were in flight when this one started. */
  readonly request?: string
  readonly paid?: Paid
}

/** A critic's grade for a round's answer. */
export interface GradeRecord {
  readonly at: number
  readonly critic: string
  readonly grade: Grade
}

/** An answer by a worker that a critic called. */
export interface CriticAnswer extends Paid, AnswerSource {
  readonly at: number
  readonly critic: string
  readonly worker: string
  readonly text: string
  /** Index among the calls made by the round's critic. Defaults to the index of the answer. */
  readonly turn?: number
  /** Digest of the request. Set if the critic had other calls in flight when this one started. */
  readonly request?: string
}

/** The record of a round. */
export interface RoundRecord {
  readonly round: number
  readonly startedAt: number
  readonly completions: ReadonlyArray<CompletionRecord>
  /** Failed calls made by the policy and the critic. */
  readonly lost: ReadonlyArray<LostCall>
  readonly policy?: string
  /** Time at which the workflow was proposed. */
  readonly plannedAt?: number
  /** Time taken by planning, in milliseconds. For cache hits that are charged, includes the original duration. */
  readonly planningMillis?: number
  /** The plan that runs: the proposed one, or the replacement given by a person. */
  readonly workflow?: Workflow
  /** The plan, while it is waiting for approval. */
  readonly waitingFor?: ReadonlyArray<WaitingCall>
  /** The human decision about the plan. Undefined if the plan did not require approval. */
  readonly decision?: { readonly decision: PlanDecision; readonly reason?: string; readonly text?: string }
  readonly notes: ReadonlyArray<string>
  /** Probability of this plan, if the policy samples. */
  readonly probability?: number
  readonly steps: ReadonlyArray<StepRecord>
  /** The policy's decisions about answers that failed their checks. Undefined if the policy was not consulted. */
  readonly revisions?: ReadonlyArray<RevisionRecord>
  readonly grade?: GradeRecord
  /** Undefined if the critic did not call any worker. */
  readonly criticAnswers?: ReadonlyArray<CriticAnswer>
  /** Undefined while the round is running, or if it was cut short. */
  readonly endedAt?: number
  readonly answer?: string
  /** Set if the policy answered itself, without calling a worker. */
  readonly isOwn?: true
  /**
   * Whether this is the run's last round. If `false`, the answer is a draft. If undefined, the run's settings apply.
   */
  readonly isLast?: boolean
  /** Whether the policy confirmed the previous answer. */
  readonly confirmed: boolean
}

/** The most advanced intermediate text of a run that ended without an answer. It does not answer the question. */
export interface PartialAnswer {
  readonly round: number
  /** Undefined if the text is a draft by the policy itself. */
  readonly step?: number
  /** Id of the step's worker. */
  readonly worker?: string
  /** The step's subtask. An empty string means the question itself. */
  readonly subtask?: string
  readonly text: string
}

/** The complete record of a run. */
export interface Transcript {
  readonly version: typeof version
  readonly runId: string
  readonly task: Task
  readonly pool: ReadonlyArray<PoolMember>
  readonly policy: string
  /** Why this policy was used (see `Policy.reason`). */
  readonly reason?: string
  readonly seed: number
  readonly startedAt: number
  readonly parent?: Parent
  readonly forkOf?: ForkOf
  readonly rounds: ReadonlyArray<RoundRecord>
  /** How the run ended. This field and the ones below are undefined until then. */
  readonly ending?: Ending
  readonly answer?: string
  /** Set if the run ended without an answer, but produced the text of a step or a draft. */
  readonly partial?: PartialAnswer
  readonly detail?: string
  readonly spend?: Spend
  readonly durationMillis?: number
}

// -------------------------------------------------------------------------------------------------------------------
// Folding
// -------------------------------------------------------------------------------------------------------------------

/** Folds the events of a run and its nested runs into a transcript. */
export interface Recorder {
  /** Processes the next event. Ignores events before the start of the run and events of other runs. */
  readonly listener: Listener
  /** Returns the current transcript, or `undefined` if the run has not started. */
  readonly transcript: () => Transcript | undefined
}

/**
 * Creates a recorder for a single run: the first run whose events it receives.
 *
 * **Details**
 *
 * The recorder updates its record in place and does not store events. A transcript is copied from the record on
 * request; requests without an intervening event return the same object.
 */
export const recorder: () => Recorder = fold

/**
 * Creates a transcript from a run's events. Returns `undefined` if the events do not include the start of the run.
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

/** Identifies a step in a run, or an item of a step. All indices are zero-based. */
export interface Place {
  readonly round: number
  readonly step: number
  /** The item, if the step runs for items: `"3"`, or `"3.1"` in a nested list. */
  readonly item?: string | undefined
  /** A position within the run nested in the step. */
  readonly nested?: Place | undefined
}

const placed = /(\d{1,6})\.(\d{1,6})(?:\[(\d[\d.]{0,60})\])?/

/** The text form of a position: `0.2`, `0.2[3.1]` for an item, or `0.2/0.1` for step 1 of the run nested in step 2. */
export const placePattern = new RegExp(`^${placed.source}(?:/${placed.source}){0,15}$`)

/**
 * Parses a position: round and step, optionally followed by an item in brackets, and by a slash and a position in the
 * nested run. Returns `undefined` for any other text.
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
 * Returns the rules that a replacement plan must satisfy, as far as the transcript contains them: the pool, the earlier
 * rounds, and the checks, output formats and tools named in the run's plans. The number of steps is not limited.
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
    // If the original plan assigns a step to the Conductor itself, the replacement may do so as well.
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

/**
 * Returns all calls that a run and its nested runs are waiting for: plans to approve, and tool calls for the caller.
 */
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

/** Returns the time of a transcript's latest entry, in milliseconds since the Unix epoch. */
export const endOf: (transcript: Transcript) => number = Timeline.endOf

/**
 * Returns a run's transcript as of a given time, in milliseconds since the Unix epoch.
 *
 * **Details**
 *
 * The result equals the transcript created from all events up to that time, except that each text appears only once it
 * is complete, because a transcript does not store when the chunks arrived.
 */
export const at: (transcript: Transcript, time: number) => Transcript = Timeline.at
