/** The options of a worker. */

import type { WorkerRequest } from "@divisi/core/Worker"
import type { ProviderOptions } from "../ProviderOptions.ts"
import type { Capabilities } from "./capabilities.ts"

/** A worker's settings for requests that do not set them. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "seed" | "reasoning" | "stopSequences">

/**
 * The options of a worker. Settings are defaults; those of a request win.
 *
 * The key is read when the worker is made. Without one, each call fails with an `Authentication` error that names the
 * variable.
 */
export interface GeminiOptions extends Defaults, ProviderOptions<Capabilities> {
  /** `GEMINI_API_KEY` of the environment by default, else `GOOGLE_API_KEY`. */
  readonly apiKey?: ProviderOptions<Capabilities>["apiKey"]
  /** The address of the API, without a version; Google's own by default. */
  readonly baseURL?: string | undefined
  /** The key under which rate limits are shared; `google` by default. */
  readonly provider?: string | undefined
  /** Instead of the global `fetch`: for a proxy, or to look at headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** The options of a worker over a connection that has its key and address already, such as a model of an SDK. */
export type WorkerOptions = Omit<GeminiOptions, "apiKey" | "baseURL" | "fetch" | "headers">
