/**
 * The core of a step: the request to its worker, its events, and one turn.
 *
 * A step is a stack of middleware around `turn`, as a call is a stack around `send`. The answer reaches the run through
 * the hooks of {@link StepAsk}, in the tick in which it is charged. A middleware that may reject the answer wraps
 * `onAnswer`.
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
import { type StepView, type Verdict, workerMessages } from "../workflow/StepMessages.ts"
import type { Answered, Ask, CallContext } from "./call.ts"
import type { Plan, Settings } from "./plan.ts"
import { finish } from "./reports.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** The conversation of a step after its first messages. It continues if another worker takes over the step. */
export interface Conversation {
  readonly messages: Array<Message>
  turn: number
  /** The start of the turn, by the monotonic clock. */
  since: number
  toolRounds: number
  corrections: number
}

/** A running step. It is one small object, because many are in flight at once. */
export interface Running {
  readonly step: number
  /** The start of the step, by the monotonic clock. */
  readonly startedAt: number
  /** The id of its worker. It changes if the step is reassigned. */
  worker: string
  /** Whether it holds back its dependents. */
  holds: boolean
  /** The item that it runs for; absent if the step runs once. */
  readonly item: Item | undefined
  /** Emits the events of the step, with its item. */
  readonly emit: Emit | undefined
  /** Whether it only replays the record of an earlier process. No worker is called. */
  readonly isReplayed: boolean
}

/** The part of a step's request that does not depend on its worker. */
export interface StepAsk {
  readonly step: number
  readonly sample: number
  readonly offered: Offered
  readonly conversation: Conversation
  readonly running: Running
  readonly onDelta: Ask["onDelta"]
  /** The two parts of accepting a final answer: `keep` stores it, and `finish` reports the step as finished. */
  readonly keep: (answered: Answered) => void
  readonly finish: (answered: Answered, isUnchecked?: boolean) => void
  /** Receives the verdict on the answer, and whether the step holds back its dependents. */
  readonly judged: (verdict: Verdict | undefined, holds: boolean) => void
}

/** The stage of a step on its way to its worker. */
export interface StepAt {
  /** The ordinal of the worker, and of all workers tried so far. */
  readonly ordinal: number
  readonly tried: ReadonlyArray<number>
  readonly request: WorkerRequest
  /** The time limit of its calls, instead of the run's. Set by `settings`. */
  readonly timeoutMillis?: number | undefined
  /** The worker that takes over, if a middleware overrides the settings of the run. */
  readonly rule?: Reassign
  /** Called in the tick in which an answer is charged. By default, it calls `keep` and `finish`. */
  readonly onAnswer: (answered: Answered) => void
}

/** The end of a step, or its suspension. */
export type StepEnd =
  | {
      readonly type: "answered"
      readonly ordinal: number
      readonly tried: ReadonlyArray<number>
      /** The limit that stopped a middleware. */
      readonly stopped?: BudgetExceeded | undefined
    }
  | { readonly type: "waiting"; readonly calls: ReadonlyArray<WaitingCall> }

/** The nested run of a step has no answer. */
export class DelegateError extends Data.TaggedError("DelegateError")<{ readonly detail: string }> {
  override get message(): string {
    return `The nested run returned no answer: ${this.detail}`
  }
}

/**
 * Runs a step that is assigned to the Conductor itself, with the messages that a worker would receive. Returns its
 * answer, or the calls that it waits for.
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
 * Whether an error ends the run regardless of the settings for failed steps. Wrong credentials do, because they would
 * fail every step.
 */
export const isFatal = ({ onAuthenticationFailure }: Settings, error: StepError): boolean =>
  onAuthenticationFailure === "end" && error._tag === "WorkerError" && error.reason._tag === "Authentication"

/** Asks for the answer of a step that has started. */
export const answerStep = (
  context: CallContext,
  plan: Plan,
  next: Step,
  view: StepView,
  running: Running,
  { judged, keep }: Pick<StepAsk, "keep" | "judged">
): ReturnType<Step> => {
  const { previous, round, seed, settings, task, workflow } = plan
  const { emit, item, step } = running
  const ordinal = workflow.steps[step]!.worker
  const sample = item === undefined ? Seed.derive(seed, step) : Seed.derive(seed, step, item)
  const { maxOutputTokens, preferences, reasoning, temperature } = settings.worker
  const finished = (answered: Answered, isUnchecked?: boolean) => finish(context, plan, running, answered, isUnchecked)
  const ask: StepAsk = {
    step,
    sample,
    offered: offeredTo(plan.equipment, settings.toolAccess, workflow, step),
    conversation: { messages: [], turn: 0, since: 0, toolRounds: 0, corrections: 0 },
    running,
    onDelta:
      emit && ((kind: "text" | "reasoning", text: string) => emit({ type: "step-delta", round, step, kind, text })),
    keep,
    finish: finished,
    judged
  }
  return next(ask, {
    ordinal,
    tried: [ordinal],
    request: {
      messages: workerMessages({ task, workflow, step, previous, ...view }),
      maxOutputTokens,
      temperature,
      reasoning,
      preferences,
      seed: plan.sendSeed ? sample : undefined
    },
    onAnswer: (answered) => {
      keep(answered)
      finished(answered)
    }
  })
}

// -------------------------------------------------------------------------------------------------------------------
// One turn
// -------------------------------------------------------------------------------------------------------------------

/** Asks the worker of a step for one turn. */
export const turn =
  ({ call }: CallContext, { pool, round }: Plan): Step =>
  (
    { conversation, onDelta, running: { emit, isReplayed, item }, sample, step },
    { onAnswer, ordinal, request, timeoutMillis, tried }
  ) => {
    const { turn } = conversation
    const worker = pool.workers[ordinal]!
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
      onDelta,
      onNotice,
      onAnswer
    })
    return Effect.map(made, () => ({ type: "answered", ordinal, tried }))
  }
