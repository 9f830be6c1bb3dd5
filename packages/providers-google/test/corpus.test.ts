import { Corpus } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { google } from "../src/index.ts"

Corpus.corpus({
  name: "google",
  protocol: "generate-content",
  make: ({ apiKey, baseURL }) => google("gemini-3.5-flash", { baseURL, apiKey }),
  describe,
  it
})
