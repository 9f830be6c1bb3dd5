/**
 * The turns of a step: its worker answers, or asks for tools, is given their results, and goes on.
 *
 * Every turn is a call like any other: reserved, retried, settled and told. A tool that somebody else has to run, or to
 * allow, leaves the step waiting; the rest of the run goes on meanwhile.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { settle } from "../Callback.ts"
import { millisSince, ticks } from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import type { Answered, Ask, CallContext } from "../loop/call.ts"
import type { KnownTool } from "../journal/RecordedRun.ts"
import type { WaitingCall } from "../events/RunEvent.ts"
import * as Seed from "../Seed.ts"
import type { Message, ToolCall } from "../task/Message.ts"
import type { Given, ToolChoice, ToolContext, ToolResult } from "../task/Tool.ts"
import type { BudgetExceeded } from "../task/Usage.ts"
import { type Worker, WorkerError, type WorkerRequest } from "../task/Worker.ts"
import { fit, type Unsupported } from "./capabilities.ts"
import { within } from "./carried.ts"
import * as Toolbox from "./Toolbox.ts"
import * as ToolProgress from "./toolProgress.ts"

/** Says whether a tool may be run. */
export type Approve = (request: ToolContext) => Effect.Effect<boolean>

/** What a run offers the workers of its steps. */
export interface Equipment {
  readonly runId: string
  /** Stands before the ids of waiting calls; nested runs have one. */
  readonly path: string
  readonly tools: Toolbox.Toolbox | undefined
  readonly toolChoice: ToolChoice | undefined
  readonly parallelToolCalls: boolean | undefined
  readonly shape: Toolbox.AnswerShape | undefined
  readonly maxToolRounds: number
  readonly unsupported: Unsupported
  readonly approve: Approve | undefined
  /** What became of a call in an earlier segment of the run. */
  readonly known: ((id: string) => KnownTool | undefined) | undefined
  /** What the caller has given for calls that wait. */
  readonly given: Readonly<Record<string, Given>>
}

/** The conversation of a step beyond its first messages. It goes on where another worker takes the step over. */
export interface Conversation {
  readonly messages: Array<Message>
  turn: number
  toolRounds: number
  corrections: number
}

/** A conversation in which nothing was said yet. */
export const begin = (): Conversation => ({ messages: [], turn: 0, toolRounds: 0, corrections: 0 })

/** Drops what one vendor alone can read, its signed reasoning, before another worker goes on. */
export const handOver = ({ messages }: Conversation): void => {
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant" || message.echo === undefined) continue
    const { echo: _, ...rest } = message
    messages[index] = rest
  }
}

/** A step that is asked. */
export interface Asking {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly sample: number
  readonly round: number
  readonly step: number
  readonly equipment: Equipment
  /** Whether this step is given the tools, and is held to the shape of the answer. */
  readonly hasTools: boolean
  readonly isShaped: boolean
  readonly conversation: Conversation
  readonly onDelta: Ask["onDelta"]
  readonly onAnswer: (answer: Answered) => void
}

/** How often an answer of another shape is asked for again. */
const mostCorrections = 2

/** What a turn has led to. */
type Outcome =
  | { readonly type: "answered" }
  | { readonly type: "tools"; readonly calls: ReadonlyArray<ToolCall>; readonly message: Message }
  | { readonly type: "corrected"; readonly text: string; readonly why: string }

/** The choice for a turn: what is required is required once, and after the last round nothing more is called. */
const choiceOf = ({ conversation, equipment }: Asking): ToolChoice | undefined => {
  if (conversation.toolRounds >= equipment.maxToolRounds) return "none"
  const { toolChoice } = equipment
  if (conversation.toolRounds === 0) return toolChoice
  return toolChoice === "none" ? toolChoice : undefined
}

const requestOf = (asking: Asking): WorkerRequest => {
  const { conversation, equipment, hasTools, isShaped, request } = asking
  if (!hasTools && !isShaped) return request
  const { parallelToolCalls, shape, tools } = equipment
  const messages =
    conversation.messages.length === 0 ? request.messages : [...request.messages, ...conversation.messages]
  return {
    ...request,
    messages,
    seed: request.seed === undefined || conversation.turn === 0 ? request.seed : sampleOf(asking),
    ...(hasTools && tools !== undefined && tools.definitions.length > 0
      ? { tools: tools.definitions, toolChoice: choiceOf(asking), parallelToolCalls }
      : {}),
    ...(isShaped && shape !== undefined ? { output: shape.format } : {})
  }
}

const sampleOf = ({ conversation, sample }: Asking): number =>
  conversation.turn === 0 ? sample : Seed.derive(sample, "turn", conversation.turn)

/** Tells of an answer after which its step goes on; `error` says why it was not taken. */
export const tellTurn = (
  { emit }: CallContext,
  {
    conversation,
    round,
    step,
    worker
  }: Pick<Asking, "conversation" | "round" | "step"> & { readonly worker: { readonly id: string } },
  answer: Answered,
  durationMillis: number,
  error?: string
) => {
  const { cached, costUsd, echo, text, toolCalls = [], usage } = answer
  const { turn } = conversation
  emit?.({
    ...defined({
      type: "turn-finished",
      round,
      step,
      turn,
      worker: worker.id,
      text,
      toolCalls,
      echo,
      error,
      durationMillis,
      cached
    }),
    usage,
    costUsd
  })
}

/** Whether an answer is one to hold to its shape: a refusal, or one that was cut off, is none. */
const isWhole = ({ finishReason }: Answered): boolean => finishReason === "stop" || finishReason === "other"

/** The request as its worker can take it. What is left out of the first is told. */
const fitRequest = (context: CallContext, asking: Asking): WorkerRequest | WorkerError => {
  const { conversation, equipment, round, step, worker } = asking
  const fitted = fit(worker, requestOf(asking), equipment.unsupported)
  if (fitted instanceof WorkerError) return fitted
  if (conversation.turn === 0) {
    for (const notice of fitted.notices) context.emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
  }
  return fitted.request
}

const noCalls: ReadonlyArray<WaitingCall> = []

/** Asks the worker for the answer of one turn. */
const ask = (context: CallContext, asking: Asking, request: WorkerRequest, onAnswer: Ask["onAnswer"]) => {
  const { conversation, onDelta, round, step, worker } = asking
  const { turn } = conversation
  const onNotice = (notice: string) => context.emit?.({ type: "step-notice", round, step, worker: worker.id, notice })
  return context.call({
    worker,
    request,
    sample: sampleOf(asking),
    round,
    step,
    by: "step",
    turn,
    onDelta,
    onNotice,
    onAnswer
  })
}

/** Asks a worker that is given no tools and held to no shape, as most are: whatever it says is its answer. */
const askOnce = (
  context: CallContext,
  asking: Asking
): Effect.Effect<ReadonlyArray<WaitingCall>, WorkerError | BudgetExceeded> => {
  const request = fitRequest(context, asking)
  if (request instanceof WorkerError) return Effect.fail(request)
  return Effect.as(ask(context, asking, request, asking.onAnswer), noCalls)
}

/** Asks for one turn. What it led to is known in the turn in which it is charged. */
const takeTurn = (context: CallContext, asking: Asking): Effect.Effect<Outcome, WorkerError | BudgetExceeded> =>
  Effect.suspend(() => {
    const { equipment, isShaped, onAnswer } = asking
    const { shape } = equipment
    const request = fitRequest(context, asking)
    if (request instanceof WorkerError) return Effect.fail(request)
    const startedAt = ticks(context.clock)
    let outcome: Outcome = { type: "answered" }
    const take = (answer: Answered) => {
      const durationMillis = millisSince(context.clock, startedAt) + answer.addedMillis
      const { echo, finishReason, text, toolCalls } = answer
      if (finishReason === "tool-calls" && toolCalls !== undefined) {
        tellTurn(context, asking, answer, durationMillis)
        const said = { role: "assistant" as const, content: text, toolCalls }
        outcome = { type: "tools", calls: toolCalls, message: echo === undefined ? said : { ...said, echo } }
        return
      }
      if (!isShaped || shape === undefined || !isWhole(answer)) return onAnswer(answer)
      const read = shape.read(text)
      if (read.isRight) return onAnswer({ ...answer, text: read.text })
      tellTurn(context, asking, answer, durationMillis, read.why)
      outcome = { type: "corrected", text, why: read.why }
    }
    return Effect.map(ask(context, asking, request, take), () => outcome)
  })

/** Runs or finds one tool call: its result, or the call as it waits. */
const useTool = (
  context: CallContext,
  asking: Asking,
  toolCall: ToolCall,
  index: number
): Effect.Effect<ToolResult | WaitingCall> => {
  const { conversation, equipment, round, step, worker } = asking
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
    worker: worker.id,
    for: what,
    call: toolCall
  })
  if (known?.type === "finished") return Effect.sync(() => tell(known.result))
  if (typeof given === "string") return Effect.sync(() => tell({ content: given }))
  if (given !== undefined && "content" in given) return Effect.sync(() => tell(given))
  if (given?.approved === false) return Effect.sync(() => tell(Toolbox.declined(given.reason)))

  const { recording } = context
  if (tools!.get(name) === undefined && recording?.tools.includes(name) === true) {
    return recording.mismatch(id, `asked for the tool "${name}", which the run had and now has not`)
  }
  const toolContext: ToolContext = { runId, round, step, worker: worker.id, call: toolCall }
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
      // What was begun before was allowed.
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

/**
 * Asks the worker of a step, turn by turn, until it answers; returns the calls that it waits for, none where it has
 * answered. `onAnswer` takes the answer.
 */
export const converse = (
  context: CallContext,
  asking: Asking
): Effect.Effect<ReadonlyArray<WaitingCall>, WorkerError | BudgetExceeded> => {
  const { conversation, equipment, hasTools, isShaped, worker } = asking
  if (!hasTools && !isShaped) return askOnce(context, asking)
  const next = (outcome: Outcome): Effect.Effect<ReadonlyArray<WaitingCall>, WorkerError | BudgetExceeded> => {
    if (outcome.type === "answered") return Effect.succeed([])
    if (outcome.type === "corrected") return correct(outcome)
    if (conversation.toolRounds >= equipment.maxToolRounds) {
      const detail = `it went on asking for tools after ${equipment.maxToolRounds} rounds of them (maxToolRounds)`
      return Effect.fail(new WorkerError({ worker: worker.id, reason: { _tag: "InvalidRequest", detail } }))
    }
    return use(outcome.calls, outcome.message)
  }
  const go = Effect.suspend(() => Effect.flatMap(takeTurn(context, asking), next))
  const use = (calls: ReadonlyArray<ToolCall>, message: Message) =>
    Effect.flatMap(
      Effect.forEach(calls, (toolCall, index) => useTool(context, asking, toolCall, index), { concurrency }),
      (used) => {
        const waiting = used.filter(isWaiting)
        if (waiting.length > 0) return Effect.succeed(waiting)
        conversation.messages.push(message)
        for (const [index, result] of used.entries()) {
          if (!isWaiting(result)) conversation.messages.push(toolMessage(calls[index]!, result))
        }
        conversation.turn += 1
        conversation.toolRounds += 1
        return go
      }
    )
  const correct = ({ text, why }: Extract<Outcome, { readonly type: "corrected" }>) => {
    conversation.turn += 1
    if (conversation.corrections >= mostCorrections) {
      const detail = `its answer has not the shape that was asked for: ${why}`
      return Effect.fail(new WorkerError({ worker: worker.id, reason: { _tag: "InvalidRequest", detail } }))
    }
    conversation.corrections += 1
    const complaint = `Your answer has not the shape that was asked for: ${why}\nAnswer again, with the JSON alone.`
    conversation.messages.push({ role: "assistant", content: text }, { role: "user", content: complaint })
    return go
  }
  return go
}
