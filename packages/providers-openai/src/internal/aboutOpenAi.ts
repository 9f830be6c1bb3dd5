/** What OpenAI's own two APIs have in common: key, rate limits and prices. */
import * as ApiKey from "@divisi/provider-kit/ApiKey"
import { type Capabilities, limitsOf } from "../capabilities.ts"
import type { OpenAiOptions } from "../options.ts"
import { priceOf } from "../prices.ts"
import { rateLimitHeaders } from "./client.ts"
import type { About } from "./worker.ts"

/** A model of OpenAI itself; `api` begins its id. */
export const aboutOpenAi = (
  api: "openai" | "openai-chat",
  model: string,
  options: OpenAiOptions,
  capabilities: Capabilities
): About => ({
  id: options.id ?? `${api}:${model}`,
  provider: options.provider ?? "openai",
  pricing: options.pricing ?? priceOf(model),
  limits: options.limits ?? limitsOf(model),
  key: ApiKey.resolve(options.apiKey, ["OPENAI_API_KEY"]),
  rateLimitHeaders,
  capabilities
})
