/**
 * Executes the tools called by a step's worker and returns their results to the worker. If the caller must execute or
 * approve a call, the step is suspended while the rest of the run continues.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { settle } from "../../Callback.ts"
import { millisSince, ticks } from "../../Elapsed.ts"
import { placeOf } from "../../events/items.ts"
import type { WaitingCall } from "../../events/RunEvent.ts"
import type { Answered, CallContext } from "../../loop/call.ts"
import { reportTurn } from "../../loop/laterReports.ts"
import type { Plan } from "../../loop/plan.ts"
import type { StepAsk, StepEnd, StepError, StepMiddleware } from "../../loop/step.ts"
import { within } from "../../run/Caller.ts"
import { withJournaledRun } from "../../run/journaled.ts"
import type { Recording } from "../../run/Recording.ts"
import * as Toolbox from "../../run/Toolbox.ts"
import type { ToolCall } from "../../task/Message.ts"
import type { ToolChoice, ToolContext, ToolResult } from "../../task/Tool.ts"
import { WorkerError } from "../../task/Worker.ts"
import { type ToolTurn, toolTurnMessages } from "../../workflow/LaterMessages.ts"
import * as ToolProgress from "./ToolProgress.ts"

const itemOf = (item: string | undefined) => (item === undefined ? undefined : { item })

/** Executes a tool call, or looks it up in the record. Returns its result, or the pending call. */
const useTool = (
  context: CallContext,
  recording: Recording | undefined,
  plan: Plan,
  offered: Toolbox.Toolbox,
  { conversation, running, step }: StepAsk,
  toolCall: ToolCall,
  index: number
): Effect.Effect<ToolResult | WaitingCall> => {
  const { equipment, round } = plan
  const { emit, isReplayed, item, worker } = running
  const { approve, path, runId, toolNames, tools } = equipment
  const { turn } = conversation
  const { name } = toolCall
  const id = `${path}${round}.${placeOf(step, item)}.${turn}.${index}`
  const known = equipment.known?.(id)
  const given = equipment.given[id]
  const place = { round, step, turn, index, name }
  let startedAt = ticks(context.clock)
  const progress =
    emit && ToolProgress.make(context.clock, (report) => emit({ type: "tool-progress", ...place, ...report }))
  const tell = (result: ToolResult): ToolResult => {
    progress?.end()
    const { content, isError = false } = result
    const durationMillis = millisSince(context.clock, startedAt)
    emit?.({ type: "tool-finished", ...place, content, isError, durationMillis })
    return result
  }
  const wait = (what: WaitingCall["for"]): WaitingCall => ({
    id,
    round,
    step,
    ...itemOf(item),
    worker,
    for: what,
    call: toolCall
  })
  if (known?.type === "finished") return Effect.sync(() => tell(known.result))
  if (isReplayed) return Effect.interrupt
  if (typeof given === "string") return Effect.sync(() => tell({ content: given }))
  if (given !== undefined && "content" in given) return Effect.sync(() => tell(given))
  if (given?.approved === false) return Effect.sync(() => tell(Toolbox.declined(given.reason)))

  if (tools!.get(name) === undefined && toolNames.includes(name)) {
    const detail = `asked for the tool "${name}", which is no longer among the tools of the run`
    return withJournaledRun(({ diverged }) => diverged(recording, context.runId, id, detail))
  }
  const toolContext: ToolContext = { runId, round, step, ...itemOf(item), worker, call: toolCall }
  return Effect.flatMap(
    Toolbox.prepare(offered, { ...toolContext, progress: progress?.report ?? (() => {}) }),
    (prepared): Effect.Effect<ToolResult | WaitingCall> => {
      if (prepared.type === "done") return Effect.sync(() => tell(prepared.result))
      if (prepared.type === "waiting") return Effect.succeed(wait(prepared.for))
      const isInDoubt = known?.type === "in-doubt"
      if (isInDoubt && !prepared.isRepeatable) return Effect.sync(() => tell(Toolbox.lost))
      const run = Effect.suspend(() => {
        emit?.({ type: "tool-started", ...place })
        const spanned = within(context, { type: "tool", runId: context.runId, step, item, turn, index }, prepared.run)
        const running = recording === undefined ? spanned : Effect.andThen(recording.saved, spanned)
        return Effect.map(running, tell)
      })
      // Calls that were already started had been approved.
      if (!prepared.needsApproval || given?.approved === true || isInDoubt) return run
      if (approve === undefined) return Effect.succeed(wait("approval"))
      // Only an explicit `true` allows the call. If `approve` fails, the call is declined.
      const asked = Effect.catchCause(
        settle(() => approve(toolContext)),
        (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.succeed(false))
      )
      return Effect.flatMap(asked, (isApproved) => {
        // The time that a person took to decide is not part of the tool's duration.
        startedAt = ticks(context.clock)
        return isApproved === true ? run : Effect.sync(() => tell(Toolbox.declined(undefined)))
      })
    }
  )
}

/** Maximum number of concurrent tool calls per turn. */
const concurrency = 8

const isWaiting = (used: ToolResult | WaitingCall): used is WaitingCall => "for" in used

/**
 * Returns the tool choice for a turn. A required tool is required only in the first turn, and no tools may be called
 * after the last allowed round of tool calls.
 */
const choiceOf = ({ equipment }: Plan, { conversation, offered }: StepAsk): ToolChoice | undefined => {
  if (conversation.toolRounds >= equipment.maxToolRounds) return "none"
  const { toolChoice } = equipment
  const isOffered = typeof toolChoice !== "object" || offered.only?.includes(toolChoice.name) !== false
  if (conversation.toolRounds === 0) return isOffered ? toolChoice : undefined
  return toolChoice === "none" ? toolChoice : undefined
}

/** A worker's tool calls and the accompanying text. */
type Request = Omit<ToolTurn, "results">

export const tools =
  (context: CallContext, recording: Recording | undefined, plan: Plan, all: Toolbox.Toolbox): StepMiddleware =>
  (next) =>
  (ask, at) => {
    if (!ask.offered.hasTools) return next(ask, at)
    const { conversation, running } = ask
    const box = ask.offered.only === undefined ? all : Toolbox.only(all, ask.offered.only)
    const { definitions } = box
    const { maxToolRounds, parallelToolCalls } = plan.equipment

    const use = (request: Request): Effect.Effect<StepEnd, StepError> => {
      if (conversation.toolRounds >= maxToolRounds) {
        const detail = `it still requested tools after ${maxToolRounds} rounds (maxToolRounds)`
        const remedy = "raise maxToolRounds, or use another worker"
        return Effect.fail(new WorkerError({ worker: running.worker, reason: { _tag: "Malformed", detail, remedy } }))
      }
      return Effect.flatMap(
        Effect.forEach(
          request.calls,
          (toolCall, index) => useTool(context, recording, plan, box, ask, toolCall, index),
          {
            concurrency
          }
        ),
        (used): Effect.Effect<StepEnd, StepError> => {
          const waiting = used.filter(isWaiting)
          if (waiting.length > 0) return Effect.succeed({ type: "waiting", calls: waiting })
          const results = used.flatMap((result) => (isWaiting(result) ? [] : [result]))
          conversation.messages.push(...toolTurnMessages({ ...request, results }))
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
        reportTurn(plan, ask, running.worker, answer, durationMillis)
        asked = { text, calls: toolCalls, echo }
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
