/**
 * Receives an answer from a worker. The format and the limits for worker output are enforced here, for all workers,
 * before anything is counted or displayed.
 */

import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { unheard } from "../Callback.ts"
import * as Elapsed from "../Elapsed.ts"
import { millisSince, ticks } from "../Elapsed.ts"
import type { Mutable } from "../events/OpenRecord.ts"
import { isRecord } from "../Fields.ts"
import type { RunSettings } from "../run/RunSettings.ts"
import { plain } from "../Thrown.ts"
import type { Allowance } from "../task/Allowance.ts"
import type { ToolCall } from "../task/Message.ts"
import { withStreams } from "../task/streams.ts"
import * as Usage from "../task/Usage.ts"
import { type FinishReason, type Worker, WorkerError, type WorkerPart, type WorkerRequest } from "../task/Worker.ts"
import { mostOutput } from "../task/WorstCase.ts"
import { boundsOf, estimateOf } from "./accounts.ts"
import type { Answered } from "./call.ts"

/** Called with the vendor's remaining rate limits. */
export type AllowanceListener = (allowance: Allowance) => void

/** Called with chunks of an answer as they arrive. Chunks that arrive together are merged. */
export type DeltaListener = (kind: "text" | "reasoning", text: string) => void

/** The call whose answer is being received. */
export interface Call {
  readonly worker: Worker
  readonly request: WorkerRequest
  readonly by: "policy" | "step" | "critic" | "check"
  readonly onDelta?: DeltaListener | undefined
  /** Called with a notice for each part omitted from the request. */
  readonly onNotice?: ((notice: string) => void) | undefined
}

/** Callbacks for information other than the answer itself. */
interface Taker {
  readonly onAllowance?: AllowanceListener
  /** Called with the first part of the answer itself. */
  readonly onBegin?: (() => void) | undefined
  /**
   * Called with a handle that can be used to retrieve this answer from the vendor again. Reading continues only once it
   * has completed.
   */
  readonly onHandle?: (handle: string) => Effect.Effect<void>
}

/** State of an attempt: the part of the answer received up to now. */
export interface Received {
  /** Whether the request was sent. */
  isSent: boolean
  /** When the request was sent, or data last arrived, in ticks. `Infinity` while the vendor's batch is pending. */
  heardAt: number
  /**
   * Whether the attempt was halted by an account or the run's journal. This does not count as a failure of the worker.
   */
  isHalted: boolean
  text: string
  reasoning: string
  /** Tool calls received up to now. */
  toolCalls: Array<ToolCall> | undefined
  /** Number of characters received. An empty chunk counts as one character. */
  size: number
  finish: Extract<WorkerPart, { readonly type: "finish" }> | undefined
}

/** Returns the state before the first part of an answer. */
export const nothingYet = (): Received => ({
  isSent: false,
  heardAt: Number.POSITIVE_INFINITY,
  isHalted: false,
  text: "",
  reasoning: "",
  toolCalls: undefined,
  size: 0,
  finish: undefined
})

/** Maximum duration of an answer without an explicit time limit, in milliseconds: 30 minutes. */
const defaultTimeoutMillis = 1_800_000

/**
 * Size limit for any answer: 2^20 characters, or 64 characters per allowed token if that is more, because longer tokens
 * are rare.
 */
const leastCharacters = 2 ** 20
const charactersPerToken = 64

/** Returns the maximum number of characters in an answer. */
const bound = (call: Call): number => Math.max(leastCharacters, charactersPerToken * (mostOutput(call) ?? 0))

const finishReasons: ReadonlySet<string> = new Set<FinishReason>(["stop", "length", "refusal", "tool-calls", "other"])

const malformed = (worker: Worker, detail: string, usage?: Usage.Usage) =>
  new WorkerError({ worker: worker.id, reason: { _tag: "Malformed", detail }, usage })

/**
 * Creates the error for an answer that is too long. Not retried, because the retry would be just as long and would be
 * charged again.
 */
const oversized = (call: Call) => {
  const detail = `its answer is longer than ${bound(call)} characters`
  const remedy = "lower the output limit of the call, or use another worker"
  return new WorkerError({ worker: call.worker.id, reason: { _tag: "Malformed", detail, remedy } })
}

/** Creates the error for a worker whose `generate` does not return a stream or an effect. */
const noStream = (worker: Worker) =>
  new WorkerError({
    worker: worker.id,
    reason: {
      _tag: "Defect",
      detail: "its generate function returned neither a Stream nor an Effect",
      remedy: "use worker({ id, answer }) from @divisi/core/promise"
    }
  })

/** Returns how long an attempt has been without data, in milliseconds. */
export const silentFor = (clock: Clock.Clock, { heardAt }: Received): number => Math.max(0, millisSince(clock, heardAt))

/** Creates the error for a call that exceeded its time limit. */
export const timeoutError = (worker: Worker, afterMillis: number, silentMillis: number) =>
  new WorkerError({
    worker: worker.id,
    reason: { _tag: "Timeout", afterMillis, silentMillis, detail: `no answer after ${Elapsed.inSeconds(afterMillis)}` }
  })

/** Maximum time without output, in milliseconds. If undefined, there is no limit. */
export interface Silence {
  readonly ofStreams: number | undefined
  /** For an answer that arrives in one piece, the duration of the call. */
  readonly ofWhole: number | undefined
}

/** Divisor for the run's time limit: two calls can hang, and there is still time for a third. */
const sharesOfRun = 3

/** Returns the maximum time without output for a run's calls. */
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
      silentMillis: afterMillis,
      detail: `no data for ${Elapsed.inSeconds(afterMillis)}`,
      remedy: "raise worker.silenceMillis (--silence; default: a third of the time limit), or use another worker"
    }
  })

/** Whether the arguments of a tool call are complete. */
const isWhole = ({ arguments: text }: ToolCall): boolean => {
  try {
    return isRecord(JSON.parse(text))
  } catch {
    return false
  }
}

/** Returns the complete answer with its cost, or an error if it is incomplete or empty. */
const answerOf = ({ by, worker }: Call, received: Received): Effect.Effect<Answered, WorkerError> => {
  const { finish, reasoning, text } = received
  if (finish === undefined) return Effect.fail(malformed(worker, "the stream ended before the answer was finished"))
  const { echo, model, reason, usage } = finish
  if (received.toolCalls === undefined && text.trim() === "" && reason !== "refusal") {
    return Effect.fail(malformed(worker, "the answer is empty", usage))
  }
  // If the model ran out of tokens, its last tool call may be incomplete.
  const toolCalls = reason === "length" ? received.toolCalls?.filter(isWhole) : received.toolCalls
  if (toolCalls?.length === 0) {
    return Effect.fail(malformed(worker, "it ran out of tokens during a tool call", usage))
  }
  // Some vendors report the finish reason `tool-calls` without any tool calls.
  const ofText = reason === "tool-calls" ? "stop" : reason
  const answer: Mutable<Answered> = {
    text,
    finishReason: toolCalls === undefined || reason === "refusal" ? ofText : "tool-calls",
    usage,
    costUsd: Usage.cost(worker.pricing, usage),
    cached: false,
    addedMillis: 0
  }
  if (reasoning !== "") answer.reasoning = reasoning
  if (toolCalls !== undefined) answer.toolCalls = toolCalls
  if (echo !== undefined && (toolCalls !== undefined || by === "policy")) answer.echo = echo
  if (model !== undefined) answer.model = model
  return Effect.succeed(answer)
}

const isText = (value: unknown): value is string => typeof value === "string"

/** Maximum length of a model name. */
const longestName = 200

/** Returns the sanitized model name, or `undefined` if it is not a valid name. */
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

/** Records a tool call. Missing or duplicate ids are replaced. */
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

/** Maximum number of tool calls per turn. A model that exceeds it is assumed to be in a loop. */
const mostToolCalls = 128

const tooLong = (call: Call, { size }: Received): WorkerError | undefined =>
  size > leastCharacters && size > bound(call) ? oversized(call) : undefined

/** The time and limits of an answer. */
interface Context {
  readonly clock: Clock.Clock
  readonly timeoutMillis: number | undefined
  readonly silence: Silence
  readonly isLimited: () => boolean
}

/** Receives the parts of an answer. A class, because a closure per function would cost more than receiving a part. */
class Reception {
  readonly #call: Call
  readonly #received: Received
  readonly #context: Context
  readonly #taker: Taker
  readonly #isBounded: boolean
  #startedAt: number
  #kept: Effect.Effect<void> | undefined
  #kind: "text" | "reasoning" = "text"
  #gathered = ""

  constructor(call: Call, received: Received, context: Context, taker: Taker) {
    this.#call = call
    this.#received = received
    this.#context = context
    this.#taker = taker
    this.#isBounded = context.isLimited()
    this.#startedAt = ticks(context.clock)
    received.heardAt = this.#startedAt
  }

  /** Takes an answer that arrived as a whole. */
  whole(parts: ReadonlyArray<WorkerPart>): Effect.Effect<Answered, WorkerError> {
    const error = this.#takeAll(parts)
    return error === undefined ? answerOf(this.#call, this.#received) : Effect.fail(error)
  }

  /** Takes the parts of a stream as they arrive. */
  each(parts: unknown): Effect.Effect<Answered, WorkerError> {
    return withStreams((streams) => {
      if (!streams.isStream(parts)) return Effect.fail(noStream(this.#call.worker))
      const taken = streams.forEach(parts, (some) => this.#takeSome(some))
      return Effect.flatMap(this.limited(taken, this.#context.silence.ofStreams), () =>
        answerOf(this.#call, this.#received)
      )
    })
  }

  /** Limits the time without output, in milliseconds. */
  limited<A>(taking: Effect.Effect<A, WorkerError>, millis: number | undefined): Effect.Effect<A, WorkerError> {
    return millis === undefined ? taking : Effect.raceFirst(taking, this.#untilSilent(millis))
  }

  /**
   * Fails if nothing arrives within the given time. An answer that can be requested again may remain silent until its
   * first part.
   */
  #untilSilent(millis: number): Effect.Effect<never, WorkerError> {
    return Effect.suspend(() => {
      const left = millis - silentFor(this.#context.clock, this.#received)
      return left > 0
        ? Effect.andThen(Effect.sleep(left), this.#untilSilent(millis))
        : Effect.fail(silent(this.#call.worker, millis))
    })
  }

  #takeSome(parts: ReadonlyArray<WorkerPart>): Effect.Effect<void, WorkerError> {
    const error = this.#takeAll(parts)
    if (error !== undefined) return Effect.fail(error)
    const isWaiting = this.#startedAt === Number.POSITIVE_INFINITY
    this.#received.heardAt = isWaiting ? Number.POSITIVE_INFINITY : ticks(this.#context.clock)
    const kept = this.#kept
    this.#kept = undefined
    return kept ?? Effect.void
  }

  #takeAll(parts: ReadonlyArray<WorkerPart>): WorkerError | undefined {
    let error: WorkerError | undefined
    for (const part of parts) {
      error = this.#take(part)
      if (error !== undefined) break
    }
    this.#emit()
    if (error !== undefined) return error
    const { clock, timeoutMillis = defaultTimeoutMillis } = this.#context
    return this.#received.finish === undefined && millisSince(clock, this.#startedAt) > timeoutMillis
      ? timeoutError(this.#call.worker, timeoutMillis, 0)
      : undefined
  }

  /** Takes a part. Returns an error if it is invalid. */
  #take(part: WorkerPart): WorkerError | undefined {
    switch (part.type) {
      case "allowance":
        this.#taker.onAllowance?.(part)
        return undefined
      case "notice":
        if (isText(part.notice)) this.#call.onNotice?.(plain(part.notice))
        return undefined
      case "handle":
        // An answer that can be requested again has no time limit until it starts to arrive.
        this.#startedAt = Number.POSITIVE_INFINITY
        if (isText(part.handle)) this.#kept = this.#taker.onHandle?.(part.handle)
        return undefined
      default:
        if (this.#startedAt === Number.POSITIVE_INFINITY) this.#startedAt = ticks(this.#context.clock)
        if (this.#received.size === 0) this.#taker.onBegin?.()
        return this.#record(part)
    }
  }

  /** Records a part of the answer. Returns an error if it is invalid. */
  #record(part: Exclude<WorkerPart, { readonly type: "allowance" | "handle" | "notice" }>): WorkerError | undefined {
    const call = this.#call
    const received = this.#received
    const { worker } = call
    if (received.finish !== undefined) {
      return malformed(worker, "it sent parts after the end of the answer", received.finish.usage)
    }
    if (part.type === "finish") {
      received.size += part.text?.length ?? 0
      const wrong = tooLong(call, received)
      if (wrong !== undefined) return wrong
      takeFinish(call, received, part, this.#isBounded)
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
    if (type !== this.#kind) this.#emit()
    this.#kind = type
    this.#gathered += text
    return undefined
  }

  /** Emits deltas that arrived together: a listener receives one event per network packet instead of one per token. */
  #emit(): void {
    const text = this.#gathered
    this.#gathered = ""
    if (text !== "") this.#call.onDelta?.(this.#kind, text)
  }
}

/**
 * Runs `generate` and collects its parts in `received` until the answer is complete.
 *
 * Fails with `Malformed` if a part is invalid or arrives after the end, or if the answer exceeds the size limit. Fails
 * with `Timeout` if the answer is incomplete when the time limit expires. Implausible usage is replaced with an
 * estimate, and usage above the reservation is charged at the worst case.
 */
export const receive = (
  call: Call,
  received: Received,
  context: Context,
  taker: Taker
): Effect.Effect<Answered, WorkerError> => {
  const reception = new Reception(call, received, context, taker)
  const given = call.worker.generate(call.request)
  if (!Effect.isEffect(given)) {
    unheard(given)
    return reception.each(given)
  }
  return Effect.flatMap(reception.limited(given, context.silence.ofWhole), (parts) =>
    Array.isArray(parts) ? reception.whole(parts) : reception.each(parts)
  )
}
