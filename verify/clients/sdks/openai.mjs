import assert from "node:assert/strict"
import OpenAI from "openai"
import { isSunny, openaiUrl, question, run, weather } from "./check.mjs"

const client = new OpenAI({ apiKey: "none", baseURL: openaiUrl, maxRetries: 0 })
const model = "divisi"
const messages = [{ role: "user", content: "Say: hello" }]
const tool = {
  type: "function",
  function: { name: weather.name, description: weather.description, parameters: weather.schema }
}

await run({
  "models are listed": async () => {
    const { data } = await client.models.list()
    assert.ok(data.some(({ id }) => id === model))
  },
  "chat: an answer": async () => {
    const { choices, usage } = await client.chat.completions.create({ model, messages })
    assert.equal(choices[0].message.content, "hello")
    assert.ok(usage.cost_usd > 0)
  },
  "chat: a stream, put together by the SDK": async () => {
    const stream = client.chat.completions.stream({ model, messages, stream_options: { include_usage: true } })
    const { choices, usage } = await stream.finalChatCompletion()
    assert.equal(choices[0].message.content, "hello")
    assert.ok(usage.total_tokens > 0)
  },
  "chat: tools, run by the SDK": async () => {
    const runner = client.chat.completions.runTools({
      model,
      messages: [{ role: "user", content: question }],
      tools: [{ ...tool, function: { ...tool.function, parse: JSON.parse, function: weather.answer } }]
    })
    isSunny(await runner.finalContent())
  },
  "chat: tools, run by the SDK, streamed": async () => {
    const runner = client.chat.completions.runTools({
      model,
      stream: true,
      messages: [{ role: "user", content: question }],
      tools: [{ ...tool, function: { ...tool.function, parse: JSON.parse, function: weather.answer } }]
    })
    isSunny(await runner.finalContent())
  },
  "chat: a result whose call is no longer in the history": async () => {
    const result = { role: "tool", tool_call_id: "call_lost", content: weather.answer({ city: "Paris" }) }
    const asked = [{ role: "user", content: question }, result]
    const { choices } = await client.chat.completions.create({ model, tools: [tool], messages: asked })
    isSunny(choices[0].message.content)
  },
  "chat: a tool whose name has a dot": async () => {
    const dotted = { ...tool, function: { ...tool.function, name: "weather.now" } }
    const asked = [{ role: "user", content: question }]
    const { choices } = await client.chat.completions.create({ model, tools: [dotted], messages: asked })
    assert.equal(choices[0].message.tool_calls[0].function.name, "weather.now")
  },
  "responses: an answer, and one that goes on from it": async () => {
    const first = await client.responses.create({ model, input: "My cat is called Mia." })
    const second = await client.responses.create({
      model,
      input: "What is my cat called?",
      previous_response_id: first.id
    })
    assert.match(second.output_text, /Mia/)
  },
  "responses: a stream, put together by the SDK": async () => {
    const stream = client.responses.stream({ model, input: "Say: hello" })
    assert.equal((await stream.finalResponse()).output_text, "hello")
  },
  "responses: a shape": async () => {
    const { output_text } = await client.responses.create({
      model,
      input: "Ada is 36 years old.",
      text: {
        format: {
          type: "json_schema",
          name: "person",
          strict: true,
          schema: {
            type: "object",
            properties: { age: { type: "integer" } },
            required: ["age"],
            additionalProperties: false
          }
        }
      }
    })
    assert.deepEqual(JSON.parse(output_text), { age: 36 })
  },
  "responses: tools, with the items sent back": async () => {
    const tools = [{ type: "function", ...tool.function, strict: true }]
    const input = [{ role: "user", content: question }]
    const first = await client.responses.create({
      model,
      input,
      tools,
      store: false,
      include: ["reasoning.encrypted_content"]
    })
    const call = first.output.find(({ type }) => type === "function_call")
    const output = weather.answer(JSON.parse(call.arguments))
    const second = await client.responses.create({
      model,
      tools,
      store: false,
      include: ["reasoning.encrypted_content"],
      input: [...input, ...first.output, { type: "function_call_output", call_id: call.call_id, output }]
    })
    isSunny(second.output_text)
  },
  "responses: a result whose call is no longer in the history": async () => {
    const output = weather.answer({ city: "Paris" })
    const input = [
      { role: "user", content: question },
      { type: "function_call_output", call_id: "call_lost", output }
    ]
    const tools = [{ type: "function", ...tool.function, strict: true }]
    isSunny((await client.responses.create({ model, input, tools })).output_text)
  },
  "responses: in the background": async () => {
    const made = await client.responses.create({ model, input: "Say: hello", background: true })
    let response = made
    while (response.status === "queued" || response.status === "in_progress") {
      response = await client.responses.retrieve(made.id)
    }
    assert.equal(response.output_text, "hello")
  },
  "an error is the SDK's own": () =>
    assert.rejects(client.chat.completions.create({ model: "nobody", messages }), OpenAI.NotFoundError)
})
