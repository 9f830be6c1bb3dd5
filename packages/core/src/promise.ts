/**
 * The same Conductor for people who do not use Effect: promises, async iterables, `AbortSignal`.
 *
 * A thin face over `Conductor`, with the same options and results. It adds only
 * how to write workers and policies without Effect.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Policy, type Context as PolicyContext, PolicyError } from "./policy/Policy.ts"
import type { RunEvent } from "./record/RunEvent.ts"
import * as Transcript from "./record/Transcript.ts"
import * as Conductor from "./run/Conductor.ts"
import { Gate } from "./run/Resilience.ts"
import { ResponseCache } from "./run/ResponseCache.ts"
import { messageOf } from "./Thrown.ts"
import * as Task from "./task/Task.ts"
import { errorOfThrown } from "./task/thrownError.ts"
import { estimateUsage, type Usage } from "./task/Usage.ts"
import {
  type FinishReason,
  type Worker,
  WorkerError,
  type WorkerErrorReason,
  type WorkerPart,
  type WorkerRequest
} from "./task/Worker.ts"
import * as WorkerPool from "./task/WorkerPool.ts"
import type { Workflow } from "./workflow/Workflow.ts"

export {
  bestOf,
  mixtureOfAgents,
  randomRouter,
  selfConsistency,
  selfReflection,
  single
} from "./policy/Baselines.ts"
export type { Policy, RunEvent, Transcript, Worker, WorkerErrorReason, WorkerRequest, Workflow }

// -------------------------------------------------------------------------------------------------------------------
// Models
// -------------------------------------------------------------------------------------------------------------------

/** What a run needs: a question, a pool and a policy. The rest is as in `Conductor.Options`. */
export interface ConductOptions extends Omit<Conductor.Options, "pool" | "policy"> {
  /** A question, or a task with an id and more. */
  readonly question: Task.Input
  /** At least one worker; ids must differ. */
  readonly pool: ReadonlyArray<Worker>
  readonly policy: Policy
  /** Stops the run: its calls end at once, and the result says `interrupted`. Nothing is thrown. */
  readonly signal?: AbortSignal | undefined
  /** Called with every event. What it throws does not stop the run: a warning is logged at its end. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Keeps answers between runs: `openCache` of `@divisi/files/promise`, or `ResponseCache.makeMemory`. */
  readonly cache?: ResponseCache | undefined
  /** Holds all runs that share it to the providers' limits: `openGate` of `@divisi/provider-kit/promise`. */
  readonly gate?: Gate | undefined
}

/** The result of a run, with its transcript. */
export interface ConductResult extends Conductor.RunResult {
  readonly transcript: Transcript.Transcript
}

/** What a worker's function returns: a text, or a text with what it used. */
export type Answer =
  | string
  | { readonly text: string; readonly usage?: Usage | undefined; readonly finishReason?: FinishReason | undefined }

/** A worker as an async function, or as an async generator of pieces of text. */
export interface WorkerOptions extends Omit<Worker, "generate" | "countInputTokens"> {
  readonly answer: (
    request: WorkerRequest,
    options: { readonly signal: AbortSignal }
  ) => Answer | Promise<Answer> | AsyncIterable<string>
}

// -------------------------------------------------------------------------------------------------------------------
// Workers and policies
// -------------------------------------------------------------------------------------------------------------------

const isAsyncIterable = (value: unknown): value is AsyncIterable<string> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value

/** An error for a worker to throw; its reason decides whether the call is retried. */
export const workerError = (worker: string, reason: WorkerErrorReason): Error => new WorkerError({ worker, reason })

const kindOf = (value: unknown): string => {
  if (value === undefined || value === null) return `${value}`
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** The error of a worker that gave what is no answer: a forgotten `return` gives `undefined`. */
const noAnswer = (worker: string, given: unknown): WorkerError => {
  const what = kindOf(given) === "an object" ? "an object without a text" : `${kindOf(given)} instead of text`
  return new WorkerError({
    worker,
    reason: { _tag: "Defect", detail: `it gave ${what}; return a string or { text, usage }` }
  })
}

type Given = {
  readonly text: string
  readonly usage?: Usage | undefined
  readonly finishReason?: FinishReason | undefined
}

const read = (given: unknown): Given | undefined => {
  if (typeof given === "string") return { text: given }
  const isGiven = typeof given === "object" && given !== null && "text" in given && typeof given.text === "string"
  return isGiven ? (given as Given) : undefined
}

/**
 * A worker from an async function or an async generator.
 *
 * **Details**
 *
 * `signal` is aborted when the call is interrupted or out of time. An error that it throws fails the call, and is retried
 * where it says that this can help: by a status (503, 429), a code (`ECONNRESET`), a time limit, or words of these. It is
 * the `cause` of the call's error. {@link workerError} says more exactly why. Without a `usage`, tokens are estimated at four characters each. What is no answer, as
 * the `undefined` of a forgotten `return`, fails the call as a `Defect` and is not asked for again.
 *
 * **Example**
 *
 * ```ts
 * import { worker } from "@divisi/core/promise"
 *
 * const shouting = worker({
 *   id: "shouting",
 *   description: "Repeats the question in capitals",
 *   answer: async ({ messages }) => messages.at(-1)?.content.toUpperCase() ?? ""
 * })
 * ```
 */
export const worker = ({ answer, ...about }: WorkerOptions): Worker => {
  const finish = (request: WorkerRequest, text: string, usage?: Usage, reason: FinishReason = "stop"): WorkerPart => ({
    type: "finish",
    reason,
    usage: usage ?? estimateUsage(request.messages, text)
  })
  const pieces = (request: WorkerRequest, texts: AsyncIterable<string>) =>
    Stream.suspend(() => {
      let whole = ""
      return Stream.fromAsyncIterable(texts, (error) => errorOfThrown(about.id, error)).pipe(
        Stream.map((text): WorkerPart => {
          if (typeof text !== "string") throw noAnswer(about.id, text)
          whole += text
          return { type: "text", text }
        }),
        Stream.concat(Stream.suspend(() => Stream.succeed(finish(request, whole))))
      )
    })
  return {
    ...about,
    generate: (request) =>
      Effect.gen(function* () {
        const signal = yield* Effect.abortSignal
        const given = yield* Effect.tryPromise({
          try: async () => answer(request, { signal }),
          catch: (error) => errorOfThrown(about.id, error)
        })
        if (isAsyncIterable(given)) return pieces(request, given)
        const whole = read(given)
        if (whole === undefined) return yield* noAnswer(about.id, given)
        const { finishReason, text, usage } = whole
        return Stream.make<[WorkerPart, WorkerPart]>({ type: "text", text }, finish(request, text, usage, finishReason))
      }).pipe(Stream.unwrap)
  }
}

/**
 * A policy from a function that writes a workflow, at once or as a promise.
 *
 * **Example**
 *
 * ```ts
 * import { policy } from "@divisi/core/promise"
 *
 * const two = policy("ask twice", ({ pool }) => ({
 *   steps: [
 *     { worker: 0, subtask: "Solve it.", access: [] },
 *     { worker: pool.workers.length - 1, subtask: "Check the answer above.", access: "all" }
 *   ]
 * }))
 * ```
 */
export const policy = (
  name: string,
  propose: (context: Omit<PolicyContext, "complete">) => Workflow | Promise<Workflow>
): Policy => ({
  name,
  propose: ({ complete: _, ...context }) =>
    Effect.tryPromise({
      try: async () => ({ workflow: await propose(context) }),
      catch: (error) => new PolicyError({ policy: name, detail: messageOf(error) })
    })
})

// -------------------------------------------------------------------------------------------------------------------
// What runs share
// -------------------------------------------------------------------------------------------------------------------

/**
 * Opens what a layer makes for as long as nobody closes it, for packages that give {@link conduct} something to share:
 * `openGate` of `@divisi/provider-kit/promise` and `openCache` of `@divisi/files/promise` do.
 */
export const open = async <S extends object, E>(
  key: Context.Key<never, S | undefined>,
  layer: Layer.Layer<never, E>
) => {
  const scope = Scope.makeUnsafe()
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope)).catch(async (error) => {
    await close()
    throw error
  })
  return { ...Context.getUnsafe(context, key)!, [Symbol.asyncDispose]: close }
}

// -------------------------------------------------------------------------------------------------------------------
// Runs
// -------------------------------------------------------------------------------------------------------------------

const aborted = (signal: AbortSignal | undefined): Effect.Effect<void> =>
  signal === undefined
    ? Effect.never
    : Effect.callback((resume) => {
        if (signal.aborted) return resume(Effect.void)
        const abort = () => resume(Effect.void)
        signal.addEventListener("abort", abort, { once: true })
        return Effect.sync(() => signal.removeEventListener("abort", abort))
      })

const start = Effect.fnUntraced(function* (options: ConductOptions, listener: (event: RunEvent) => void) {
  const { cache, gate, onEvent: _, pool, question, signal, ...rest } = options
  const conductor = Conductor.make({ ...rest, pool: WorkerPool.makeUnsafe(pool) })
  const run = conductor.start(Task.make(question), { listener })
  const cached = cache === undefined ? run : Effect.provideService(run, ResponseCache, cache)
  const running = yield* gate === undefined ? cached : Effect.provideService(cached, Gate, gate)
  yield* Effect.forkScoped(Effect.andThen(aborted(signal), running.interrupt))
  return running
})

/**
 * Answers a question.
 *
 * **Details**
 *
 * The promise is rejected only for a mistake in the options (an empty pool, two workers with one id). How a run ended
 * is in `ending`: `answered`, `budget`, `failed` or `interrupted`.
 *
 * **Example**
 *
 * ```ts
 * import { conduct, single, worker } from "@divisi/core/promise"
 *
 * const result = await conduct({
 *   question: "What is 6 times 7?",
 *   pool: [worker({ id: "calculator", answer: () => "42" })],
 *   policy: single("calculator")
 * })
 * result.answer // => "42"
 * ```
 */
export const conduct = (options: ConductOptions): Promise<ConductResult> => {
  const recorder = Transcript.recorder()
  const listener = (event: RunEvent) => {
    recorder.listener(event)
    return options.onEvent?.(event)
  }
  return Effect.gen(function* () {
    const run = yield* start(options, listener)
    const result = yield* run.result
    return { ...result, transcript: recorder.transcript()! }
  }).pipe(Effect.scoped, Effect.runPromise)
}

/**
 * The events of a run as they happen. Leaving the loop stops the run.
 *
 * **Example**
 *
 * ```ts
 * import { single, streamRun, worker } from "@divisi/core/promise"
 *
 * const pool = [worker({ id: "calculator", answer: () => "42" })]
 * for await (const event of streamRun({ question: "What is 6 times 7?", pool, policy: single(0) })) {
 *   if (event.type === "run-finished") console.log(event.answer)
 * }
 * ```
 */
export const streamRun = (options: ConductOptions): AsyncIterable<RunEvent> => {
  const run = start(options, (event) => options.onEvent?.(event))
  return Stream.toAsyncIterable(Stream.unwrap(Effect.map(run, ({ events }) => events)))
}
