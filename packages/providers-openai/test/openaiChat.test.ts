import { OpenAiChat, ProviderContract } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { openaiChat } from "../src/index.ts"

ProviderContract.contract({
  name: "openaiChat",
  dialect: OpenAiChat.dialect,
  takesAbout: true,
  make: ({ about: { model = "a-model-of-tomorrow", ...about } = {}, baseURL, defaults, ...connection }) =>
    openaiChat(model, { baseURL: `${baseURL}/v1`, ...about, ...defaults, ...connection }),
  settings: {
    fileUrl: { type: "rejected", reason: "Chat Completions requires the bytes of a file" },
    reasoningBudget: { type: "rejected", reason: "OpenAI accepts an effort, not a number of tokens" }
  },
  gaps: { "answer/reasoning": "OpenAI does not show reasoning in Chat Completions" },
  describe,
  it
})
