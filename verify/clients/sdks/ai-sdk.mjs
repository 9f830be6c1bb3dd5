import assert from "node:assert/strict"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateObject, generateText, isStepCount, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { isSunny, openaiUrl, question, run, weather } from "./check.mjs"

const settings = { apiKey: "none", baseURL: openaiUrl }
const openai = createOpenAI(settings)
const models = {
  "openai responses": openai.responses("divisi"),
  "openai chat": openai.chat("divisi"),
  "openai-compatible": createOpenAICompatible({ ...settings, name: "divisi", supportsStructuredOutputs: true })(
    "divisi"
  ),
  anthropic: createAnthropic(settings)("divisi")
}
const tools = {
  weather: tool({
    description: weather.description,
    inputSchema: jsonSchema(weather.schema),
    execute: async (input) => weather.answer(input)
  })
}
const stopWhen = (isStepCount ?? stepCountIs)(5)

await run(
  Object.fromEntries(
    Object.entries(models).flatMap(([name, model]) => [
      [
        `${name}: tools`,
        async () => isSunny((await generateText({ model, prompt: question, tools, stopWhen, maxRetries: 0 })).text)
      ],
      [
        `${name}: tools, streamed`,
        async () => isSunny(await streamText({ model, prompt: question, tools, stopWhen, maxRetries: 0 }).text)
      ],
      [
        `${name}: a shape`,
        async () => {
          const schema = jsonSchema({
            type: "object",
            properties: { age: { type: "integer" } },
            required: ["age"],
            additionalProperties: false
          })
          const { object } = await generateObject({ model, schema, prompt: "Ada is 36 years old.", maxRetries: 0 })
          assert.deepEqual(object, { age: 36 })
        }
      ]
    ])
  )
)
