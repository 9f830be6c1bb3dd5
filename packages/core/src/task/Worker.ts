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
}

/**
 * One call of a worker. Settings that are absent or `undefined` are the worker's own defaults: {@link withDefaults}
 * puts those in, where a plain spread would put `undefined` over them.
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
 * Why a worker stopped. `refusal`: the model declines to answer, or a filter of the vendor's has cut its answer off; the
 * text, which may be empty, is then no answer. `tool-calls`: it waits for the results of the tools that it asked for.
 * `other` stands for a reason that the vendor gives and we do not know.
 */
export type FinishReason = "stop" | "length" | "refusal" | "tool-calls" | "other"

/**
 * A piece of a worker's answer. The parts of an answer end with exactly one `finish`. An `allowance` belongs to no answer:
 * it reports what is left of the vendor's rate limits, as early as it is known, so that later calls can wait. A
 * `tool-call` is whole; a `tool-call-delta` before it is a piece of its arguments, for those who watch. A `handle` belongs
 * to no answer either: by it the vendor can be asked for this answer again ({@link Reattach}). Of several the last counts;
 * in a run with a journal, nothing more is taken from the worker until a handle is there after a crash. A `notice` says
 * what of the request was left out or replaced.
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
      /** The whole text, where the vendor's final object has another than came in pieces: it replaces them. */
      readonly text?: string | undefined
    }

/** The parts of one answer as they come. */
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
  /** Asks for tools, and reads their results. */
  readonly tools?: boolean | undefined
  /** Sees pictures. */
  readonly images?: boolean | undefined
  /** Reads files, such as PDFs. */
  readonly files?: boolean | undefined
  /** Holds its answer to a JSON Schema. Other workers are asked for it in words. */
  readonly jsonSchema?: boolean | undefined
  /** Holds its answer to JSON of any form; as `jsonSchema` when absent. Other workers are asked for it in words. */
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
  /** Gives the whole answer, by the handle that the call gave as it began. Fails where the vendor does not know it. */
  readonly reattach: (handle: string, request: WorkerRequest) => WorkerParts
}

/**
 * The id of the call that is made, in a run with a journal: `run/round/step/number/attempt`, the same after a crash. For
 * workers that can be asked again ({@link Reattach}), to name at their vendor what they ask; `undefined` otherwise.
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
   * A system prompt of its own, sent before all others: two workers can be one model in two roles. Part of what a call
   * is budgeted and cached by.
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
   * False when the model takes no seed; calls are then sent without one and stay random. True when absent.
   */
  readonly takesSeed?: boolean | undefined
  /**
   * False for a model that changes between calls, such as one in training: its answers are neither stored in a
   * `ResponseCache` nor found there. True when absent.
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
   * The exact number of input tokens of a request, tools and pictures included, where the worker can tell; `undefined`
   * where it cannot. Then a budget reserves an upper bound: one token for each byte of text, and what a picture and a
   * file may take at most.
   */
  readonly countInputTokens?: ((request: WorkerRequest) => number | undefined) | undefined
  /** Answers one request. Interrupting what it gives stops the call. */
  readonly generate: (request: WorkerRequest) => WorkerParts
  /**
   * Passes a request to an endpoint of OpenAI's API that is not a chat, and returns the vendor's answer as it came. A
   * server uses it for `/v1/embeddings` and `/v1/completions`; a Conductor never does. Absent where the vendor has no
   * such endpoint.
   */
  readonly forward?: Forward | undefined
}

/** An endpoint of OpenAI's API that is not a chat: vectors of texts, and the older completion of a text. */
export type ForwardEndpoint = "embeddings" | "completions"

/** A vendor's answer as it came. */
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

/** A reason as it can be written down and shown: of a known kind, its numbers finite, its words plain. */
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
 * A failed call of a worker. `reason` says why; {@link isRetryable} whether trying again can help.
 *
 * **Details**
 *
 * The words of a reason are mostly a vendor's. Control characters in them, and marks that turn the order of what is
 * read, become spaces here, so that an error can be shown anywhere. A reason of no known kind becomes a `Defect`.
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

/** Whether the same call may succeed when it is tried again. */
export const isRetryable = (reason: WorkerErrorReason): boolean => explanations[reason._tag].retryable

/**
 * A run whose answer its worker declined to give: the error behind the ending `refused`. No call has failed, and trying
 * again is not likely to help.
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

/** A request with a worker's own settings where it sets none. */
export const withDefaults = (request: WorkerRequest, defaults: WorkerDefaults): WorkerRequest => ({
  ...request,
  maxOutputTokens: request.maxOutputTokens ?? defaults.maxOutputTokens,
  temperature: request.temperature ?? defaults.temperature,
  seed: request.seed ?? defaults.seed,
  stopSequences: request.stopSequences ?? defaults.stopSequences,
  reasoning: request.reasoning ?? defaults.reasoning
})
