/** The options of a worker. */

import { Options } from "@divisi/core"
import type { WorkerRequest } from "@divisi/core/Worker"
import { ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { Capabilities } from "./capabilities.ts"

/** A worker's settings for requests that do not set them. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "reasoning" | "stopSequences">

/**
 * The options of a worker. Settings are defaults; those of a request win.
 *
 * The key is read when the worker is made. Without one, each call fails with an `Authentication` error that names the
 * variable.
 */
export interface AnthropicOptions extends Defaults, ProviderOptions.ProviderOptions<Capabilities> {
  /** `ANTHROPIC_API_KEY` of the environment by default. */
  readonly apiKey?: ProviderOptions.ProviderOptions<Capabilities>["apiKey"]
  /** The address of the API, without a version: `ANTHROPIC_BASE_URL`, else Anthropic's own. */
  readonly baseURL?: string | undefined
  /** Unique within a pool; `anthropic:` and the model by default. */
  readonly id?: string | undefined
  /** The key under which rate limits are shared; `anthropic` by default. */
  readonly provider?: string | undefined
  /** Fields of the vendor's own that are added to every request's body, e.g. `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /**
   * Whether calls are made in batches: answered within a day, mostly much sooner, for half the price. Concurrent calls
   * are sent in one batch, so allow many concurrent calls. `true`, or settings of it; false by default.
   */
  readonly batch?: boolean | VendorBatch.Settings | undefined
  /** Instead of the global `fetch`: for a proxy, or to look at headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * Which part of a prompt Anthropic caches: the system text (the default), the whole conversation before the last turn
   * as well, or nothing. Writing costs 1.25 times the input price, reading a tenth of it or less. A prefix of less than
   * some hundred tokens (thousands for older models) is not cached and costs nothing extra.
   */
  readonly promptCache?: "system" | "conversation" | "none" | undefined
  /**
   * How long the cache lives after its last use; 5 minutes by default. Writing for an hour costs twice the input price.
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
