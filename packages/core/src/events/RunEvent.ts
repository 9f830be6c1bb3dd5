/**
 * Run events: everything that happens in a run, in order.
 *
 * The transcript, the terminal view, the web page, server-sent events and telemetry are folds of this one stream.
 * Events are plain JSON values. Steps count from 0 within their round, rounds from 0 within their run, attempts from 0
 * within their step. `at` is the wall clock in milliseconds since 1970.
 *
 * A run starts with `run-started` and ends with `run-finished`, whatever happens. When a Conductor is a worker in its
 * own pool, the nested run's events stand in the same stream under their own `runId`; `parent` says whose step it is.
 */
import type * as Clock from "effect/Clock"
import type { Grade } from "../task/Grader.ts"
import type { Content, ToolCall } from "../task/Message.ts"
import type { Task } from "../task/Task.ts"
import type { Paid, Spend } from "../task/Usage.ts"
import type { FinishReason, WorkerErrorReason } from "../task/Worker.ts"
import type { EarlierStep, Workflow } from "../workflow/Workflow.ts"
import type { StepFailure } from "./StepFailure.ts"

/** The version of events and transcripts on disk and on the wire. */
export const version = 1

/** A worker as a transcript names it. */
export interface PoolMember {
  readonly id: string
  readonly description?: string
  /** Present where its price is play money: what it costs, nobody pays. */
  readonly isPlay?: true
}

/** Where a nested run belongs. */
export interface Parent {
  readonly runId: string
  readonly round: number
  readonly step: number
}

/** Why a run ended. */
export type Ending =
  /** There is an answer. */
  | "answered"
  /** A limit of the budget was reached; there may be an answer. */
  | "budget"
  /** There is no answer: the worker that was to give it, or the policy, declined to. */
  | "refused"
  /** There is no answer: the policy wrote no workflow, or the step that answers failed. */
  | "failed"
  /** The caller stopped it. */
  | "interrupted"
  /** Nothing more can run before the caller gives the results of tools: it can be resumed. */
  | "suspended"

/** A tool call that waits for the caller. */
export interface WaitingCall {
  /** Unique in the run, and the same whenever it is resumed: results are given under it. */
  readonly id: string
  readonly round: number
  readonly step: number
  readonly worker: string
  /** `result`: the tool has no handler. `approval`: a person is to say whether it may be run. */
  readonly for: "result" | "approval"
  readonly call: ToolCall
}

/** What is shared by all events. */
interface Base {
  readonly runId: string
  readonly at: number
}

/** An attempt of a call that gave no answer. */
export interface Attempt {
  /** The id under which accounts charge it once. Absent if the run shares no account and has no journal. */
  readonly chargeId?: string
  /** Present if the call was made again because the run was resumed after its end. */
  readonly isRetired?: true
}

/** An event without its run and its time. */
export type Body =
  | {
      readonly type: "run-started"
      readonly version: typeof version
      readonly task: Task
      readonly pool: ReadonlyArray<PoolMember>
      readonly policy: string
      /** Why this policy is used: `Policy.reason`. */
      readonly reason?: string
      readonly seed: number
      readonly parent?: Parent
    }
  | { readonly type: "round-started"; readonly round: number }
  /** A piece of the completion that a language policy writes. */
  | {
      readonly type: "completion-delta"
      readonly round: number
      readonly attempt: number
      readonly kind: "text" | "reasoning"
      readonly text: string
    }
  /** A completion is whole. `error` says why it could not be read as a workflow. */
  | ({
      readonly type: "completion-finished"
      readonly round: number
      readonly attempt: number
      readonly completion: string
      readonly error?: string
      readonly cached: boolean
    } & Paid)
  /** `policy` is the one that wrote it: a fallback has its own name. `notes` are those of its `Policy.Proposal`. */
  | {
      readonly type: "workflow-proposed"
      readonly round: number
      readonly policy: string
      readonly workflow: Workflow
      readonly notes: ReadonlyArray<string>
      /** How likely this choice was, where the policy draws. */
      readonly probability?: number
      /** From the start of the round; a found completion that counts as made adds the time that it took. */
      readonly durationMillis: number
    }
  | { readonly type: "step-started"; readonly round: number; readonly step: number; readonly worker: string }
  /** A piece of an answer. What came before a `call-failed` of the same step is void. */
  | {
      readonly type: "step-delta"
      readonly round: number
      readonly step: number
      readonly kind: "text" | "reasoning"
      readonly text: string
    }
  /**
   * The worker of a step has answered, and the step goes on: it asked for tools, or its answer has not the shape that was
   * asked for or fails its check, which `error` says.
   */
  | ({
      readonly type: "turn-finished"
      readonly round: number
      readonly step: number
      /** From 0. */
      readonly turn: number
      readonly worker: string
      readonly text: string
      readonly toolCalls: ReadonlyArray<ToolCall>
      readonly echo?: unknown
      readonly error?: string
      /** The time of the call. */
      readonly durationMillis: number
      readonly cached: boolean
    } & Paid)
  /** A tool is run. */
  | {
      readonly type: "tool-started"
      readonly round: number
      readonly step: number
      readonly turn: number
      /** The place of the call in its turn. */
      readonly index: number
      readonly name: string
    }
  /**
   * A tool that runs has reported how far it is. Such events are not in journals. `progress` or `message` is there, and
   * `total` if it is known.
   */
  | {
      readonly type: "tool-progress"
      readonly round: number
      readonly step: number
      readonly turn: number
      readonly index: number
      readonly name: string
      readonly progress?: number
      readonly total?: number
      readonly message?: string
    }
  /** The result of a tool, whoever gave it. */
  | {
      readonly type: "tool-finished"
      readonly round: number
      readonly step: number
      readonly turn: number
      readonly index: number
      readonly name: string
      readonly content: Content
      readonly isError: boolean
      readonly durationMillis: number
    }
  /** The step can go on when the caller has given results for these calls; the other steps go on meanwhile. */
  | {
      readonly type: "step-waiting"
      readonly round: number
      readonly step: number
      readonly worker: string
      readonly calls: ReadonlyArray<WaitingCall>
    }
  /** Something that the worker of a step was not shown or given, as it takes none of it. */
  | {
      readonly type: "step-notice"
      readonly round: number
      readonly step: number
      readonly worker: string
      readonly notice: string
    }
  /** A call failed. `retryInMillis` is present when the same worker is tried again. */
  | (Attempt & {
      readonly type: "call-failed"
      readonly round: number
      /** Absent when the call was the policy's own, or a critic's. */
      readonly step?: number
      /** Which call of the step, the policy or the critic it was; 0 when absent. */
      readonly turn?: number
      /** Present if a check of the step or the critic of the round made the call. */
      readonly by?: "check" | "critic"
      readonly worker: string
      readonly attempt: number
      readonly reason: WorkerErrorReason
      readonly message: string
      readonly retryInMillis?: number
      /** Present when the worker was not asked: its provider's gate refused the call, which is counted nowhere. */
      readonly unasked?: true
    } & Paid)
  /** A call was stopped in the middle: the run was interrupted, ended, or ran out of time. */
  | (Attempt & {
      readonly type: "call-interrupted"
      readonly round: number
      readonly step?: number
      /** As in `call-failed`. */
      readonly turn?: number
      readonly by?: "check" | "critic"
      readonly worker: string
    } & Paid)
  /**
   * The process that had made a call ended before its answer came. It is charged at the most that it can have cost, as
   * nobody knows whether it was answered.
   */
  | (Attempt & {
      readonly type: "call-lost"
      readonly round: number
      readonly step?: number
      /** As in `call-failed`. */
      readonly turn?: number
      readonly by?: "check" | "critic"
      readonly worker: string
    } & Paid)
  /** Another worker takes the step over. What was streamed of it so far is void. */
  | {
      readonly type: "step-reassigned"
      readonly round: number
      readonly step: number
      readonly from: string
      readonly to: string
      /** Why the worker failed; absent if its answer failed a check. */
      readonly reason?: WorkerErrorReason["_tag"]
      readonly message?: string
    }
  | ({
      readonly type: "step-finished"
      readonly round: number
      readonly step: number
      readonly worker: string
      readonly answer: string
      readonly finishReason: FinishReason
      /** What has answered, as the vendor names it in its response. */
      readonly model?: string
      readonly durationMillis: number
      /** True when the answer was found in the response cache and cost the run nothing. */
      readonly cached: boolean
      /** Present when the run was stopped before the check of the step was done: a run that goes on may find otherwise. */
      readonly isUnchecked?: true
    } & Paid)
  | {
      readonly type: "step-failed"
      readonly round: number
      readonly step: number
      readonly worker: string
      /** The class of its worker's error; absent if it failed for another cause, such as a limit or a nested run. */
      readonly reason?: WorkerErrorReason["_tag"]
      readonly message: string
      readonly durationMillis: number
    }
  /** A step that was not run, and why. */
  | {
      readonly type: "step-skipped"
      readonly round: number
      readonly step: number
      readonly worker: string
      readonly reason: "unseen" | "budget" | "revised"
    }
  /** A worker has answered a check of a step, which goes on until its check is done. */
  | ({
      readonly type: "check-answered"
      readonly round: number
      readonly step: number
      /** Which call of the step's checks it was, from 0. */
      readonly turn: number
      readonly check: string
      readonly worker: string
      readonly text: string
      readonly cached: boolean
    } & Paid)
  /** What a check found of what a worker said. Where another worker takes the step over, it is checked again. */
  | {
      readonly type: "step-checked"
      readonly round: number
      readonly step: number
      /** Which check of the step it was, from 0. */
      readonly turn: number
      readonly check: string
      /** Whose answer it was. */
      readonly worker: string
      readonly passed: boolean
      readonly objection?: string
      readonly durationMillis: number
    }
  /**
   * Answers have failed their checks, and the policy was asked. It goes on with its workflow, stops with an answer that
   * stands, or plans anew: then the next round begins with what it wrote.
   */
  | {
      readonly type: "round-revised"
      readonly round: number
      /** Which revision of the round it is, from 0. */
      readonly index: number
      readonly policy: string
      readonly decision: "go-on" | "stop" | "re-plan"
      /** The step whose answer stands; present when it stops. */
      readonly answer?: EarlierStep
      readonly notes: ReadonlyArray<string>
      readonly durationMillis: number
    }
  /** A worker has answered a critic. */
  | ({
      readonly type: "critic-answered"
      readonly round: number
      readonly critic: string
      readonly worker: string
      readonly text: string
      readonly cached: boolean
    } & Paid)
  /** A critic's verdict on the answer of a round. */
  | {
      readonly type: "answer-graded"
      readonly round: number
      readonly critic: string
      readonly grade: Grade
    }
  /** `answer` is absent when the round gave none; `confirmed` when the policy let the previous answer stand. */
  | {
      readonly type: "round-finished"
      readonly round: number
      readonly answer?: string
      readonly confirmed: boolean
    }
  | {
      readonly type: "run-finished"
      readonly ending: Ending
      readonly answer?: string
      /** For people: the limit or the error that stopped it, or why an answered run has no more rounds. */
      readonly detail?: string
      /** Present if workers failed a step or a plan for good. */
      readonly failures?: ReadonlyArray<StepFailure>
      readonly spend: Spend
      readonly durationMillis: number
    }

/** An event of a run. */
export type RunEvent = Base & Body

/** The events that say how far something is, and that neither journals nor spans have: pieces of texts, progress of tools. */
const transient: ReadonlySet<string> = new Set(["step-delta", "completion-delta", "tool-progress"])

/** Whether an event is a piece of a text or the progress of a tool: what ends it says all that counts. */
export const isTransient = ({ type }: Pick<RunEvent, "type">): boolean => transient.has(type)

/** The names of all events. */
export type Type = RunEvent["type"]

/** The event of one name. */
export type Of<T extends Type> = Extract<RunEvent, { readonly type: T }>

/**
 * Takes events as they happen. It should not take long: the run waits for it. What it throws does not stop the run and
 * loses nothing of it: the run goes on, gives it the later events too, and logs a warning at its end.
 */
export type Listener = (event: RunEvent) => void

/** Emits an event of one run: adds the run's id and the time. */
export type Emit = (body: Body) => void

/**
 * Emits the events of a run to a listener. It stamps each event in place and does not copy it: nobody else holds the
 * object, and a run has many events.
 */
export const emitter =
  (runId: string, clock: Clock.Clock, listener: Listener): Emit =>
  (body) => {
    const event = body as Body & { runId: string; at: number }
    event.runId = runId
    event.at = clock.currentTimeMillisUnsafe()
    listener(event)
  }
