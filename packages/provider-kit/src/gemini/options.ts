/** The options of a worker. */

import type { Pricing } from "@divisi/core/Usage"
import type { Limits, WorkerRequest } from "@divisi/core/Worker"
import type { ApiKey } from "../ApiKey.ts"
import type { Capabilities } from "./capabilities.ts"

/** A worker's settings for requests that do not set them. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "seed" | "reasoning" | "stopSequences">

/**
 * The options of a worker. Settings are defaults; those of a request win.
 *
 * The key is read when the worker is made. Without one, each call fails with an `Authentication` error that names the
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
  /**
   * What happens to a setting that the model does not have: the call fails with an `InvalidRequest` that names it (the
   * default), or the setting is left out.
   */
  readonly unsupported?: "reject" | "omit" | undefined
}
