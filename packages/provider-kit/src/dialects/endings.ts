/**
 * Finish reasons: a table of all known successful values with their synonyms. Any other value counts as a vendor
 * failure.
 *
 * All protocols share one table, because vendors and proxies use each other's values in every protocol.
 */
import type { FinishReason, WorkerErrorReason } from "@divisi/core/Worker"
import * as Json from "../VendorJson.ts"

/**
 * The meaning of a finish reason.
 *
 * @internal
 */
export interface Row {
  readonly word: string
  readonly means: FinishReason
  /** The vendor that uses it. */
  readonly source: string
}

const rows = (means: FinishReason, words: Readonly<Record<string, string>>): ReadonlyArray<Row> =>
  Object.entries(words).map(([word, source]) => ({ word, means, source }))

/**
 * The successful finish reasons, in lower case with `_` for punctuation.
 *
 * @internal
 */
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
    stop_str: "proxies",
    stop_string: "proxies",
    stop_word: "TensorRT-LLM",
    stop_words: "TensorRT-LLM",
    word: "llama.cpp",
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
    limit: "llama.cpp",
    error_limit: "Cohere",
    max_tokens_reached: "proxies",
    token_limit_reached: "proxies",
    length_limit: "proxies",
    max_len: "xAI",
    max_context: "xAI",
    model_context_window_exceeded: "Anthropic",
    context_length: "proxies",
    truncated: "proxies",
    repetition: "vLLM: it has cut an answer that repeats itself",
    repetition_truncation: "proxies",
    pause_turn: "Anthropic: a further turn would continue the answer, and is not asked for"
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
    content_blocked: "proxies",
    content_policy: "proxies",
    content_policy_violation: "proxies",
    blocked: "proxies",
    moderation: "proxies",
    flagged: "proxies",
    model_armor: "Google",
    error_toxic: "Cohere",
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

/** Finish reasons that identify the kind of failure. */
const failures: Readonly<Record<string, WorkerErrorReason["_tag"]>> = {
  network_error: "Network",
  connection_error: "Network",
  timeout: "Timeout",
  time_limit: "Timeout",
  rate_limit: "RateLimited"
}

/**
 * Matches finish reasons for which the server gave up. Any other unknown value may come with an answer that cannot be
 * read.
 */
const gaveUp = /error|fail|abort|cancel|overload|unavailable|busy|resource|interrupt/

/** The interpretation of a finish reason: success, or a vendor failure. */
export type Ending =
  | { readonly type: "ended"; readonly reason: FinishReason }
  | { readonly type: "failed"; readonly failure: WorkerErrorReason }

/** Enumeration names that some servers prepend to their values: `FINISH_REASON_STOP`, `FinishReason.STOP`. */
const enumeration = /^(?:finish_?reason|stop_?reason|reason)[._]/

const plain = (word: string): string =>
  word
    .trim()
    // Splits names in camel case: `MaxTokens`, `toolCalls`.
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_")
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_")
    .replace(enumeration, "")

/**
 * Values for an answer that has not finished: `null` and `None` as strings, and the enumeration values for unspecified.
 */
const nothing: ReadonlySet<string> = new Set(["", "null", "none", "not_finished", "unspecified"])

/**
 * Whether a finish reason means that the answer has not finished.
 *
 * @internal
 */
export const isOpen = (word: string): boolean => nothing.has(plain(word))

/**
 * Returns a finish reason as a string: the string itself, the type of an object, or the first item of a list.
 *
 * @internal
 */
export const wordIn = (value: unknown, field: string): string => {
  const [first = value] = Json.items(value)
  const { reason, type } = Json.fields(first)
  return Json.text(type) ?? Json.text(reason) ?? Json.textChunk(first, field)
}

const meaningOf = (word: string): FinishReason | undefined =>
  // Gemini's Chat Completions endpoint appends its native value: `content_filter: SAFETY`.
  Json.meaning(table, plain(word)) ?? Json.meaning(table, plain(word.split(":", 1)[0] ?? ""))

/**
 * Whether a finish reason indicates success.
 *
 * @internal
 */
export const isGood = (word: string): boolean => meaningOf(word) !== undefined

/** Interprets a finish reason; `field` is the name of the field that contained it. */
export const ending = (word: string, field: string): Ending => {
  const reason = meaningOf(word)
  if (reason !== undefined) return { type: "ended", reason }
  const _tag = Json.meaning(failures, plain(word)) ?? (gaveUp.test(plain(word)) ? "Overloaded" : "Malformed")
  return { type: "failed", failure: { _tag, detail: `the answer ended with ${field} "${word.slice(0, 100)}"` } }
}

// -------------------------------------------------------------------------------------------------------------------
// The way back
// -------------------------------------------------------------------------------------------------------------------

/** A finish reason that a server reports. Only Messages has a separate value for `stop-sequence`. */
export type Ended = Exclude<FinishReason, "other"> | "stop-sequence"

/** The value that each protocol uses for a finish reason. */
export const wordOf = {
  chat: {
    stop: "stop",
    "stop-sequence": "stop",
    length: "length",
    "tool-calls": "tool_calls",
    refusal: "content_filter"
  },
  messages: {
    stop: "end_turn",
    "stop-sequence": "stop_sequence",
    length: "max_tokens",
    "tool-calls": "tool_use",
    refusal: "refusal"
  }
} as const satisfies Readonly<Record<"chat" | "messages", { readonly [E in Ended]: string }>>

/** The legacy Chat Completions finish reason for a function call, from before the API had tools. */
export const legacyCall = "function_call"

/** The reasons that Responses reports for incomplete responses. */
export const incompleteWord = { length: "max_output_tokens", refusal: "content_filter" } as const
