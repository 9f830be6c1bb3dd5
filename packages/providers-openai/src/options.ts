/** What every worker of this package can be given. */

import type { Pricing } from "@divisi/core/Usage"
import type { Limits } from "@divisi/core/Worker"
import type { ApiKey } from "@divisi/provider-kit/ApiKey"
import type { Capabilities } from "./capabilities.ts"
import type { Defaults } from "./internal/settings.ts"

/**
 * What every worker of this package can be given. Settings are defaults: those of a request win.
 *
 * The key is read when the worker is made. A worker without one fails each call with `Authentication`, naming the
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
  /** Instead of the list price. */
  readonly pricing?: Pricing | undefined
  /** Instead of the limits that are known of the model. */
  readonly limits?: Limits | undefined
  /** Instead of what is known of the model. */
  readonly capabilities?: Partial<Capabilities> | undefined
  /** The longest silence, before an answer and in it; 600,000 by default. A longer one is a `Timeout`. */
  readonly timeoutMillis?: number | undefined
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Fields of the vendor's own that are added to every request's body, e.g. `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Instead of the global `fetch`: for a proxy, or to look at headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
  /**
   * What becomes of a setting that the model does not have: the call fails with an `InvalidRequest` that names it (the
   * default), or the setting is left out.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}

/** What a worker over OpenAI's own APIs can be given on top. */
export interface OpenAiOptions extends WorkerOptions {
  /** The organization that pays: `OPENAI_ORG_ID` by default. */
  readonly organization?: string | undefined
  /** The project that pays: `OPENAI_PROJECT_ID` by default. */
  readonly project?: string | undefined
  /** Whether OpenAI keeps the answer for later requests; false by default. */
  readonly store?: boolean | undefined
  /** Whose words system text is: `developer` by default. */
  readonly systemRole?: "system" | "developer" | undefined
}
