import { Corpus } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { openai, openaiChat, openaiCompatible } from "../src/index.ts"

Corpus.corpus({
  name: "openaiCompatible",
  protocol: "chat",
  make: ({ apiKey, baseURL, row }) =>
    openaiCompatible({ baseURL: `${baseURL}/v1`, model: "m", apiKey, unsupported: "omit", ...row.needs }),
  describe,
  it
})

Corpus.corpus({
  name: "openaiChat",
  protocol: "chat",
  // OpenAI itself ends its answers, and writes no tags.
  make: ({ apiKey, baseURL, row }) =>
    row.needs === undefined ? openaiChat("m", { baseURL: `${baseURL}/v1`, apiKey, unsupported: "omit" }) : undefined,
  describe,
  it
})

Corpus.corpus({
  name: "openai",
  protocol: "responses",
  make: ({ apiKey, baseURL }) => openai("m", { baseURL: `${baseURL}/v1`, apiKey, unsupported: "omit" }),
  describe,
  it
})
