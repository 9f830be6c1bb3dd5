/**
 * Measures the overhead of a call over the bare SDK. Prints JSON.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 1000] [--rounds 7] [--memory 100000]
 */
import { GoogleGenAI } from "@google/genai"
import { main, question } from "../../testkit/bench/overhead.ts"
import { genai } from "../src/index.ts"

const model = "gemini-2.5-flash"

await main("google", (baseUrl) => {
  const { models } = new GoogleGenAI({ apiKey: "bench", httpOptions: { baseUrl } })
  return {
    bare: async () => {
      let characters = 0
      for await (const chunk of await models.generateContentStream({ model, contents: question })) {
        characters += chunk.candidates?.[0]?.content?.parts?.[0]?.text?.length ?? 0
      }
      return characters
    },
    worker: genai(model, { baseURL: baseUrl, apiKey: "bench" })
  }
})
