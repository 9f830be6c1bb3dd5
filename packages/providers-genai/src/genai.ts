/** Creates workers from Google models, using `@google/genai`. */

import { Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { ProviderOptions } from "@divisi/provider-kit"
import type { GeminiOptions } from "@divisi/provider-kit/Gemini"
import { makeWorker } from "@divisi/provider-kit/Gemini"
import type { GenerateContentConfig } from "@google/genai"
import { transport } from "./internal/transport.ts"

/** Options for a worker. */
export interface GenaiOptions extends GeminiOptions {
  /** Vendor-specific settings added to every request, such as `safetySettings` or `cachedContent`. */
  readonly config?:
    | Omit<GenerateContentConfig, "abortSignal" | "automaticContinuation" | "automaticFunctionCalling" | "httpOptions">
    | undefined
}

const genaiShape = { ...ProviderOptions.shape, config: Options.anObject } satisfies Options.ShapeOf<GenaiOptions>

const table = ProviderOptions.table(genaiShape)

/**
 * Creates a worker from a Google model, using the Gemini API.
 *
 * **Details**
 *
 * Its id is `genai:<model>`. For Gemini 3 and later, an effort is converted to a thinking level; for earlier models, to
 * Google's equivalent budget. A setting that the model does not support (an effort, a budget out of range, turning
 * thinking off) fails with an `InvalidRequest` that names it. If reasoning is set, thoughts are emitted as reasoning
 * parts.
 *
 * **Example**
 *
 * ```ts
 * import { genai } from "@divisi/providers-genai"
 *
 * const worker = genai("gemini-3.5-flash-lite", { apiKey: "AIza…", reasoning: { type: "effort", effort: "minimal" } })
 * worker.id // => "genai:gemini-3.5-flash-lite"
 * worker.pricing?.inputPerMillion // => 0.3
 * ```
 */
export const genai = (model: string, options: GenaiOptions = {}): Worker => {
  Options.check("genai", options, table)
  return makeWorker(model, options, transport(model, options))
}
