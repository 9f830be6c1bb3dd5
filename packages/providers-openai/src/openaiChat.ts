/** A model of OpenAI as a worker, through Chat Completions. */

import type { Worker } from "@divisi/core/Worker"
import * as ApiKey from "@divisi/provider-kit/ApiKey"
import { capabilitiesOf, limitsOf } from "./capabilities.ts"
import { type Dialect, toBody } from "./internal/chatRequest.ts"
import { protocol } from "./internal/chatStream.ts"
import { rateLimitHeaders } from "./internal/client.ts"
import { makeWorker } from "./internal/worker.ts"
import type { OpenAiOptions } from "./options.ts"
import { priceOf } from "./prices.ts"

const dialect: Dialect = {
  usage: "stream-options",
  systemRole: "developer",
  outputLimit: "max_completion_tokens",
  reasoningFields: { effort: "reasoning_effort", off: "reasoning_effort" }
}

/**
 * A model of OpenAI, through Chat Completions: for seeds and stop sequences, which the Responses API does not have.
 *
 * **Details**
 *
 * Its id is `openai-chat:<model>`, its rate limits are shared with `openai`. OpenAI does not show reasoning here.
 *
 * **Example**
 *
 * ```ts
 * import { openaiChat } from "@divisi/providers-openai"
 *
 * const worker = openaiChat("gpt-4.1", { apiKey: "sk-…", temperature: 0, seed: 7, stopSequences: ["END"] })
 * worker.limits?.contextTokens // => 1047576
 * ```
 */
export const openaiChat = (model: string, options: OpenAiOptions = {}): Worker => {
  const capabilities = capabilitiesOf(model, options.capabilities)
  const settings = {
    ...options,
    ...dialect,
    systemRole: options.systemRole ?? "developer",
    store: options.store ?? false
  }
  const about = {
    id: options.id ?? `openai-chat:${model}`,
    provider: options.provider ?? "openai",
    pricing: options.pricing ?? priceOf(model),
    limits: options.limits ?? limitsOf(model),
    key: ApiKey.resolve(options.apiKey, ["OPENAI_API_KEY"]),
    rateLimitHeaders,
    takesSeed: capabilities.seed,
    identity: { organization: options.organization, project: options.project }
  }
  return makeWorker(options, about, {
    toBody: (request) => toBody(model, request, settings, capabilities),
    send: (client, body, call) => client.chat.completions.create(body, call),
    protocol: () => protocol(dialect)
  })
}
