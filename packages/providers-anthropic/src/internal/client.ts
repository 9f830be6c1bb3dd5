/** The SDK's client, with everything off that is ours to do, and the key that it holds. */
import Anthropic from "@anthropic-ai/sdk"
import type { HeaderNames } from "@divisi/core/Allowance"
import * as Redacted from "effect/Redacted"
import type { AnthropicOptions, ApiKey } from "../options.ts"

/** How long a silence may be when nobody says. */
export const defaultTimeoutMillis = 600_000

/** A key that is at hand, or the name of the variable that should hold it. */
export type ResolvedKey =
  | { readonly type: "key"; readonly key: Redacted.Redacted<string> }
  | { readonly type: "missing"; readonly variable: string }

/** Reads a key once. `""` is none. */
export const resolveKey = (apiKey: ApiKey | undefined, variable: string): ResolvedKey => {
  if (Redacted.isRedacted(apiKey)) return { type: "key", key: apiKey }
  if (typeof apiKey === "string" && apiKey !== "") return { type: "key", key: Redacted.make(apiKey) }
  const name = typeof apiKey === "object" ? apiKey.env : variable
  const value = process.env[name]
  return value === undefined || value === ""
    ? { type: "missing", variable: name }
    : { type: "key", key: Redacted.make(value) }
}

/**
 * Anthropic's limits refill evenly; the headers on tokens tell of the limit that is nearest. Source:
 * https://platform.claude.com/docs/en/api/rate-limits, read in November 2026.
 */
export const rateLimitHeaders: HeaderNames = {
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

/** A client that neither retries nor logs, and takes its credentials from nowhere else. */
export const makeClient = (options: AnthropicOptions, key: string): Anthropic =>
  new Anthropic({
    apiKey: key,
    maxRetries: 0,
    timeout: options.timeoutMillis ?? defaultTimeoutMillis,
    logLevel: "off",
    ...(options.baseURL === undefined ? {} : { baseURL: options.baseURL }),
    ...(options.headers === undefined ? {} : { defaultHeaders: options.headers }),
    ...(options.fetch === undefined ? {} : { fetch: options.fetch })
  })
