/**
 * Telemetry: converts the events of runs to spans of Effect's `Tracer`, which OpenTelemetry exporters read.
 *
 * Each run, round, step, call and tool is a span, named and attributed by the semantic conventions for generative AI
 * (`gen_ai.*`; the operations `invoke_workflow`, `plan`, `invoke_agent`, `chat` and `execute_tool`). Other attributes
 * are under `divisi.*`. Questions and answers are omitted unless `content` is true.
 *
 * Only spans of calls have tokens and cost, so that these can be summed. Answers that a resumed run takes from its
 * record (`divisi.replayed`) or that come from a cache (`divisi.cached`) have neither.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import * as Approval from "../events/approval.ts"
import * as Check from "../events/check.ts"
import * as Critic from "../events/critic.ts"
import { placeOf } from "../events/items.ts"
import * as Plan from "../events/plan.ts"
import { isTransient, type Listener, type Of, type RunEvent } from "../events/RunEvent.ts"
import * as Reassignment from "../events/reassignment.ts"
import * as Revision from "../events/revision.ts"
import * as Round from "../events/round.ts"
import * as Step from "../events/step.ts"
import * as Suspension from "../events/suspension.ts"
import * as Tables from "../Options.ts"
import { type ActiveSpans, type Part, register } from "./ActiveSpans.ts"
import { endCall, startCall } from "./CallSpans.ts"
import {
  endPlan,
  endRound,
  fail,
  finishRun,
  nanos,
  type OpenRound,
  type OpenRun,
  type OpenStep,
  type Recording,
  start,
  startRound,
  startRun,
  startStep,
  succeed
} from "./OpenSpans.ts"
import { endTool, keyOf, startTool } from "./ToolSpans.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** Options for recording spans. */
export interface Options {
  /** Whether to record questions, subtasks, completions and answers. Default: `false`. */
  readonly content?: boolean | undefined
  /** Returns the vendor of a worker, e.g. `openai` or `gcp.gemini`, for `gen_ai.provider.name`. Omitted by default. */
  readonly provider?: ((worker: string) => string | undefined) | undefined
}

/** The options, with the parent span of runs. */
type RecorderOptions = Options & { readonly parent?: Tracer.AnySpan | undefined }

const table = Tables.table({
  content: Tables.flag,
  provider: Tables.aFunction,
  parent: Tables.anObject
} satisfies Tables.ShapeOf<RecorderOptions>)

/** Creates spans for any number of concurrent runs, for `RunOptions.telemetry`. */
export interface SpanRecorder extends ActiveSpans {
  readonly listener: Listener
  /** The number of open spans: 0 if no run is in progress. */
  readonly open: () => number
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

/** The events that do not affect spans: chunks of text, progress and notices. */
type WithoutSpan = "completion-delta" | "step-delta" | "tool-progress" | "step-notice"

const recordCheck = (recording: Recording, parent: Tracer.Span, event: Of<"step-checked">) => {
  const span = start(recording, `evaluate ${event.check}`, "internal", event.at - event.durationMillis, parent)
  Check.describeChecked(span, event, recording.content)
  succeed(span, event.at)
}

type OfStep = Of<
  | "turn-finished"
  | "tool-started"
  | "tool-finished"
  | "check-answered"
  | "step-checked"
  | "step-waiting"
  | "step-reassigned"
  | "step-finished"
  | "step-failed"
>

type OfCall = Of<"turn-finished" | "check-answered" | "tool-started" | "tool-finished">

/** Handles the calls of a step or item, as children of its span. */
const onCall = (recording: Recording, run: OpenRun, round: OpenRound, span: Tracer.Span, event: OfCall) => {
  switch (event.type) {
    case "turn-finished":
      round.asked.set(`${placeOf(event.step, event.item)}.${event.turn}`, event.toolCalls)
      return endCall(recording, run, round, event)
    case "check-answered":
      return endCall(recording, run, round, event)
    case "tool-started":
      return startTool(recording, round, span, event)
    case "tool-finished":
      return endTool(recording, round, span, event)
    default:
      event satisfies never
  }
}

const onStep = (recording: Recording, run: OpenRun, round: OpenRound, step: OpenStep, event: OfStep) => {
  const { span } = step
  switch (event.type) {
    case "step-reassigned":
      span.event("step_reassigned", nanos(event.at), Reassignment.attributesOf(event))
      return Reassignment.describe(span, event)
    case "turn-finished":
    case "check-answered":
    case "tool-started":
    case "tool-finished":
      return onCall(recording, run, round, span, event)
    case "step-checked":
      return recordCheck(recording, span, event)
    case "step-waiting":
      round.steps.delete(placeOf(event.step, event.item))
      Suspension.describe(span, event)
      return succeed(span, event.at)
    case "step-finished":
      if (!step.isNested) endCall(recording, run, round, event)
      round.steps.delete(placeOf(event.step, event.item))
      return succeed(span, event.at)
    case "step-failed": {
      round.steps.delete(placeOf(event.step, event.item))
      const message = recording.content ? event.message : `${event.worker} failed.`
      return fail(span, event.at, event.reason ?? "StepFailed", message)
    }
    default:
      event satisfies never
  }
}

/** Handles an item of a long list. It has no span of its own, but its calls do. */
const onItem = (recording: Recording, run: OpenRun, round: OpenRound, event: OfStep) => {
  if (event.item === undefined) return
  const { span } = round
  switch (event.type) {
    case "turn-finished":
    case "check-answered":
    case "tool-started":
    case "tool-finished":
      return onCall(recording, run, round, span, event)
    case "step-finished":
      endCall(recording, run, round, event)
      return span.event("item_finished", nanos(event.at), Step.attributesOfItem(event))
    case "step-failed":
      return span.event("item_failed", nanos(event.at), Step.attributesOfItem(event))
    default:
  }
}

type OfRound = Exclude<RunEvent, Of<"run-started" | "round-started" | "run-finished">>

const onRound = (recording: Recording, run: OpenRun, round: OpenRound, event: OfRound) => {
  switch (event.type) {
    case "completion-finished":
    case "critic-answered":
    case "call-failed":
    case "call-interrupted":
    case "call-lost":
      return endCall(recording, run, round, event)
    case "workflow-proposed":
      endPlan(round, event.at)
      return Plan.describe(round.span, event, recording.content)
    case "plan-waiting":
      return Approval.describeWaiting(round.span, event)
    case "plan-decided":
      return Approval.describeDecided(round.span, event)
    case "step-started":
      return startStep(recording, round, event)
    case "step-unfolded":
      round.items.set(event.step, (round.items.get(event.step) ?? 0) + event.items)
      return round.span.event("step_unfolded", nanos(event.at), Step.attributesOfUnfolded(event))
    case "step-joined":
      return round.span.event("step_joined", nanos(event.at), Step.attributesOfJoined(event))
    case "step-skipped":
      return round.span.event("step_skipped", nanos(event.at), Step.attributesOfSkipped(event))
    case "round-revised":
      endPlan(round, event.at)
      return round.span.event("round_revised", nanos(event.at), Revision.attributesOf(event))
    case "answer-graded":
      return Critic.describeGraded(round.span, event)
    case "round-finished":
      Round.describeFinished(round.span, event)
      return endRound(run, round, event.at, Exit.void)
    case "turn-finished":
    case "tool-started":
    case "tool-finished":
    case "check-answered":
    case "step-checked":
    case "step-waiting":
    case "step-finished":
    case "step-failed":
    case "step-reassigned": {
      const step = round.steps.get(placeOf(event.step, event.item))
      return step === undefined ? onItem(recording, run, round, event) : onStep(recording, run, round, step, event)
    }
    default:
      event.type satisfies WithoutSpan
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Makes a recorder that creates spans with a given tracer. Most programs use {@link listener}.
 *
 * **Details**
 *
 * Runs become children of `parent`; a nested run is a child of its step. A span ends with the status of its run, round
 * or step: ok, an error, or interrupted. When a run ends, its state is dropped.
 *
 * **Example**
 *
 * ```ts
 * import * as Telemetry from "@divisi/core/Telemetry"
 * import * as Tracer from "effect/Tracer"
 *
 * const recorder = Telemetry.recorder(Tracer.nativeTracer)
 * recorder.open() // => 0
 * ```
 */
export const recorder = (tracer: Tracer.Tracer, options: RecorderOptions = {}): SpanRecorder => {
  Tables.check("Telemetry.recorder", options, table)
  return recorderOf(tracer, options)
}

const recorderOf = (tracer: Tracer.Tracer, options: RecorderOptions): SpanRecorder => {
  const { content = false, parent, provider } = options
  const runs = new Map<string, OpenRun>()
  const recording: Recording = { tracer, parent, content, provider, runs }

  const listener: Listener = (event) => {
    // Pieces of texts are most of the events, and in no span.
    if (isTransient(event)) return
    if (event.type === "run-started") return startRun(recording, event)
    const run = runs.get(event.runId)
    if (run === undefined) return
    if (event.type === "round-started") startRound(recording, run, event)
    else if (event.type === "run-finished") finishRun(recording, run, event)
    else if (run.round !== undefined) onRound(recording, run, run.round, event)
  }

  const open = () => {
    let count = runs.size
    for (const { round } of runs.values()) {
      count += round === undefined ? 0 : 1 + round.steps.size + round.calls.length + round.tools.size
    }
    return count
  }

  const spanOf = (part: Part): Tracer.Span | undefined => {
    const run = runs.get(part.runId)
    if (run === undefined) return undefined
    run.isAttached = true
    const { round } = run
    if (part.type === "run" || round === undefined) return run.span
    if (part.type === "round") return round.span
    if (part.type === "step") return round.steps.get(placeOf(part.step, part.item))?.span
    return part.type === "tool" ? round.tools.get(keyOf(part)) : undefined
  }

  const callSpan = (part: Extract<Part, { readonly type: "call" }>, at: number): Tracer.Span | undefined => {
    const run = runs.get(part.runId)
    if (run?.round === undefined) return undefined
    const { by, item, step, worker } = part
    const span = startCall(recording, run, run.round, part, at)
    run.round.calls.push({ by, step, item, worker, span })
    return span
  }

  const within = <A, E, R>(part: Part, effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.clockWith((clock) => {
      const span = part.type === "call" ? callSpan(part, clock.currentTimeMillisUnsafe()) : spanOf(part)
      if (span === undefined) return effect
      const spanned = Effect.provideService(effect, Tracer.ParentSpan, span) as Effect.Effect<A, E, R>
      return Effect.provideService(spanned, Tracer.Tracer, tracer)
    })

  register(listener, { within })
  return { listener, open, within }
}

/**
 * Makes a listener that creates spans with the current tracer, below the current span. Pass it to a run as `listener`,
 * or pass its recorder as `RunOptions.telemetry`; then the span of each part is active while user code runs.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import { Baselines } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as Telemetry from "@divisi/core/Telemetry"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import * as Effect from "effect/Effect"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const conductor = Conductor.make({ policy: Baselines.single(0), pool })
 * const program = Effect.gen(function* () {
 *   const listener = yield* Telemetry.listener()
 *   return yield* conductor.run("What is 6 times 7?", { listener })
 * })
 * ```
 */
export const listener = (options: Options = {}): Effect.Effect<Listener> =>
  Effect.gen(function* () {
    Tables.check("Telemetry.listener", options, table)
    if (!(yield* References.TracerEnabled)) return () => {}
    const tracer = yield* Tracer.Tracer
    const parent = Option.getOrUndefined(yield* Effect.serviceOption(Tracer.ParentSpan))
    return recorderOf(tracer, { ...options, parent }).listener
  })
