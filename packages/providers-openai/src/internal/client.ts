/** The SDK's client, with retries and logs off, and the key that it holds. */
import type { Allowance } from "@divisi/core"
import { Endpoint } from "@divisi/provider-kit"
import OpenAI from "openai"
import type { WorkerOptions } from "../options.ts"

/**
 * OpenAI's limits refill evenly. Source: https://platform.openai.com/docs/guides/rate-limits, read in November 2026.
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

/** The longest silence: ten minutes by default, and at most what a timer can be set to. */
export const timeoutMillis = (options: ClientOptions): number => Math.min(options.timeoutMillis ?? 600_000, 2 ** 31 - 1)

/** The options of a worker that its client uses. */
type ClientOptions = Pick<WorkerOptions, "baseURL" | "fetch" | "headers" | "timeoutMillis">

interface Identity {
  readonly organization?: string | null | undefined
  readonly project?: string | null | undefined
}

/** The headers from the environment that the SDK adds to every request. */
const customHeaders = (): ReadonlyArray<string> =>
  (process.env.OPENAI_CUSTOM_HEADERS ?? "").split("\n").flatMap((line) => /^([^:]+):/.exec(line)?.[1]?.trim() ?? [])

const withoutHeaders = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, null]))

/** A client, and what no error of its calls may show. */
export interface Connected extends Pick<Endpoint.Endpoint, "fetch" | "secrets"> {
  readonly client: OpenAI
  readonly baseURL: string
}

/**
 * A client that neither retries nor logs. `identity` is the account at OpenAI; null keeps the environment's account
 * from other servers.
 */
export const connect = (
  worker: string,
  options: ClientOptions,
  key: string | undefined,
  identity: Identity
): Connected => {
  const { headers } = options
  const { baseURL, fetch, secrets } = Endpoint.make({
    worker,
    baseURL: options.baseURL,
    variables: ["OPENAI_BASE_URL"],
    key,
    headers,
    fetch: options.fetch
  })
  const client = new OpenAI({
    // The SDK insists on a key; without one, no header is sent.
    apiKey: key ?? "none",
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
