/** One answer is asked for: of several candidates the one with the number 0 is read, in whatever order they come. */
import { Corpus } from "@divisi/testkit/providers"
import { assert, it } from "vitest"
import { genai } from "../src/index.ts"

const candidate = (index: number, text: string) => ({ index, content: { parts: [{ text }] }, finishReason: "STOP" })

it("reads the first of two candidates that come in another order", async () => {
  const body = `data: ${JSON.stringify({ candidates: [candidate(1, "Rainy."), candidate(0, "Sunny.")] })}\n\n`
  await using server = await Corpus.serve([{ body }])
  const worker = genai("gemini-3.5-flash", { baseURL: server.url, apiKey: "AIza-key" })
  const { text } = await Corpus.ask(worker, { expected: {}, request: {} } as never)
  assert.strictEqual(text, "Sunny.")
})
