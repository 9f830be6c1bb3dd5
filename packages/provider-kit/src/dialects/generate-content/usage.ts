/** Reads the usage fields of `generateContent`. */
import { defined } from "@divisi/core/Fields"
import type { Usage } from "@divisi/core/Usage"
import * as Json from "../../VendorJson.ts"

/**
 * Merges the usage figures of all events received. Each event contains totals, but the last ones may lack some.
 *
 * @internal
 */
export const counted = (counts: Json.Fields, reported: unknown): Json.Fields => {
  const known = Object.entries(Json.fields(reported)).filter(([, value]) => value !== null)
  return known.length === 0 ? counts : { ...counts, ...Object.fromEntries(known) }
}

/**
 * Returns the usage of the answer. `undefined` until the vendor reports it. Google counts thoughts and tool prompts
 * separately. If no field reports the output, it is derived from the total.
 *
 * @internal
 */
export const usageOf = (counts: Json.Fields): Usage | undefined => {
  const prompt = Json.number(counts.promptTokenCount)
  if (prompt === undefined) return undefined
  const thoughts = Json.number(counts.thoughtsTokenCount)
  const inputTokens = prompt + (Json.number(counts.toolUsePromptTokenCount) ?? 0)
  const total = Json.number(counts.totalTokenCount)
  const written = Json.number(counts.candidatesTokenCount) ?? Json.number(counts.responseTokenCount)
  const rest = total === undefined ? 0 : Math.max(0, total - inputTokens - (thoughts ?? 0))
  return defined({
    inputTokens,
    outputTokens: (written ?? rest) + (thoughts ?? 0),
    cachedInputTokens: Json.number(counts.cachedContentTokenCount),
    reasoningTokens: thoughts
  })
}
