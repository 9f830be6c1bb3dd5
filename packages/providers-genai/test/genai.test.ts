import { describe, it } from "@effect/vitest"
import { Contract, GoogleGenerateContent } from "@tutti/providers-testkit"
import { genai } from "../src/index.ts"

const contract = (model: string, settings: Contract.Expectations, gaps: Contract.Gaps = {}) =>
  Contract.contract({
    name: `genai: ${model}`,
    dialect: GoogleGenerateContent.dialect,
    make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
      genai(model, { apiKey, baseURL, ...defaults, ...(timeoutMillis === undefined ? {} : { timeoutMillis }) }),
    settings,
    gaps,
    describe,
    it: (name, body) => it(name, body)
  })

const gaps = { "usage/cache-write": "Gemini charges nothing for writing to its cache, and does not count it" }

contract("gemini-2.5-flash", {}, gaps)
contract("gemini-3.1-pro-preview", { reasoningOff: { type: "rejected", reason: "Gemini 3 always thinks" } }, gaps)
