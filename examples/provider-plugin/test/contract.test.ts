/** The provider keeps the contract of all providers, over real sockets. */
import { describe, it } from "node:test"
import { ProviderContract } from "@divisi/testkit/providers"
import { ollama } from "../src/index.ts"
import { dialect } from "./dialect.ts"

ProviderContract.contract({
  name: "ollama",
  dialect,
  make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
    ollama("model-1", { baseURL, apiKey, ...defaults, timeoutMillis }),
  // A vendor that gives whole answers alone: `streams: false`.
  settings: {
    reasoningBudget: { type: "rejected", reason: "the vendor knows low, medium and high, and no budget in tokens" }
  },
  gaps: {
    "finish/refusal": "the vendor filters nothing",
    "failure/content-filtered": "the vendor filters nothing",
    "failure/quota": "the vendor has no quota",
    "usage/cached": "the vendor counts a prompt's tokens whether they were cached or not",
    "usage/cache-write": "the vendor does not say what it has cached",
    "usage/reasoning": "the vendor counts thoughts and text together"
  },
  describe,
  it
})
