/** The SDK's client, with everything off that is ours to do, and the key that it holds. */
import type { HeaderNames } from "@tutti/core/Allowance"
import * as Redacted from "effect/Redacted"
import OpenAI from "openai"
import type { ApiKey, WorkerOptions } from "../options.ts"

/** A key that is at hand, or the name of the variable that should hold it. */
export type ResolvedKey = { readonly type: "key"; readonly key: Redacted.Redacted<string> } | Missing

interface Missing {
  readonly type: "missing"
  readonly variable: string
}

/** Reads a key once. `""` is none. */
export const resolveKey = (apiKey: ApiKey | undefined, variable: string): ResolvedKey => {
  if (Redacted.isRedacted(apiKey)) return { type: "key", key: apiKey }
  if (typeof apiKey === "string") return { type: "key", key: Redacted.make(apiKey) }
  const name = apiKey?.env ?? variable
  const value = process.env[name]
  return value === undefined || value === ""
    ? { type: "missing", variable: name }
    : { type: "key", key: Redacted.make(value) }
}

/** OpenAI's limits refill evenly. Source: https://platform.openai.com/docs/guides/rate-limits, read in November 2026. */
export const rateLimitHeaders: HeaderNames = {
  requests: {
    limit: "x-ratelimit-limit-requests",
    remaining: "x-ratelimit-remaining-requests",
    reset: "x-ratelimit-reset-requests"
  },
  tokens: {
    limit: "x-ratelimit-limit-tokens",
    remaining: "x-ratelimit-remaining-tokens",
    reset: "x-ratelimit-reset-tokens"
  }
}

/** How long a silence may be when nobody says. */
export const defaultTimeoutMillis = 600_000

interface Identity {
  readonly organization?: string | null | undefined
  readonly project?: string | null | undefined
}

/**
 * A client that neither retries nor logs. `identity` is that of the account at OpenAI; null keeps the environment's from
 * servers of others.
 */
export const makeClient = (options: WorkerOptions, key: string | undefined, identity: Identity): OpenAI =>
  new OpenAI({
    apiKey: key ?? "",
    adminAPIKey: null,
    baseURL: options.baseURL,
    ...identity,
    maxRetries: 0,
    timeout: options.timeoutMillis ?? defaultTimeoutMillis,
    logLevel: "off",
    // Without a key there is no header, either: local servers need none.
    defaultHeaders: { ...options.headers, ...(key === undefined ? { authorization: null } : {}) },
    fetch: options.fetch
  })
