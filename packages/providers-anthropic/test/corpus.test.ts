import { Corpus } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { anthropic } from "../src/index.ts"

Corpus.corpus({
  name: "anthropic",
  protocol: "messages",
  make: ({ apiKey, baseURL }) => anthropic("claude-sonnet-4-6", { baseURL, apiKey }),
  describe,
  it
})
