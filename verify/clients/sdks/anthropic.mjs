import assert from "node:assert/strict"
import Anthropic from "@anthropic-ai/sdk"
import { anthropicUrl, isSunny, question, run, weather } from "./check.mjs"

const client = new Anthropic({ apiKey: "none", authToken: null, baseURL: anthropicUrl, maxRetries: 0 })
const model = "divisi"
const max_tokens = 1_024
const messages = [{ role: "user", content: "Say: hello" }]
const tool = { name: weather.name, description: weather.description, input_schema: weather.schema }
const texts = ({ content }) => content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("")

await run({
  "models are listed": async () => {
    const { data } = await client.models.list()
    assert.ok(data.some(({ id }) => id === model))
  },
  "an answer": async () => assert.equal(texts(await client.messages.create({ model, max_tokens, messages })), "hello"),
  "a stream, put together by the SDK": async () => {
    const message = await client.messages.stream({ model, max_tokens, messages }).finalMessage()
    assert.equal(texts(message), "hello")
    assert.equal(message.stop_reason, "end_turn")
  },
  "thinking shows the plan": async () => {
    const thinking = { type: "enabled", budget_tokens: 1_024 }
    const { content } = await client.messages.create({ model, max_tokens: 2_048, messages, thinking })
    assert.match(content.find(({ type }) => type === "thinking").thinking, /Plan of 3 steps/)
  },
  "tools, run by the SDK": async () => {
    const runner = client.beta.messages.toolRunner({
      model,
      max_tokens,
      messages: [{ role: "user", content: question }],
      tools: [{ ...tool, type: "custom", run: weather.answer, parse: (input) => input }]
    })
    isSunny(texts(await runner.runUntilDone()))
  },
  "a result whose call is no longer in the history": async () => {
    const result = { type: "tool_result", tool_use_id: "toolu_lost", content: weather.answer({ city: "Paris" }) }
    const asked = [
      { role: "user", content: question },
      { role: "user", content: [result] }
    ]
    isSunny(texts(await client.messages.create({ model, max_tokens, tools: [tool], messages: asked })))
  },
  "tools with thinking, streamed, with all blocks sent back": async () => {
    const thinking = { type: "enabled", budget_tokens: 1_024 }
    const shared = { model, max_tokens: 2_048, thinking, tools: [tool] }
    const asked = [{ role: "user", content: question }]
    const { content } = await client.messages.stream({ ...shared, messages: asked }).finalMessage()
    const { id, input } = content.find(({ type }) => type === "tool_use")
    const result = { type: "tool_result", tool_use_id: id, content: weather.answer(input) }
    const answer = await client.messages
      .stream({ ...shared, messages: [...asked, { role: "assistant", content }, { role: "user", content: [result] }] })
      .finalMessage()
    isSunny(texts(answer))
  },
  "tokens are counted": async () => {
    assert.ok((await client.messages.countTokens({ model, messages })).input_tokens > 0)
  },
  "an error is the SDK's own": () =>
    assert.rejects(client.messages.create({ model: "nobody", max_tokens, messages }), Anthropic.NotFoundError)
})
