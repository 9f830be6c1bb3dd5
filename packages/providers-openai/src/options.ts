/** The options that all workers of this package share. */

import { Options } from "@divisi/core"
import { ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { Capabilities } from "./capabilities.ts"
import type { Defaults } from "./internal/settings.ts"

/**
 * The options that all workers of this package share. Settings are defaults; those of a request win.
 *
 * The key is read when the worker is made. Without one, each call fails with an `Authentication` error that names the
 * variable.
 */
export interface WorkerOptions extends Defaults, ProviderOptions.ProviderOptions<Capabilities> {
  /** `OPENAI_API_KEY` of the environment by default. */
  readonly apiKey?: ProviderOptions.ProviderOptions<Capabilities>["apiKey"]
  /** The address of the API, with its version: `OPENAI_BASE_URL`, else OpenAI's own. */
  readonly baseURL?: string | undefined
  /** Fields of the vendor's own that are added to every request's body, e.g. `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Instead of the global `fetch`, or of undici with `openaiCompatible`: for a proxy, or to look at headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** The further options of a worker over OpenAI's own APIs. */
export interface OpenAiOptions extends WorkerOptions {
  /** The organization that pays: `OPENAI_ORG_ID` by default. */
  readonly organization?: string | undefined
  /** The project that is charged; `OPENAI_PROJECT_ID` by default. */
  readonly project?: string | undefined
  /** Whether OpenAI stores the answer for later requests; false by default. */
  readonly store?: boolean | undefined
  /**
   * Whether calls are made in batches: answered within a day, mostly much sooner, for half the price. Concurrent calls
   * are sent in one batch, so allow many concurrent calls. `true`, or settings of it; false by default.
   */
  readonly batch?: boolean | VendorBatch.Settings | undefined
  /** The role of system text; `developer` by default. */
  readonly systemRole?: "system" | "developer" | undefined
}

/** The shapes of the options, for `Options.check`. */
export const workerShape = { ...ProviderOptions.shape, body: Options.anObject } satisfies Options.ShapeOf<WorkerOptions>

export const openAiShape = {
  ...workerShape,
  organization: Options.text,
  project: Options.text,
  store: Options.flag,
  batch: VendorBatch.settingsShape,
  systemRole: Options.oneOf("system", "developer")
} satisfies Options.ShapeOf<OpenAiOptions>
