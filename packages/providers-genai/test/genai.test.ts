import { GeminiContract } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import { genai } from "../src/index.ts"

GeminiContract.contract({
  name: "genai",
  make: (model, { defaults, tools, ...settings }) =>
    genai(model, { ...settings, ...defaults, ...(tools && { config: { tools: [...tools] as never } }) }),
  // The SDK calls the stable version where the base URL is another.
  pathOf: (model) => `/v1/models/${model}:streamGenerateContent`,
  describe,
  it: (name, body) => it(name, body)
})

describe("options", () => {
  it("that are misspelt are reported when the worker is made", () => {
    assert.throws(() => genai("gemini-2.5-flash", { apikey: "k" } as never), 'Did you mean "apiKey"?')
  })
})
