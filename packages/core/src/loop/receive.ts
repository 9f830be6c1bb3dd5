/**
 * Receives one answer. The form and bounds of workers' output are enforced here, once for all workers, before anything
 * is counted or shown.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { unheard } from "../Callback.ts"
import { millisSince, ticks } from "../Elapsed.ts"
import { defined } from "../Fields.ts"
import type * as ResponseCache from "../run/ResponseCache.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import { plain } from "../Thrown.ts"
import type { Allowance } from "../task/Allowance.ts"
import type { ToolCall } from "../task/Message.ts"
import { withStreams } from "../task/streams.ts"
import * as Usage from "../task/Usage.ts"
import { type FinishReason, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "../task/Worker.ts"
import { mostOutput } from "../task/WorstCase.ts"
import { boundsOf, estimateOf } from "./accounts.ts"

/** Receives the vendor's report of its remaining limits. */
export type AllowanceListener = (allowance: Allowance) => void

/** Receives the chunks of an answer as they arrive. Chunks that arrive together are merged. */
export type DeltaListener = (kind: "text" | "reasoning", text: string) => void

/** The call whose answer is received. */
export interface Call {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly by: "policy" | "step" | "critic" | "check"
  readonly onDelta?: DeltaListener | undefined
  /** Receives notices about content omitted from the request. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** The values extracted from an answer in addition to its parts. */
interface Taker {
  readonly onAllowance?: AllowanceListener
  /**
   * Receives the handle under which the vendor can re-deliver this answer. Receiving continues only after it has
   * completed.
   */
  readonly onHandle?: (handle: string) => Effect.Effect<void>
}

/** The state of an attempt: the part of its answer that has arrived. */
export interface Received {
  /** Whether the request was sent. */
  isSent: boolean
  /** Whether an account or the run's journal ended it. This is not a failure of the worker. */
  isHalted: boolean
  text: string
  reasoning: string
  /** The tool calls received so far. */
  toolCalls: Array<ToolCall> | undefined
  /** The number of characters received. An empty chunk counts as one. */
  size: number
  finish: Extract<WorkerPart, { readonly type: "finish" }> | undefined
}

/** Returns the state of an answer before its first part. */
export const nothingYet = (): Received => ({
  isSent: false,
  isHalted: false,
  text: "",
  reasoning: "",
  toolCalls: undefined,
  size: 0,
  finish: undefined
})

/** The maximum duration of an answer without a time limit, in milliseconds: half an hour. */
const defaultTimeoutMillis = 1_800_000

/**
 * The minimum size limit of an answer: 2^20 characters. `bound` allows 64 characters per token, because longer tokens
 * are rare.
 */
const leastCharacters = 2 ** 20
const charactersPerToken = 64

/** Returns the maximum number of characters of an answer. */
const bound = (call: Call): number => Math.max(leastCharacters, charactersPerToken * (mostOutput(call) ?? 0))

const finishReasons: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "refusal", "tool-calls", "other"])

const malformed = (worker: Worker, detail: string, usage?: Usage.Usage) =>
  new WorkerError({ worker: worker.id, reason: { _tag: "Malformed", detail }, usage })

/** The error for an answer that is too long. A retry would be as long, and would be paid for again. */
const oversized = (call: Call) => {
  const detail = `its answer is longer than ${bound(call)} characters`
  const remedy = "lower the output limit of the call, or use another worker"
  return new WorkerError({ worker: call.worker.id, reason: { _tag: "Malformed", detail, remedy } })
}

/** Returns the error for a worker object whose `generate` does not return a stream. */
const noStream = (worker: Worker) =>
  new WorkerError({
    worker: worker.id,
    reason: {
      _tag: "Defect",
      detail:
        "its generate returned neither a Stream nor an Effect; use worker({ id, answer }) from @divisi/core/promise"
    }
  })

/** Returns the error of a call that exceeded its time limit. */
export const timeoutError = (worker: Worker, afterMillis: number) =>
  new WorkerError({
    worker: worker.id,
    reason: { _tag: "Timeout", afterMillis, detail: `no answer after ${Math.round(afterMillis) / 1000} s` }
  })

/** The maximum time without output from a call, in milliseconds. If absent, there is no limit. */
export interface Silence {
  readonly ofStreams: number | undefined
  /** For an answer that arrives in one piece, the duration of the call. */
  readonly ofWhole: number | undefined
}

/** Divides a run's time limit, so that two calls can hang and a third still has time. */
const sharesOfRun = 3

/** Returns the maximum silence of a run's calls. */
export const silenceOf = ({ budget, worker }: Pick<RunSettings, "budget" | "worker">): Silence => {
  const given = worker?.silenceMillis
  if (given === 0) return { ofStreams: undefined, ofWhole: undefined }
  const ofRun = budget?.durationMillis
  return { ofStreams: given ?? (ofRun === undefined ? undefined : ofRun / sharesOfRun), ofWhole: given }
}

const silent = (worker: Worker, afterMillis: number) =>
  new WorkerError({
    worker: worker.id,
    reason: {
      _tag: "Timeout",
      afterMillis,
      detail: `no data for ${Math.round(afterMillis) / 1000} s, which worker.silenceMillis (--silence) sets; its default is a third of the run's time limit`
    }
  })

const answerOf = ({ by, worker }: Call, { finish, reasoning, text, toolCalls }: Received) => {
  if (finish === undefined) return Effect.fail(malformed(worker, "the stream ended before the answer was finished"))
  const { echo, model, reason, usage } = finish
  if (toolCalls === undefined) {
    if (text.trim() === "" && reason !== "refusal") return Effect.fail(malformed(worker, "the answer is empty", usage))
    // Some vendors report tool calls without any.
    const finishReason = reason === "tool-calls" ? "stop" : reason
    const answer: ResponseCache.Answer =
      model === undefined ? { text, finishReason, usage } : { text, finishReason, usage, model }
    const whole = reasoning === "" ? answer : { ...answer, reasoning }
    return Effect.succeed(by === "policy" && echo !== undefined ? { ...whole, echo } : whole)
  }
  // If a model was cut short in the middle of its arguments, the tool call is incomplete.
  if (reason === "length") return Effect.fail(malformed(worker, "it ran out of tokens during a tool call", usage))
  return Effect.succeed<ResponseCache.Answer>(
    defined({
      text,
      reasoning: reasoning === "" ? undefined : reasoning,
      finishReason: reason === "refusal" ? reason : "tool-calls",
      toolCalls,
      echo,
      usage,
      model
    })
  )
}

const isText = (value: unknown): value is string => typeof value === "string"

/** The maximum length of a model name. */
const longestName = 200

/** Returns the name of a model, or `undefined` if the value is not a valid name. */
const nameOf = (model: unknown): string | undefined =>
  typeof model === "string" && model !== "" && model.length <= longestName ? plain(model) : undefined

const takeFinish = (
  call: Call,
  received: Received,
  part: Extract<WorkerPart, { readonly type: "finish" }>,
  isBounded: boolean
) => {
  if (isText(part.text)) received.text = part.text
  const { reasoning, text, toolCalls = [] } = received
  const written = text + reasoning + toolCalls.map((one) => one.name + one.arguments).join("")
  const usage = Usage.checked(part.usage, () => estimateOf(call, written), boundsOf(call, isBounded, written))
  const reason = finishReasons.has(part.reason) ? part.reason : "other"
  received.finish = { type: "finish", reason, usage, model: nameOf(part.model), echo: part.echo }
}

/** Records a tool call. Duplicate or missing ids are replaced by new ones. */
const takeToolCall = (call: Call, received: Received, part: ToolCall): string | undefined => {
  const { arguments: text, id, name } = part
  if (!isText(name) || name === "" || !isText(text))
    return "it called a tool without a name, or with arguments that are not a string"
  if (call.request.tools === undefined) return `it called the tool "${name}", but no tools were offered`
  received.toolCalls ??= []
  const count = received.toolCalls.length
  if (count >= mostToolCalls) return `it requested more than ${mostToolCalls} tool calls in one turn`
  const isTaken = !isText(id) || id === "" || received.toolCalls.some((other) => other.id === id)
  received.toolCalls.push({ id: isTaken ? `call-${count}` : id, name, arguments: text })
  received.size += name.length + text.length
  return undefined
}

/** Upper bound; a model that exceeds it is assumed to be in a loop. */
const mostToolCalls = 128

const tooLong = (call: Call, { size }: Received): WorkerError | undefined =>
  size > leastCharacters && size > bound(call) ? oversized(call) : undefined

/**
 * Merges deltas that arrive together, so that a listener receives one event per network packet instead of one per
 * token.
 */
const gathering = (onDelta: DeltaListener | undefined) => {
  let kind: "text" | "reasoning" = "text"
  let gathered = ""
  const tell = () => {
    if (gathered !== "") onDelta?.(kind, gathered)
    gathered = ""
  }
  const gather: DeltaListener = (next, text) => {
    if (next !== kind) tell()
    kind = next
    gathered += text
  }
  return { gather, tell }
}

/** Records a part; returns its problem, if any. */
const take = (
  call: Call,
  received: Received,
  part: Exclude<WorkerPart, { readonly type: "allowance" | "handle" | "notice" }>,
  isBounded: boolean,
  onDelta: DeltaListener
): WorkerError | undefined => {
  const { worker } = call
  if (received.finish !== undefined) {
    return malformed(worker, "it sent parts after the end of the answer", received.finish.usage)
  }
  if (part.type === "finish") {
    received.size += part.text?.length ?? 0
    const wrong = tooLong(call, received)
    if (wrong !== undefined) return wrong
    takeFinish(call, received, part, isBounded)
    return undefined
  }
  if (part.type === "tool-call-delta") return undefined
  if (part.type === "tool-call") {
    const wrong = takeToolCall(call, received, part)
    return wrong === undefined ? tooLong(call, received) : malformed(worker, wrong)
  }
  if (part.type !== "text" && part.type !== "reasoning") return malformed(worker, "it sent a part of an unknown type")
  const { text, type } = part
  if (typeof text !== "string") return malformed(worker, `a part of its text is not a string but ${typeof text}`)
  received.size += Math.max(1, text.length)
  const wrong = tooLong(call, received)
  if (wrong !== undefined) return wrong
  received[type] += text
  onDelta(type, text)
  return undefined
}

/**
 * Runs `generate` and collects its parts in `received` until the answer is complete.
 *
 * Fails with `Malformed` if a part is invalid or arrives after the end, or if the answer exceeds its size limit. Fails
 * with `Timeout` if the answer is incomplete when the time limit expires. Impossible usage figures are replaced by an
 * estimate, and usage above the reservation is charged at the worst case.
 */
export const receive = (
  call: Call,
  received: Received,
  context: {
    readonly clock: Clock.Clock
    readonly timeoutMillis: number | undefined
    readonly silence: Silence
    readonly isLimited: () => boolean
  },
  taker: Taker
): Effect.Effect<ResponseCache.Answer, WorkerError> => {
  let startedAt = ticks(context.clock)
  let heardAt = startedAt
  const isBounded = context.isLimited()
  let kept: Effect.Effect<void> | undefined
  const { gather, tell } = gathering(call.onDelta)
  const takeParts = (parts: ReadonlyArray<WorkerPart>): WorkerError | undefined => {
    for (const part of parts) {
      if (part.type === "allowance") {
        taker.onAllowance?.(part)
        continue
      }
      if (part.type === "notice") {
        if (isText(part.notice)) call.onNotice?.(plain(part.notice))
        continue
      }
      if (part.type === "handle") {
        // Answers that can be requested again have no time limit until they begin to arrive.
        startedAt = Number.POSITIVE_INFINITY
        if (isText(part.handle)) kept = taker.onHandle?.(part.handle)
        continue
      }
      if (startedAt === Number.POSITIVE_INFINITY) startedAt = ticks(context.clock)
      const error = take(call, received, part, isBounded, gather)
      if (error !== undefined) return error
    }
    return undefined
  }
  const takeAll = (parts: ReadonlyArray<WorkerPart>): WorkerError | undefined => {
    heardAt = ticks(context.clock)
    const error = takeParts(parts)
    tell()
    if (error !== undefined) return error
    const { clock, timeoutMillis = defaultTimeoutMillis } = context
    return received.finish === undefined && millisSince(clock, startedAt) > timeoutMillis
      ? timeoutError(call.worker, timeoutMillis)
      : undefined
  }
  const takeSome = (parts: ReadonlyArray<WorkerPart>): Effect.Effect<void, WorkerError> => {
    const error = takeAll(parts)
    if (error !== undefined) return Effect.fail(error)
    if (kept === undefined) return Effect.void
    const keep = kept
    kept = undefined
    return keep
  }
  /**
   * Fails if nothing arrives for the given time. An answer that can be requested again may stay silent until its first
   * part.
   */
  const untilSilent = (millis: number): Effect.Effect<never, WorkerError> =>
    Effect.suspend(() => {
      const isWaiting = startedAt === Number.POSITIVE_INFINITY
      const left = isWaiting ? millis : millis - millisSince(context.clock, heardAt)
      return left > 0
        ? Effect.andThen(Effect.sleep(left), untilSilent(millis))
        : Effect.fail(silent(call.worker, millis))
    })
  const limited = <A>(taking: Effect.Effect<A, WorkerError>, millis: number | undefined) =>
    millis === undefined ? taking : Effect.raceFirst(taking, untilSilent(millis))
  const takeEach = (parts: unknown) =>
    withStreams((streams) =>
      streams.isStream(parts)
        ? Effect.flatMap(limited(streams.forEach(parts, takeSome), context.silence.ofStreams), () =>
            answerOf(call, received)
          )
        : Effect.fail(noStream(call.worker))
    )
  const given = call.worker.generate(call.request)
  if (!Effect.isEffect(given)) {
    unheard(given)
    return takeEach(given)
  }
  return Effect.flatMap(limited(given, context.silence.ofWhole), (parts) => {
    if (!Array.isArray(parts)) return takeEach(parts)
    const error = takeAll(parts)
    return error === undefined ? answerOf(call, received) : Effect.fail(error)
  })
}
