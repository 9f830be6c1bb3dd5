/**
 * OpenAI's error responses, which are the same for Responses and Chat Completions.
 *
 * Sources: https://platform.openai.com/docs/guides/error-codes, https://platform.openai.com/docs/guides/rate-limits,
 * and the schema `Error` of the published description, https://github.com/openai/openai-openapi.
 */
import type { Dialect, Reply } from "../Dialect.ts"
import type { Refusal, RefusalKind } from "../Script.ts"

interface Words {
  readonly status: number
  readonly type: string
  readonly code: string | null
  readonly message: string
}

const words: Readonly<Record<RefusalKind, Words>> = {
  "rate-limited": {
    status: 429,
    type: "requests",
    code: "rate_limit_exceeded",
    message: "Rate limit reached for requests per minute (RPM): Limit 3, Used 3, Requested 1."
  },
  overloaded: {
    status: 503,
    type: "service_unavailable_error",
    code: "server_is_overloaded",
    message: "Our servers are currently overloaded. Please try again later."
  },
  unavailable: {
    status: 503,
    type: "server_error",
    code: null,
    message: "The engine is currently overloaded, please try again later."
  },
  "server-error": {
    status: 500,
    type: "server_error",
    code: null,
    message: "The server had an error while processing your request. Sorry about that!"
  },
  timeout: { status: 504, type: "server_error", code: null, message: "Gateway timeout." },
  authentication: {
    status: 401,
    type: "invalid_request_error",
    code: "invalid_api_key",
    message: "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."
  },
  permission: {
    status: 403,
    type: "invalid_request_error",
    code: "unsupported_country_region_territory",
    message: "Country, region, or territory not supported"
  },
  quota: {
    status: 429,
    type: "insufficient_quota",
    code: "insufficient_quota",
    message: "You exceeded your current quota, please check your plan and billing details."
  },
  "invalid-request": {
    status: 400,
    type: "invalid_request_error",
    code: "unsupported_value",
    message: "Unsupported value: 'temperature' does not support 0.2 with this model."
  },
  "unknown-model": {
    status: 404,
    type: "invalid_request_error",
    code: "model_not_found",
    message: "The model `gpt-nope` does not exist or you do not have access to it."
  },
  "context-too-long": {
    status: 400,
    type: "invalid_request_error",
    code: "context_length_exceeded",
    message:
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please " +
      "reduce the length of the messages."
  },
  "content-filtered": {
    status: 400,
    type: "invalid_request_error",
    code: "content_policy_violation",
    message: "Your request was rejected as a result of our safety system."
  }
}

/** Headers for the remaining rate limits in every answer. */
export const allowance: NonNullable<Dialect["allowance"]> = {
  headers: {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-remaining-tokens": "149984",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-reset-tokens": "6m0s"
  },
  means: {
    requests: { limit: 60, remaining: 59, resetMillis: 1000 },
    tokens: { limit: 150_000, remaining: 149_984, resetMillis: 360_000 }
  }
}

/** Returns the error object for a refusal. */
export const errorOf = ({ echo, kind, words: own }: Refusal) => {
  const { code, message, type } = words[kind]
  return { message: own ?? (echo === undefined ? message : `${message} ${echo}`), type, param: null, code }
}

/** Returns a refusal as an HTTP error. */
export const refuse = (refusal: Refusal): Reply => ({
  status: words[refusal.kind].status,
  headers: { "x-request-id": "req_0123456789abcdef" },
  body: JSON.stringify({ error: errorOf(refusal) })
})

/** Returns the error code for a failed stream. OpenAI has a fixed set of them. */
export const streamCode = (kind: RefusalKind): string =>
  kind === "rate-limited" ? "rate_limit_exceeded" : "server_error"
