/**
 * A worker that samples from the current weights, e.g. for the policy of a held-out evaluation.
 */

import { Options as Tables } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { free } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Engine, EngineError, Sample, Sampler, Tokenizer } from "./Engine.ts"

/** Options for creating a worker. */
export interface Options {
  readonly sampler: Sampler
  readonly engine: Pick<Engine, "tokenizer">
  /** Default: `sampler`. */
  readonly id?: string | undefined
  /** The maximum number of tokens of an answer, if the request sets no limit. Default: 1,024. */
  readonly maxTokens?: number | undefined
  /** Returns the answer for a sample and its decoded text. Default: the text. */
  readonly textOf?: ((sample: Sample, text: string) => string) | undefined
}

const reasonOf = ({ message, reason }: EngineError): WorkerErrorReason => {
  switch (reason._tag) {
    case "RateLimited":
      return defined({ _tag: "RateLimited", detail: message, retryAfterMillis: reason.retryAfterMillis })
    case "Unreachable":
      return { _tag: "Network", detail: message }
    case "Authentication":
      return { _tag: "Authentication", detail: message }
    case "TooLarge":
      return { _tag: "ContextTooLong", detail: message }
    default:
      return { _tag: "InvalidRequest", detail: message }
  }
}

/** Returns the text of a sample, without the end token. */
export const decode = ({ decode }: Tokenizer, { reason, tokens }: Sample): string =>
  decode(reason === "stop" ? tokens.slice(0, -1) : tokens)

const table = Tables.table(
  {
    sampler: Tables.madeBy("a sampler", "sample"),
    engine: Tables.anObject,
    id: Tables.name,
    maxTokens: Tables.whole(1),
    textOf: Tables.aFunction
  } satisfies Tables.ShapeOf<Options>,
  { required: ["sampler", "engine"] }
)

/**
 * Makes a worker from a sampler. It costs nothing, samples at a temperature of 1 and supports seeds (default 0).
 *
 * **Details**
 *
 * Its answers are never cached, because other runs have other weights under the same name. Its answers include the
 * `Sample` and the prompt tokens as `echo`, so that a completion's tokens are available even if it comes from a
 * journal, and a server can return them (`return_token_ids`).
 *
 * **Example**
 *
 * ```ts
 * import { LanguagePolicy } from "@divisi/core"
 * import { SamplerWorker } from "@divisi/trainer"
 * import * as ToyEngine from "@divisi/trainer/ToyEngine"
 * import * as Effect from "effect/Effect"
 *
 * const engine = ToyEngine.make()
 * const policy = Effect.runSync(
 *   Effect.scoped(
 *     Effect.map(engine.sampler, (sampler) =>
 *       LanguagePolicy.make({ model: SamplerWorker.make({ sampler, engine, id: "after 10" }) })
 *     )
 *   )
 * )
 * policy.name // => "after 10"
 * ```
 */
export const make = (options: Options): Worker => {
  Tables.check("SamplerWorker.make", options, table)
  return workerOf(options)
}

const workerOf = ({
  engine,
  id = "sampler",
  maxTokens = 1024,
  sampler,
  textOf = (_, text) => text
}: Options): Worker => ({
  id,
  isCacheable: false,
  recovery: "free",
  pricing: free,
  countInputTokens: ({ messages }) => engine.tokenizer.render(messages).length,
  generate: ({ maxOutputTokens = maxTokens, messages, seed = 0 }) => {
    const prompt = engine.tokenizer.render(messages)
    const parts = Effect.map(
      sampler.sample({ prompt, maxTokens: maxOutputTokens, seed }),
      (samples): ReadonlyArray<WorkerPart> => {
        const sample = samples[0]!
        const usage = { inputTokens: prompt.length, outputTokens: sample.tokens.length }
        return [
          { type: "text", text: textOf(sample, decode(engine.tokenizer, sample)) },
          { type: "finish", reason: sample.reason, usage, echo: { ...sample, prompt } }
        ]
      }
    )
    return Stream.unwrap(
      Effect.mapBoth(parts, {
        onSuccess: Stream.fromIterable,
        onFailure: (error) => new WorkerError({ worker: id, reason: reasonOf(error) })
      })
    )
  }
})
