/**
 * Telemetry: the events of runs as spans of Effect's `Tracer`, which OpenTelemetry exporters read.
 *
 * Each run, round, step, call and tool is a span, named and attributed by the semantic conventions for generative AI
 * (`gen_ai.*`; the operations `invoke_workflow`, `plan`, `invoke_agent`, `chat` and `execute_tool`). Attributes they do
 * not define are under `divisi.*`. Texts of people and models are left out unless `content` is true.
 *
 * Tokens and cost are attributes of calls alone, each its own, so that they can be summed. An answer that a resumed run
 * takes from its record (`divisi.replayed`) or a run from a cache (`divisi.cached`) has none.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { isTransient, type Listener, type Of, type RunEvent } from "../events/RunEvent.ts"
import { type Message, type ToolCall, text } from "../task/Message.ts"
import type { Paid } from "../task/Usage.ts"
import type { FinishReason } from "../task/Worker.ts"
import { type ActiveSpans, type Part, register } from "./ActiveSpans.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What spans record. */
export interface Options {
  /** Whether questions, subtasks, completions and answers are recorded; false by default. */
  readonly content?: boolean | undefined
  /** The vendor of a worker, e.g. `openai` or `gcp.gemini`, for `gen_ai.provider.name`; left out by default. */
  readonly provider?: ((worker: string) => string | undefined) | undefined
}

/** Makes spans of any number of runs at once, for `RunOptions.telemetry`. */
export interface SpanRecorder extends ActiveSpans {
  readonly listener: Listener
  /** How many spans are open: none when no run goes on. */
  readonly open: () => number
}

/** What all spans of a recorder share. */
interface Recording {
  readonly tracer: Tracer.Tracer
  readonly parent: Tracer.AnySpan | undefined
  readonly content: boolean
  readonly provider: Options["provider"]
  readonly runs: Map<string, OpenRun>
}

/** A call while it goes on. */
interface OpenCall extends Pick<Extract<Part, { readonly type: "call" }>, "by" | "step" | "worker"> {
  readonly span: Tracer.Span
}

/** A step while it goes on. */
interface OpenStep {
  readonly span: Tracer.Span
  /** When its next call or answer can have begun, for calls whose beginning is not known. */
  since: number
  /** Whether a run within it gives its answer: the calls are those of that run. */
  isNested: boolean
}

/** A round while it goes on. */
interface OpenRound {
  readonly span: Tracer.Span
  readonly steps: Map<number, OpenStep>
  readonly tools: Map<string, Tracer.Span>
  readonly calls: Array<OpenCall>
  /** The planning that goes on: the calls of the policy's models are within it. */
  plan: Tracer.Span | undefined
  /** The tool calls that turns have asked for, by step and turn. */
  readonly asked: Map<string, ReadonlyArray<ToolCall>>
  /** When the policy began to write what it completes next. */
  planningSince: number
}

/** A run while it goes on. */
interface OpenRun {
  readonly span: Tracer.Span
  readonly policy: string
  /** Whether its calls say when they are sent: an answer of a call that was not sent is replayed then. */
  isAttached: boolean
  round: OpenRound | undefined
}

// -------------------------------------------------------------------------------------------------------------------
// Attributes
// -------------------------------------------------------------------------------------------------------------------

const nanos = (millis: number): bigint => BigInt(Math.round(millis)) * 1_000_000n

const finishReasons: { readonly [Reason in FinishReason]: string } = {
  stop: "stop",
  length: "length",
  refusal: "content_filter",
  "tool-calls": "tool_calls",
  other: "other"
}

const setPaid = (span: Tracer.Span, { costUsd, usage }: Paid) => {
  span.attribute("gen_ai.usage.input_tokens", usage.inputTokens)
  span.attribute("gen_ai.usage.output_tokens", usage.outputTokens)
  if (usage.cachedInputTokens !== undefined) {
    span.attribute("gen_ai.usage.cache_read.input_tokens", usage.cachedInputTokens)
  }
  if (usage.cacheWriteTokens !== undefined) {
    span.attribute("gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens)
  }
  if (usage.reasoningTokens !== undefined) {
    span.attribute("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens)
  }
  if (costUsd !== undefined) span.attribute("divisi.cost_usd", costUsd)
}

const messagesText = (messages: ReadonlyArray<Message>, finishReason?: FinishReason): string =>
  JSON.stringify(
    messages.map(({ content, role }) => ({
      role,
      parts: [{ type: "text", content }],
      finish_reason: finishReason === undefined ? undefined : finishReasons[finishReason]
    }))
  )

const answerText = (content: string, finishReason: FinishReason): string =>
  messagesText([{ role: "assistant", content }], finishReason)

const fail = (span: Tracer.Span, at: number, type: string, message: string) => {
  span.attribute("error.type", type)
  span.end(nanos(at), Exit.fail(message))
}

// -------------------------------------------------------------------------------------------------------------------
// Fold
// -------------------------------------------------------------------------------------------------------------------

const start = (
  recording: Recording,
  name: string,
  kind: Tracer.SpanKind,
  at: number,
  parent: Tracer.AnySpan | undefined
) =>
  recording.tracer.span({
    name,
    kind,
    parent: Option.fromUndefinedOr(parent),
    root: parent === undefined,
    sampled: parent?.sampled ?? true,
    startTime: nanos(at),
    annotations: Context.empty(),
    links: []
  })

const startRun = (recording: Recording, { at, parent, policy, runId, seed, task }: Of<"run-started">) => {
  const step = parent === undefined ? undefined : recording.runs.get(parent.runId)?.round?.steps.get(parent.step)
  if (step !== undefined) step.isNested = true
  const span = start(recording, `invoke_workflow ${policy}`, "internal", at, step?.span ?? recording.parent)
  span.attribute("gen_ai.operation.name", "invoke_workflow")
  span.attribute("gen_ai.workflow.name", policy)
  span.attribute("divisi.run.id", runId)
  span.attribute("divisi.task.id", task.id)
  span.attribute("divisi.seed", seed)
  if (recording.content) span.attribute("gen_ai.input.messages", messagesText(task.messages))
  recording.runs.set(runId, { span, policy, isAttached: false, round: undefined })
}

const startRound = (recording: Recording, run: OpenRun, { at, round }: Of<"round-started">) => {
  const span = start(recording, `round ${round}`, "internal", at, run.span)
  span.attribute("divisi.round", round)
  run.round = {
    span,
    steps: new Map(),
    tools: new Map(),
    calls: [],
    plan: undefined,
    asked: new Map(),
    planningSince: at
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Calls
// -------------------------------------------------------------------------------------------------------------------

/** The span of the planning of a round, begun with its first call of a model. */
const planOf = (recording: Recording, run: OpenRun, round: OpenRound, at: number): Tracer.Span => {
  if (round.plan !== undefined) return round.plan
  round.plan = start(recording, `plan ${run.policy}`, "internal", at, round.span)
  round.plan.attribute("gen_ai.operation.name", "plan")
  round.plan.attribute("gen_ai.agent.name", run.policy)
  return round.plan
}

const endPlan = (round: OpenRound, at: number, exit: Exit.Exit<void>) => {
  round.plan?.end(nanos(at), exit)
  round.plan = undefined
}

/** The span of a call, begun. One of a policy is within the plan. */
const startCall = (
  recording: Recording,
  run: OpenRun,
  round: OpenRound,
  { by, step, worker }: Pick<OpenCall, "by" | "step" | "worker">,
  at: number
): Tracer.Span => {
  const ofStep = step === undefined ? undefined : round.steps.get(step)?.span
  const parent = by === "policy" ? planOf(recording, run, round, at) : (ofStep ?? round.span)
  const span = start(recording, `chat ${worker}`.trimEnd(), "client", at, parent)
  span.attribute("gen_ai.operation.name", "chat")
  if (worker !== "") span.attribute("gen_ai.request.model", worker)
  const provider = worker === "" ? undefined : recording.provider?.(worker)
  if (provider !== undefined) span.attribute("gen_ai.provider.name", provider)
  return span
}

type CallEnd = Of<
  | "turn-finished"
  | "step-finished"
  | "check-answered"
  | "critic-answered"
  | "completion-finished"
  | "call-failed"
  | "call-interrupted"
  | "call-lost"
>

/** Who made the call that an event ends; more than one where the event does not say which. */
const makersOf = (event: CallEnd): ReadonlyArray<OpenCall["by"]> => {
  switch (event.type) {
    case "completion-finished":
      return ["policy"]
    case "critic-answered":
      return ["critic"]
    case "check-answered":
      return ["check"]
    case "turn-finished":
    case "step-finished":
      return ["step"]
    default:
      return [event.by ?? (event.step === undefined ? "policy" : "step")]
  }
}

/** Takes the call that an event ends from those that are open. */
const takeCall = ({ calls }: OpenRound, event: CallEnd): OpenCall | undefined => {
  const makers = makersOf(event)
  const step = "step" in event ? event.step : undefined
  const at = calls.findIndex(
    (call) =>
      makers.includes(call.by) &&
      call.step === step &&
      (event.type === "completion-finished" || call.worker === event.worker)
  )
  return at < 0 ? undefined : calls.splice(at, 1)[0]
}

/** When a call began that did not say so. */
const sinceOf = (round: OpenRound, event: CallEnd): number => {
  if (event.type === "turn-finished") return event.at - event.durationMillis
  if (event.type === "completion-finished") return round.planningSince
  const step = "step" in event && event.step !== undefined ? round.steps.get(event.step) : undefined
  return Math.min(event.at, step?.since ?? event.at)
}

const outcomeOf = (recording: Recording, event: CallEnd): readonly [type: string, message: string] | undefined => {
  if (event.type === "call-failed") {
    return [event.reason._tag, recording.content ? event.message : `${event.worker} failed.`]
  }
  if (event.type !== "completion-finished" || event.error === undefined) return undefined
  return ["unreadable", recording.content ? event.error : "The completion is no workflow."]
}

const describeCall = (recording: Recording, span: Tracer.Span, event: CallEnd) => {
  if ("attempt" in event) span.attribute("divisi.attempt", event.attempt)
  if (event.type === "turn-finished") {
    span.attribute("divisi.turn", event.turn)
    span.attribute("gen_ai.response.finish_reasons", [event.toolCalls.length > 0 ? "tool_calls" : "stop"])
  }
  if (event.type === "step-finished") {
    span.attribute("gen_ai.response.finish_reasons", [finishReasons[event.finishReason]])
    if (event.model !== undefined) span.attribute("gen_ai.response.model", event.model)
    if (recording.content) span.attribute("gen_ai.output.messages", answerText(event.answer, event.finishReason))
  }
  if (event.type === "check-answered") span.attribute("divisi.check", event.check)
  if (event.type === "call-failed" && event.retryInMillis !== undefined) {
    span.attribute("divisi.retry_in_ms", event.retryInMillis)
  }
  if (event.type === "completion-finished" && recording.content) {
    span.attribute("gen_ai.output.messages", answerText(event.completion, "stop"))
  }
}

/** Ends the span of a call, with what it used. What was not sent by this leg of the run is marked, and costs nothing. */
const endCall = (recording: Recording, run: OpenRun, round: OpenRound, event: CallEnd) => {
  const open = takeCall(round, event)
  const step = "step" in event ? event.step : undefined
  const worker = "worker" in event ? event.worker : ""
  const [by = "step"] = makersOf(event)
  const isUnasked = event.type === "call-failed" && event.unasked === true
  const span = open?.span ?? startCall(recording, run, round, { by, step, worker }, sinceOf(round, event))
  const isCached = "cached" in event && event.cached
  const isReplayed = open === undefined && run.isAttached && !isCached && !isUnasked && event.type !== "call-lost"
  if ("cached" in event) span.attribute("divisi.cached", event.cached)
  if (isReplayed) span.attribute("divisi.replayed", true)
  if (event.type === "call-lost") span.attribute("divisi.unconfirmed", true)
  if (!isCached && !isReplayed && !isUnasked) setPaid(span, event)
  describeCall(recording, span, event)
  if (event.type === "completion-finished") round.planningSince = event.at
  const openStep = step === undefined ? undefined : round.steps.get(step)
  if (openStep !== undefined) openStep.since = event.at
  const failure = outcomeOf(recording, event)
  if (failure !== undefined) fail(span, event.at, ...failure)
  else {
    const isWhole = event.type !== "call-interrupted" && event.type !== "call-lost"
    span.end(nanos(event.at), isWhole ? Exit.void : Exit.interrupt())
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Steps
// -------------------------------------------------------------------------------------------------------------------

const startStep = (recording: Recording, round: OpenRound, { at, step, worker }: Of<"step-started">) => {
  const span = start(recording, `invoke_agent ${worker}`, "internal", at, round.span)
  span.attribute("gen_ai.operation.name", "invoke_agent")
  span.attribute("gen_ai.agent.name", worker)
  const provider = recording.provider?.(worker)
  if (provider !== undefined) span.attribute("gen_ai.provider.name", provider)
  span.attribute("divisi.step", step)
  round.steps.set(step, { span, since: at, isNested: false })
}

const finishStep = (round: OpenRound, span: Tracer.Span, { at, step }: Of<"step-finished">) => {
  round.steps.delete(step)
  span.end(nanos(at), Exit.void)
}

const keyOf = ({ index, step, turn }: Pick<Of<"tool-started">, "step" | "turn" | "index">) => `${step}.${turn}.${index}`

const startTool = (
  recording: Recording,
  round: OpenRound,
  parent: Tracer.Span,
  { at, index, name, step, turn }: Of<"tool-started" | "tool-finished">
): Tracer.Span => {
  const span = start(recording, `execute_tool ${name}`, "internal", at, parent)
  span.attribute("gen_ai.operation.name", "execute_tool")
  span.attribute("gen_ai.tool.name", name)
  span.attribute("gen_ai.tool.type", "function")
  const call = round.asked.get(`${step}.${turn}`)?.[index]
  if (call !== undefined) span.attribute("gen_ai.tool.call.id", call.id)
  if (call !== undefined && recording.content) span.attribute("gen_ai.tool.call.arguments", call.arguments)
  return span
}

/** A tool whose result is known and that did not run here: the caller gave it, or the record of the run has it. */
const endTool = (recording: Recording, round: OpenRound, parent: Tracer.Span, event: Of<"tool-finished">) => {
  const open = round.tools.get(keyOf(event))
  round.tools.delete(keyOf(event))
  const span = open ?? startTool(recording, round, parent, event)
  if (open === undefined) span.attribute("divisi.replayed", true)
  if (recording.content) span.attribute("gen_ai.tool.call.result", text(event.content))
  if (event.isError)
    fail(span, event.at, "ToolFailed", recording.content ? text(event.content) : `${event.name} failed.`)
  else span.end(nanos(event.at), Exit.void)
}

const recordCheck = (recording: Recording, parent: Tracer.Span, event: Of<"step-checked">) => {
  const span = start(recording, `evaluate ${event.check}`, "internal", event.at - event.durationMillis, parent)
  span.attribute("gen_ai.evaluation.name", event.check)
  span.attribute("gen_ai.evaluation.score.label", event.passed ? "pass" : "fail")
  if (recording.content && event.objection !== undefined) {
    span.attribute("gen_ai.evaluation.explanation", event.objection)
  }
  span.end(nanos(event.at), Exit.void)
}

const endRound = (run: OpenRun, round: OpenRound, at: number, exit: Exit.Exit<void>) => {
  for (const { span } of round.calls) span.end(nanos(at), Exit.interrupt())
  for (const span of round.tools.values()) span.end(nanos(at), Exit.interrupt())
  for (const { span } of round.steps.values()) span.end(nanos(at), Exit.interrupt())
  endPlan(round, at, exit)
  round.span.end(nanos(at), exit)
  run.round = undefined
}

const finishRun = (recording: Recording, run: OpenRun, event: Of<"run-finished">) => {
  const { at, ending, spend } = event
  const { span } = run
  if (run.round !== undefined) endRound(run, run.round, at, Exit.interrupt())
  recording.runs.delete(event.runId)
  span.attribute("divisi.ending", ending)
  span.attribute("divisi.spend.cost_usd", spend.costUsd)
  span.attribute("divisi.spend.calls", spend.calls)
  span.attribute("divisi.spend.unpriced_calls", spend.unpricedCalls)
  span.attribute("divisi.spend.input_tokens", spend.usage.inputTokens)
  span.attribute("divisi.spend.output_tokens", spend.usage.outputTokens)
  if (recording.content && event.answer !== undefined) {
    span.attribute("gen_ai.output.messages", answerText(event.answer, "stop"))
  }
  if (ending === "answered") span.end(nanos(at), Exit.void)
  else if (ending === "suspended") span.end(nanos(at), Exit.void)
  else if (ending === "interrupted") span.end(nanos(at), Exit.interrupt())
  else fail(span, at, ending, (recording.content ? event.detail : undefined) ?? `The run ended: ${ending}.`)
}

const onStep = (recording: Recording, run: OpenRun, round: OpenRound, step: OpenStep, event: RunEvent) => {
  const { span } = step
  switch (event.type) {
    case "step-reassigned":
      span.event("step_reassigned", nanos(event.at), { "divisi.from": event.from, "divisi.to": event.to })
      return span.attribute("gen_ai.agent.name", event.to)
    case "turn-finished":
      round.asked.set(`${event.step}.${event.turn}`, event.toolCalls)
      return endCall(recording, run, round, event)
    case "check-answered":
      return endCall(recording, run, round, event)
    case "tool-started":
      return void round.tools.set(keyOf(event), startTool(recording, round, span, event))
    case "tool-finished":
      return endTool(recording, round, span, event)
    case "step-checked":
      return recordCheck(recording, span, event)
    case "step-waiting":
      round.steps.delete(event.step)
      span.attribute(
        "divisi.waits_for",
        event.calls.map(({ call }) => call.name)
      )
      return span.end(nanos(event.at), Exit.void)
    case "step-finished":
      if (!step.isNested) endCall(recording, run, round, event)
      return finishStep(round, span, event)
    case "step-failed":
      round.steps.delete(event.step)
      return fail(
        span,
        event.at,
        event.reason ?? "StepFailed",
        recording.content ? event.message : `${event.worker} failed.`
      )
  }
}

const onRound = (recording: Recording, run: OpenRun, round: OpenRound, event: RunEvent) => {
  switch (event.type) {
    case "completion-finished":
    case "critic-answered":
    case "call-failed":
    case "call-interrupted":
    case "call-lost":
      return endCall(recording, run, round, event)
    case "workflow-proposed":
      endPlan(round, event.at, Exit.void)
      round.span.attribute("divisi.policy", event.policy)
      if (recording.content) round.span.attribute("divisi.workflow", JSON.stringify(event.workflow))
      return round.span.attribute("divisi.steps", event.workflow.steps.length)
    case "step-started":
      return startStep(recording, round, event)
    case "step-skipped":
      return round.span.event("step_skipped", nanos(event.at), {
        "divisi.step": event.step,
        "divisi.reason": event.reason
      })
    case "round-revised":
      endPlan(round, event.at, Exit.void)
      return round.span.event("round_revised", nanos(event.at), {
        "divisi.policy": event.policy,
        "divisi.decision": event.decision
      })
    case "answer-graded":
      return round.span.attribute("divisi.score", event.grade.score)
    case "round-finished":
      round.span.attribute("divisi.confirmed", event.confirmed)
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
      const step = round.steps.get(event.step)
      return step === undefined ? undefined : onStep(recording, run, round, step, event)
    }
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Constructors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Makes spans of the events of runs, with a tracer at hand. Most programs use {@link listener}.
 *
 * **Details**
 *
 * Runs become children of `parent`; a nested run is a child of its step. A span ends as its run, round or step does:
 * well, with the error of a failure or an exceeded budget, or interrupted. When a run ends, its state is dropped.
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
export const recorder = (
  tracer: Tracer.Tracer,
  options: Options & { readonly parent?: Tracer.AnySpan | undefined } = {}
): SpanRecorder => {
  const { content = false, parent, provider } = options
  const runs = new Map<string, OpenRun>()
  const recording: Recording = { tracer, parent, content, provider, runs }

  const listener: Listener = (event) => {
    // Pieces of texts are most of the events and none of the spans.
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
    if (part.type === "step") return round.steps.get(part.step)?.span
    return part.type === "tool" ? round.tools.get(keyOf(part)) : undefined
  }

  const callSpan = (part: Extract<Part, { readonly type: "call" }>, at: number): Tracer.Span | undefined => {
    const run = runs.get(part.runId)
    if (run?.round === undefined) return undefined
    const { by, step, worker } = part
    const span = startCall(recording, run, run.round, part, at)
    run.round.calls.push({ by, step, worker, span })
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
 * A listener that makes spans with the current tracer, under the current span. Give it to a run as it is, or its recorder
 * as `RunOptions.telemetry`: then the span of each part is the current one while code of others runs.
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
    if (!(yield* References.TracerEnabled)) return () => {}
    const tracer = yield* Tracer.Tracer
    const parent = Option.getOrUndefined(yield* Effect.serviceOption(Tracer.ParentSpan))
    return recorder(tracer, { ...options, parent }).listener
  })
