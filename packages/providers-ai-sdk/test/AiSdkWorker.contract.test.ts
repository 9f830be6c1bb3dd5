import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Endpoint } from "@divisi/provider-kit"
import { aiSdk } from "@divisi/providers-ai-sdk"
import { AnthropicMessages, OpenAiChat, ProviderContract } from "@divisi/testkit/providers"
import { createOpenAICompatible as createOpenAICompatibleV3 } from "openai-compatible-v3"
import { describe, it } from "vitest"

const fetch = Endpoint.fetchWithoutRedirects()
const lab = { includeUsage: true, supportsStructuredOutputs: true }
const chat = OpenAiChat.compatible({ reasoningField: "reasoning_content" })
const noCacheWrite = "@ai-sdk/openai-compatible does not read the tokens that were written to a cache"
const parallelOptions = (parallelToolCalls: boolean) => ({ lab: { parallel_tool_calls: parallelToolCalls } })
const noSeed = "the Messages API has no seed, which the AI SDK says only once the request is sent: the call fails then"
const noFileUrl = { type: "rejected" as const, reason: "@ai-sdk/openai-compatible takes no file by its URL" }
const noReasoning = (what: string) => ({
  type: "rejected" as const,
  reason: `the AI SDK's specification has no reasoning ${what}, and Chat Completions have no option for it either`
})

ProviderContract.contract({
  name: "ai-sdk over @ai-sdk/openai-compatible, specification v4",
  dialect: chat,
  make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
    aiSdk(createOpenAICompatible({ name: "lab", baseURL, apiKey, fetch, ...lab })("model-1"), {
      ...defaults,
      timeoutMillis,
      parallelOptions,
      secrets: [apiKey]
    }),
  settings: { reasoningBudget: noReasoning("budget"), fileUrl: noFileUrl },
  gaps: { "usage/cache-write": noCacheWrite },
  describe,
  it
})

ProviderContract.contract({
  name: "ai-sdk over @ai-sdk/openai-compatible, specification v3",
  dialect: chat,
  make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
    aiSdk(createOpenAICompatibleV3({ name: "lab", baseURL, apiKey, fetch, ...lab })("model-1"), {
      ...defaults,
      timeoutMillis,
      parallelOptions,
      secrets: [apiKey],
      reasoningOptions: (reasoning) =>
        reasoning.type === "effort" ? { lab: { reasoningEffort: reasoning.effort } } : undefined
    }),
  settings: { reasoningBudget: noReasoning("budget"), reasoningOff: noReasoning('"off"'), fileUrl: noFileUrl },
  gaps: { "usage/cache-write": noCacheWrite },
  describe,
  it
})

ProviderContract.contract({
  name: "ai-sdk over @ai-sdk/anthropic",
  dialect: AnthropicMessages.dialect,
  make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
    aiSdk(createAnthropic({ baseURL: `${baseURL}/v1`, apiKey, fetch })("claude-sonnet-4-5"), {
      ...defaults,
      timeoutMillis,
      secrets: [apiKey],
      parallelOptions: (parallelToolCalls) => ({ anthropic: { disableParallelToolUse: !parallelToolCalls } }),
      reasoningOptions: (reasoning) =>
        reasoning.type === "budget"
          ? { anthropic: { thinking: { type: "enabled", budgetTokens: reasoning.tokens } } }
          : undefined
    }),
  gaps: {
    "output/json":
      "the Messages API has JSON of a schema only, which the AI SDK says once the request is sent: the call fails then",
    "setting/seed": noSeed,
    "setting/seed-zero": noSeed
  },
  describe,
  it
})
