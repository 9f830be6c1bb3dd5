/** Reads the remaining rate limits from the response headers of AI SDK models. */
import { Allowance } from "@divisi/core"

type Kind = "requests" | "tokens"

const levels = (name: (kind: Kind, what: "limit" | "remaining" | "reset") => string): Allowance.HeaderNames => {
  const level = (kind: Kind) => ({
    limit: name(kind, "limit"),
    remaining: name(kind, "remaining"),
    reset: name(kind, "reset")
  })
  return { requests: level("requests"), tokens: level("tokens") }
}

/**
 * Header names used by OpenAI and compatible vendors (Groq, xAI, Together, Azure), and by Anthropic.
 *
 * Sources: https://developers.openai.com/api/docs/guides/rate-limits and
 * https://platform.claude.com/docs/en/api/rate-limits.
 */
const known: ReadonlyArray<Allowance.HeaderNames> = [
  levels((kind, what) => `x-ratelimit-${what}-${kind}`),
  levels((kind, what) => `anthropic-ratelimit-${kind}-${what}`)
]

/** Returns the allowance in an answer's headers, using the given header names or the known ones. */
export const allowanceOf = (
  headers: Readonly<Record<string, string>> | undefined,
  names: Allowance.HeaderNames | undefined,
  nowMillis: number
): Allowance.Allowance | undefined => {
  if (headers === undefined) return undefined
  const source = { get: (name: string) => headers[name.toLowerCase()] }
  for (const candidate of names === undefined ? known : [names]) {
    const allowance = Allowance.fromHeaders(source, candidate, nowMillis)
    if (allowance !== undefined) return allowance
  }
  return undefined
}
