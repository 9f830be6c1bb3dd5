/** Options shared by all workers in this package. */

import { Options } from "@divisi/core"
import { ProviderOptions, VendorBatch } from "@divisi/provider-kit"
import type { Capabilities } from "./capabilities.ts"
import type { Defaults } from "./internal/settings.ts"

/**
 * Options shared by all workers in this package. Settings are defaults; those of a request take precedence.
 *
 * The key is read when the worker is created. Without one, each call fails with an `Authentication` error that names
 * the variable.
 */
export interface WorkerOptions extends Defaults, ProviderOptions.ProviderOptions<Capabilities> {
  /**
   * API key. Default: the environment variable `OPENAI_API_KEY`; `openaiCompatible` has no default and sends no key
   * without this option.
   */
  readonly apiKey?: ProviderOptions.ProviderOptions<Capabilities>["apiKey"]
  /** Base URL of the API, including the version. Default: `OPENAI_BASE_URL`, otherwise OpenAI's URL. */
  readonly baseURL?: string | undefined
  /** Vendor-specific fields added to the body of every request, such as `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /**
   * Replacement for the global `fetch` (for undici in `openaiCompatible`), for example to use a proxy or inspect
   * headers.
   */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Additional options for a worker that uses OpenAI's own APIs. */
export interface OpenAiOptions extends WorkerOptions {
  /** Id of the organization that is charged. Default: `OPENAI_ORG_ID`. */
  readonly organization?: string | undefined
  /** Id of the project that is charged. Default: `OPENAI_PROJECT_ID`. */
  readonly project?: string | undefined
  /** Whether OpenAI stores answers for later requests. Default: `false`. */
  readonly store?: boolean | undefined
  /**
   * Whether calls are sent in batches, which are answered within a day (usually much sooner) at half the price.
   * Concurrent calls are combined into one batch, so allow many concurrent calls. `true`, or the settings for batches.
   * Default: `false`.
   */
  readonly batch?: boolean | VendorBatch.Settings | undefined
  /** The role of system messages. Default: `developer`. */
  readonly systemRole?: "system" | "developer" | undefined
}

/** Validation tables for the options, used by `Options.check`. */
export const workerShape = { ...ProviderOptions.shape, body: Options.anObject } satisfies Options.ShapeOf<WorkerOptions>

export const openAiShape = {
  ...workerShape,
  organization: Options.name,
  project: Options.name,
  store: Options.flag,
  batch: VendorBatch.settingsShape,
  systemRole: Options.oneOf("system", "developer")
} satisfies Options.ShapeOf<OpenAiOptions>
