import { OpenAiResponses, ProviderContract } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { openai } from "../src/index.ts"

const make =
  (model: string) =>
  ({ baseURL, defaults, ...connection }: ProviderContract.Connection) =>
    openai(model, { baseURL: `${baseURL}/v1`, ...defaults, ...connection })

const noParameter = { type: "rejected", reason: "the Responses API has no such parameter" } as const
const noBudget = { type: "rejected", reason: "OpenAI accepts an effort, not a number of tokens" } as const

ProviderContract.contract({
  name: "openai (gpt-5.4)",
  dialect: OpenAiResponses.dialect,
  make: make("gpt-5.4"),
  settings: { seed: noParameter, stopSequences: noParameter, reasoningBudget: noBudget },
  describe,
  it
})

ProviderContract.contract({
  name: "openai (gpt-5)",
  dialect: OpenAiResponses.dialect,
  make: make("gpt-5"),
  settings: {
    seed: noParameter,
    stopSequences: noParameter,
    reasoningBudget: noBudget,
    temperature: { type: "rejected", reason: "gpt-5 takes only its default" },
    reasoningOff: { type: "rejected", reason: "gpt-5 always reasons" }
  },
  describe,
  it
})
