/** What every worker of this package can be given. */
import type { Limits, Pricing } from "@divisi/core/Worker"
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
  readonly apiKey?: ApiKey
  /** Where the API is, with its version: `OPENAI_BASE_URL`, else OpenAI itself. */
  readonly baseURL?: string
  /** Unique within a pool. */
  readonly id?: string
  readonly description?: string
  /** The key under which rate limits are shared. */
  readonly provider?: string
  /** Instead of the list price. */
  readonly pricing?: Pricing
  /** Instead of the limits that are known of the model. */
  readonly limits?: Limits
  /** Instead of what is known of the model. */
  readonly capabilities?: Partial<Capabilities>
  /** The longest silence, before an answer and in it; 600,000 by default. A longer one is a `Timeout`. */
  readonly timeoutMillis?: number
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Fields of the vendor's own that are added to every request's body, e.g. `service_tier`. */
  readonly body?: Readonly<Record<string, unknown>>
  /** Instead of the global `fetch`: for a proxy, or to look at headers. */
  readonly fetch?: typeof globalThis.fetch
  /**
   * What becomes of a setting that the model does not have: the call fails with an `InvalidRequest` that names it (the
   * default), or the setting is left out.
   */
  readonly unsupported?: "reject" | "omit"
}

/** What a worker over OpenAI's own APIs can be given on top. */
export interface OpenAiOptions extends WorkerOptions {
  /** The organization that pays: `OPENAI_ORG_ID` by default. */
  readonly organization?: string
  /** The project that pays: `OPENAI_PROJECT_ID` by default. */
  readonly project?: string
  /** Whether OpenAI keeps the answer for later requests; false by default. */
  readonly store?: boolean
  /** Whose words system text is: `developer` by default. */
  readonly systemRole?: "system" | "developer"
}
