import { describe, it } from "@effect/vitest"
import { Contract, GoogleGenerateContent } from "@tutti/providers-testkit"
import { google } from "../src/index.ts"

const hidden = "@google/generative-ai passes no headers on with its errors"

Contract.contract({
  name: "google: gemini-2.5-flash",
  dialect: GoogleGenerateContent.dialect,
  make: ({ apiKey, baseURL, defaults, timeoutMillis }) =>
    google("gemini-2.5-flash", {
      apiKey,
      baseURL,
      ...defaults,
      ...(timeoutMillis === undefined ? {} : { timeoutMillis })
    }),
  gaps: {
    "usage/cache-write": "Gemini charges nothing for writing to its cache, and does not count it",
    "fault/malformed": "@google/generative-ai drops the events that arrive together with a broken one",
    "retry-after/seconds": hidden,
    "retry-after/date": hidden,
    "retry-after/milliseconds": hidden
  },
  describe,
  it: (name, body) => it(name, body)
})
