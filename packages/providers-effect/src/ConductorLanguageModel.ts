/**
 * Provides a Conductor as Effect's `LanguageModel`: a program that uses this service can use a team by replacing one
 * layer.
 */

import { AnswerText, Options as Tables } from "@divisi/core"
import { Conductor, type RunOptions } from "@divisi/core/Conductor"
import { RunStream } from "@divisi/core/streams"
import * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Answer from "./internal/answer.ts"
import { taskOf } from "./internal/task.ts"

/** Options for a Conductor as a model. */
export interface Options {
  /** Model name in responses. Default: `conductor`. */
  readonly modelId?: string | undefined
  /** Options for every run, such as a seed, or a ledger that limits all runs together. */
  readonly run?: Omit<RunOptions, "runId"> | undefined
}

const table = { modelId: Tables.name, run: Tables.anObject } satisfies Tables.ShapeOf<Options>

/**
 * Creates a model that answers with runs of the `Conductor` in the context.
 *
 * **Details**
 *
 * - `streamText` streams the text of the answering step as it is written, but only once it can no longer be replaced.
 *   With more than one round (recursion, a critic), this means at the end. If a call fails after some of its text was
 *   emitted and its retry answers differently, the stream fails.
 * - The finish part contains the usage of the whole run, and `metadata.divisi` contains its id, ending, cost, calls,
 *   rounds and workers.
 * - Interrupting a call stops the run, including all its worker calls.
 * - A toolkit, an output schema or files in the prompt fail with an `InvalidRequestError`. A run without an answer
 *   fails with an `UnknownError`, which is not retried, because the run has already retried.
 */
export const make = Effect.fnUntraced(function* (
  options: Options = {}
): Effect.fn.Return<LanguageModel.LanguageModel, Tables.OptionsError, Conductor> {
  yield* Tables.checked("ConductorLanguageModel.make", options, table)
  const conductor = yield* Conductor

  const streamText = (asked: LanguageModel.ProviderOptions) =>
    Stream.unwrap(
      Effect.map(Effect.fromResult(taskOf(asked)), (task) =>
        Stream.mapAccumEffect(
          Stream.mapError(
            RunStream.make(conductor, task, options.run),
            ({ message }) => new AiError.UnknownError({ description: message })
          ),
          () => Answer.start(AnswerText.start(conductor)),
          (state, event) => Effect.fromResult(Answer.next(state, event, options.modelId ?? "conductor"))
        )
      )
    ).pipe(
      Stream.mapError((reason) => AiError.make({ module: "ConductorLanguageModel", method: "streamText", reason }))
    )

  return yield* LanguageModel.make({
    streamText,
    generateText: (asked): Effect.Effect<Array<Response.PartEncoded>, AiError.AiError> =>
      Effect.map(Stream.runCollect(streamText(asked)), Answer.whole)
  })
})

/**
 * Provides a Conductor as the `LanguageModel` service.
 *
 * **Example**
 *
 * ```ts
 * import * as Conductor from "@divisi/core/Conductor"
 * import { Baselines } from "@divisi/core"
 * import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
 * import * as WorkerPool from "@divisi/core/WorkerPool"
 * import { ConductorLanguageModel } from "@divisi/providers-effect"
 * import * as LanguageModel from "effect/ai/LanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
 * const team = ConductorLanguageModel.layer().pipe(Layer.provide(Conductor.layer({ policy: Baselines.single(0), pool })))
 *
 * const response = await LanguageModel.generateText({ prompt: "What is 6 times 7?" }).pipe(
 *   Effect.provide(team),
 *   Effect.runPromise
 * )
 * response.text // => "42"
 * response.usage.outputTokens.total // => 1
 * ```
 */
export const layer = (
  options: Options = {}
): Layer.Layer<LanguageModel.LanguageModel, Tables.OptionsError, Conductor> =>
  Layer.effect(LanguageModel.LanguageModel, make(options))
