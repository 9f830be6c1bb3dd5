/** A model of Google as a worker, through `@google/generative-ai`. */

import type { Worker } from "@divisi/core/Worker"
import type { GeminiOptions } from "@divisi/provider-kit/Gemini"
import { makeWorker } from "@divisi/provider-kit/Gemini"
import type { SafetySetting } from "@google/generative-ai"
import { sdk } from "./internal/sdk.ts"

/** The options of a worker. */
export interface GoogleOptions extends GeminiOptions {
  /** What Google filters. */
  readonly safetySettings?: ReadonlyArray<SafetySetting> | undefined
}

/**
 * A model of Google, through the SDK that Google no longer maintains; `@divisi/providers-genai` uses its successor.
 *
 * **Details**
 *
 * Its id is `google:<model>`. An effort becomes a thinking level since Gemini 3, and Google's own budget for it before.
 * A setting that a model does not have (an effort, a budget out of its range, no thinking) fails with an
 * `InvalidRequest` that names it. When reasoning is set, thoughts come as reasoning parts.
 *
 * **Gotchas**
 *
 * The SDK hides the headers of a refusal, so a retry-after is known only if Google puts it in the body.
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
export const google = (model: string, options: GoogleOptions = {}): Worker =>
  makeWorker(model, options, sdk(model, options))
