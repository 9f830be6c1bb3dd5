/** A model of `@google/generative-ai` that the application has already, as a worker of a pool. */
import assert from "node:assert/strict"
import { bestOf, conduct } from "@divisi/core/promise"
import { generativeModel, google } from "@divisi/providers-google"
import { GoogleGenerateContent, Script, WireServer } from "@divisi/testkit/providers"
import { GoogleGenerativeAI } from "@google/generative-ai"

const apiKey = process.env.GEMINI_API_KEY
const server =
  apiKey === undefined ? await WireServer.start(GoogleGenerateContent.dialect, [Script.answer("42")]) : undefined

// The application's own code: settings, safety and address are those of its model.
const sdk = new GoogleGenerativeAI(apiKey ?? "no-key")
const model = sdk.getGenerativeModel(
  { model: "gemini-3.5-flash-lite", systemInstruction: "Answer with a number." },
  server && { baseUrl: server.url }
)

const pool = [
  generativeModel(model, { description: "The application's own model" }),
  google("gemini-3.5-flash-lite", {
    apiKey: apiKey ?? "no-key",
    baseURL: server?.url,
    description: "The same, without an SDK"
  })
]

// Two attempts at once, and a judge that sees both.
const policy = bestOf({ n: 2, workers: [0, 1], judge: 0 })
const result = await conduct({ question: "What is 6 times 7?", pool, policy })
console.log(`${result.answer}: ${result.ending} with ${result.spend.calls} calls`)
assert.deepEqual([result.ending, result.spend.calls], ["answered", 3])
await server?.close()
