/** Tracks the open spans for runs, rounds and steps, and starts and ends them. */
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import { placeOf } from "../events/items.ts"
import type { Of } from "../events/RunEvent.ts"
import * as Round from "../events/round.ts"
import * as Run from "../events/run.ts"
import * as Step from "../events/step.ts"
import type { ToolCall } from "../task/Message.ts"
import type { Part } from "./ActiveSpans.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** State shared by all spans of a recorder. */
export interface Recording {
  readonly tracer: Tracer.Tracer
  readonly parent: Tracer.AnySpan | undefined
  /** Whether to record text written by users and models. */
  readonly content: boolean
  /** Returns the vendor of a worker. */
  readonly provider: ((worker: string) => string | undefined) | undefined
  readonly runs: Map<string, OpenRun>
}

export interface OpenRun {
  readonly span: Tracer.Span
  readonly policy: string
  /** Whether the run reports when its calls are sent. If so, an answer to a call that was not sent is a replay. */
  isAttached: boolean
  round: OpenRound | undefined
}

export interface OpenRound {
  readonly span: Tracer.Span
  /** Steps and items keyed by position, such as `1` or `1[3]`. */
  readonly steps: Map<string, OpenStep>
  /** Number of known items, by step. */
  readonly items: Map<number, number>
  readonly tools: Map<string, Tracer.Span>
  readonly calls: Array<OpenCall>
  /** Span of the planning in progress. Parent of the policy's call spans. */
  plan: Tracer.Span | undefined
  /** Tool calls made in each turn, keyed by step and turn. */
  readonly asked: Map<string, ReadonlyArray<ToolCall>>
  /** Time at which the policy started its next completion. */
  planningSince: number
}

export interface OpenStep {
  readonly span: Tracer.Span
  /** Earliest possible start of the step's next call, for calls whose start is not reported. */
  since: number
  /** Whether a nested run provides the answer, in which case the calls belong to that run. */
  isNested: boolean
}

/**
 * Identifies the caller of a call: the component, the step if there is one, and the worker (an empty string if
 * unknown).
 */
export type Caller = Pick<Extract<Part, { readonly type: "call" }>, "by" | "step" | "item" | "worker">

export interface OpenCall extends Caller {
  readonly span: Tracer.Span
}

// -------------------------------------------------------------------------------------------------------------------
// Start and end
// -------------------------------------------------------------------------------------------------------------------

export const nanos = (millis: number): bigint => BigInt(Math.round(millis)) * 1_000_000n

export const start = (
  { tracer }: Recording,
  name: string,
  kind: Tracer.SpanKind,
  at: number,
  parent: Tracer.AnySpan | undefined
): Tracer.Span =>
  tracer.span({
    name,
    kind,
    parent: Option.fromUndefinedOr(parent),
    root: parent === undefined,
    sampled: parent?.sampled ?? true,
    startTime: nanos(at),
    annotations: Context.empty(),
    links: []
  })

export const succeed = (span: Tracer.Span, at: number): void => span.end(nanos(at), Exit.void)

export const interrupt = (span: Tracer.Span, at: number): void => span.end(nanos(at), Exit.interrupt())

export const fail = (span: Tracer.Span, at: number, type: string, message: string): void => {
  span.attribute("error.type", type)
  span.end(nanos(at), Exit.fail(message))
}

/** Sets the worker's vendor on a span, if known. */
export const setProvider = ({ provider }: Recording, span: Tracer.Span, worker: string): void => {
  const name = worker === "" ? undefined : provider?.(worker)
  if (name !== undefined) span.attribute("gen_ai.provider.name", name)
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

/** Starts the span for a run. A nested run's span is a child of its step's span. */
export const startRun = (recording: Recording, event: Of<"run-started">): void => {
  const { at, parent, policy, runId } = event
  const step =
    parent === undefined
      ? undefined
      : recording.runs.get(parent.runId)?.round?.steps.get(placeOf(parent.step, parent.item))
  if (step !== undefined) step.isNested = true
  const span = start(recording, `invoke_workflow ${policy}`, "internal", at, step?.span ?? recording.parent)
  Run.describeStarted(span, event, recording.content)
  recording.runs.set(runId, { span, policy, isAttached: false, round: undefined })
}

export const finishRun = (recording: Recording, run: OpenRun, event: Of<"run-finished">): void => {
  const { at, detail, ending, runId } = event
  const { span } = run
  if (run.round !== undefined) endRound(run, run.round, at, Exit.interrupt())
  recording.runs.delete(runId)
  Run.describeFinished(span, event, recording.content)
  if (ending === "answered" || ending === "suspended") succeed(span, at)
  else if (ending === "interrupted") interrupt(span, at)
  else fail(span, at, ending, (recording.content ? detail : undefined) ?? `The run ended: ${ending}.`)
}

// -------------------------------------------------------------------------------------------------------------------
// Rounds and plans
// -------------------------------------------------------------------------------------------------------------------

export const startRound = (recording: Recording, run: OpenRun, event: Of<"round-started">): void => {
  const span = start(recording, `round ${event.round}`, "internal", event.at, run.span)
  Round.describeStarted(span, event)
  run.round = {
    span,
    steps: new Map(),
    items: new Map(),
    tools: new Map(),
    calls: [],
    plan: undefined,
    asked: new Map(),
    planningSince: event.at
  }
}

/** Ends a round's span and interrupts all spans that are still open within it. */
export const endRound = (run: OpenRun, round: OpenRound, at: number, exit: Exit.Exit<void>): void => {
  for (const { span } of round.calls) interrupt(span, at)
  for (const span of round.tools.values()) interrupt(span, at)
  for (const { span } of round.steps.values()) interrupt(span, at)
  endPlan(round, at, exit)
  round.span.end(nanos(at), exit)
  run.round = undefined
}

/** Returns the span for a round's planning. It starts with the first model call. */
export const planOf = (recording: Recording, run: OpenRun, round: OpenRound, at: number): Tracer.Span => {
  if (round.plan !== undefined) return round.plan
  round.plan = start(recording, `plan ${run.policy}`, "internal", at, round.span)
  round.plan.attribute("gen_ai.operation.name", "plan")
  round.plan.attribute("gen_ai.agent.name", run.policy)
  return round.plan
}

export const endPlan = (round: OpenRound, at: number, exit: Exit.Exit<void> = Exit.void): void => {
  round.plan?.end(nanos(at), exit)
  round.plan = undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

/** Maximum number of items per step that get individual spans. */
const mostItemSpans = 100

export const startStep = (recording: Recording, round: OpenRound, event: Of<"step-started">): void => {
  const { at, item, step, worker } = event
  // Items of longer lists are recorded as events on the round's span.
  if (item !== undefined && (round.items.get(step) ?? 0) > mostItemSpans) return
  const span = start(recording, `invoke_agent ${worker}`, "internal", at, round.span)
  Step.describeStarted(span, event)
  setProvider(recording, span, worker)
  round.steps.set(placeOf(step, item), { span, since: at, isNested: false })
}
