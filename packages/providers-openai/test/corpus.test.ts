import { Corpus } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { openaiCompatible } from "../src/index.ts"

Corpus.corpus({
  name: "openaiCompatible",
  protocol: "chat",
  make: ({ apiKey, baseURL }) => openaiCompatible({ baseURL: `${baseURL}/v1`, model: "m", apiKey }),
  describe,
  it
})
