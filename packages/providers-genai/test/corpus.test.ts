import { Corpus } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { genai } from "../src/index.ts"

Corpus.corpus({
  name: "genai",
  protocol: "generate-content",
  make: ({ apiKey, baseURL }) => genai("gemini-3.5-flash", { baseURL, apiKey }),
  describe,
  it
})
