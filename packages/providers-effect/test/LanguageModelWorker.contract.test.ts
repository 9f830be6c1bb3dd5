import { fromLanguageModel } from "@divisi/providers-effect"
import { OpenAiChat, ProviderContract } from "@divisi/testkit/providers"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { describe, it } from "vitest"
import * as ChatLanguageModel from "./ChatLanguageModel.ts"

ProviderContract.contract({
  name: "effect, a LanguageModel over Effect's own HTTP client",
  dialect: OpenAiChat.compatible({ reasoningField: "reasoning_content" }),
  make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
    fromLanguageModel(ChatLanguageModel.make({ baseURL, apiKey: Redacted.make(apiKey) }), {
      id: "effect:model-1",
      ...defaults,
      timeoutMillis,
      secrets: [apiKey],
      settings: {
        names: ["maxOutputTokens", "temperature", "seed", "stopSequences", "reasoning", "parallelToolCalls", "output"],
        apply: ({ maxOutputTokens, output, parallelToolCalls, reasoning, seed, stopSequences, temperature }, answer) =>
          reasoning?.type === "budget"
            ? Stream.fail(ChatLanguageModel.unsupported("reasoning"))
            : Stream.provideService(answer, ChatLanguageModel.Config, {
                max_completion_tokens: maxOutputTokens,
                temperature,
                seed,
                stop: stopSequences,
                parallel_tool_calls: parallelToolCalls,
                response_format: ChatLanguageModel.formatOf(output),
                reasoning_effort: reasoning?.type === "off" ? "none" : reasoning?.effort
              })
      }
    }),
  settings: {
    fileUrl: { type: "rejected", reason: "Chat Completions take no file by its URL" },
    reasoningBudget: { type: "rejected", reason: "Chat Completions have no budget for reasoning" }
  },
  gaps: { "setting/omitted": "the settings above refuse a budget, whether or not it may be left out" },
  describe,
  it
})
