/**
 * What a call costs over the bare SDK. Prints JSON.
 *
 *   node --conditions=@divisi/source --expose-gc bench/overhead.ts [--calls 1000] [--rounds 7] [--memory 100000]
 */
import { GoogleGenerativeAI } from "@google/generative-ai"
import { main, question } from "../../testkit/bench/overhead.ts"
import { google } from "../src/index.ts"

const model = "gemini-2.5-flash"

await main("google", (baseUrl) => {
  const client = new GoogleGenerativeAI("bench").getGenerativeModel({ model }, { baseUrl })
  return {
    bare: async () => {
      let characters = 0
      const { stream } = await client.generateContentStream(question)
      for await (const chunk of stream) characters += chunk.candidates?.[0]?.content.parts[0]?.text?.length ?? 0
      return characters
    },
    worker: google(model, { baseURL: baseUrl, apiKey: "bench" })
  }
})
