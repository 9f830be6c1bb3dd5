/** Creates SDK clients without retries or logs, and collects the secrets that they hold. */
import type { Allowance } from "@divisi/core"
import { type ApiKey, Endpoint } from "@divisi/provider-kit"
import * as Redacted from "effect/Redacted"
import OpenAI from "openai"
import type { WorkerOptions } from "../options.ts"

/**
 * OpenAI's rate limits refill continuously. Source: https://platform.openai.com/docs/guides/rate-limits, read in
 * November 2026.
 */
export const rateLimitHeaders: Allowance.HeaderNames = {
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

/** Returns the maximum time without data in milliseconds: ten minutes by default, limited to what a timer supports. */
export const timeoutMillis = (options: ClientOptions): number => Math.min(options.timeoutMillis ?? 600_000, 2 ** 31 - 1)

/** The worker options that are used by its client. */
type ClientOptions = Pick<WorkerOptions, "baseURL" | "fetch" | "headers" | "timeoutMillis">

/** Returns the key that requests carry, if it is known. The headers may contain a key that is not known here. */
export const sentKey = (key: Redacted.Redacted<string> | undefined, { headers }: ClientOptions): ApiKey.Sent =>
  key ?? (headers === undefined ? undefined : "unknown")

interface Identity {
  readonly organization?: string | null | undefined
  readonly project?: string | null | undefined
}

/** Returns the headers from the environment that the SDK adds to every request. */
const customHeaders = (): ReadonlyArray<string> =>
  (process.env.OPENAI_CUSTOM_HEADERS ?? "").split("\n").flatMap((line) => /^([^:]+):/.exec(line)?.[1]?.trim() ?? [])

const withoutHeaders = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, null]))

/** A client, and the strings that must not appear in its error messages. */
export interface Connected extends Pick<Endpoint.Endpoint, "fetch" | "secrets"> {
  readonly client: OpenAI
  readonly baseURL: string
}

/**
 * Creates a client without retries or logs. `identity` is the account at OpenAI. If it is `null`, the account set in
 * the environment is not sent; use `null` for servers that are not OpenAI's.
 */
export const connect = (
  worker: string,
  options: ClientOptions,
  key: Redacted.Redacted<string> | undefined,
  identity: Identity
): Connected => {
  const { headers } = options
  const secret = key && Redacted.value(key)
  const { baseURL, fetch, secrets } = Endpoint.make({
    worker,
    baseURL: options.baseURL,
    variables: ["OPENAI_BASE_URL"],
    key: secret,
    headers,
    fetch: options.fetch
  })
  const client = new OpenAI({
    // The SDK requires a key; without one, no header is sent.
    apiKey: secret ?? "none",
    adminAPIKey: null,
    baseURL: baseURL ?? null,
    ...identity,
    maxRetries: 0,
    timeout: timeoutMillis(options),
    logLevel: "off",
    defaultHeaders: {
      ...(identity.organization === null ? withoutHeaders(customHeaders()) : {}),
      ...headers,
      ...(key === undefined ? { authorization: null } : {})
    },
    fetch
  })
  return { client, baseURL: client.baseURL, fetch, secrets }
}
