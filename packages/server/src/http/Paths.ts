/** Hints for paths that the server does not have: most come from a base URL with one `/v1` too many or too few. */
import { nearest } from "@divisi/core/Nearest"

/** Paths that clients ask for. */
const known = [
  "/v1/chat/completions",
  "/v1/responses",
  "/v1/messages",
  "/v1/messages/count_tokens",
  "/v1/models",
  "/v1/embeddings",
  "/v1/completions",
  "/v1/runs",
  "/metrics",
  "/health/live",
  "/health/ready",
  "/openapi.json"
] as const

/** Part of a path that a hint is made from: a longer one is not a typing mistake. */
const maxCharacters = 200

/** The path that was meant, if there is a likely one. */
const meant = (path: string): string | undefined => {
  const rest = path
    .replace(/\/{2,}/g, "/")
    .replace(/\/$/, "")
    .replace(/^(?:\/api)?(?:\/v1)*(?=\/|$)/, "")
  return known.find((one) => one === `/v1${rest}` || one === rest) ?? nearest(path, known)
}

/** Says which path was meant, and what to change; empty if none is likely. */
export const hint = (path: string): string => {
  const found = path.length > maxCharacters ? undefined : meant(path)
  if (found === undefined) return ""
  const base = /^\/v1\/(?!messages)/.test(found) ? " The base URL of an OpenAI client ends with /v1." : ""
  const anthropic = found.startsWith("/v1/messages") ? " The base URL of an Anthropic client has no /v1." : ""
  return ` Did you mean ${found}?${base}${anthropic}`
}
