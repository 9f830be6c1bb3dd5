import { OpenAiChat, ProviderContract } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { openaiChat } from "../src/index.ts"

ProviderContract.contract({
  name: "openaiChat",
  dialect: OpenAiChat.dialect,
  make: ({ baseURL, defaults, ...connection }) =>
    openaiChat("a-model-of-tomorrow", { baseURL: `${baseURL}/v1`, ...defaults, ...connection }),
  settings: {
    fileUrl: { type: "rejected", reason: "Chat Completions takes the bytes of a file" },
    reasoningBudget: { type: "rejected", reason: "OpenAI takes an effort, not a number of tokens" }
  },
  gaps: { "answer/reasoning": "OpenAI does not show reasoning in Chat Completions" },
  describe,
  it
})
