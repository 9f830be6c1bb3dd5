/** The options that all workers of this package share. */

import type { Pricing } from "@divisi/core/Usage"
import type { Limits } from "@divisi/core/Worker"
import type { ApiKey } from "@divisi/provider-kit/ApiKey"
import type { Capabilities } from "./capabilities.ts"
import type { Defaults } from "./internal/settings.ts"

/**
 * The options that all workers of this package share. Settings are defaults; those of a request win.
 *
 * The key is read when the worker is made. Without one, each call fails with an `Authentication` error that names the
 * variable.
 */
export interface WorkerOptions extends Defaults {
  /** `OPENAI_API_KEY` of the environment by default. */
  readonly apiKey?: ApiKey | undefined
  /** Where the API is, with its version: `OPENAI_BASE_URL`, else OpenAI itself. */
  readonly baseURL?: string | undefined
  /** Unique within a pool. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** The key under which rate limits are shared. */
  readonly provider?: string | undefined
  /** Replaces the list price. */
  readonly pricing?: Pricing | undefined
  /** Replaces the known limits of the model. */
  readonly limits?: Limits | undefined
  /** Overrides what is known about the model. */
  readonly capabilities?: Partial<Capabilities> | undefined
  /**
   * The longest silence in milliseconds, before and within an answer; 600,000 by default. A longer one is a `Timeout`.
   */
  readonly timeoutMillis?: number | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Fields of the vendor's own that are added to every request's body, e.g. `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Instead of the global `fetch`: for a proxy, or to look at headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * What happens to a setting that the model does not have: the call fails with an `InvalidRequest` that names it (the
   * default), or the setting is left out.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}

/** The further options of a worker over OpenAI's own APIs. */
export interface OpenAiOptions extends WorkerOptions {
  /** The organization that pays: `OPENAI_ORG_ID` by default. */
  readonly organization?: string | undefined
  /** The project that pays: `OPENAI_PROJECT_ID` by default. */
  readonly project?: string | undefined
  /** Whether OpenAI stores the answer for later requests; false by default. */
  readonly store?: boolean | undefined
  /** The role of system text; `developer` by default. */
  readonly systemRole?: "system" | "developer" | undefined
}
