/**
 * How answers end: the closed table of good endings and their synonyms. Every other word is a failure of the vendor.
 *
 * Vendors and proxies use each other's words on every protocol, so there is one table for all.
 */
import type { FinishReason, WorkerErrorReason } from "@divisi/core/Worker"
import * as Json from "../VendorJson.ts"

/** What a word at the end of an answer means. */
export interface Row {
  readonly word: string
  readonly means: FinishReason
  /** Who uses it. */
  readonly source: string
}

const rows = (means: FinishReason, words: Readonly<Record<string, string>>): ReadonlyArray<Row> =>
  Object.entries(words).map(([word, source]) => ({ word, means, source }))

/** The good endings, in lower case and with `_` for every other mark. */
export const endings: ReadonlyArray<Row> = [
  ...rows("stop", {
    stop: "OpenAI, Google",
    end_turn: "Anthropic",
    stop_sequence: "Anthropic",
    eos: "Together",
    eos_token: "text-generation-inference",
    end: "proxies",
    done: "Ollama",
    complete: "Cohere",
    completed: "OpenAI (Responses)",
    finished: "vLLM's engines",
    finish: "proxies",
    stop_token: "SGLang",
    endoftext: "proxies",
    normal: "proxies"
  }),
  ...rows("length", {
    length: "OpenAI",
    max_tokens: "Anthropic, Google, LiteLLM",
    max_output_tokens: "OpenAI (Responses)",
    max_completion_tokens: "proxies",
    max_new_tokens: "text-generation-inference",
    max_length: "Mistral",
    model_length: "Mistral",
    token_limit: "watsonx",
    model_context_window_exceeded: "Anthropic",
    context_length: "proxies",
    truncated: "proxies"
  }),
  ...rows("tool-calls", {
    tool_calls: "OpenAI",
    tool_call: "Cohere",
    tool_use: "Anthropic",
    function_call: "OpenAI, before tools",
    function_calls: "proxies"
  }),
  ...rows("refusal", {
    content_filter: "OpenAI",
    content_filtered: "Bedrock",
    guardrail_intervened: "Bedrock",
    refusal: "Anthropic",
    safety: "Google",
    sensitive: "Zhipu",
    recitation: "Google",
    blocklist: "Google",
    prohibited_content: "Google",
    spii: "Google",
    image_safety: "Google",
    image_prohibited_content: "Google",
    image_recitation: "Google",
    language: "Google"
  })
]

const table: Readonly<Record<string, FinishReason>> = Object.fromEntries(
  endings.map(({ means, word }) => [word, means])
)

/** Endings that say what kind of failure it was. */
const failures: Readonly<Record<string, WorkerErrorReason["_tag"]>> = {
  network_error: "Network",
  connection_error: "Network",
  timeout: "Timeout",
  rate_limit: "RateLimited"
}

/** Words of a server that gave up. Every other word may be of an answer that cannot be read. */
const gaveUp = /error|fail|abort|cancel|overload|unavailable|busy|resource|interrupt/

/** What the end of an answer means: it ended well, or the vendor failed. */
export type Ending =
  | { readonly type: "ended"; readonly reason: FinishReason }
  | { readonly type: "failed"; readonly failure: WorkerErrorReason }

const plain = (word: string): string => word.toLowerCase().replaceAll(/[\s-]+/g, "_")

/** What a word at the end of an answer means; `field` is where it was. */
export const ending = (word: string, field: string): Ending => {
  const reason = Json.meaning(table, plain(word))
  if (reason !== undefined) return { type: "ended", reason }
  const _tag = Json.meaning(failures, plain(word)) ?? (gaveUp.test(plain(word)) ? "Overloaded" : "Malformed")
  return { type: "failed", failure: { _tag, detail: `the answer ended with ${field} "${word.slice(0, 100)}"` } }
}
