/** Creates SDK clients without retries or logs, with the given key as their only credential. */
import Anthropic from "@anthropic-ai/sdk"
import type { Allowance } from "@divisi/core"
import { Endpoint } from "@divisi/provider-kit"
import * as Redacted from "effect/Redacted"
import type { AnthropicOptions } from "../options.ts"
import { reasonOfRefused } from "./errors.ts"

/** Default for the maximum time without data, in milliseconds. */
export const defaultTimeoutMillis = 600_000

/**
 * Anthropic's rate limits refill continuously; the token headers describe the limit that is closest to being reached.
 * Source: https://platform.claude.com/docs/en/api/rate-limits, read in November 2026.
 */
export const rateLimitHeaders: Allowance.HeaderNames = {
  requests: {
    limit: "anthropic-ratelimit-requests-limit",
    remaining: "anthropic-ratelimit-requests-remaining",
    reset: "anthropic-ratelimit-requests-reset"
  },
  tokens: {
    limit: "anthropic-ratelimit-tokens-limit",
    remaining: "anthropic-ratelimit-tokens-remaining",
    reset: "anthropic-ratelimit-tokens-reset"
  }
}

/** Creates a client that neither retries nor logs, and uses no credentials except the key. */
export const makeClient = (
  options: AnthropicOptions,
  key: Redacted.Redacted<string>,
  { baseURL, fetch }: Endpoint.Endpoint
): Anthropic =>
  new Anthropic({
    apiKey: Redacted.value(key),
    maxRetries: 0,
    timeout: options.timeoutMillis ?? defaultTimeoutMillis,
    logLevel: "off",
    baseURL: baseURL ?? null,
    defaultHeaders: options.headers,
    fetch: Endpoint.refusing(fetch, reasonOfRefused, key)
  })
