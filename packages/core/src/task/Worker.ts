/**
 * Workers answer subtasks. A worker is a model or any other solver.
 *
 * A worker implements one method, `generate`, which returns parts: text, reasoning, and a final part with the finish
 * reason and usage. Workers are stateless and need not implement retries or caching, which the runtime provides. The
 * runtime also validates their output. Invalid usage is replaced with an estimate (`Usage.checked`). Text that is not a
 * string, or that exceeds both 64 characters per allowed token and 2^20 characters, is treated as `Malformed`. Any
 * other exception or invalid value is a `Defect`.
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

/** How much a worker reasons before it answers: an effort level, a token budget, or not at all. */
export type Reasoning =
  | { readonly type: "effort"; readonly effort: "minimal" | "low" | "medium" | "high" }
  | { readonly type: "budget"; readonly tokens: number }
  | { readonly type: "off" }

/** Validates {@link Reasoning}, for use with `Options.check`. */
export const reasoningTable = Options.variants("type", {
  effort: Options.table({ effort: Options.oneOf("minimal", "low", "medium", "high") }, { required: ["effort"] }),
  budget: Options.table({ tokens: Options.whole(0) }, { required: ["tokens"] }),
  off: {}
})

/**
 * Describes the text format of a workflow. Serves as a hint for workers that support grammar-constrained decoding; all
 * other workers ignore it.
 */
export interface WorkflowFormat {
  readonly type: "workflow"
  readonly poolSize: number
  readonly maxSteps: number
  readonly access: "binary" | "fine-grained"
  /** Whether the model may return three empty lists to confirm the previous answer. */
  readonly allowEmpty: boolean
  /** The names allowed in the `how` list and in the checks before it. If omitted, these lists are not allowed. */
  readonly how?: HowFormat | undefined
  /** Whether the model may write `answer = "…"` instead of the lists. Default: `false`. */
  readonly mayAnswer?: boolean | undefined
}

/** The names and limits allowed in the `how` list of a workflow's text. */
export interface HowFormat {
  readonly checks?: ReadonlyArray<string> | undefined
  readonly shapes?: ReadonlyArray<string> | undefined
  readonly tools?: ReadonlyArray<string> | undefined
  /** Maximum total number of items across all steps. Default: 1,000. */
  readonly maxItems?: number | undefined
}

/**
 * A request to a worker. Omitted or `undefined` settings fall back to the worker's defaults. Use {@link withDefaults}
 * to apply the defaults; a plain spread would overwrite them with `undefined`.
 */
export interface WorkerRequest {
  readonly messages: ReadonlyArray<Message>
  /** Maximum number of output tokens, including reasoning. */
  readonly maxOutputTokens?: number | undefined
  /** Sampling temperature. 0 selects greedy decoding. */
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
  /** Tools that the worker may call. Only sent to workers with the `tools` capability. */
  readonly tools?: ReadonlyArray<ToolDefinition> | undefined
  /** Default: `"auto"`. */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether the worker may call several tools in the same turn. Defaults to the vendor's setting. */
  readonly parallelToolCalls?: boolean | undefined
  /** The required output format. */
  readonly output?: OutputFormat | undefined
  readonly format?: WorkflowFormat | undefined
  /**
   * How to handle preferences (temperature, reasoning, parallel tool calls, service tier) that the worker does not
   * support. `"require"` (the default) fails the call. `"omit"` substitutes a supported value or drops the preference,
   * and adds a notice.
   */
  readonly preferences?: "require" | "omit" | undefined
}

/**
 * Why a worker stopped generating. `refusal`: the model declined to answer, or the vendor's content filter cut it off;
 * the text, which may be empty, is not an answer. `tool-calls`: the worker is waiting for the results of its tool
 * calls. `other`: any other reason reported by the vendor.
 */
export type FinishReason = "stop" | "length" | "refusal" | "tool-calls" | "other"

/**
 * A part of a worker's response. A response ends with exactly one `finish`. `allowance` reports the vendor's remaining
 * rate limits and should be emitted as early as possible, so that later calls can be delayed. `tool-call` contains a
 * complete call; `tool-call-delta` contains a chunk of its arguments and is for display only. `handle` identifies a
 * response that the vendor can deliver again ({@link Reattach}); the most recent handle applies. In a run with a
 * journal, no more parts are read until the handle is durable. `notice` reports a part of the request that was dropped
 * or replaced.
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
      /** Model name reported by the vendor, often a dated version of the requested model. */
      readonly model?: string | undefined
      /**
       * Vendor-specific data. If tools were called, it is sent back with this turn (`AssistantMessage.echo`); a
       * policy's model can also use it to return data in addition to the text (`Policy.Complete`).
       */
      readonly echo?: unknown
      /** The complete text, if the vendor's final object differs from the streamed text. Replaces the streamed text. */
      readonly text?: string | undefined
    }

/** A stream of response parts. */
export type PartStream = Stream.Stream<WorkerPart, WorkerError>

/**
 * The return type of `generate`: a stream of parts, or, for workers that do not stream, an effect that returns all
 * parts at once. The effect may also return a stream, for workers that decide for each call. `WorkerStream.generate`
 * converts either to a stream.
 */
export type WorkerParts = PartStream | Effect.Effect<ReadonlyArray<WorkerPart> | PartStream, WorkerError>

/**
 * The capabilities of a worker beyond text-in, text-out. Undefined means unsupported: a call that needs the capability
 * is not sent, and the caller receives an error before anything is paid for.
 */
export interface Capabilities {
  /** Can call tools and process their results. */
  readonly tools?: boolean | undefined
  /** Accepts images. */
  readonly images?: boolean | undefined
  /** Accepts files, such as PDFs. */
  readonly files?: boolean | undefined
  /**
   * Can constrain answers to a JSON Schema. Workers without this capability receive the schema as part of the prompt.
   */
  readonly jsonSchema?: boolean | undefined
  /**
   * Can constrain answers to valid JSON. Workers without this capability receive an instruction as part of the prompt.
   * Defaults to the value of `jsonSchema`.
   */
  readonly json?: boolean | undefined
  /** Can enforce the output format even in requests that include tools. Default: `true`. */
  readonly shapesWithTools?: boolean | undefined
}

/** Validates {@link Capabilities}, for use with `Options.check`. */
export const capabilitiesShape: Options.ShapeOf<Capabilities> = {
  tools: Options.flag,
  images: Options.flag,
  files: Options.flag,
  jsonSchema: Options.flag,
  json: Options.flag,
  shapesWithTools: Options.flag
}

/**
 * Recovers calls after a crash, for vendors that continue a call in the background and can deliver its answer again.
 */
export interface Reattach {
  /**
   * Returns the complete answer for a handle that the call reported when it started. Fails if the vendor does not
   * recognize the handle.
   */
  readonly reattach: (handle: string, request: WorkerRequest) => WorkerParts
}

/**
 * Id of the current call within a journaled run: `run/round/step/number/attempt`. It stays the same after a crash.
 * Recoverable workers ({@link Reattach}) use it to identify their request to the vendor. `undefined` for runs without a
 * journal.
 */
export const CallId: Context.Reference<string | undefined> = Context.Reference("@divisi/core/CallId", {
  defaultValue: (): string | undefined => undefined
})

/** Token limits of a worker. Undefined limits are unknown. */
export interface Limits {
  /** Size of the context window: input and output tokens combined. */
  readonly contextTokens?: number | undefined
  /** Maximum number of output tokens per call. */
  readonly maxOutputTokens?: number | undefined
}

/** Validates {@link Limits}, for use with `Options.check`. */
export const limitsShape: Options.ShapeOf<Limits> = { contextTokens: Options.limit, maxOutputTokens: Options.limit }

/** A model, or any other solver, that answers subtasks. */
export interface Worker {
  /** Unique within a pool, e.g. `openai:gpt-6.1-sol`. */
  readonly id: string
  /** One-sentence description of the worker's strengths. Shown to a policy only if its prompt includes descriptions. */
  readonly description?: string | undefined
  /**
   * System prompt, sent before all other messages. Two workers can share a model but have different instructions.
   * Instructions count toward the cost of a call and are part of its cache key.
   */
  readonly instructions?: string | undefined
  readonly capabilities?: Capabilities | undefined
  /**
   * Configuration that affects the worker's answers, such as default settings or the endpoint. It is part of the
   * `ResponseCache` key in addition to the id, so it must be plain JSON without secrets.
   */
  readonly settings?: unknown
  /**
   * Whether the worker is a general-purpose language model, which follows plain-language instructions and can be
   * prompted to plan (see `DefaultPolicy`). Default: `false`.
   */
  readonly isLanguageModel?: boolean | undefined
  /**
   * Whether the model supports seeds. If `false`, calls are sent without a seed and are not reproducible. Default:
   * `true`.
   */
  readonly takesSeed?: boolean | undefined
  /**
   * Whether reasoning can be configured. `"off"` means that it can only be disabled. If a plan configures reasoning
   * that this worker does not support, the setting is dropped with a notice. Default: `true`.
   */
  readonly takesReasoning?: boolean | "off" | undefined
  /**
   * Whether the model supports a temperature. If `false`, a temperature set by a plan is dropped with a notice.
   * Default: `true`.
   */
  readonly takesTemperature?: boolean | undefined
  /**
   * Whether answers may be cached. Set to `false` for models that change between calls, e.g. during training; their
   * answers are neither written to nor read from a `ResponseCache`. Default: `true`.
   */
  readonly isCacheable?: boolean | undefined
  /**
   * How to recover a call whose process ended before the answer arrived, in a journaled run. `"free"`: the call costs
   * nothing and is repeated (local models, functions). `"none"` (the default): the outcome is unknown, so the call is
   * charged at its worst case and the run's `onUnconfirmedCall` setting applies. A {@link Reattach}: the vendor
   * delivers the same answer again at no extra cost.
   */
  readonly recovery?: "free" | "none" | Reattach | undefined
  /**
   * Key shared by workers that have common rate limits and circuit breakers, such as a vendor and API key. Defaults to
   * `id`.
   */
  readonly provider?: string | undefined
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /**
   * Output token limit for requests that do not set one. On an account with limits, calls otherwise default to the
   * maximum from `limits` capped at 8,192, or 4,096 if `limits` does not specify one.
   */
  readonly maxOutputTokens?: number | undefined
  /**
   * Counts the input tokens of a request exactly, including tools and images. Returns `undefined` if the worker cannot
   * count them; budgets then reserve an upper bound of one token per byte of text plus the maximum for each image and
   * file.
   */
  readonly countInputTokens?: ((request: WorkerRequest) => number | undefined) | undefined
  /** Sends a request and returns the response parts. Interrupting the effect or stream cancels the call. */
  readonly generate: (request: WorkerRequest) => WorkerParts
  /**
   * Forwards a request to an OpenAI-compatible endpoint other than chat, and returns the vendor's response unchanged.
   * The server uses it for `/v1/embeddings` and `/v1/completions`; the Conductor does not. Omit it if the vendor has no
   * such endpoint.
   */
  readonly forward?: Forward | undefined
}

/** OpenAI-compatible endpoints other than chat: embeddings and legacy completions. */
export type ForwardEndpoint = "embeddings" | "completions"

/** A vendor's response, passed through unchanged. */
export interface Forwarded {
  readonly contentType: string
  readonly body: Stream.Stream<Uint8Array, WorkerError>
}

/** Forwards a request body, with the model name replaced by the one that the vendor expects. */
export type Forward = (
  endpoint: ForwardEndpoint,
  body: Readonly<Record<string, unknown>>
) => Effect.Effect<Forwarded, WorkerError>

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/**
 * Why a call failed. Providers map each vendor error to one of these reasons. A `remedy` says what to do, and replaces
 * the general advice in the error's message.
 */
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
  /**
   * If `silentMillis` is set, the call was ended by a limit of its run or step, not by the vendor. It is the time without
   * data from the vendor until then.
   */
  | {
      readonly _tag: "Timeout"
      readonly afterMillis?: number
      readonly silentMillis?: number
      readonly detail?: string
      readonly remedy?: string
    }
  | { readonly _tag: "Network"; readonly detail?: string; readonly remedy?: string }
  /** If `remedy` is set, the call is not retried, because it would fail again in the same way. */
  | { readonly _tag: "Malformed"; readonly detail?: string; readonly remedy?: string }
  | { readonly _tag: "InvalidRequest"; readonly detail?: string; readonly remedy?: string }
  | { readonly _tag: "Authentication"; readonly detail?: string; readonly remedy?: string }
  | { readonly _tag: "Quota"; readonly detail?: string }
  | { readonly _tag: "ContentFiltered"; readonly detail?: string }
  | {
      readonly _tag: "ContextTooLong"
      readonly contextTokens?: number
      readonly neededTokens?: number
      readonly detail?: string
    }
  /** A bug in the worker implementation: it threw an exception or returned an invalid answer. */
  | { readonly _tag: "Defect"; readonly detail?: string; readonly remedy?: string }

const explanations: {
  readonly [Tag in WorkerErrorReason["_tag"]]: { retryable: boolean; what: string; todo: string }
} = {
  RateLimited: { retryable: true, what: "is rate limited", todo: "wait, or lower the concurrency" },
  Overloaded: { retryable: true, what: "is overloaded", todo: "wait, or let another worker take over" },
  Timeout: { retryable: true, what: "did not answer in time", todo: "raise the time limit, or use another worker" },
  Network: { retryable: true, what: "is unreachable", todo: "check the connection and the base URL" },
  Malformed: { retryable: true, what: "returned an unusable answer", todo: "retry, or report it to the vendor" },
  InvalidRequest: { retryable: false, what: "cannot handle the request", todo: "check the settings of this worker" },
  Authentication: { retryable: false, what: "refused the credentials", todo: "check its API key" },
  Quota: { retryable: false, what: "has no quota left", todo: "check the account's billing" },
  ContentFiltered: {
    retryable: false,
    what: "filtered the content",
    todo: "rephrase the question, or use another worker"
  },
  ContextTooLong: { retryable: false, what: "received more than its context window holds", todo: "shorten the input" },
  Defect: { retryable: false, what: "has a bug", todo: "fix its code" }
}

const measures = ["retryAfterMillis", "afterMillis", "silentMillis", "contextTokens", "neededTokens"] as const

type Said = { readonly [Name in "_tag" | "detail" | "remedy" | (typeof measures)[number]]?: unknown }

const isMeasure = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0

/** Sanitizes a reason for storage and display: ensures a known tag, finite numbers and plain text. */
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

const capitalized = (text: string): string =>
  text.replace(/^[a-z]+(?=[ ,])/, (word) => word[0]!.toUpperCase() + word.slice(1))

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Describes a failure for use after a colon: without the worker's name and the final full stop. */
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

/** Formats the delay requested by the vendor, rounded up, in the largest suitable unit. */
const waiting = (reason: WorkerErrorReason): string | undefined => {
  const millis = "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined
  if (millis === undefined || millis < 1_000) return undefined
  const [unit, size] = units.find(([, size]) => millis >= size)!
  const rounded = Math.ceil((10 * millis) / size) / 10
  return `wait ${rounded} ${unit}, or use another worker`
}

const remedyOf = (reason: WorkerErrorReason): string | undefined => ("remedy" in reason ? reason.remedy : undefined)

/**
 * Raised when a worker call fails. `reason` describes the cause; use {@link isRetryable} to determine whether a retry
 * can help.
 *
 * **Details**
 *
 * A reason's text usually comes from the vendor. Control characters and bidirectional marks are replaced with spaces,
 * so that it is safe to display. Unknown reasons are converted to a `Defect`.
 */
export class WorkerError extends Data.TaggedError("WorkerError")<{
  readonly worker: string
  readonly reason: WorkerErrorReason
  /** Usage of the failed call, if reported by the vendor. */
  readonly usage?: Usage | undefined
}> {
  constructor(options: {
    readonly worker: string
    readonly reason: WorkerErrorReason
    readonly usage?: Usage | undefined
    /** The original thrown value, for debugging. Excluded from the error's JSON, because it may contain secrets. */
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
    const problem = said === "" ? what : `${what}: ${said}`
    return `${this.worker} ${ended(problem)} ${ended(capitalized(own))}`
  }
}

/** Whether the same call may succeed if it is retried. */
export const isRetryable = (reason: WorkerErrorReason): boolean =>
  explanations[reason._tag].retryable && !(reason._tag === "Malformed" && reason.remedy !== undefined)

/**
 * The error of a run that ended as `refused` because a worker declined to answer. The call itself succeeded, so a retry
 * is unlikely to help.
 */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly worker: string
  /** The text that the model returned instead of an answer. May be empty. */
  readonly text: string
}> {
  override get message(): string {
    return `${this.worker} declined to answer${this.text.trim() === "" ? "." : `: ${plain(this.text.trim())}`}`
  }
}

// -------------------------------------------------------------------------------------------------------------------
// Requests
// -------------------------------------------------------------------------------------------------------------------

/** The request settings for which a worker can define defaults. */
export type WorkerDefaults = Pick<
  WorkerRequest,
  "maxOutputTokens" | "temperature" | "seed" | "stopSequences" | "reasoning"
>

/** Returns a copy of the request with unset settings filled in from the defaults. */
export const withDefaults = (request: WorkerRequest, defaults: WorkerDefaults): WorkerRequest => ({
  ...request,
  maxOutputTokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
  temperature: request.temperature ?? defaults.temperature,
  seed: request.seed ?? defaults.seed,
  stopSequences: request.stopSequences ?? defaults.stopSequences,
  reasoning: request.reasoning ?? defaults.reasoning
})
