/**
 * The rows of Chat Completions that do not come through `@ai-sdk/openai-compatible`, with the reason for each class. The AI
 * SDK gives events, not bytes: what its package drops cannot be read any more.
 */
const reasons = {
  encoding: "the AI SDK parses the data of an event as JSON as it is",
  ending: "@ai-sdk/openai-compatible reports an ending without its usage, its error or its place",
  error: "@ai-sdk/openai-compatible reads errors of one form, and none of other answers with status 200",
  folding: "@ai-sdk/openai-compatible reads chunks of one shape, of one choice, and no message of a stream",
  "null-and-lists": "@ai-sdk/openai-compatible checks chunks against a schema",
  preference: "the AI SDK sends the settings that its caller has chosen, and none is left out or lowered",
  usage: "@ai-sdk/openai-compatible reads the usage of a chunk under its own names alone"
} as const

const rows: Readonly<Record<keyof typeof reasons, ReadonlyArray<string>>> = {
  encoding: [
    "data-twice",
    "empty-data",
    "heartbeat-as-data",
    "no-empty-lines",
    "raw-control-characters",
    "time-as-data",
    "two-in-one-line"
  ],
  ending: [
    "abort",
    "cut",
    "done-alone-hint",
    "error",
    "error-in-choice",
    "error_finish",
    "in-details",
    "insufficient_system_resource",
    "native-alone",
    "network_error",
    "as-a-list",
    "as-an-object",
    "calls-without-a-reason",
    "half-a-call-without-a-reason",
    "tool-calls-without-a-call",
    "whole-without-a-reason"
  ],
  error: [
    "base-resp",
    "capitals",
    "code-and-msg",
    "error-code-and-error-msg",
    "in-stream-beside-usage",
    "json-labelled-as-events",
    "json-over-several-lines",
    "no-success",
    "object-error",
    "page-with-status-200",
    "quota-with-status-200",
    "words-after-the-beginning",
    "words-with-status-200",
    "graphql",
    "header-of-spark",
    "json-between-events",
    "json-line-between-events",
    "named-event",
    "within-the-delta",
    "within-the-message"
  ],
  folding: [
    "arguments-as-empty-list",
    "arguments-as-object",
    "arguments-so-far-in-each-piece",
    "choices-apart",
    "choices-apart-in-stream",
    "function-call",
    "message-alone",
    "message-wins",
    "number-as-text",
    "reasoning-details-alone",
    "reasoning-text",
    "thought-marked-beside-content",
    "whole-answer-instead-of-a-stream",
    "whole-answer-with-calls",
    "whole-call-again",
    "input-of-a-call",
    "list-of-chunks",
    "message-next-to-an-empty-delta",
    "name-in-pieces",
    "parameters-of-a-call",
    "thinking-blocks",
    "two-calls-in-one",
    "within-output"
  ],
  "null-and-lists": [
    "choices",
    "chunk",
    "error-as-empty-list",
    "error-as-empty-object",
    "error-with-empty-fields",
    "null-fields",
    "thinking-as-text"
  ],
  preference: [
    "value-above-a-range",
    "value-at-an-open-end",
    "value-two-dots",
    "value-in-words",
    "only-one-value",
    "budget-as-effort",
    "effort-forbidden",
    "effort-in-camel-case",
    "effort-not-supported",
    "effort-unrecognized",
    "limit-in-the-completion",
    "limit-less-or-equal",
    "limit-range",
    "limit-sglang",
    "limit-vllm",
    "no-thinking",
    "other-name-of-a-limit",
    "seed",
    "seed-in-brackets",
    "stream-of-verified-accounts",
    "stream-options",
    "temperature-as-param",
    "temperature-of-one",
    "think-value",
    "thinking-not-enabled",
    "thinking-off"
  ],
  usage: [
    "billed-units",
    "cached-beside",
    "caches-beside-a-whole-prompt",
    "caches-in-anthropics-names",
    "deepseek-cache",
    "groq",
    "in-choice",
    "other-names",
    "reasoning-apart",
    "thoughts-in-the-total-alone",
    "timings",
    "zeros-at-the-end",
    "names-of-bedrock",
    "without-input",
    "without-output"
  ]
}

const classes = Object.keys(reasons) as ReadonlyArray<keyof typeof reasons>

/** By the id of a row. */
export const chatGaps: Readonly<Record<string, string>> = Object.fromEntries(
  classes.flatMap((kind) => rows[kind].map((name) => [`chat/${kind}/${name}`, reasons[kind]]))
)
