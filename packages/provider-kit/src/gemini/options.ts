/** Options for a worker. */

import type { WorkerRequest } from "@divisi/core/Worker"
import type { ProviderOptions } from "../ProviderOptions.ts"
import type { Capabilities } from "./capabilities.ts"

/** A worker's settings for requests that do not set them. */
export type Defaults = Pick<WorkerRequest, "maxOutputTokens" | "temperature" | "seed" | "reasoning" | "stopSequences">

/**
 * Options for a worker. Settings are defaults; those of a request take precedence.
 *
 * The key is read when the worker is created. Without one, each call fails with an `Authentication` error that names
 * the variable.
 */
export interface GeminiOptions extends Defaults, ProviderOptions<Capabilities> {
  /** The API key. Default: the environment variable `GEMINI_API_KEY`, otherwise `GOOGLE_API_KEY`. */
  readonly apiKey?: ProviderOptions<Capabilities>["apiKey"]
  /** The base URL of the API, without a version. Default: Google's own. */
  readonly baseURL?: string | undefined
  /** The key under which rate limits are shared. Default: `google`. */
  readonly provider?: string | undefined
  /** Replaces the global `fetch`, for example for a proxy or to inspect headers. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

/** Options for a worker whose connection already has a key and an address, such as an SDK's model. */
export type WorkerOptions = Omit<GeminiOptions, "apiKey" | "baseURL" | "fetch" | "headers">
