/**
 * Measures the overhead of a call over a bare `fetch` that reads the same stream. Prints JSON.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 1000] [--rounds 7] [--memory 100000]
 */
import { main, question } from "../../testkit/bench/overhead.ts"
import { google } from "../src/index.ts"

const model = "gemini-2.5-flash"

const textOf = (data: string): string => JSON.parse(data).candidates?.[0]?.content?.parts?.[0]?.text ?? ""

await main("google", (baseUrl) => ({
  bare: async () => {
    const response = await fetch(`${baseUrl}/v1beta/models/${model}:streamGenerateContent?alt=sse`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-goog-api-key": "bench" },
      body: JSON.stringify({ contents: [{ role: "user", parts: [{ text: question }] }] })
    })
    let characters = 0
    let rest = ""
    for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const lines = (rest + text).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) if (line.startsWith("data:")) characters += textOf(line.slice(5)).length
    }
    return characters
  },
  worker: google(model, { baseURL: baseUrl, apiKey: "bench" })
}))
