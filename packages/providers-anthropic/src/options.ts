/** Options for a worker. */

import { Options } from "@divisi/core"
import type { WorkerRequest } from "@divisi/core/Worker"
import { ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { Capabilities } from "./capabilities.ts"

/** Settings for requests that do not specify them. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "reasoning" | "stopSequences">

/**
 * Options for a worker. Settings are defaults; those of a request take precedence.
 *
 * The key is read when the worker is created. Without one, each call fails with an `Authentication` error that names
 * the variable.
 */
export interface AnthropicOptions extends Defaults, ProviderOptions.ProviderOptions<Capabilities> {
  /** API key. Default: the environment variable `ANTHROPIC_API_KEY`. */
  readonly apiKey?: ProviderOptions.ProviderOptions<Capabilities>["apiKey"]
  /** Base URL of the API, without a version. Default: `ANTHROPIC_BASE_URL`, otherwise Anthropic's URL. */
  readonly baseURL?: string | undefined
  /** Id of the worker, unique within a pool. Default: `anthropic:` followed by the model. */
  readonly id?: string | undefined
  /** Workers with the same provider share rate limits. Default: `anthropic`. */
  readonly provider?: string | undefined
  /** Vendor-specific fields added to the body of every request, such as `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /**
   * Whether calls are sent in batches, which are answered within a day (usually much sooner) at half the price.
   * Concurrent calls are combined into one batch, so allow many concurrent calls. `true`, or the settings for batches.
   * Default: `false`.
   */
  readonly batch?: boolean | VendorBatch.Settings | undefined
  /** Replacement for the global `fetch`, for example to use a proxy or inspect headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * The part of a prompt that Anthropic caches: the system text (default), the conversation before the last turn as
   * well, or nothing. A cache write costs 1.25 times the input price, a cache read a tenth of it or less. A prefix
   * shorter than a few hundred tokens (a few thousand for older models) is not cached and has no extra cost.
   */
  readonly promptCache?: "system" | "conversation" | "none" | undefined
  /**
   * How long the cache is retained after its last use. Writing with one hour costs twice the input price. Default: 5
   * minutes.
   */
  readonly promptCacheFor?: "5m" | "1h" | undefined
}

const { seed: _, ...settings } = ProviderOptions.shape

const shape = {
  ...settings,
  body: Options.anObject,
  batch: VendorBatch.settingsShape,
  promptCache: Options.oneOf("system", "conversation", "none"),
  promptCacheFor: Options.oneOf("5m", "1h")
} satisfies Options.ShapeOf<AnthropicOptions>

/** Validation table for the options, used by `Options.check`. */
export const anthropicTable = ProviderOptions.table(shape)
