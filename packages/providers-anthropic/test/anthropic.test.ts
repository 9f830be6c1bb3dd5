import { describe, it } from "@effect/vitest"
import { AnthropicMessages, Contract } from "@tutti/providers-testkit"
import { type AnthropicOptions, anthropic } from "../src/index.ts"

const contract = (model: string, settings: Contract.Expectations, options: AnthropicOptions = {}) =>
  Contract.contract({
    name: model,
    dialect: AnthropicMessages.dialect,
    make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
      anthropic(model, {
        apiKey,
        baseURL,
        ...defaults,
        ...options,
        ...(timeoutMillis === undefined ? {} : { timeoutMillis })
      }),
    settings: { seed: { type: "rejected", reason: "the Messages API has no seed" }, ...settings },
    describe,
    it: (name, body) => it(name, body)
  })

contract("claude-sonnet-4-6", {})
