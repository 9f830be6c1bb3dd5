/** What a worker of this package can be given. */

import type { Pricing } from "@divisi/core/Usage"
import type { Limits, WorkerRequest } from "@divisi/core/Worker"
import type { ApiKey } from "../ApiKey.ts"
import type { Capabilities } from "./capabilities.ts"

/** What a worker sets where a request does not. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "seed" | "reasoning" | "stopSequences">

/**
 * What a worker can be given. Settings are defaults: those of a request win.
 *
 * The key is read when the worker is made. A worker without one fails each call with `Authentication`, naming the
 * variable.
 */
export interface GeminiOptions extends Defaults {
  /** `GEMINI_API_KEY` of the environment by default, else `GOOGLE_API_KEY`. */
  readonly apiKey?: ApiKey | undefined
  /** Where the API is, without a version; Google itself by default. */
  readonly baseURL?: string | undefined
  /** Unique within a pool. */
  readonly id?: string | undefined
  readonly description?: string | undefined
  /** The key under which rate limits are shared; `google` by default. */
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
  /**
   * What becomes of a setting that the model does not have: the call fails with an `InvalidRequest` that names it (the
   * default), or the setting is left out.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}
