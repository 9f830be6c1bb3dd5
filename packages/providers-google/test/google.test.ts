import { GeminiContract } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import { google } from "../src/index.ts"

GeminiContract.contract({
  name: "google",
  make: (model, { defaults, tools, ...settings }) =>
    google(model, { ...settings, ...defaults, ...(tools && { body: { tools } }) }),
  pathOf: (model) => `/v1beta/models/${model}:streamGenerateContent`,
  describe,
  it: (name, body) => it(name, body)
})

describe("options", () => {
  it("that are misspelt are reported when the worker is made", () => {
    assert.throws(() => google("gemini-2.5-flash", { apikey: "k" } as never), 'Did you mean "apiKey"?')
  })
})
