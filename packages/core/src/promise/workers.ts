/** Helpers for defining workers as plain functions. */
import * as Effect from "effect/Effect"
import { isObject } from "../Fields.ts"
import * as Options from "../Options.ts"
import { withStreams } from "../task/streams.ts"
import { withThrown } from "../task/thrown.ts"
import { estimateUsage, pricingShape, type Usage } from "../task/Usage.ts"
import {
  capabilitiesShape,
  type FinishReason,
  limitsShape,
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerParts,
  type WorkerRequest
} from "../task/Worker.ts"

/** A tool call returned by a worker function. `arguments` is JSON text or a JSON-serializable value. */
export interface AskedTool {
  readonly name: string
  readonly arguments: unknown
  /** Default: a generated id. */
  readonly id?: string | undefined
}

/** The return value of a worker function: a string, text with usage, or tool calls. */
export type Answer =
  | string
  | {
      readonly text: string
      readonly toolCalls?: ReadonlyArray<AskedTool> | undefined
      readonly usage?: Usage | undefined
      readonly finishReason?: FinishReason | undefined
    }
  | {
      readonly text?: string | undefined
      readonly toolCalls: ReadonlyArray<AskedTool>
      readonly usage?: Usage | undefined
      readonly finishReason?: FinishReason | undefined
    }

/**
 * Options for {@link worker}. `answer` is a sync or async function, or an async generator that yields chunks of text.
 */
export interface WorkerOptions extends Omit<Worker, "generate" | "countInputTokens" | "forward"> {
  readonly answer: (
    request: WorkerRequest,
    options: { readonly signal: AbortSignal }
  ) => Answer | Promise<Answer> | AsyncIterable<string>
}

const shape = {
  id: Options.name,
  answer: Options.aFunction,
  description: Options.text,
  instructions: Options.text,
  capabilities: capabilitiesShape,
  settings: Options.anything,
  isLanguageModel: Options.flag,
  takesSeed: Options.flag,
  takesReasoning: Options.either(Options.flag, Options.oneOf("off")),
  takesTemperature: Options.flag,
  isCacheable: Options.flag,
  recovery: Options.either(Options.oneOf("free", "none"), Options.madeBy("{ reattach }", "reattach")),
  provider: Options.name,
  pricing: pricingShape,
  limits: limitsShape,
  maxOutputTokens: Options.whole(1)
} satisfies Options.ShapeOf<WorkerOptions>

/** Option names used by other libraries, grouped by the name used here. */
const called = Options.aliases({
  id: "name model agent",
  description: "role goal backstory handoff",
  instructions: "prompt system",
  answer: "execute run generate doGenerate handler call acall invoke forward fn func ask respond reply",
  "answer: ({ messages }) => …": "messages input question",
  maxOutputTokens: "maxTokens maxCompletion",
  pricing: "price cost inputCost",
  "limits: { contextTokens }": "context maxInputTokens",
  settings: "parameters",
  provider: "vendor",
  "tools of conduct": "tools functions toolset",
  "output of conduct": "schema output response structured",
  "worker: { timeoutMillis } of conduct": "timeout",
  "worker: { temperature } of conduct": "temperature",
  "retry: { maxAttempts } of conduct": "maxRetries retries",
  "openai(model, { apiKey }) instead of worker": "api baseURL"
})

const table = Options.table(shape, { required: ["id", "answer"], called })

/** Creates an error for worker functions to throw. The reason determines whether the call is retried. */
export const workerError = (worker: string, reason: WorkerErrorReason): Error => new WorkerError({ worker, reason })

// -------------------------------------------------------------------------------------------------------------------
// Answers
// -------------------------------------------------------------------------------------------------------------------

const isAsyncIterable = (value: unknown): value is AsyncIterable<string> =>
  isObject(value) && Symbol.asyncIterator in value

const isPromise = (value: unknown): value is PromiseLike<unknown> =>
  isObject(value) && "then" in value && typeof value.then === "function"

/** Returns the error for an invalid answer, such as the `undefined` that results from a missing `return`. */
const noAnswer = (worker: string, given: unknown): WorkerError => {
  const kind = typeof given === "number" || typeof given === "boolean" ? `a ${typeof given}` : Options.kindOf(given)
  const what = /^an (empty )?object/.test(kind)
    ? "an object without a text"
    : `${kind.replace("a list", "an array")} instead of text`
  return new WorkerError({
    worker,
    reason: { _tag: "Defect", detail: `it returned ${what}`, remedy: "return a string or { text, usage }" }
  })
}

const finish = (
  request: WorkerRequest,
  text: string,
  usage?: Usage | undefined,
  reason: FinishReason = "stop"
): WorkerPart => ({ type: "finish", reason, usage: usage ?? estimateUsage(request.messages, text) })

const partsOf = (request: WorkerRequest, given: unknown): ReadonlyArray<WorkerPart> | undefined => {
  if (typeof given === "string") return [{ type: "text", text: given }, finish(request, given)]
  if (!isObject(given)) return undefined
  const { finishReason, text = "", toolCalls = [], usage } = given as Partial<Exclude<Answer, string>>
  if (typeof text !== "string" || !Array.isArray(toolCalls)) return undefined
  if (toolCalls.length === 0) {
    return "text" in given ? [{ type: "text", text }, finish(request, text, usage, finishReason)] : undefined
  }
  const calls = toolCalls.map((call: AskedTool, index) => toolCallOf(request, call, index))
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls,
    finish(request, `${text}${calls.map((call) => call.arguments).join("")}`, usage, finishReason ?? "tool-calls")
  ]
}

/**
 * Converts a tool call to a worker part. Generated ids include the number of messages, so that they are unique within a
 * conversation.
 */
const toolCallOf = ({ messages }: WorkerRequest, { arguments: given, id, name }: AskedTool, index: number) => ({
  type: "tool-call" as const,
  id: id ?? `call-${messages.length}-${index}`,
  name,
  arguments: typeof given === "string" ? given : (JSON.stringify(given) ?? "{}")
})

/** Streams the chunks of an answer, followed by a finish part with the usage. */
const pieces = (worker: string, request: WorkerRequest, texts: AsyncIterable<string>, end: Effect.Effect<void>) =>
  withStreams((streams) => {
    let whole = ""
    const part = (text: unknown): WorkerPart => {
      if (typeof text !== "string") throw noAnswer(worker, text)
      whole += text
      return { type: "text", text }
    }
    return Effect.succeed(streams.fromIterable(worker, texts, part, () => finish(request, whole), end))
  })

/** Creates the abort signal for a call on first use, because most worker functions ignore it. */
class Asking {
  private controller: AbortController | undefined
  private isAborted = false

  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.isAborted) this.controller.abort()
    return this.controller.signal
  }

  abort(): void {
    this.isAborted = true
    this.controller?.abort()
  }
}

const ask = (worker: string, answer: WorkerOptions["answer"], request: WorkerRequest): WorkerParts =>
  Effect.callback((resume) => {
    const asking = new Asking()
    const take = (given: unknown) => {
      if (isAsyncIterable(given)) {
        const abort = Effect.sync(() => asking.abort())
        return resume(Effect.onInterrupt(pieces(worker, request, given, abort), () => abort))
      }
      const parts = partsOf(request, given)
      resume(parts === undefined ? Effect.fail(noAnswer(worker, given)) : Effect.succeed(parts))
    }
    const fail = (error: unknown) =>
      resume(withThrown(({ errorOfThrown }) => Effect.fail(errorOfThrown(worker, error))))
    try {
      const given: unknown = answer(request, asking)
      if (isPromise(given)) given.then(take, fail)
      else take(given)
    } catch (error) {
      fail(error)
    }
    return Effect.sync(() => asking.abort())
  })

/**
 * Creates a worker from an async function or an async generator.
 *
 * **Details**
 *
 * `signal` is aborted when the call is interrupted or times out. If the function throws, the call fails with that error
 * as its `cause`, and is retried if the error's status (503, 429), code (`ECONNRESET`) or message indicates a transient
 * problem. Throw a {@link workerError} to set the reason explicitly. If the answer has no `usage`, tokens are estimated
 * as four characters each. An invalid answer, such as `undefined` because of a missing `return`, fails the call with a
 * `Defect`, which is not retried. An unknown option throws an `OptionsError`.
 *
 * **Example**
 *
 * ```ts
 * import { messageText, worker } from "@divisi/core/promise"
 *
 * const shouting = worker({
 *   id: "shouting",
 *   description: "Repeats the question in capitals",
 *   answer: async ({ messages }) => messageText(messages.at(-1)).toUpperCase()
 * })
 * ```
 */
export const worker = (options: WorkerOptions): Worker => {
  Options.check("worker", options, table)
  const { answer, ...about } = options
  return { ...about, generate: (request) => ask(about.id, answer, request) }
}
