/** A model behind any server that speaks Chat Completions, as a worker. */

import type { HeaderNames } from "@divisi/core/Allowance"
import type { Worker } from "@divisi/core/Worker"
import * as ApiKey from "@divisi/provider-kit/ApiKey"
import { capabilitiesOf } from "./capabilities.ts"
import { type Dialect, toBody } from "./internal/chatRequest.ts"
import { protocol } from "./internal/chatStream.ts"
import { makeWorker } from "./internal/worker.ts"
import type { WorkerOptions } from "./options.ts"

export type { Dialect, ReasoningFields } from "./internal/chatRequest.ts"

/** A server and in what it differs from OpenAI; see `presets` for those of the well-known ones. */
export interface CompatibleOptions extends Omit<WorkerOptions, "baseURL">, Dialect {
  /** With the version, e.g. `http://localhost:8000/v1`. */
  readonly baseURL: string
  readonly model: string
  /** The headers that tell what is left of the server's rate limits; not looked at when absent. */
  readonly rateLimitHeaders?: HeaderNames | undefined
  /** The first half of the worker's id; the host of `baseURL` when absent. */
  readonly name?: string | undefined
}

/**
 * A model behind a server that speaks Chat Completions.
 *
 * **Details**
 *
 * In what the server differs is said by settings, not found out: how it reports usage, where it puts reasoning, which
 * role and which output limit it knows. `presets` has those of vLLM, SGLang, llama-server, Ollama, LM Studio, OpenRouter,
 * DeepSeek and Together. Without `apiKey` no key is sent, and nothing of the environment's OpenAI account. The price is
 * unknown unless `pricing` says it: a server of your own may be `Worker.free`.
 *
 * **Example**
 *
 * ```ts
 * import { free } from "@divisi/core/Usage"
 * import { openaiCompatible, presets } from "@divisi/providers-openai"
 *
 * const local = openaiCompatible({ ...presets.ollama, model: "qwen3:8b", pricing: free })
 * local.id // => "ollama:qwen3:8b"
 *
 * const own = openaiCompatible({
 *   baseURL: "http://gpu-1:8000/v1",
 *   model: "my-model",
 *   usage: "stream-options",
 *   systemRole: "system",
 *   outputLimit: "max_tokens"
 * })
 * own.id // => "gpu-1:8000:my-model"
 * ```
 */
export const openaiCompatible = (options: CompatibleOptions): Worker => {
  const { model } = options
  const name = options.name ?? (URL.canParse(options.baseURL) ? new URL(options.baseURL).host : options.baseURL)
  // Models of others may be called like OpenAI's; what is known of those says nothing about them.
  const capabilities = capabilitiesOf("", { maxStopSequences: Number.POSITIVE_INFINITY, ...options.capabilities })
  const about = {
    id: options.id ?? `${name}:${model}`,
    provider: options.provider ?? name,
    pricing: options.pricing,
    limits: options.limits,
    key: options.apiKey === undefined ? undefined : ApiKey.resolve(options.apiKey, []),
    rateLimitHeaders: options.rateLimitHeaders,
    takesSeed: capabilities.seed,
    identity: { organization: null, project: null }
  }
  return makeWorker(options, about, {
    toBody: (request) => toBody(model, request, options, capabilities),
    send: (client, body, settings) => client.chat.completions.create(body, settings),
    protocol: () => protocol(options)
  })
}
