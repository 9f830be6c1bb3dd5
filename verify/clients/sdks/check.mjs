/** Checks for a client. Each has a name and throws an error if it fails. The results are printed as JSON. */
import assert from "node:assert/strict"

const [url = ""] = process.argv.slice(2)

/** Base URL for OpenAI clients. */
export const openaiUrl = url

/** Base URL for Anthropic clients. */
export const anthropicUrl = url.replace(/\/v1$/, "")

export const question = "What is the weather in Paris?"

export const weather = {
  name: "weather",
  description: "The weather of a city",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false },
  answer: ({ city }) => `It is sunny in ${city}.`
}

/** Checks that a tool loop has ended with the tool's result. */
export const isSunny = (text) => assert.match(text, /It is sunny in Paris\./)

/** Runs the checks one after another. */
export const run = async (checks) => {
  const results = []
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check()
      results.push({ name, isPassed: true })
    } catch (error) {
      results.push({ name, isPassed: false, detail: String(error?.stack ?? error).slice(0, 2_000) })
    }
  }
  process.stdout.write(`${JSON.stringify(results)}\n`)
}
