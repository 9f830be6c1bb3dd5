/** A model of OpenAI as a worker, through the Responses API. */

import type { Worker } from "@divisi/core/Worker"
import * as ApiKey from "@divisi/provider-kit/ApiKey"
import { capabilitiesOf, limitsOf } from "./capabilities.ts"
import { rateLimitHeaders } from "./internal/client.ts"
import * as Request from "./internal/responsesRequest.ts"
import { protocol } from "./internal/responsesStream.ts"
import { makeWorker } from "./internal/worker.ts"
import type { OpenAiOptions } from "./options.ts"
import { priceOf } from "./prices.ts"

/** The options of a worker over the Responses API. */
export interface ResponsesOptions extends OpenAiOptions {
  /** Asks for a summary of the reasoning, sent as reasoning parts; none by default. */
  readonly reasoningSummary?: "auto" | "concise" | "detailed" | undefined
}

/**
 * A model of OpenAI, through the Responses API. Prefer it to `openaiChat`.
 *
 * **Details**
 *
 * Its id is `openai:<model>`. The Responses API has no seed and no stop sequences: a request that sets one fails with
 * `InvalidRequest`; use `openaiChat` where you need them. Reasoning is set by effort, not by a number of tokens.
 *
 * **Example**
 *
 * ```ts
 * import { openai } from "@divisi/providers-openai"
 *
 * const worker = openai("gpt-5-mini", { apiKey: "sk-…", maxOutputTokens: 4096, reasoning: { type: "effort", effort: "low" } })
 * worker.id // => "openai:gpt-5-mini"
 * worker.pricing?.inputPerMillion // => 0.25
 * ```
 */
export const openai = (model: string, options: ResponsesOptions = {}): Worker => {
  const capabilities = { ...capabilitiesOf(model), ...Request.lacking, ...options.capabilities }
  const about = {
    id: options.id ?? `openai:${model}`,
    provider: options.provider ?? "openai",
    pricing: options.pricing ?? priceOf(model),
    limits: options.limits ?? limitsOf(model),
    key: ApiKey.resolve(options.apiKey, ["OPENAI_API_KEY"]),
    rateLimitHeaders,
    takesSeed: capabilities.seed,
    identity: { organization: options.organization, project: options.project }
  }
  return makeWorker(options, about, {
    toBody: (request) => Request.toBody(model, request, options, capabilities),
    send: (client, body, settings) => client.responses.create(body, settings),
    protocol
  })
}
