/**
 * A step whose worker may call tools: the worker receives their results and continues. A tool that the caller has to
 * run or to approve leaves the step waiting, while the rest of the run continues.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { settle } from "../../Callback.ts"
import { millisSince, ticks } from "../../Elapsed.ts"
import type { WaitingCall } from "../../events/RunEvent.ts"
import type { Answered, CallContext } from "../../loop/call.ts"
import type { Plan } from "../../loop/plan.ts"
import { reportTurn, type StepAsk, type StepEnd, type StepError, type StepMiddleware } from "../../loop/step.ts"
import { fit } from "../../run/Capabilities.ts"
import { within } from "../../run/carried.ts"
import type { Recording } from "../../run/Recording.ts"
import * as Toolbox from "../../run/Toolbox.ts"
import type { Message, ToolCall } from "../../task/Message.ts"
import type { ToolChoice, ToolContext, ToolResult } from "../../task/Tool.ts"
import { WorkerError } from "../../task/Worker.ts"
import * as ToolProgress from "./ToolProgress.ts"

/** Runs or finds one tool call: its result, or the call as it waits. */
const useTool = (
  context: CallContext,
  recording: Recording | undefined,
  plan: Plan,
  { conversation, running, step }: StepAsk,
  toolCall: ToolCall,
  index: number
): Effect.Effect<ToolResult | WaitingCall> => {
  const { equipment, round } = plan
  const { worker } = running
  const { approve, path, runId, tools } = equipment
  const { turn } = conversation
  const { name } = toolCall
  const id = `${path}${round}.${step}.${turn}.${index}`
  const known = equipment.known?.(id)
  const given = equipment.given[id]
  const place = { round, step, turn, index, name }
  const startedAt = ticks(context.clock)
  const { emit } = context
  const progress =
    emit && ToolProgress.make(context.clock, (report) => emit({ type: "tool-progress", ...place, ...report }))
  const tell = (result: ToolResult): ToolResult => {
    progress?.end()
    const { content, isError = false } = result
    const durationMillis = millisSince(context.clock, startedAt)
    context.emit?.({ type: "tool-finished", ...place, content, isError, durationMillis })
    return result
  }
  const wait = (what: WaitingCall["for"]): WaitingCall => ({
    id,
    round,
    step,
    worker,
    for: what,
    call: toolCall
  })
  if (known?.type === "finished") return Effect.sync(() => tell(known.result))
  if (typeof given === "string") return Effect.sync(() => tell({ content: given }))
  if (given !== undefined && "content" in given) return Effect.sync(() => tell(given))
  if (given?.approved === false) return Effect.sync(() => tell(Toolbox.declined(given.reason)))

  if (tools!.get(name) === undefined && recording?.tools.includes(name) === true) {
    return recording.mismatch(id, `asked for the tool "${name}", which is no longer among the tools of the run`)
  }
  const toolContext: ToolContext = { runId, round, step, worker, call: toolCall }
  return Effect.flatMap(
    Toolbox.prepare(tools!, { ...toolContext, progress: progress?.report ?? (() => {}) }),
    (prepared): Effect.Effect<ToolResult | WaitingCall> => {
      if (prepared.type === "done") return Effect.sync(() => tell(prepared.result))
      if (prepared.type === "waiting") return Effect.succeed(wait(prepared.for))
      const isInDoubt = known?.type === "in-doubt"
      if (isInDoubt && !prepared.isRepeatable) return Effect.sync(() => tell(Toolbox.lost))
      const run = Effect.suspend(() => {
        context.emit?.({ type: "tool-started", ...place })
        const spanned = within(context, { type: "tool", runId: context.runId, step, turn, index }, prepared.run)
        const running = recording === undefined ? spanned : Effect.andThen(recording.saved, spanned)
        return Effect.map(running, tell)
      })
      // Calls that were started before were already approved.
      if (!prepared.needsApproval || given?.approved === true || isInDoubt) return run
      if (approve === undefined) return Effect.succeed(wait("approval"))
      // Only a plain yes allows it: a question that failed was not answered.
      const asked = Effect.catchCause(
        settle(() => approve(toolContext)),
        (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(false))
      )
      return Effect.flatMap(asked, (isApproved) =>
        isApproved === true ? run : Effect.sync(() => tell(Toolbox.declined(undefined)))
      )
    }
  )
}

/** How many tools of one turn run at once. */
const concurrency = 8

const isWaiting = (used: ToolResult | WaitingCall): used is WaitingCall => "for" in used

const toolMessage = ({ id, name }: ToolCall, { content, isError }: ToolResult): Message => {
  const message = { role: "tool" as const, callId: id, name, content }
  return isError === true ? { ...message, isError } : message
}

/** The choice for a turn: a required tool is required once, and after the last round no tool is called. */
const choiceOf = ({ equipment }: Plan, { conversation }: StepAsk): ToolChoice | undefined => {
  if (conversation.toolRounds >= equipment.maxToolRounds) return "none"
  const { toolChoice } = equipment
  if (conversation.toolRounds === 0) return toolChoice
  return toolChoice === "none" ? toolChoice : undefined
}

/** The tools that a worker called, and its text. */
interface Request {
  readonly calls: ReadonlyArray<ToolCall>
  readonly message: Message
}

export const tools =
  (
    context: CallContext,
    recording: Recording | undefined,
    plan: Plan,
    { definitions }: Toolbox.Toolbox
  ): StepMiddleware =>
  (next) =>
  (ask, at) => {
    if (!ask.offered.hasTools) return next(ask, at)
    const { conversation, running } = ask
    const { maxToolRounds, parallelToolCalls } = plan.equipment

    const use = ({ calls, message }: Request): Effect.Effect<StepEnd, StepError> => {
      if (conversation.toolRounds >= maxToolRounds) {
        const detail = `it still asked for tools after ${maxToolRounds} rounds (maxToolRounds)`
        return Effect.fail(new WorkerError({ worker: running.worker, reason: { _tag: "InvalidRequest", detail } }))
      }
      return Effect.flatMap(
        Effect.forEach(calls, (toolCall, index) => useTool(context, recording, plan, ask, toolCall, index), {
          concurrency
        }),
        (used): Effect.Effect<StepEnd, StepError> => {
          const waiting = used.filter(isWaiting)
          if (waiting.length > 0) return Effect.succeed({ type: "waiting", calls: waiting })
          conversation.messages.push(message)
          for (const [index, result] of used.entries()) {
            if (!isWaiting(result)) conversation.messages.push(toolMessage(calls[index]!, result))
          }
          conversation.turn += 1
          conversation.toolRounds += 1
          return go
        }
      )
    }
    const go: Effect.Effect<StepEnd, StepError> = Effect.suspend(() => {
      let asked: Request | undefined
      const onAnswer = (answer: Answered) => {
        const { echo, finishReason, text, toolCalls } = answer
        if (finishReason !== "tool-calls" || toolCalls === undefined) return at.onAnswer(answer)
        const durationMillis = millisSince(context.clock, conversation.since) + answer.addedMillis
        reportTurn(context, plan, ask, running.worker, answer, durationMillis)
        const message = { role: "assistant" as const, content: text, toolCalls }
        asked = { calls: toolCalls, message: echo === undefined ? message : { ...message, echo } }
      }
      const offered = definitions.length > 0 && {
        tools: definitions,
        toolChoice: choiceOf(plan, ask),
        parallelToolCalls
      }
      return Effect.flatMap(next(ask, { ...at, request: { ...at.request, ...offered }, onAnswer }), (end) =>
        asked === undefined ? Effect.succeed(end) : use(asked)
      )
    })
    return go
  }

/** Returns the request reduced to what its worker accepts. The content left out of the first request is reported. */
export const capable =
  ({ emit }: CallContext, { equipment, pool, round }: Plan): StepMiddleware =>
  (next) =>
  (ask, at) => {
    const worker = pool.workers[at.ordinal]!
    const fitted = fit(worker, at.request, equipment.unsupported)
    if (fitted instanceof WorkerError) return Effect.fail(fitted)
    if (ask.conversation.turn === 0) {
      const { step } = ask
      for (const notice of fitted.notices) emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
    }
    return next(ask, fitted.request === at.request ? at : { ...at, request: fitted.request })
  }
