/**
 * Run events: everything that happens during a run, in order.
 *
 * Transcripts, the terminal view, the web page, server-sent events and telemetry are all derived from this stream.
 * Events are plain JSON. Steps are numbered within their round, rounds within their run, and attempts within their
 * step, all starting at 0. `at` is the wall-clock time in milliseconds since the Unix epoch.
 *
 * Every run starts with `run-started` and ends with `run-finished`, regardless of how it ends. If the Conductor is a
 * worker in its own pool, the events of nested runs are part of the same stream, with a separate `runId`. `parent`
 * identifies the step that started the nested run.
 */
import type { ToolCall } from "../task/Message.ts"
import type { PlanDecided, PlanWaiting } from "./approval.ts"
import type { CallFailed, CallInterrupted, CallLost } from "./call.ts"
import type { CheckAnswered, StepChecked } from "./check.ts"
import type { CompletionDelta, CompletionFinished } from "./completion.ts"
import type { AnswerGraded, CriticAnswered } from "./critic.ts"
import type { WorkflowProposed } from "./plan.ts"
import type { StepReassigned } from "./reassignment.ts"
import type { RoundRevised } from "./revision.ts"
import type { RoundFinished, RoundStarted } from "./round.ts"
import type { RunFinished, RunStarted } from "./run.ts"
import type {
  StepDelta,
  StepFailed,
  StepFinished,
  StepJoined,
  StepNotice,
  StepSkipped,
  StepStarted,
  StepUnfolded
} from "./step.ts"
import type { StepWaiting } from "./suspension.ts"
import type { ToolFinished, ToolProgressed, ToolStarted } from "./tool.ts"
import type { TurnFinished } from "./turn.ts"

/** Version of the event and transcript formats, on disk and on the wire. */
export const version = 1

/** A worker in the pool, as listed in events and transcripts. */
export interface PoolMember {
  readonly id: string
  readonly description?: string
  /** Set if the price is play money, which is never actually paid. */
  readonly isPlay?: true
}

/**
 * Identifies an item of a step that runs once for each item of a list, by its zero-based index, such as `"3"`, or
 * `"3.1"` in a nested list. Undefined for steps that do not run for items, and in events that concern the step as a
 * whole.
 */
export type Item = string

/** The step at which a run was forked. */
export interface ForkOf {
  readonly runId: string
  readonly round: number
  readonly step: number
  /** The item, if the step runs for items. */
  readonly item?: string
  /** The step of the nested run, if the fork point is within one. */
  readonly nested?: Omit<ForkOf, "runId">
}

/**
 * The origin of an answer for which no worker was called: the caller supplied it, it was recorded in the run that was
 * forked, or it is the answer of a nested run, whose own record contains the costs.
 */
export type AnswerOrigin = "caller" | "forked-run" | "nested-run"

/** How an answer was obtained. */
export interface AnswerSource {
  /** Whether the answer came from the response cache at no cost to the run. */
  readonly cached: boolean
  /** Set if no worker was called for the answer, which costs the run nothing. */
  readonly origin?: AnswerOrigin
}

/** Whether no call was made for an answer, because it was cached or did not come from a worker. */
export const isWithoutCall = ({ cached, origin }: Partial<AnswerSource>): boolean =>
  cached === true || origin !== undefined

/** Returns the author of an answer: the worker's id, or `the caller`. */
export const authorOf = ({ origin, worker }: Partial<AnswerSource> & { readonly worker: string }): string =>
  origin === "caller" ? "the caller" : worker

/** The step that a nested run belongs to. */
export interface Parent {
  readonly runId: string
  readonly round: number
  readonly step: number
  readonly item?: Item
}

/** How a run ended. */
export type Ending =
  /** The run has an answer. */
  | "answered"
  /** A budget limit was reached. The run may have an answer. */
  | "budget"
  /** The policy or the answering worker refused the task. There is no answer. */
  | "refused"
  /** The policy wrote no valid workflow, or the answering step failed. There is no answer. */
  | "failed"
  /** The caller stopped the run. */
  | "interrupted"
  /** The run is waiting for tool results or approvals from the caller. It can be resumed with them. */
  | "suspended"

/** A pending tool call, or a plan presented as a tool call, that the caller must respond to. */
export interface WaitingCall {
  /** Unique within the run and stable across resumes. Pass the result under this id. */
  readonly id: string
  readonly round: number
  /** Index of the step. 0 for a plan. */
  readonly step: number
  readonly item?: Item
  /** The worker that made the call, or the policy that wrote the plan. */
  readonly worker: string
  /**
   * The missing response. `result`: the tool has no handler. `approval`: the call requires human approval. `plan`: the
   * plan requires human approval (`RunSettings.approvePlans`).
   */
  readonly for: "result" | "approval" | "plan"
  readonly call: ToolCall
}

/** A call attempt without an answer. */
export interface Attempt {
  /**
   * Id that prevents accounts from charging the attempt twice. Undefined if the run has neither a shared account nor a
   * journal.
   */
  readonly chargeId?: string
  /** Set if the call was repeated or not reached because the run was resumed. */
  readonly isRetired?: true
}

/**
 * An event without its run id and timestamp. Each event is declared in a separate file, along with its transcript fold,
 * its span attributes and its display line; its schema is in an adjacent file. When an event is added to this union,
 * the compiler reports every place that must handle it.
 */
export type Body =
  | RunStarted
  | RoundStarted
  | CompletionDelta
  | CompletionFinished
  | WorkflowProposed
  | PlanWaiting
  | PlanDecided
  | StepStarted
  | StepUnfolded
  | StepJoined
  | StepDelta
  | TurnFinished
  | ToolStarted
  | ToolProgressed
  | ToolFinished
  | StepWaiting
  | StepNotice
  | CallFailed
  | CallInterrupted
  | CallLost
  | StepReassigned
  | StepFinished
  | StepFailed
  | StepSkipped
  | CheckAnswered
  | StepChecked
  | RoundRevised
  | CriticAnswered
  | AnswerGraded
  | RoundFinished
  | RunFinished

/** The run id and the wall-clock time of an event, in milliseconds since the Unix epoch. */
interface Stamp {
  readonly runId: string
  readonly at: number
}

/** An event with a body of type `B`. */
export type Stamped<B extends { readonly type: string }> = Stamp & B

/** A run event. */
export type RunEvent = Stamped<Body>

/** Progress events: text chunks and tool progress. Not included in journals and spans. */
type Transient = "step-delta" | "completion-delta" | "tool-progress"

const transient: ReadonlySet<string> = new Set<Transient>(["step-delta", "completion-delta", "tool-progress"])

/**
 * Whether an event is a text chunk or a progress report. The event that completes the text or the tool call contains
 * all of the data.
 */
export const isTransient = ({ type }: Pick<RunEvent, "type">): boolean => transient.has(type)

/** The type names of all events. */
export type Type = RunEvent["type"]

/** The event with the given type name. */
export type Of<T extends Type> = Extract<RunEvent, { readonly type: T }>

/**
 * Receives events as they occur. Listeners should return quickly, because the run waits for them. If a listener throws,
 * the run is not affected: later events are still delivered, and a warning is logged when the run ends.
 */
export type Listener = (event: RunEvent) => void

/** Emits an event after adding the run id and a timestamp. */
export type Emit = (body: Body) => void
