import assert from "node:assert/strict"
import { ChatAnthropic } from "@langchain/anthropic"
import { HumanMessage, ToolMessage } from "@langchain/core/messages"
import { tool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import { z } from "zod"
import { anthropicUrl, isSunny, openaiUrl, question, run, weather } from "./check.mjs"

const openai = { model: "divisi", apiKey: "none", configuration: { baseURL: openaiUrl }, maxRetries: 0 }
const models = {
  chat: new ChatOpenAI(openai),
  responses: new ChatOpenAI({ ...openai, useResponsesApi: true }),
  messages: new ChatAnthropic({
    model: "divisi",
    apiKey: "none",
    anthropicApiUrl: anthropicUrl,
    maxTokens: 1_024,
    maxRetries: 0
  })
}
const weatherTool = tool(async (input) => weather.answer(input), {
  name: weather.name,
  description: weather.description,
  schema: z.object({ city: z.string() })
})

await run(
  Object.fromEntries(
    Object.entries(models).flatMap(([name, model]) => [
      [`${name}: an answer`, async () => assert.equal((await model.invoke("Say: hello")).text, "hello")],
      [
        `${name}: a stream`,
        async () => {
          let whole
          for await (const chunk of await model.stream("Say: hello"))
            whole = whole === undefined ? chunk : whole.concat(chunk)
          assert.equal(whole.text, "hello")
          assert.ok(whole.usage_metadata.total_tokens > 0)
        }
      ],
      [
        `${name}: tools`,
        async () => {
          const bound = model.bindTools([weatherTool])
          const messages = [new HumanMessage(question)]
          const asked = await bound.invoke(messages)
          const results = await Promise.all(
            asked.tool_calls.map(
              async (call) => new ToolMessage({ tool_call_id: call.id, content: await weatherTool.invoke(call.args) })
            )
          )
          isSunny((await bound.invoke([...messages, asked, ...results])).text)
        }
      ],
      [
        `${name}: a shape`,
        async () => {
          const shaped = model.withStructuredOutput(z.object({ age: z.number().int() }))
          assert.deepEqual(await shaped.invoke("Ada is 36 years old."), { age: 36 })
        }
      ]
    ])
  )
)
