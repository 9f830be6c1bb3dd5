/** A model of Google as a worker, over the Gemini API alone. */

import { Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { ProviderOptions } from "@divisi/provider-kit"
import type { GeminiOptions } from "@divisi/provider-kit/Gemini"
import { makeWorker } from "@divisi/provider-kit/Gemini"
import { transport } from "./internal/transport.ts"

/** The options of a worker. */
export interface GoogleOptions extends GeminiOptions {
  /** Fields of the vendor's own that are added to every request's body, e.g. `safetySettings` or `cachedContent`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
}

const googleShape = { ...ProviderOptions.shape, body: Options.anObject } satisfies Options.ShapeOf<GoogleOptions>

/**
 * A model of Google, through the Gemini API without an SDK; `@divisi/providers-genai` is the same over Google's.
 *
 * **Details**
 *
 * Its id is `google:<model>`. An effort becomes a thinking level since Gemini 3, and Google's own budget for it before.
 * A setting that a model does not have (an effort, a budget out of its range, no thinking) fails with an
 * `InvalidRequest` that names it. When reasoning is set, thoughts come as reasoning parts.
 *
 * **Example**
 *
 * ```ts
 * import { google } from "@divisi/providers-google"
 *
 * const worker = google("gemini-2.5-pro", { apiKey: "AIza…", reasoning: { type: "budget", tokens: 4096 } })
 * worker.id // => "google:gemini-2.5-pro"
 * worker.pricing?.outputPerMillion // => 10
 * ```
 */
export const google = (model: string, options: GoogleOptions = {}): Worker => {
  Options.check("google", options, googleShape)
  return makeWorker(model, options, transport(model, options))
}
