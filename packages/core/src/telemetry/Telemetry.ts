/**
 * Converts run events to spans of Effect's `Tracer`, which can be exported with OpenTelemetry.
 *
 * Each run, round, step, call and tool has a span, with names and attributes that follow the semantic conventions for
 * generative AI (`gen_ai.*`, with the operations `invoke_workflow`, `plan`, `invoke_agent`, `chat` and `execute_tool`).
 * All other attributes use the `divisi.*` namespace. Questions and answers are recorded only if `content` is `true`.
 *
 * Tokens and cost are recorded only on call spans, so that they can be summed. Answers that a resumed run replays
 * (`divisi.replayed`), cache hits (`divisi.cached`) and answers that a fork reuses (`divisi.origin`) have neither.
 */
import * as Context from "effect/Context"
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
  /**
   * Returns a worker's vendor, e.g. `openai` or `gcp.gemini`, for `gen_ai.provider.name`. If omitted, the attribute is
   * not set.
   */
  readonly provider?: ((worker: string) => string | undefined) | undefined
}

/** Options for a recorder, including the parent span of runs. */
type RecorderOptions = Options & { readonly parent?: Tracer.AnySpan | undefined }

// Marked as pure, so that a bundle without telemetry leaves it out.
const table = /* @__PURE__ */ (() =>
  Tables.table({
    content: Tables.flag,
    provider: Tables.aFunction,
    parent: Tables.anObject
  } satisfies Tables.ShapeOf<RecorderOptions>))()

/** Records spans for any number of concurrent runs. Pass it as `RunOptions.telemetry`. */
export interface SpanRecorder extends ActiveSpans {
  readonly listener: Listener
  /** Returns the number of open spans, which is 0 when no run is in progress. */
  readonly open: () => number
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

/** Events that do not affect spans: text chunks, progress and notices. */
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

/** Records the calls made by a step or item as children of its span. */
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
      Step.describeOrigin(span, event)
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

/** Records an item of a long list. The item has no span, but its calls do. */
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
 * Creates a recorder that writes spans with a given tracer. Most programs use {@link listener} instead.
 *
 * **Details**
 *
 * Run spans become children of `parent`; a nested run's span is a child of its step's span. Each span ends with the
 * status of its run, round or step: ok, error, or interrupted. A run's state is discarded when the run ends.
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
    // Most events are text chunks, which do not affect any span.
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
      // Both services at once, because each change of a context takes about 60 function calls.
      return Effect.updateContext(effect, (context: Context.Context<R>) => {
        const spanned = Context.add(context, Tracer.ParentSpan, span)
        return Context.get(context, Tracer.Tracer) === tracer ? spanned : Context.add(spanned, Tracer.Tracer, tracer)
      })
    })

  register(listener, { within })
  return { listener, open, within }
}

/**
 * Creates a listener that writes spans with the current tracer, as children of the current span. Pass it to a run as
 * `listener`, or pass its recorder as `RunOptions.telemetry`, in which case the corresponding span is active while user
 * code runs.
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
