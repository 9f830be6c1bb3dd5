/**
 * Provides a Conductor as a Vercel AI SDK language model: a program that calls `generateText` or `streamText` can use a
 * team by changing one line.
 */

import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { AnswerText, Options as Tables } from "@divisi/core"
import type { Conductor, RunOptions } from "@divisi/core/Conductor"
import { RunStream } from "@divisi/core/streams"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Answer from "./internal/answer.ts"
import { warnings } from "./internal/call.ts"
import { taskOf } from "./internal/task.ts"

export { ConductorModelError } from "./internal/answer.ts"

/** Options for a Conductor as a model. */
export interface Options {
  /** Model name. Default: `conductor`. */
  readonly modelId?: string | undefined
  /** Provider name. Default: `divisi`. */
  readonly provider?: string | undefined
  /** Whether the plan and the progress of steps are streamed as reasoning. Default: `false`. */
  readonly progress?: boolean | undefined
  /** Options for every run, such as a ledger that limits all runs together. */
  readonly run?: Omit<RunOptions, "runId" | "seed"> | undefined
  /** Services for every run: a response cache, a gate with rate limits, a tracer. */
  readonly context?: Context.Context<never> | undefined
}

const table = {
  modelId: Tables.name,
  provider: Tables.name,
  progress: Tables.flag,
  run: Tables.anObject,
  context: Tables.anObject
} satisfies Tables.ShapeOf<Options>

/**
 * Creates a model that answers with runs of a Conductor.
 *
 * **Details**
 *
 * - Text is streamed as the answering step writes it, but only once it can no longer be replaced. With more than one
 *   round (recursion, a critic), this means at the end. If a call fails after some of its text was streamed and its
 *   retry answers differently, the stream fails; it never continues with another text.
 * - Usage is that of the whole run, including the policy and all workers.
 * - `providerMetadata.divisi` contains the run's id, ending, cost, calls, rounds and workers.
 * - Aborting the call stops the run, including all its worker calls.
 * - A run without an answer fails with a {@link ConductorModelError}, which the AI SDK does not retry, because the run
 *   has already retried.
 * - `seed` is passed to the run. Settings that a Conductor decides itself (temperature, output limit, tools, a JSON
 *   schema) are reported as warnings. Images and other files in the prompt fail the call.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import { selfReflection, worker } from "@divisi/core/promise"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { conductorModel } from "@divisi/providers-ai-sdk"
 * import { generateText } from "ai"
 *
 * const pool = WorkerPool.makeUnsafe([worker({ id: "calculator", answer: () => "42" })])
 * const conductor = Conductor.make({ policy: selfReflection({ rounds: 2 }), pool })
 *
 * const { text, finalStep } = await generateText({
 *   model: conductorModel(conductor),
 *   prompt: "What is 6 times 7?"
 * })
 * text // => "42"
 * finalStep.providerMetadata?.divisi?.calls // => 3
 * ```
 */
export const conductorModel = (conductor: Conductor["Service"], options: Options = {}): LanguageModelV4 => {
  Tables.check("conductorModel", options, table)
  const { context = Context.empty(), modelId = "conductor", provider = "divisi" } = options

  const parts = (call: LanguageModelV4CallOptions) => {
    const task = taskOf(call.prompt)
    const { seed } = call
    const events = RunStream.make(conductor, task, { ...options.run, seed })
    const info: Answer.CallInfo = {
      modelId,
      warnings: warnings(call),
      showsProgress: options.progress === true,
      includesEvents: call.includeRawChunks === true
    }
    return Stream.mapAccumEffect(
      events,
      () => Answer.start(AnswerText.start(conductor)),
      (state, event) => Effect.fromResult(Answer.next(state, event, info))
    )
  }

  return {
    specificationVersion: "v4",
    provider,
    modelId,
    supportedUrls: {},
    doGenerate: async (call) => {
      const collected = Stream.runCollect(parts(call))
      const signal = call.abortSignal
      signal?.throwIfAborted()
      const exit = await Effect.runPromiseExitWith(context)(collected, { signal })
      if (Exit.isSuccess(exit)) return Answer.whole(exit.value)
      throw signal?.aborted ? signal.reason : Cause.squash(exit.cause)
    },
    doStream: async (call) => ({ stream: toReadable(parts(call), context, call.abortSignal) })
  }
}

/**
 * Returns a run as a web stream. The run starts immediately, and stops when the reader cancels or the signal is
 * aborted.
 */
const toReadable = (
  parts: Stream.Stream<LanguageModelV4StreamPart, unknown>,
  context: Context.Context<never>,
  signal: AbortSignal | undefined
): ReadableStream<LanguageModelV4StreamPart> => {
  let fiber: Fiber.Fiber<void, unknown> | undefined
  return new ReadableStream<LanguageModelV4StreamPart>({
    start: (controller) => {
      if (signal?.aborted) return controller.error(signal.reason)
      const told = Stream.runForEach(parts, (part) => Effect.sync(() => controller.enqueue(part)))
      fiber = Effect.runForkWith(context)(told, { signal })
      fiber.addObserver((exit) => {
        if (signal?.aborted) return controller.error(signal.reason)
        // Without a signal, only the reader can interrupt, and the stream is then already closed.
        if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return
        if (Exit.isFailure(exit)) for (const part of Answer.broken(Cause.squash(exit.cause))) controller.enqueue(part)
        controller.close()
      })
    },
    cancel: () => (fiber === undefined ? undefined : Effect.runPromise(Fiber.interrupt(fiber)))
  })
}
