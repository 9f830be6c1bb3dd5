import { BatchContract } from "@divisi/testkit/providers"
import { describe, it } from "vitest"
import { anthropic } from "../src/index.ts"

BatchContract.contract({
  name: "anthropic",
  vendor: "anthropic",
  make: (connection) => anthropic("claude-opus-5-5", connection),
  direct: (connection) => anthropic("claude-opus-5-5", connection),
  findsByName: false,
  describe,
  it
})
