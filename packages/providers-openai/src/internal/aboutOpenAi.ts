/** Shared parts of OpenAI's two APIs: key, rate limits and prices. */
import { ApiKey, VendorBatch } from "@divisi/provider-kit"
import { type Capabilities, limitsOf } from "../capabilities.ts"
import type { OpenAiOptions } from "../options.ts"
import { priceOf } from "../prices.ts"
import { rateLimitHeaders } from "./client.ts"
import type { About } from "./worker.ts"

/** Describes a model from OpenAI itself; `api` is the prefix of its id. */
export const aboutOpenAi = (
  api: "openai" | "openai-chat",
  model: string,
  options: OpenAiOptions,
  capabilities: Capabilities,
  isBatch: boolean
): About => ({
  id: options.id ?? `${api}:${model}`,
  model,
  // OpenAI has separate rate limits for batches.
  provider: options.provider ?? (isBatch ? "openai-batch" : "openai"),
  pricing: options.pricing ?? (isBatch ? VendorBatch.halved(priceOf(model)) : priceOf(model)),
  limits: options.limits ?? limitsOf(model),
  key: ApiKey.resolve(options.apiKey, ["OPENAI_API_KEY"]),
  rateLimitHeaders,
  capabilities
})
