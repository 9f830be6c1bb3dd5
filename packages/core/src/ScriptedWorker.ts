/** A mock worker for tests and examples. Replies are scripted, and every call is recorded. */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Tables from "./Options.ts"
import * as Message from "./task/Message.ts"
import { free, type Pricing, pricingShape } from "./task/Usage.ts"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart, type WorkerRequest } from "./task/Worker.ts"

/** Scripted behavior for a single call: return text, fail, hang forever, or stream the given parts. */
export type Reply =
  | string
  | { readonly fail: WorkerErrorReason }
  | { readonly hang: true }
  | {
      readonly parts: ReadonlyArray<WorkerPart>
      readonly delayMillis?: number | undefined
      readonly thenFail?: WorkerErrorReason | undefined
    }

/** A scripted worker that exposes the requests it has received, in order, and the number of calls in progress. */
export interface ScriptedWorker extends Worker {
  readonly calls: ReadonlyArray<WorkerRequest>
  readonly running: () => number
}

/** Options for creating a scripted worker. */
export interface Options {
  readonly id: string
  readonly description?: string | undefined
  readonly pricing?: Pricing | undefined
  readonly provider?: string | undefined
  /** Latency of each call, in milliseconds. Default: 0. */
  readonly latencyMillis?: number | undefined
  /**
   * The replies in order, with the last one repeated; or a function that returns the reply for a request and its call
   * index.
   */
  readonly replies: ReadonlyArray<Reply> | ((request: WorkerRequest, call: number) => Reply)
}

const table = Tables.table(
  {
    id: Tables.name,
    description: Tables.text,
    pricing: pricingShape,
    provider: Tables.text,
    latencyMillis: Tables.number(0),
    replies: Tables.expects(
      "a list of replies, or a function",
      (value) => Array.isArray(value) || typeof value === "function"
    )
  } satisfies Tables.ShapeOf<Options>,
  { required: ["id", "replies"] }
)

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "").length

const answerParts = (text: string, request: WorkerRequest): ReadonlyArray<WorkerPart> => [
  { type: "text", text },
  {
    type: "finish",
    reason: "stop",
    usage: {
      inputTokens: request.messages.reduce((sum, message) => sum + words(Message.text(message)), 0),
      outputTokens: words(text)
    }
  }
]

/**
 * Creates a scripted worker. Each word counts as one token. Calls are free unless `pricing` is set.
 *
 * **Example**
 *
 * ```ts
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 *
 * const flaky = ScriptedWorker.make({ id: "flaky", replies: [{ fail: { _tag: "Overloaded" } }, "42"] })
 * ```
 */
export const make = (options: Options): ScriptedWorker => {
  Tables.check("ScriptedWorker.make", options, table)
  const { id, latencyMillis = 0, replies } = options
  const calls: Array<WorkerRequest> = []
  let running = 0

  const reply = (request: WorkerRequest): Reply => {
    const call = calls.push(request) - 1
    if (typeof replies === "function") return replies(request, call)
    return replies[Math.min(call, replies.length - 1)] ?? ""
  }

  const play = (reply: Reply, request: WorkerRequest): Stream.Stream<WorkerPart, WorkerError> => {
    if (typeof reply === "string") return Stream.fromArray(answerParts(reply, request))
    if ("fail" in reply) return Stream.fail(new WorkerError({ worker: id, reason: reply.fail }))
    if ("hang" in reply) return Stream.never
    const parts =
      reply.delayMillis === undefined
        ? Stream.fromArray(reply.parts)
        : Stream.mapEffect(Stream.fromArray(reply.parts), (part) =>
            Effect.as(Effect.sleep(reply.delayMillis ?? 0), part)
          )
    return reply.thenFail === undefined
      ? parts
      : Stream.concat(parts, Stream.fail(new WorkerError({ worker: id, reason: reply.thenFail })))
  }

  return {
    id,
    description: options.description,
    provider: options.provider,
    pricing: options.pricing ?? free,
    calls,
    running: () => running,
    generate: (request) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const next = reply(request)
          running += 1
          if (latencyMillis > 0) yield* Effect.sleep(latencyMillis)
          return play(next, request)
        })
      ).pipe(Stream.ensuring(Effect.sync(() => (running -= 1))))
  }
}

/** Creates a worker that replies with the last message of each request. */
export const echo = (id: string): ScriptedWorker =>
  make({ id, replies: (request) => Message.text(request.messages.at(-1)) })
