/**
 * Telemetry: the events of runs as spans of Effect's `Tracer`, which OpenTelemetry exporters read.
 *
 * Each run, round, completion of a policy and step is a span, named and attributed by the semantic conventions for
 * generative AI (`gen_ai.*`; `invoke_workflow`, `plan` and `chat` operations). Attributes they do not define stand
 * under `divisi.*`. Texts of people and models are left out unless `content` is true.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { type Message, text } from "../task/Message.ts"
import type { Paid } from "../task/Usage.ts"
import type { FinishReason } from "../task/Worker.ts"
import type { Listener, Of, RunEvent } from "./RunEvent.ts"

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

/** A listener that makes spans of any number of runs at once. */
export interface SpanRecorder {
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

/** A round while it goes on. */
interface OpenRound {
  readonly span: Tracer.Span
  readonly steps: Map<number, Tracer.Span>
  /** When the policy began to write what it completes next. */
  planningSince: number
}

/** A run while it goes on. */
interface OpenRun {
  readonly span: Tracer.Span
  readonly policy: string
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

/** The attributes of the event that a failed call leaves on the span of its step or round. */
const callFailure = (event: Of<"call-failed">, content: boolean): Record<string, unknown> => ({
  "error.type": event.reason._tag,
  "gen_ai.request.model": event.worker,
  "divisi.attempt": event.attempt,
  "divisi.message": content ? event.message : undefined,
  "divisi.retry_in_ms": event.retryInMillis
})

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
  const span = start(recording, `invoke_workflow ${policy}`, "internal", at, step ?? recording.parent)
  span.attribute("gen_ai.operation.name", "invoke_workflow")
  span.attribute("gen_ai.workflow.name", policy)
  span.attribute("divisi.run.id", runId)
  span.attribute("divisi.task.id", task.id)
  span.attribute("divisi.seed", seed)
  if (recording.content) span.attribute("gen_ai.input.messages", messagesText(task.messages))
  recording.runs.set(runId, { span, policy, round: undefined })
}

const startRound = (recording: Recording, run: OpenRun, { at, round }: Of<"round-started">) => {
  const span = start(recording, `round ${round}`, "internal", at, run.span)
  span.attribute("divisi.round", round)
  run.round = { span, steps: new Map(), planningSince: at }
}

const recordCompletion = (recording: Recording, run: OpenRun, round: OpenRound, event: Of<"completion-finished">) => {
  const span = start(recording, `plan ${run.policy}`, "internal", round.planningSince, round.span)
  round.planningSince = event.at
  span.attribute("gen_ai.operation.name", "plan")
  span.attribute("gen_ai.agent.name", run.policy)
  span.attribute("divisi.attempt", event.attempt)
  span.attribute("divisi.cached", event.cached)
  setPaid(span, event)
  if (recording.content) span.attribute("gen_ai.output.messages", answerText(event.completion, "stop"))
  if (event.error === undefined) span.end(nanos(event.at), Exit.void)
  else fail(span, event.at, "unreadable", recording.content ? event.error : "The completion is no workflow.")
}

const startStep = (recording: Recording, round: OpenRound, { at, step, worker }: Of<"step-started">) => {
  const span = start(recording, `chat ${worker}`, "client", at, round.span)
  span.attribute("gen_ai.operation.name", "chat")
  span.attribute("gen_ai.request.model", worker)
  const provider = recording.provider?.(worker)
  if (provider !== undefined) span.attribute("gen_ai.provider.name", provider)
  span.attribute("divisi.step", step)
  round.steps.set(step, span)
}

const finishStep = (recording: Recording, round: OpenRound, span: Tracer.Span, event: Of<"step-finished">) => {
  round.steps.delete(event.step)
  span.attribute("gen_ai.response.finish_reasons", [finishReasons[event.finishReason]])
  if (event.model !== undefined) span.attribute("gen_ai.response.model", event.model)
  span.attribute("divisi.cached", event.cached)
  setPaid(span, event)
  if (recording.content) span.attribute("gen_ai.output.messages", answerText(event.answer, event.finishReason))
  span.end(nanos(event.at), Exit.void)
}

const recordTool = (recording: Recording, parent: Tracer.Span, event: Of<"tool-finished">) => {
  const since = event.at - event.durationMillis
  const span = start(recording, `execute_tool ${event.name}`, "internal", since, parent)
  span.attribute("gen_ai.operation.name", "execute_tool")
  span.attribute("gen_ai.tool.name", event.name)
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
  for (const span of round.steps.values()) span.end(nanos(at), Exit.interrupt())
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

const onStep = (recording: Recording, round: OpenRound, span: Tracer.Span, event: RunEvent) => {
  switch (event.type) {
    case "step-reassigned":
      span.event("step_reassigned", nanos(event.at), { "divisi.from": event.from, "divisi.to": event.to })
      return span.attribute("gen_ai.request.model", event.to)
    case "turn-finished":
      return span.event("turn_finished", nanos(event.at), {
        "divisi.turn": event.turn,
        "gen_ai.tool.names": event.toolCalls.map(({ name }) => name),
        ...(event.costUsd === undefined ? {} : { "divisi.cost_usd": event.costUsd })
      })
    case "tool-finished":
      return recordTool(recording, span, event)
    case "check-answered":
      return span.event("check_answered", nanos(event.at), {
        "divisi.check": event.check,
        "gen_ai.request.model": event.worker,
        ...(event.costUsd === undefined ? {} : { "divisi.cost_usd": event.costUsd })
      })
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
      return finishStep(recording, round, span, event)
    case "step-failed":
      round.steps.delete(event.step)
      return fail(span, event.at, "StepFailed", recording.content ? event.message : `${event.worker} failed.`)
  }
}

const onRound = (recording: Recording, run: OpenRun, round: OpenRound, event: RunEvent) => {
  switch (event.type) {
    case "completion-finished":
      return recordCompletion(recording, run, round, event)
    case "workflow-proposed":
      round.span.attribute("divisi.policy", event.policy)
      if (recording.content) round.span.attribute("divisi.workflow", JSON.stringify(event.workflow))
      return round.span.attribute("divisi.steps", event.workflow.steps.length)
    case "step-started":
      return startStep(recording, round, event)
    case "call-failed": {
      const span = event.step === undefined ? round.span : (round.steps.get(event.step) ?? round.span)
      return span.event("call_failed", nanos(event.at), callFailure(event, recording.content))
    }
    case "step-skipped":
      return round.span.event("step_skipped", nanos(event.at), {
        "divisi.step": event.step,
        "divisi.reason": event.reason
      })
    case "round-revised":
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
    case "tool-finished":
    case "check-answered":
    case "step-checked":
    case "step-waiting":
    case "step-finished":
    case "step-failed":
    case "step-reassigned": {
      const span = round.steps.get(event.step)
      return span === undefined ? undefined : onStep(recording, round, span, event)
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
    // Deltas are most of the events and none of the spans.
    if (event.type === "step-delta" || event.type === "completion-delta") return
    if (event.type === "run-started") return startRun(recording, event)
    const run = runs.get(event.runId)
    if (run === undefined) return
    if (event.type === "round-started") startRound(recording, run, event)
    else if (event.type === "run-finished") finishRun(recording, run, event)
    else if (run.round !== undefined) onRound(recording, run, run.round, event)
  }

  const open = () => {
    let count = runs.size
    for (const { round } of runs.values()) count += round === undefined ? 0 : 1 + round.steps.size
    return count
  }

  return { listener, open }
}

/**
 * A listener that makes spans with the current tracer, under the current span.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import * as Baselines from "@divisi/core/Baselines"
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
