/**
 * Records the tokens of a policy's completions, for trainers that learn from runs on this server. Requested with
 * `return_token_ids`, as in vLLM.
 *
 * A model with access to its tokens returns them in the `echo` of its answer (`prompt`, `tokens` and `logProbs`), like
 * a `SamplerWorker`. They are recorded only on request.
 */
import * as Policy from "@divisi/core/Policy"
import * as Effect from "effect/Effect"
import type { JsonObject } from "../wire/Json.ts"
import type { Part } from "../wire/Wire.ts"

/** The tokens of one completion. */
export interface TokenRecord {
  readonly round: number
  readonly attempt: number
  readonly prompt: ReadonlyArray<number>
  readonly tokens: ReadonlyArray<number>
  /** Natural logarithm of each token's sampling probability. */
  readonly logProbs: ReadonlyArray<number>
}

/** Maximum number of tokens recorded per completion. */
const maxTokens = 1_000_000

const isNumbers = (value: unknown, isOne: (one: unknown) => boolean): value is ReadonlyArray<number> =>
  Array.isArray(value) && value.length <= maxTokens && value.every(isOne)

const isToken = (one: unknown): boolean => Number.isSafeInteger(one) && (one as number) >= 0

/** Returns the tokens in a model's echo, or `undefined` if it contains no tokens. */
const tokensIn = (echo: unknown): Pick<TokenRecord, "prompt" | "tokens" | "logProbs"> | undefined => {
  if (typeof echo !== "object" || echo === null) return undefined
  const { logProbs, prompt, tokens } = echo as { readonly [name: string]: unknown }
  if (!isNumbers(prompt, isToken) || !isNumbers(tokens, isToken) || !isNumbers(logProbs, Number.isFinite))
    return undefined
  return tokens.length === logProbs.length ? { prompt, tokens, logProbs } : undefined
}

/** Wraps a policy so that the tokens of its completions are recorded. */
export const collecting = (policy: Policy.Policy, records: Array<TokenRecord>): Policy.Policy => ({
  ...policy,
  propose: (context) => {
    const complete: Policy.Context["complete"] = (asked) =>
      Effect.tap(context.complete(asked), ({ attempt, echo }) =>
        Effect.sync(() => {
          const found = tokensIn(echo)
          if (found !== undefined) records.push({ round: context.round, attempt, ...found })
        })
      )
    return Policy.propose(policy, { ...context, complete })
  }
})

const none = "return_token_ids: the policy's model does not report tokens, so the response does not contain them."

/** Adds the records to the final part of an answer. */
export const addTo = (parts: ReadonlyArray<Part>, records: ReadonlyArray<TokenRecord>): ReadonlyArray<Part> =>
  parts.map((part) => {
    if (part.type !== "finish") return part
    return records.length > 0
      ? { ...part, tokenRecords: records }
      : { ...part, notices: [...(part.notices ?? []), none] }
  })

/**
 * Returns the fields used by NeMo-Gym. The message contains the tokens of the last completion; `divisi` contains those
 * of all completions.
 */
export const fieldsOf = ({ logProbs, prompt, tokens }: TokenRecord): JsonObject => ({
  prompt_token_ids: prompt,
  generation_token_ids: tokens,
  generation_log_probs: logProbs
})
