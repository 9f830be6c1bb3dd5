/** Worker that samples from the weights in training, for example for the policy in a held-out evaluation. */

import { Options as Tables } from "@divisi/core"
import { defined } from "@divisi/core/Fields"
import { free } from "@divisi/core/Usage"
import { type Worker, WorkerError, type WorkerErrorReason, type WorkerPart } from "@divisi/core/Worker"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Engine, EngineError, Sample, Sampler, Tokenizer } from "./Engine.ts"

/** Options for `make`. */
export interface Options {
  readonly sampler: Sampler
  readonly engine: Pick<Engine, "tokenizer">
  /** Worker id. Default: `sampler`. */
  readonly id?: string | undefined
  /** Maximum number of tokens per answer if the request sets no limit. Default: 1,024. */
  readonly maxTokens?: number | undefined
  /** Converts a sample and its decoded text to the worker's answer. Defaults to the decoded text. */
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

/**
 * Returns the decoded text of a sample, without the end token.
 *
 * @internal
 */
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
 * Creates a worker from a sampler. It is free, samples at temperature 1 and supports seeds (default: 0).
 *
 * **Details**
 *
 * Answers are never cached, because other runs use the same name for different weights. Each answer includes the
 * `Sample` and the prompt tokens as `echo`, so the tokens of a completion are available even if it is read from a
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
