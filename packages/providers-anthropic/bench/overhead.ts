/**
 * Measures the overhead of a call over the bare SDK. Prints JSON.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 1000] [--rounds 7] [--memory 100000]
 */
import Anthropic from "@anthropic-ai/sdk"
import { main, question } from "../../testkit/bench/overhead.ts"
import { anthropic } from "../src/index.ts"

const model = "claude-opus-5-5"

await main("anthropic", (baseURL) => {
  const client = new Anthropic({ baseURL, apiKey: "sk-bench", maxRetries: 0, logLevel: "off" })
  const messages = [{ role: "user" as const, content: question }]
  return {
    bare: async () => {
      let characters = 0
      for await (const event of await client.messages.create({ model, max_tokens: 1024, messages, stream: true })) {
        if (event.type === "content_block_delta" && event.delta.type === "text_delta") {
          characters += event.delta.text.length
        }
      }
      return characters
    },
    worker: anthropic(model, { baseURL, apiKey: "sk-bench" })
  }
})
