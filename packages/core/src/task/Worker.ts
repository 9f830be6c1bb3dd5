/**
 * A worker: a model, or any other solver, that answers a subtask.
 *
 * A worker is a small value with one method, `generate`. It returns parts: text, reasoning, and a last part with the
 * finish reason and the usage. It does not retry or cache and has no state between calls: the runtime handles these
 * once for all workers. The runtime also validates their output. An impossible usage is replaced by an estimate
 * (`Usage.checked`). Text that is not a string or exceeds 64 characters for each allowed token (a mebi of characters at
 * least) is `Malformed`. Any other exception or invalid value is a `Defect`.
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

/** How much a worker may think before it answers: an effort, a budget in tokens, or not at all. */
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
 * The shape of the text of a workflow: a hint. A worker that can constrain its decoding (a grammar) uses it; every other
 * worker ignores it.
 */
export interface WorkflowFormat {
  readonly type: "workflow"
  readonly poolSize: number
  readonly maxSteps: number
  readonly access: "binary" | "fine-grained"
  /** Whether three empty lists ("the previous answer stands") are allowed. */
  readonly allowEmpty: boolean
  /** The names that a list `how`, and checks in front of it, may use; absent if no such list may be written. */
  readonly how?: HowFormat | undefined
  /** Whether `answer = "…"` may be written instead of the lists; false when absent. */
  readonly mayAnswer?: boolean | undefined
}

/** The names and bounds of the list `how` of a workflow's text. */
export interface HowFormat {
  readonly checks?: ReadonlyArray<string> | undefined
  readonly shapes?: ReadonlyArray<string> | undefined
  readonly tools?: ReadonlyArray<string> | undefined
  /** The most items of all steps together; 1,000 by default. */
  readonly maxItems?: number | undefined
}

/**
 * One call of a worker. Absent or `undefined` settings are the worker's own defaults: {@link withDefaults} fills them
 * in, whereas a plain spread would overwrite them with `undefined`.
 */
export interface WorkerRequest {
  readonly messages: ReadonlyArray<Message>
  /** The most tokens the worker may write, reasoning included. */
  readonly maxOutputTokens?: number | undefined
  /** 0 is greedy. */
  readonly temperature?: number | undefined
  readonly seed?: number | undefined
  readonly stopSequences?: ReadonlyArray<string> | undefined
  readonly reasoning?: Reasoning | undefined
  /** The tools that it may call. Only workers whose {@link Capabilities} include tools receive any. */
  readonly tools?: ReadonlyArray<ToolDefinition> | undefined
  /** `"auto"` when absent. */
  readonly toolChoice?: ToolChoice | undefined
  /** Whether it may ask for several tools in one answer. The vendor's own default when absent. */
  readonly parallelToolCalls?: boolean | undefined
  /** The shape that the answer must have. */
  readonly output?: OutputFormat | undefined
  readonly format?: WorkflowFormat | undefined
  /**
   * The behavior for a preference (temperature, reasoning, parallel calls, a tier) that the worker does not support.
   * With `"require"`, or if absent, the call fails. With `"omit"` it is mapped to a supported one, or left out with a
   * notice.
   */
  readonly preferences?: "require" | "omit" | undefined
}

/**
 * The reason why a worker stopped. `refusal`: the model declined to answer, or a vendor's filter cut its answer off;
 * the text, which may be empty, is then not an answer. `tool-calls`: it waits for the results of its tool calls.
 * `other`: a reason of the vendor that is unknown here.
 */
export type FinishReason = "stop" | "length" | "refusal" | "tool-calls" | "other"

/**
 * A piece of a worker's answer. The parts of an answer end with exactly one `finish`. An `allowance` is not part of the
 * answer: it reports the rest of the vendor's rate limits as early as possible, so that later calls can wait. A
 * `tool-call` is whole; a preceding `tool-call-delta` is a piece of its arguments, for display. A `handle` is not part
 * of the answer either: with it the vendor can re-deliver this answer ({@link Reattach}). The last of several handles
 * counts; in a run with a journal, nothing more is read from the worker until a handle is durable. A `notice` reports a
 * part of the request that was left out or replaced.
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
      /**
       * The model that answered, as the vendor names it in its response: often a dated version of the requested one.
       */
      readonly model?: string | undefined
      /**
       * Vendor data to return with this turn if tools were called: `AssistantMessage.echo`. Alternatively, data that
       * the model returns to a policy in addition to the text (`Complete` of `Policy`).
       */
      readonly echo?: unknown
      /** The whole text, if the vendor's final object differs from the pieces: it replaces them. */
      readonly text?: string | undefined
    }

/** The parts of one answer as they arrive. */
export type PartStream = Stream.Stream<WorkerPart, WorkerError>

/**
 * The return type of `generate`: a stream of parts or, if answers arrive whole, an effect of all of them. The effect
 * may return a stream if only the call determines which it is. `WorkerStream.generate` converts both to a stream.
 */
export type WorkerParts = PartStream | Effect.Effect<ReadonlyArray<WorkerPart> | PartStream, WorkerError>

/**
 * The capabilities of a worker beyond answering text with text. An absent capability is missing: no call that needs it
 * is made, and the caller is notified before anything is paid.
 */
export interface Capabilities {
  /** Calls tools, and reads their results. */
  readonly tools?: boolean | undefined
  /** Sees pictures. */
  readonly images?: boolean | undefined
  /** Reads files, such as PDFs. */
  readonly files?: boolean | undefined
  /** Enforces a JSON Schema for its answer. Other workers receive the schema as an instruction. */
  readonly jsonSchema?: boolean | undefined
  /**
   * Enforces JSON of any form for its answer. Default: the value of `jsonSchema`. Other workers receive an instruction.
   */
  readonly json?: boolean | undefined
  /** Holds its answer to a shape in requests that offer tools; true when absent. */
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

/** Recovers a call whose process ended: the vendor continues it and can re-deliver the answer. */
export interface Reattach {
  /**
   * Returns the whole answer for the handle that the call reported when it began. Fails if the vendor does not know it.
   */
  readonly reattach: (handle: string, request: WorkerRequest) => WorkerParts
}

/**
 * The id of the current call, in a run with a journal: `run/round/step/number/attempt`, the same after a crash. It is
 * for recoverable workers ({@link Reattach}), to name their request at the vendor; `undefined` otherwise.
 */
export const CallId: Context.Reference<string | undefined> = Context.Reference("@divisi/core/CallId", {
  defaultValue: (): string | undefined => undefined
})

/** The limits of a worker. An absent limit is unknown. */
export interface Limits {
  /** Input and output tokens together. */
  readonly contextTokens?: number | undefined
  /** Output tokens of one call. */
  readonly maxOutputTokens?: number | undefined
}

/** The options of limits, for `Options.check`. */
export const limitsShape: Options.ShapeOf<Limits> = { contextTokens: Options.limit, maxOutputTokens: Options.limit }

/** A model, or any other solver, that answers a subtask. */
export interface Worker {
  /** Unique within a pool, e.g. `openai:gpt-5`. */
  readonly id: string
  /** The strengths of the worker, in a sentence. Shown to a policy only if the prompt asks for descriptions. */
  readonly description?: string | undefined
  /**
   * A system prompt that is sent before all others: two workers can be one model in two roles. It counts for the budget
   * and the cache key of a call.
   */
  readonly instructions?: string | undefined
  readonly capabilities?: Capabilities | undefined
  /**
   * The configuration that its answers depend on in addition to its id: the defaults of its settings, its endpoint. It
   * is part of the key under which a `ResponseCache` stores its answers, so it must be plain JSON without secrets.
   */
  readonly settings?: unknown
  /**
   * True for a general language model: one that follows instructions in plain language, and so can be prompted to plan. A
   * pool that is given no policy is planned for by its first one. False when absent.
   */
  readonly isLanguageModel?: boolean | undefined
  /**
   * False if the model does not support a seed; its calls are then sent without one and stay random. Default: `true`.
   */
  readonly takesSeed?: boolean | undefined
  /**
   * False if the model does not reason on request; `"off"` if its reasoning can only be turned off. A plan's setting of
   * reasoning for a step of it is then left out, and a notice reports it. Default: `true`.
   */
  readonly takesReasoning?: boolean | "off" | undefined
  /** False if the model has no temperature; as `takesReasoning`. Default: `true`. */
  readonly takesTemperature?: boolean | undefined
  /**
   * False for a model that changes between calls, such as one in training: its answers are neither stored in a
   * `ResponseCache` nor read from it. Default: `true`.
   */
  readonly isCacheable?: boolean | undefined
  /**
   * The recovery of a call whose process ended before its answer arrived, in a run with a journal. `"free"`: the call
   * costs nothing and is made again (a local model, a function). `"none"`, or absent: it is unknown whether it was
   * answered, so it is charged at its worst case, and the run's `onUnconfirmedCall` decides what follows. A
   * {@link Reattach}: the vendor is asked for the same answer again, and nothing is paid twice.
   */
  readonly recovery?: "free" | "none" | Reattach | undefined
  /** The key under which rate limits and circuit breakers are shared (a vendor and key). Its `id` when absent. */
  readonly provider?: string | undefined
  readonly pricing?: Pricing | undefined
  readonly limits?: Limits | undefined
  /**
   * The default limit of output tokens, for requests without a limit. Without it, a call on a limited account may write
   * as much as its `limits` allow, at most 8,192, and 4,096 without limits.
   */
  readonly maxOutputTokens?: number | undefined
  /**
   * Returns the exact number of input tokens of a request, tools and pictures included, or `undefined` if the worker
   * cannot count them. In that case a budget reserves an upper bound: one token for each byte of text, and the maximum
   * for each picture and file.
   */
  readonly countInputTokens?: ((request: WorkerRequest) => number | undefined) | undefined
  /** Answers one request. Interrupting the returned effect or stream stops the call. */
  readonly generate: (request: WorkerRequest) => WorkerParts
  /**
   * Passes a request to an endpoint of OpenAI's API other than chat, and returns the vendor's answer unchanged. A
   * server uses it for `/v1/embeddings` and `/v1/completions`; a Conductor never does. Absent if the vendor has no such
   * endpoint.
   */
  readonly forward?: Forward | undefined
}

/** An endpoint of OpenAI's API that is not a chat: vectors of texts, and the older completion of a text. */
export type ForwardEndpoint = "embeddings" | "completions"

/** A vendor's unchanged answer. */
export interface Forwarded {
  readonly contentType: string
  readonly body: Stream.Stream<Uint8Array, WorkerError>
}

/** Passes the body of a request on, with the worker's own model instead of the client's name for it. */
export type Forward = (
  endpoint: ForwardEndpoint,
  body: Readonly<Record<string, unknown>>
) => Effect.Effect<Forwarded, WorkerError>

// -------------------------------------------------------------------------------------------------------------------
// Errors
// -------------------------------------------------------------------------------------------------------------------

/** Why a call failed: a closed set, which every provider maps its vendor's errors into. */
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
  | { readonly _tag: "Malformed"; readonly detail?: string }
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
  /** The code of the worker is wrong: it threw, or returned an invalid answer. */
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

type Said = { readonly [Name in "_tag" | "detail" | (typeof measures)[number]]?: unknown }

const isMeasure = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0

/** Returns a reason that can be stored and shown: of a known kind, with finite numbers and plain text. */
const readable = (reason: WorkerErrorReason): WorkerErrorReason => {
  const said: Said = typeof reason === "object" && reason !== null ? reason : {}
  if (typeof said._tag !== "string" || !Object.hasOwn(explanations, said._tag)) {
    return { _tag: "Defect", detail: `it failed for an unknown reason: ${messageOf(said._tag ?? reason)}` }
  }
  const { detail } = said
  const words = typeof detail === "string" ? plain(detail) : undefined
  const wrong = measures.filter((name) => said[name] !== undefined && !isMeasure(said[name]))
  if (words === detail && wrong.length === 0) return reason
  return defined({
    ...said,
    detail: words,
    ...Object.fromEntries(wrong.map((name) => [name, undefined]))
  }) as WorkerErrorReason
}

/**
 * Returns the description of a failure, to be put in parentheses: without the worker's name before it, or a full stop.
 */
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

/** Formats the wait that the vendor requests, rounded up in the largest unit of which it is more than one. */
const waiting = (reason: WorkerErrorReason): string | undefined => {
  const millis = "retryAfterMillis" in reason ? reason.retryAfterMillis : undefined
  if (millis === undefined || millis < 1_000) return undefined
  const [unit, size] = units.find(([, size]) => millis >= size)!
  const rounded = Math.ceil((10 * millis) / size) / 10
  return `wait ${rounded} ${unit}, or use another worker`
}

/**
 * A failed call of a worker. `reason` has the cause; {@link isRetryable} whether a retry can help.
 *
 * **Details**
 *
 * The text of a reason is mostly a vendor's. Control characters in it, and marks that change the reading order, become
 * spaces here, so that an error can be shown anywhere. A reason of an unknown kind becomes a `Defect`.
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
    return `${this.worker} ${what}${said === "" ? "" : ` (${said})`}: ${waiting(this.reason) ?? todo}.`
  }
}

/** Whether the same call may succeed on a retry. */
export const isRetryable = (reason: WorkerErrorReason): boolean => explanations[reason._tag].retryable

/**
 * A run whose answer was declined by its worker: the error behind the ending `refused`. The call itself did not fail,
 * and a retry is unlikely to help.
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

/** The settings of a request that a worker may have of its own. */
export type WorkerDefaults = Pick<
  WorkerRequest,
  "maxOutputTokens" | "temperature" | "seed" | "stopSequences" | "reasoning"
>

/** Returns a request with a worker's own settings for those that it leaves unset. */
export const withDefaults = (request: WorkerRequest, defaults: WorkerDefaults): WorkerRequest => ({
  ...request,
  maxOutputTokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
  temperature: request.temperature ?? defaults.temperature,
  seed: request.seed ?? defaults.seed,
  stopSequences: request.stopSequences ?? defaults.stopSequences,
  reasoning: request.reasoning ?? defaults.reasoning
})
