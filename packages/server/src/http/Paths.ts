/** Suggestions for unknown paths. Most come from a base URL with one `/v1` too many or too few. */
import { Nearest } from "@divisi/core"

/** Paths served by this server. */
const known = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/models",
  "/v1/embeddings",
  "/v1/completions",
  "/v1/runs",
  "/v1/operations",
  "/metrics",
  "/health/live",
  "/health/ready",
  "/openapi.json"
] as const

/** Paths from vendor APIs that this server does not support, with a message that suggests an alternative. */
const foreign: ReadonlyArray<readonly [pattern: RegExp, says: string]> = [
  [
    /:(?:streamGenerateContent|generateContent|countTokens|embedContent)$/,
    " The Gemini API is not supported. Use an OpenAI client with a base URL that ends in /v1, or an Anthropic client."
  ],
  [
    /^\/api\/(?:chat|generate|tags|show|embed|embeddings|version|ps)$/,
    " The Ollama API is not supported. Use an OpenAI client with a base URL that ends in /v1."
  ],
  [
    /^\/openai\/(?:deployments|v1|responses)\b/,
    " Azure paths are not supported. Use an OpenAI client with a base URL that ends in /v1 and the deployment as the model."
  ],
  [
    /^\/model\/[^/]+\/(?:converse|converse-stream|invoke|invoke-with-response-stream)$/,
    " The Bedrock API is not supported. Use an OpenAI client with a base URL that ends in /v1, or an Anthropic client."
  ],
  [/^\/v1\/engines\//, " Engines are not supported. Use /v1/chat/completions with a model."]
]

/** Maximum path length for a suggestion. A longer path is unlikely to be a typing mistake. */
const maxCharacters = 200

/** Returns the path that was probably meant, or `undefined`. */
const meant = (path: string): string | undefined => {
  const rest = path
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "")
    .replace(/^(?:\/api)?(?:\/v1)*(?=\/|$)/, "")
  return known.find((one) => one === `/v1${rest}` || one === rest) ?? Nearest.nearest(path, known)
}

/** Returns a sentence that suggests the correct path and base URL, or an empty string if no path is similar. */
export const hint = (path: string): string => {
  const other = foreign.find(([pattern]) => pattern.test(path.slice(0, maxCharacters)))
  if (other !== undefined) return other[1]
  const found = path.length > maxCharacters ? undefined : meant(path)
  if (found === undefined) return ""
  const base = /^\/v1\/(?!messages)/.test(found) ? " The base URL of an OpenAI client must end in /v1." : ""
  const anthropic = found.startsWith("/v1/messages") ? " The base URL of an Anthropic client must not end in /v1." : ""
  return ` Did you mean ${found}?${base}${anthropic}`
}
