/** Creates workers from Google models, using the Gemini API without an SDK. */

import { Options } from "@divisi/core"
import type { Worker } from "@divisi/core/Worker"
import { ProviderOptions } from "@divisi/provider-kit"
import type { GeminiOptions } from "@divisi/provider-kit/Gemini"
import { makeWorker } from "@divisi/provider-kit/Gemini"
import { transport } from "./internal/transport.ts"

/** Options for a worker. */
export interface GoogleOptions extends GeminiOptions {
  /** Vendor-specific fields added to the body of every request, such as `safetySettings` or `cachedContent`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
}

const googleShape = { ...ProviderOptions.shape, body: Options.anObject } satisfies Options.ShapeOf<GoogleOptions>

const table = ProviderOptions.table(googleShape)

/**
 * Creates a worker from a Google model, using the Gemini API without an SDK. `@divisi/providers-genai` does the same
 * with Google's SDK.
 *
 * **Details**
 *
 * Its id is `google:<model>`. For Gemini 3 and later, an effort is converted to a thinking level; for earlier models,
 * to Google's equivalent budget. A setting that the model does not support (an effort, a budget out of range, turning
 * thinking off) fails with an `InvalidRequest` that names it. If reasoning is set, thoughts are emitted as reasoning
 * parts.
 *
 * **Example**
 *
 * ```ts
 * import { google } from "@divisi/providers-google"
 *
 * const worker = google("gemini-3.5-flash", { apiKey: "AIza…", reasoning: { type: "effort", effort: "low" } })
 * worker.id // => "google:gemini-3.5-flash"
 * worker.pricing?.outputPerMillion // => 9
 * ```
 */
export const google = (model: string, options: GoogleOptions = {}): Worker => {
  Options.check("google", options, table)
  return makeWorker(model, options, transport(model, options))
}
