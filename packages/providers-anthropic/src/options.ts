/** The options of a worker. */

import { Options } from "@divisi/core"
import type { WorkerRequest } from "@divisi/core/Worker"
import { ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { Capabilities } from "./capabilities.ts"

/** A worker's settings for requests that do not set them. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "reasoning" | "stopSequences">

/**
 * The options of a worker. Settings are defaults; those of a request take precedence.
 *
 * The key is read when the worker is created. Without one, each call fails with an `Authentication` error that names
 * the variable.
 */
export interface AnthropicOptions extends Defaults, ProviderOptions.ProviderOptions<Capabilities> {
  /** The API key. Default: the environment variable `ANTHROPIC_API_KEY`. */
  readonly apiKey?: ProviderOptions.ProviderOptions<Capabilities>["apiKey"]
  /** The base URL of the API, without a version. Default: `ANTHROPIC_BASE_URL`, otherwise Anthropic's own. */
  readonly baseURL?: string | undefined
  /** The id of the worker, unique within a pool. Default: `anthropic:` and the model. */
  readonly id?: string | undefined
  /** The key under which rate limits are shared. Default: `anthropic`. */
  readonly provider?: string | undefined
  /** Vendor-specific fields that are added to the body of every request, such as `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /**
   * Whether calls are made in batches, which are answered within a day (usually much sooner) at half the price.
   * Concurrent calls are sent in one batch, so allow many concurrent calls. `true`, or the settings of batches.
   * Default: `false`.
   */
  readonly batch?: boolean | VendorBatch.Settings | undefined
  /** Replaces the global `fetch`, for example for a proxy or to inspect headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * The part of a prompt that Anthropic caches: the system text (the default), also the conversation before the last
   * turn, or nothing. Writing costs 1.25 times the input price, reading a tenth of it or less. A prefix of less than a
   * few hundred tokens (a few thousand for older models) is not cached and has no extra cost.
   */
  readonly promptCache?: "system" | "conversation" | "none" | undefined
  /**
   * The TTL of the cache after its last use. Writing with a TTL of one hour costs twice the input price. Default: 5
   * minutes.
   */
  readonly promptCacheFor?: "5m" | "1h" | undefined
}

const { seed: _, ...settings } = ProviderOptions.shape

/** The shape of the options, for `Options.check`. */
export const anthropicShape = {
  ...settings,
  body: Options.anObject,
  batch: VendorBatch.settingsShape,
  promptCache: Options.oneOf("system", "conversation", "none"),
  promptCacheFor: Options.oneOf("5m", "1h")
} satisfies Options.ShapeOf<AnthropicOptions>
