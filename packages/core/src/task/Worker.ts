/**
 * A worker: a model, or any other solver, that answers a subtask.
 *
 * A worker is an object with one method, `generate`, which returns parts: text, reasoning, and a final part with the
 * finish reason and the usage. A worker does not retry or cache and has no state between calls; the runtime does this
 * for all workers. The runtime also validates their output. An impossible usage is replaced by an estimate
 * (`Usage.checked`). Text that is not a string, or that exceeds 64 characters per allowed token (but at least 2^20
 * characters), is `Malformed`. Any other exception or invalid value is a `Defect`.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { defined } from "../Fields.ts"
import * as Options from "../Options.ts"
import { messageOf, plain } from "../Thrown.ts"
import type { Allowance } from "./Allowance.ts"
import type { Message, ToolCall } from "./Message.ts"
import type { OutputFormat, ToolChoice, ToolDefinition } from "./Tool.ts"
import type { Pricing, Usage } from "./Usage.ts"

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** How much a worker may reason before it answers: an effort, a budget in tokens, or not at all. */
export type Reasoning =
  | { readonly type: "effort"; readonly effort: "minimal" | "low" | "medium" | "high" }
  | { readonly type: "budget"; readonly tokens: number }
  | { readonly type: "off" }

/** The table of {@link Reasoning}, for `Options.check`. */
export const reasoningTable = Options.variants("type", {
  effort: Options.table({ effort: Options.oneOf("minimal", "low", "medium", "high") }, { required: ["effort"] }),
  budget: Options.table({ tokens: Options.whole(0) }, { required: ["tokens"] }),
  off: {}
})

/**
 * The format of a workflow's text. It is a hint for workers that support grammar-constrained decoding; other workers
 * ignore it.
 */
export interface WorkflowFormat {
  readonly type: "workflow"
  readonly poolSize: number
  readonly maxSteps: number
  readonly access: "binary" | "fine-grained"
  /** Whether three empty lists, which confirm the previous answer, are allowed. */
  readonly allowEmpty: boolean
  /** The names that the list `how` and the checks before it may use. If absent, these lists are not allowed. */
  readonly how?: HowFormat | undefined
  /** Whether `answer = "…"` is allowed instead of the lists. Default: `false`. */
  readonly mayAnswer?: boolean | undefined
}

/** The allowed names and limits in the list `how` of a workflow's text. */
export interface HowFormat {
  readonly checks?: ReadonlyArray<string> | undefined
  readonly shapes?: ReadonlyArray<string> | undefined
  readonly tools?: ReadonlyArray<string> | undefined
  /** The maximum number of items of all steps together. Default: 1,000. */
  readonly maxItems?: number | undefined
}

/**
 * A request to a worker. Absent or `undefined` settings mean the worker's own defaults. Use {@link withDefaults} to
 * fill them in; a plain spread would overwrite them with `undefined`.
 */
export interface WorkerRequest {
  readonly messages: ReadonlyArray<Message>
  /** The maximum number of output tokens, including reasoning. */
  readonly maxOutputTokens?: number | undefined
  /** The sampling temperature. 0 is greedy. */
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
  /** The tools that the worker may call. Only workers with the capability `tools` receive any. */
  readonly tools?: ReadonlyArray<ToolDefinition> | undefined
  /** Default: `"auto"`. */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether the worker may call several tools in one turn. Default: the vendor's. */
  readonly parallelToolCalls?: boolean | undefined
  /** The required output format. */
  readonly output?: OutputFormat | undefined
  readonly format?: WorkflowFormat | undefined
  /**
   * The behavior for a preference (temperature, reasoning, parallel calls, a tier) that the worker does not support.
   * With `"require"` (the default), the call fails. With `"omit"`, the preference is mapped to a supported one, or
   * omitted with a notice.
   */
  readonly preferences?: "require" | "omit" | undefined
}

/**
 * The reason why a worker stopped. `refusal`: the model declined to answer, or the vendor's filter cut off its answer;
 * the text, which may be empty, is not an answer. `tool-calls`: it waits for the results of its tool calls. `other`: an
 * unknown reason of the vendor.
 */
export type FinishReason = "stop" | "length" | "refusal" | "tool-calls" | "other"

/**
 * A part of a worker's response. A response ends with exactly one `finish`. An `allowance` reports what is left of the
 * vendor's rate limits, as early as possible, so that later calls can wait. A `tool-call` is complete; a preceding
 * `tool-call-delta` is a chunk of its arguments, for display. With a `handle`, the vendor can re-deliver this response
 * ({@link Reattach}); the last handle is used. In a run with a journal, nothing more is read from the worker until the
 * handle is durable. A `notice` reports a part of the request that was omitted or replaced.
 */
export type WorkerPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "tool-call-delta"; readonly id: string; readonly name: string; readonly arguments: string }
  | ({ readonly type: "tool-call" } & ToolCall)
  | ({ readonly type: "allowance" } & Allowance)
  | { readonly type: "handle"; readonly handle: string }
  | { readonly type: "notice"; readonly notice: string }
  | {
      readonly type: "finish"
      readonly reason: FinishReason
      readonly usage: Usage
      /** The model name in the vendor's response, often a dated version of the requested one. */
      readonly model?: string | undefined
      /**
       * Vendor data to send back with this turn if tools were called (`AssistantMessage.echo`), or data that the model
       * returns to a policy in addition to the text (`Policy.Complete`).
       */
      readonly echo?: unknown
      /**
       * The complete text, if the vendor's final object differs from the streamed text. It replaces the streamed text.
       */
      readonly text?: string | undefined
    }

/** The parts of one answer as they arrive. */
export type PartStream = Stream.Stream<WorkerPart, WorkerError>

/**
 * The return type of `generate`: a stream of parts, or an effect that returns all parts for workers that do not stream.
 * The effect may also return a stream, for workers that decide per call. `WorkerStream.generate` converts both to a
 * stream.
 */
export type WorkerParts = PartStream | Effect.Effect<ReadonlyArray<WorkerPart> | PartStream, WorkerError>

/**
 * The capabilities of a worker beyond answering text with text. Absent means unsupported: a call that needs the
 * capability is not made, and the caller is notified before anything is paid.
 */
export interface Capabilities {
  /** Calls tools, and reads their results. */
  readonly tools?: boolean | undefined
  /** Accepts pictures. */
  readonly images?: boolean | undefined
  /** Accepts files, such as PDFs. */
  readonly files?: boolean | undefined
  /** Enforces a JSON Schema on its answer. Other workers receive the schema as an instruction. */
  readonly jsonSchema?: boolean | undefined
  /** Enforces that its answer is JSON. Default: the value of `jsonSchema`. Other workers receive an instruction. */
  readonly json?: boolean | undefined
  /** Enforces the output format even in requests with tools. Default: `true`. */
  readonly shapesWithTools?: boolean | undefined
}

/** The options of capabilities, for `Options.check`. */
export const capabilitiesShape: Options.ShapeOf<Capabilities> = {
  tools: Options.flag,
  images: Options.flag,
  files: Options.flag,
  jsonSchema: Options.flag,
  json: Options.flag,
  shapesWithTools: Options.flag
}

/** Recovers a call after a crash: the vendor continues the call and can re-deliver the answer. */
export interface Reattach {
  /**
   * Returns the complete answer for the handle that the call reported when it started. Fails if the vendor does not
   * know the handle.
   */
  readonly reattach: (handle: string, request: WorkerRequest) => WorkerParts
}

/**
 * The id of the current call, in a run with a journal: `run/round/step/number/attempt`, the same after a crash.
 * Recoverable workers ({@link Reattach}) use it to identify their request at the vendor. `undefined` outside of runs
 * with a journal.
 */
export const CallId: Context.Reference<string | undefined> = Context.Reference("@divisi/core/CallId", {
  defaultValue: (): string | undefined => undefined
})

/** The limits of a worker. An absent limit is unknown. */
export interface Limits {
  /** The context window: input and output tokens together. */
  readonly contextTokens?: number | undefined
  /** The maximum number of output tokens of one call. */
  readonly maxOutputTokens?: number | undefined
}

/** The options of limits, for `Options.check`. */
export const limitsShape: Options.ShapeOf<Limits> = { contextTokens: Options.limit, maxOutputTokens: Options.limit }

/** A model, or any other solver, that answers a subtask. */
export interface Worker {
  /** Unique within a pool, e.g. `openai:gpt-5`. */
  readonly id: string
  /** The strengths of the worker, in one sentence. Shown to a policy only if the prompt includes descriptions. */
  readonly description?: string | undefined
  /**
   * A system prompt that is sent before all other messages. Two workers can be the same model with different
   * instructions. It is part of the cost and the cache key of a call.
   */
  readonly instructions?: string | undefined
  readonly capabilities?: Capabilities | undefined
  /**
   * The configuration that its answers depend on, in addition to its id: default settings, endpoint. It is part of the
   * key in the `ResponseCache`, so it must be plain JSON without secrets.
   */
  readonly settings?: unknown
  /**
   * Whether it is a general language model, which follows instructions in plain language and can be prompted to plan
   * (see `DefaultPolicy`). Default: `false`.
   */
  readonly isLanguageModel?: boolean | undefined
  /**
   * False if the model does not support a seed. Its calls are then sent without one and are not reproducible. Default:
   * `true`.
   */
  readonly takesSeed?: boolean | undefined
  /**
   * False if reasoning cannot be configured; `"off"` if it can only be turned off. If a plan sets reasoning for a step
   * of this worker, the setting is omitted and a notice reports it. Default: `true`.
   */
  readonly takesReasoning?: boolean | "off" | undefined
  /**
   * False if the model has no temperature. A plan's setting is then omitted as for `takesReasoning`. Default: `true`.
   */
  readonly takesTemperature?: boolean | undefined
  /**
   * False for a model that changes between calls, such as one in training. Its answers are neither stored in nor read
   * from a `ResponseCache`. Default: `true`.
   */
  readonly isCacheable?: boolean | undefined
  /**
   * How to recover a call whose process ended before its answer arrived, in a run with a journal. `"free"`: the call
   * costs nothing and is repeated (a local model, a function). `"none"` (the default): it is unknown whether the call
   * was answered, so it is charged at its worst case, and the run's `onUnconfirmedCall` applies. A {@link Reattach}:
   * the vendor re-delivers the same answer, and nothing is paid twice.
   */
  readonly recovery?: "free" | "none" | Reattach | undefined
  /**
   * The key under which workers share rate limits and circuit breakers, such as a vendor and API key. Default: `id`.
   */
  readonly provider?: string | undefined
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /**
   * The output token limit of requests that set none. Default for calls on a limited account: the maximum in `limits`,
   * but at most 8,192, or 4,096 without `limits`.
   */
  readonly maxOutputTokens?: number | undefined
  /**
   * Returns the exact number of input tokens of a request, including tools and pictures, or `undefined` if the worker
   * cannot count them. In that case a budget reserves an upper bound: one token per byte of text, and the maximum for
   * each picture and file.
   */
  readonly countInputTokens?: ((request: WorkerRequest) => number | undefined) | undefined
  /** Answers one request. Interrupting the returned effect or stream stops the call. */
  readonly generate: (request: WorkerRequest) => WorkerParts
  /**
   * Forwards a request to an endpoint of OpenAI's API other than chat, and returns the vendor's response unchanged. The
   * server uses it for `/v1/embeddings` and `/v1/completions`; a Conductor does not use it. Absent if the vendor has no
   * such endpoint.
   */
  readonly forward?: Forward | undefined
}

/** An endpoint of OpenAI's API other than chat: embeddings, and legacy completions. */
export type ForwardEndpoint = "embeddings" | "completions"

/** A vendor's unchanged response. */
export interface Forwarded {
  readonly contentType: string
  readonly body: Stream.Stream<Uint8Array, WorkerError>
}

/** Forwards the body of a request, with the client's model name replaced by the worker's own. */
export type Forward = (
  endpoint: ForwardEndpoint,
  body: Readonly<Record<string, unknown>>
) => Effect.Effect<Forwarded, WorkerError>

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a call failed. Every provider maps its vendor's errors to one of these reasons. */
export type WorkerErrorReason =
  | {
      readonly _tag: "RateLimited"
      readonly retryAfterMillis?: number
      readonly detail?: string
    }
  | {
      readonly _tag: "Overloaded"
      readonly retryAfterMillis?: number
      readonly detail?: string
    }
  | { readonly _tag: "Timeout"; readonly afterMillis?: number; readonly detail?: string }
  | { readonly _tag: "Network"; readonly detail?: string }
  /** With a `remedy`, a retry would fail in the same way, so the call is not retried. */
  | { readonly _tag: "Malformed"; readonly detail?: string; readonly remedy?: string }
  | { readonly _tag: "InvalidRequest"; readonly detail?: string }
  | { readonly _tag: "Authentication"; readonly detail?: string }
  | { readonly _tag: "Quota"; readonly detail?: string }
  | { readonly _tag: "ContentFiltered"; readonly detail?: string }
  | {
      readonly _tag: "ContextTooLong"
      readonly contextTokens?: number
      readonly neededTokens?: number
      readonly detail?: string
    }
  /** A bug in the worker's code: it threw, or returned an invalid answer. */
  | { readonly _tag: "Defect"; readonly detail?: string }

const explanations: {
  readonly [Tag in WorkerErrorReason["_tag"]]: { retryable: boolean; what: string; todo: string }
} = {
  RateLimited: { retryable: true, what: "is rate limited", todo: "wait, or lower the concurrency" },
  Overloaded: { retryable: true, what: "is overloaded", todo: "wait, or let another worker take over" },
  Timeout: { retryable: true, what: "did not answer in time", todo: "raise the time limit, or use another worker" },
  Network: { retryable: true, what: "is unreachable", todo: "check the connection and the base URL" },
  Malformed: { retryable: true, what: "sent an unreadable answer", todo: "retry, or report it to the vendor" },
  InvalidRequest: { retryable: false, what: "refused the request", todo: "check the settings of this worker" },
  Authentication: { retryable: false, what: "refused the credentials", todo: "check its API key" },
  Quota: { retryable: false, what: "has no quota left", todo: "check the account's billing" },
  ContentFiltered: { retryable: false, what: "filtered the content", todo: "rephrase, or use another worker" },
  ContextTooLong: { retryable: false, what: "received more than its context window holds", todo: "shorten the input" },
  Defect: { retryable: false, what: "threw an error", todo: "fix its code" }
}

const measures = ["retryAfterMillis", "afterMillis", "contextTokens", "neededTokens"] as const

type Said = { readonly [Name in "_tag" | "detail" | "remedy" | (typeof measures)[number]]?: unknown }

const isMeasure = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0

/** Returns a reason that can be stored and shown: of a known kind, with finite numbers and plain text. */
const readable = (reason: WorkerErrorReason): WorkerErrorReason => {
  const said: Said = typeof reason === "object" && reason !== null ? reason : {}
  if (typeof said._tag !== "string" || !Object.hasOwn(explanations, said._tag)) {
    return { _tag: "Defect", detail: `it failed for an unknown reason: ${messageOf(said._tag ?? reason)}` }
  }
  const { detail, remedy } = said
  const words = typeof detail === "string" ? plain(detail) : undefined
  const todo = typeof remedy === "string" ? plain(remedy) : undefined
  const wrong = measures.filter((name) => said[name] !== undefined && !isMeasure(said[name]))
  if (words === detail && todo === remedy && wrong.length === 0) return reason
  return defined({
    ...said,
    detail: words,
    remedy: todo,
    ...Object.fromEntries(wrong.map((name) => [name, undefined]))
  }) as WorkerErrorReason
}

/** Describes a failure for use in parentheses: without the worker's name and without a full stop. */
const wordsOf = ({ reason, worker }: WorkerError): string => {
  const detail = (reason.detail ?? "").trim()
  const own = detail.startsWith(worker) ? detail.slice(worker.length).replace(/^[\s:]+/, "") : detail
  return own.endsWith(".") && !own.endsWith("..") ? own.slice(0, -1) : own
}

const units = [
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000]
] as const

/** Formats the delay that the vendor requests, rounded up in the largest suitable unit. */
const waiting = (reason: WorkerErrorReason): string | undefined => {
  const millis = "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined
  if (millis === undefined || millis < 1_000) return undefined
  const [unit, size] = units.find(([, size]) => millis >= size)!
  const rounded = Math.ceil((10 * millis) / size) / 10
  return `wait ${rounded} ${unit}, or use another worker`
}

const remedyOf = (reason: WorkerErrorReason): string | undefined => ("remedy" in reason ? reason.remedy : undefined)

/**
 * A failed call to a worker. `reason` is the cause; {@link isRetryable} returns whether a retry can help.
 *
 * **Details**
 *
 * The text of a reason usually comes from a vendor. Control characters and bidirectional marks in it are replaced by
 * spaces, so that the error can be displayed anywhere. A reason of an unknown kind becomes a `Defect`.
 */
export class WorkerError extends Data.TaggedError("WorkerError")<{
  readonly worker: string
  readonly reason: WorkerErrorReason
  /** The usage of the failed call, if the vendor reported it. */
  readonly usage?: Usage | undefined
}> {
  constructor(options: {
    readonly worker: string
    readonly reason: WorkerErrorReason
    readonly usage?: Usage | undefined
    /** The thrown value, for debugging. It is not part of the error's JSON, because it may contain secrets. */
    readonly cause?: unknown
  }) {
    const { cause, reason, ...rest } = options
    super({ ...rest, reason: readable(reason) })
    if (cause !== undefined) Object.defineProperty(this, "cause", { value: cause, configurable: true, writable: true })
  }

  override get message(): string {
    const { what, todo } = explanations[this.reason._tag]
    const said = wordsOf(this)
    const own = waiting(this.reason) ?? remedyOf(this.reason) ?? todo
    return `${this.worker} ${what}${said === "" ? "" : ` (${said})`}: ${own}.`
  }
}

/** Whether the same call may succeed on a retry. */
export const isRetryable = (reason: WorkerErrorReason): boolean =>
  explanations[reason._tag].retryable && !(reason._tag === "Malformed" && reason.remedy !== undefined)

/**
 * The error of a run that ended as `refused` because a worker declined to answer. The call itself did not fail, and a
 * retry is unlikely to help.
 */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly worker: string
  /** The text that the model returned instead of an answer; may be empty. */
  readonly text: string
}> {
  override get message(): string {
    return `${this.worker} declined to answer${this.text.trim() === "" ? "." : `: ${plain(this.text.trim())}`}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** The request settings for which a worker can have defaults. */
export type WorkerDefaults = Pick<
  WorkerRequest,
  "maxOutputTokens" | "temperature" | "seed" | "stopSequences" | "reasoning"
>

/** Returns the request, with unset settings filled in from the worker's defaults. */
export const withDefaults = (request: WorkerRequest, defaults: WorkerDefaults): WorkerRequest => ({
  ...request,
  maxOutputTokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
  temperature: request.temperature ?? defaults.temperature,
  seed: request.seed ?? defaults.seed,
  stopSequences: request.stopSequences ?? defaults.stopSequences,
  reasoning: request.reasoning ?? defaults.reasoning
})
