/**
 * The core of a step: the request to its worker, its events, and a single turn.
 *
 * A step is a stack of middleware around `turn`, in the same way as a call is a stack around `send`. The answer is
 * passed to the run through the hooks of {@link StepAsk}, in the same tick in which it is charged. Middleware that may
 * reject the answer wraps `onAnswer`.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Emit, Item, WaitingCall } from "../events/RunEvent.ts"
import { type Offered, offeredTo } from "../run/Equipment.ts"
import type { Reassign } from "../run/Resilience.ts"
import * as Seed from "../Seed.ts"
import type { Message } from "../task/Message.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import type { WorkerError, WorkerRequest } from "../task/Worker.ts"
import { messagesOf, type StepView, type Verdict } from "../workflow/StepMessages.ts"
import type { Answered, Ask, CallContext } from "./call.ts"
import type { Plan, Settings } from "./plan.ts"
import { finish } from "./reports.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/**
 * The part of a step's conversation that follows its initial messages. Continues if another worker takes over the step.
 */
export interface Conversation {
  readonly messages: Array<Message>
  turn: number
  /** Start of the turn, according to the monotonic clock. */
  since: number
  toolRounds: number
  corrections: number
}

/** A running step. A single small object, because many may be in flight at once. */
export interface Running {
  readonly step: number
  /** Start of the step, according to the monotonic clock. */
  readonly startedAt: number
  /** Id of the assigned worker. Changes if the step is reassigned. */
  worker: string
  /** Whether the step holds back its dependents. */
  holds: boolean
  /** Whether a limit has stopped the plan before the step's start. */
  isLimited: boolean
  /** The item that the step runs for. Undefined if it does not run for items. */
  readonly item: Item | undefined
  /** Emits events of the step, including its item. */
  readonly emit: Emit | undefined
  /** Whether the step only replays what an earlier process recorded, without calling a worker. */
  readonly isReplayed: boolean
}

/** The part of a step's request that does not depend on the worker. */
export interface StepAsk {
  readonly step: number
  readonly sample: number
  readonly offered: Offered
  readonly conversation: Conversation
  readonly running: Running
  readonly onDelta: Ask["onDelta"]
  /** Stores a final answer. `finish` of `reports.ts` then reports the step as finished. */
  readonly keep: (answered: Answered) => void
  /** Called with the verdict on the answer, and with whether the step holds back its dependents. */
  readonly judged: (verdict: Verdict | undefined, holds: boolean) => void
}

/** The state of a step as it passes through the middleware. */
export interface StepAt {
  /** Index of the current worker, and the indices of all workers tried. */
  readonly ordinal: number
  readonly tried: ReadonlyArray<number>
  readonly request: WorkerRequest
  /** Time limit for the step's calls in milliseconds. Overrides the run's limit. Set by `settings`. */
  readonly timeoutMillis?: number | undefined
  /** Whether another worker could take over the step, as in `Ask`. Set by `reassign`. */
  readonly mayReplace?: Ask["mayReplace"]
  /** Reassignment rule, if a middleware overrides the run's setting. */
  readonly rule?: Reassign
  /** Called in the same tick in which an answer is charged. By default, the answer is stored and reported. */
  readonly onAnswer: (answered: Answered) => void
}

/** How a step ended, or that it is suspended. */
export type StepEnd =
  | {
      readonly type: "answered"
      readonly ordinal: number
      readonly tried: ReadonlyArray<number>
      /** The limit that stopped a middleware. */
      readonly stopped?: BudgetExceeded | undefined
    }
  | { readonly type: "waiting"; readonly calls: ReadonlyArray<WaitingCall> }

/** Raised when a step's nested run has no answer. */
export class DelegateError extends Data.TaggedError("DelegateError")<{ readonly detail: string }> {
  override get message(): string {
    return `The nested run returned no answer: ${this.detail}`
  }
}

/**
 * Runs a step assigned to the Conductor itself, with the messages that a worker would receive. Returns the answer, or
 * the calls that the nested run is waiting for.
 */
export type Delegate = (
  running: Pick<Running, "step" | "item" | "isReplayed">,
  messages: ReadonlyArray<Message>,
  offered: Offered
) => Effect.Effect<Answered | ReadonlyArray<WaitingCall>, DelegateError | BudgetExceeded>

export type StepFailure = WorkerError | DelegateError
export type StepError = StepFailure | BudgetExceeded
export type Step = (ask: StepAsk, at: StepAt) => Effect.Effect<StepEnd, StepError>
export type StepMiddleware = (next: Step) => Step

// -------------------------------------------------------------------------------------------------------------------
// The way in
// -------------------------------------------------------------------------------------------------------------------

/**
 * Whether an error ends the run regardless of the settings for failed steps. This applies to rejected credentials, if
 * configured, because they would cause every step to fail.
 */
export const isFatal = ({ onAuthenticationFailure }: Settings, error: StepError): boolean =>
  onAuthenticationFailure === "end" && error._tag === "WorkerError" && error.reason._tag === "Authentication"

/** Obtains the answer of a step that has started. */
export type AnswerStep = (view: StepView, running: Running, hooks: Pick<StepAsk, "keep" | "judged">) => ReturnType<Step>

/** Returns a function that obtains the answers of a plan's steps. It prepares the parts that all items share once. */
export const answering = (context: CallContext, plan: Plan, next: Step): AnswerStep => {
  const { round, seed, sendSeed, settings, workflow } = plan
  const { maxOutputTokens, preferences, reasoning, temperature } = settings.worker
  const messagesTo = messagesOf(plan)
  const offered: Array<Offered> = []
  return (view, running, { judged, keep }) => {
    const { emit, item, step } = running
    const ordinal = workflow.steps[step]!.worker
    const sample = item === undefined ? Seed.derive(seed, step) : Seed.derive(seed, step, item)
    offered[step] ??= offeredTo(plan.equipment, settings.toolAccess, workflow, step)
    const ask: StepAsk = {
      step,
      sample,
      offered: offered[step],
      conversation: { messages: [], turn: 0, since: 0, toolRounds: 0, corrections: 0 },
      running,
      onDelta:
        emit && ((kind: "text" | "reasoning", text: string) => emit({ type: "step-delta", round, step, kind, text })),
      keep,
      judged
    }
    return next(ask, {
      ordinal,
      tried: [ordinal],
      request: {
        messages: messagesTo(step, view),
        maxOutputTokens,
        temperature,
        reasoning,
        preferences,
        seed: sendSeed ? sample : undefined
      },
      onAnswer: (answered) => {
        keep(answered)
        finish(context, plan, running, answered)
      }
    })
  }
}

// -------------------------------------------------------------------------------------------------------------------
// One turn
// -------------------------------------------------------------------------------------------------------------------

/** Makes a single turn: one call to the step's worker. */
export const turn =
  ({ call }: CallContext, { pool, round, workflow: { steps } }: Plan): Step =>
  (
    { conversation, onDelta, running: { emit, isLimited, isReplayed, item }, sample, step },
    { mayReplace, onAnswer, ordinal, request, timeoutMillis, tried }
  ) => {
    const { turn } = conversation
    const worker = pool.workers[ordinal]!
    const isAnswer = step === steps.length - 1 && steps[step]!.check === undefined
    const onNotice = (notice: string) => emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
    const made = call({
      worker,
      request,
      sample: turn === 0 ? sample : Seed.derive(sample, "turn", turn),
      round,
      step,
      item,
      isReplayed,
      by: "step",
      turn,
      timeoutMillis,
      mayReplace,
      isLimited: isAnswer ? isLimited : undefined,
      onDelta,
      onNotice,
      onAnswer
    })
    return Effect.map(made, () => ({ type: "answered", ordinal, tried }))
  }
