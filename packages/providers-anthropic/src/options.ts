/** What a worker of this package can be given. */

import type { Pricing } from "@divisi/core/Usage"
import type { Limits, WorkerRequest } from "@divisi/core/Worker"
import type { ApiKey } from "@divisi/provider-kit/ApiKey"
import type { Capabilities } from "./capabilities.ts"

/** What a worker sets where a request does not. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "reasoning" | "stopSequences">

/**
 * What a worker can be given. Settings are defaults: those of a request win.
 *
 * The key is read when the worker is made. A worker without one fails each call with `Authentication`, naming the
 * variable.
 */
export interface AnthropicOptions extends Defaults {
  /** `ANTHROPIC_API_KEY` of the environment by default. */
  readonly apiKey?: ApiKey | undefined
  /** Where the API is, without a version: `ANTHROPIC_BASE_URL`, else Anthropic itself. */
  readonly baseURL?: string | undefined
  /** Unique within a pool; `anthropic:` and the model by default. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** The key under which rate limits are shared; `anthropic` by default. */
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
   * What of a prompt Anthropic is asked to keep in its cache: the system text (the default), all of the conversation
   * before the last turn as well, or nothing. Writing costs 1.25 times the input price, reading a tenth of it or less;
   * a prefix of less than some hundred tokens, or thousands for older models, is not cached and costs nothing on top.
   */
  readonly promptCache?: "system" | "conversation" | "none" | undefined
  /** How long the cache lives after its last use; 5 minutes by default. Writing for an hour costs twice the input price. */
  readonly promptCacheFor?: "5m" | "1h" | undefined
  /**
   * What becomes of a setting that the model does not have: the call fails with an `InvalidRequest` that names it (the
   * default), or the setting is left out.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}
