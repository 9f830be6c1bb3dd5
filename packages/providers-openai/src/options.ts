/** The options that all workers of this package share. */

import { Options } from "@divisi/core"
import { ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { Capabilities } from "./capabilities.ts"
import type { Defaults } from "./internal/settings.ts"

/**
 * The options that all workers of this package share. Settings are defaults; those of a request take precedence.
 *
 * The key is read when the worker is created. Without one, each call fails with an `Authentication` error that names
 * the variable.
 */
export interface WorkerOptions extends Defaults, ProviderOptions.ProviderOptions<Capabilities> {
  /** The API key. Default: the environment variable `OPENAI_API_KEY`. */
  readonly apiKey?: ProviderOptions.ProviderOptions<Capabilities>["apiKey"]
  /** The base URL of the API, with its version. Default: `OPENAI_BASE_URL`, otherwise OpenAI's own. */
  readonly baseURL?: string | undefined
  /** Vendor-specific fields that are added to the body of every request, such as `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Replaces the global `fetch`, or undici with `openaiCompatible`, for example for a proxy or to inspect headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** The additional options of a worker that uses OpenAI's own APIs. */
export interface OpenAiOptions extends WorkerOptions {
  /** The organization that is charged. Default: `OPENAI_ORG_ID`. */
  readonly organization?: string | undefined
  /** The project that is charged. Default: `OPENAI_PROJECT_ID`. */
  readonly project?: string | undefined
  /** Whether OpenAI stores the answer for later requests. Default: `false`. */
  readonly store?: boolean | undefined
  /**
   * Whether calls are made in batches, which are answered within a day (usually much sooner) at half the price.
   * Concurrent calls are sent in one batch, so allow many concurrent calls. `true`, or the settings of batches.
   * Default: `false`.
   */
  readonly batch?: boolean | VendorBatch.Settings | undefined
  /** The role of system text. Default: `developer`. */
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
