/**
 * Run events: everything that happens in a run, in order.
 *
 * The transcript, the terminal view, the web page, server-sent events and telemetry are all derived from this one
 * stream. Events are plain JSON values. Steps count from 0 within their round, rounds from 0 within their run, attempts
 * from 0 within their step. `at` is the wall clock in milliseconds since 1970.
 *
 * A run starts with `run-started` and ends with `run-finished`, whatever happens. When a Conductor is a worker in its
 * own pool, the events of the nested run are in the same stream under their own `runId`. `parent` identifies the step
 * that the nested run belongs to.
 */
import type * as Clock from "effect/Clock"
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

/** The version of the event and transcript formats on disk and on the wire. */
export const version = 1

/** A worker of the pool, as listed in events and transcripts. */
export interface PoolMember {
  readonly id: string
  readonly description?: string
  /** Present if the price is play money, which is never paid. */
  readonly isPlay?: true
}

/**
 * An item of a step that runs once per item of a list: its index from 0, such as `"3"`, or `"3.1"` for an item in a
 * nested list. Absent for a step that runs once, and in events about a step as a whole.
 */
export type Item = string

/** The step from which a run was forked. */
export interface ForkOf {
  readonly runId: string
  readonly round: number
  readonly step: number
  /** The item of the step, if the step runs for items. */
  readonly item?: string
  /** The step of the run that is nested in the step. */
  readonly nested?: Omit<ForkOf, "runId">
}

/** The step that a nested run belongs to. */
export interface Parent {
  readonly runId: string
  readonly round: number
  readonly step: number
  readonly item?: Item
}

/** Why a run ended. */
export type Ending =
  /** There is an answer. */
  | "answered"
  /** A limit of the budget was reached; there may be an answer. */
  | "budget"
  /** There is no answer: the policy or the answering worker declined the task. */
  | "refused"
  /** There is no answer: the policy did not write a workflow, or the answering step failed. */
  | "failed"
  /** The caller stopped it. */
  | "interrupted"
  /** The run waits for tool results or approvals from the caller, and can be resumed with them. */
  | "suspended"

/** A tool call, or a plan presented as a tool call, that waits for the caller. */
export interface WaitingCall {
  /** Unique in the run and stable across resumes. Pass the result under this id. */
  readonly id: string
  readonly round: number
  /** The index of the step; 0 for a plan. */
  readonly step: number
  readonly item?: Item
  /** The worker that made the call, or the policy that wrote the plan. */
  readonly worker: string
  /**
   * `result`: the tool has no handler. `approval`: a person must approve the call. `plan`: a person must approve the
   * plan (`RunSettings.approvePlans`).
   */
  readonly for: "result" | "approval" | "plan"
  readonly call: ToolCall
}

/** A call attempt without an answer. */
export interface Attempt {
  /** The id that prevents accounts from charging it twice. Absent if the run has no shared account and no journal. */
  readonly chargeId?: string
  /** Present if the call was repeated because the run was resumed after it had ended. */
  readonly isRetired?: true
}

/**
 * An event without its run id and time. Each event is declared in its own file, together with its part of the
 * transcript's fold, its span attributes and its line for display; its schema is in an adjacent file. After an event is
 * added here, the compiler reports every place that must handle it.
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

/** The run id of an event, and its time by the wall clock, in milliseconds since 1970. */
interface Stamp {
  readonly runId: string
  readonly at: number
}

/** An event with a body of type `B`. */
export type Stamped<B extends { readonly type: string }> = Stamp & B

/** An event of a run. */
export type RunEvent = Stamped<Body>

/** Progress events: pieces of texts and the progress of tools. They are absent from journals and spans. */
type Transient = "step-delta" | "completion-delta" | "tool-progress"

const transient: ReadonlySet<string> = new Set<Transient>(["step-delta", "completion-delta", "tool-progress"])

/**
 * Whether an event is a chunk of text or the progress of a tool. The event that completes the text or the call contains
 * all of its data.
 */
export const isTransient = ({ type }: Pick<RunEvent, "type">): boolean => transient.has(type)

/** The type names of all events. */
export type Type = RunEvent["type"]

/** The event with a given type name. */
export type Of<T extends Type> = Extract<RunEvent, { readonly type: T }>

/**
 * Receives events as they happen. It should return quickly, because the run waits for it. An exception does not stop
 * the run or lose any of its data: the listener still receives later events, and a warning is logged at the end of the
 * run.
 */
export type Listener = (event: RunEvent) => void

/** Emits an event of one run: adds the run's id and the time. */
export type Emit = (body: Body) => void

/**
 * Emits the events of a run to a listener. It stamps each event in place and does not copy it, because there are no
 * other references to the object and a run has many events.
 */
export const emitter =
  (runId: string, clock: Clock.Clock, listener: Listener): Emit =>
  (body) => {
    const event = body as Body & { runId: string; at: number }
    event.runId = runId
    event.at = clock.currentTimeMillisUnsafe()
    listener(event)
  }
