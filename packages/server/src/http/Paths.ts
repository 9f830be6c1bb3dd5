/** Suggestions for unknown paths. Most come from a base URL with one `/v1` too many or too few. */
import { Nearest } from "@divisi/core"

/** Paths served by this server, with their methods. */
const methods: Readonly<Record<string, string>> = {
  "/v1/chat/completions": "POST",
  "/v1/responses": "POST",
  "/v1/messages": "POST",
  "/v1/messages/count_tokens": "POST",
  "/v1/models": "GET",
  "/v1/embeddings": "POST",
  "/v1/completions": "POST",
  "/v1/runs": "GET",
  "/v1/operations": "GET",
  "/metrics": "GET",
  "/health/live": "GET",
  "/health/ready": "GET",
  "/openapi.json": "GET"
}

const known = Object.keys(methods)

/** Removes repeated slashes and a slash at the end. */
const tidy = (path: string): string => path.replace(/\/{2,}/g, "/").replace(/\/$/, "")

/** Returns the method of a known path, or `undefined` if the path is unknown. */
export const methodOf = (path: string): string | undefined => {
  const name = path.length > maxCharacters ? "" : tidy(path).toLowerCase()
  return Object.hasOwn(methods, name) ? methods[name] : undefined
}

/** Paths from vendor APIs that this server does not support, with a message that suggests an alternative. */
const foreign: ReadonlyArray<readonly [pattern: RegExp, says: string]> = [
  [
    /^\/v1(?:alpha|beta)\/|:(?:streamGenerateContent|generateContent|countTokens|embedContent)$/,
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
  [/^\/v1\/engines\//, " Engines are not supported. Use /v1/chat/completions with a model."],
  [
    /^\/v1\/(?:audio|images|videos|moderations|files|uploads|batches|assistants|threads|vector_stores|fine_tuning|realtime|conversations|containers|evals|rerank|complete)(?:\/|$)/,
    " Divisi supports Chat Completions, Responses, Messages, embeddings and completions. Call the vendor directly for other endpoints."
  ],
  [/^\/v1\/?$/, " It is the base URL of OpenAI clients. GET /v1/models returns the models."],
  [/^\/(?:health|healthz|livez|readyz|ping|status|live|ready)$/, " Did you mean /health/live or /health/ready?"]
]

/** Maximum path length for a suggestion. A longer path is unlikely to be a typing mistake. */
const maxCharacters = 200

/** Returns the path that was probably meant, or `undefined`. */
const meant = (path: string): string | undefined => {
  const name = tidy(path)
  const rest = name.replace(/^(?:\/api)?(?:\/v1)*(?=\/|$)/, "")
  return (
    known.find((one) => one === `/v1${rest}` || one === rest) ??
    known.find((one) => name.endsWith(one)) ??
    Nearest.nearest(path, known)
  )
}

/** Returns a sentence that suggests the correct path and base URL, or an empty string if no path is similar. */
export const hint = (path: string): string => {
  const other = foreign.find(([pattern]) => pattern.test(path.slice(0, maxCharacters)))
  if (other !== undefined) return other[1]
  const found = path.length > maxCharacters ? undefined : meant(path)
  if (found === undefined) return ""
  const base = /^\/v1\/(?!messages)/.test(found) ? " The base URL of an OpenAI client must end in /v1." : ""
  const anthropic = found.startsWith("/v1/messages") ? " The base URL of an Anthropic client must not end in /v1." : ""
  return `${Nearest.didYouMean(found)}${base}${anthropic}`
}
