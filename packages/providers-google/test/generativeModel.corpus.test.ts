import { Corpus } from "@divisi/testkit/providers"
import { GoogleGenerativeAI } from "@google/generative-ai"
import { describe, it } from "vitest"
import { generativeModel } from "../src/index.ts"

const eventsAlone = "@google/generative-ai reads server-sent events alone"
const objectAlone = "@google/generative-ai loses the words of a refusal that is a list"

/** The SDK gives no access to its `fetch`, so that its reader cannot be replaced. */
const gaps = {
  "generate-content/error/json-between-events": "the SDK reads events alone, and refuses all else",
  "generate-content/folding/list-instead-of-events": eventsAlone,
  "generate-content/folding/whole-answer-instead-of-a-stream": eventsAlone,
  "generate-content/error/status-200": eventsAlone,
  "generate-content/folding/content-as-text": eventsAlone,
  "generate-content/encoding/lines-of-json": eventsAlone,
  "generate-content/encoding/gzip-without-a-label": eventsAlone,
  "generate-content/encoding/zstd-without-a-label": eventsAlone,
  "generate-content/error/json-after-stop": "the SDK skips what is no event",
  "generate-content/error/list-of-one": objectAlone,
  "generate-content/error/list": objectAlone,
  "generate-content/overflow/tokens-in-a-list": objectAlone
}

Corpus.corpus({
  name: "generativeModel",
  protocol: "generate-content",
  make: ({ apiKey, baseURL }) =>
    generativeModel(
      new GoogleGenerativeAI(apiKey).getGenerativeModel({ model: "gemini-3.5-flash" }, { baseUrl: baseURL })
    ),
  gaps,
  describe,
  it
})
