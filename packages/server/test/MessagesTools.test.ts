import { assert, describe, it } from "vitest"
import { ask, events, shortly, thinking, weather } from "./messages.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, team, usage, worker } from "./teams.ts"

describe("tools", () => {
  it("are called by the last step, and its run resumes with their results", () => {
    const [a, b] = [worker("a", said("one")), worker("b", said("two"))]
    const c = worker("c", asks(["weather", { city: "Rome" }], ["weather", { city: "Oslo" }]), said("Rome is warmer."))
    return serving(team(a, b, c), async ({ anthropic }) => {
      const request = { ...ask("Which is warmer?"), thinking, tools: [weather] }
      const first = await anthropic.messages.create(request)
      assert.strictEqual(first.stop_reason, "tool_use")
      const calls = first.content.filter((block) => block.type === "tool_use")
      assert.deepStrictEqual(
        calls.map(({ input, name }) => [name, input]),
        [
          ["weather", { city: "Rome" }],
          ["weather", { city: "Oslo" }]
        ]
      )
      assert.isTrue(calls.every(({ id }) => /^[a-zA-Z0-9_-]+$/.test(id)))
      const results = calls.map(({ id }, at) => ({
        type: "tool_result" as const,
        tool_use_id: id,
        is_error: at === 1,
        content: [{ type: "text" as const, text: ["20 degrees", "no such city"][at]! }]
      }))
      const second = await anthropic.messages.create({
        ...request,
        messages: [
          ...request.messages,
          { role: "assistant", content: first.content },
          {
            role: "user",
            content: [...results, { type: "text", text: "<system-reminder>Be brief.</system-reminder>" }]
          }
        ]
      })
      assert.deepInclude(second.content.at(-1), { type: "text", text: "Rome is warmer." })
      assert.deepStrictEqual([a.calls.length, b.calls.length, c.calls.length], [1, 1, 2])
      assert.strictEqual(second.usage.output_tokens, 3, "only what the second segment has used")
      assert.deepStrictEqual(
        c.calls[1]?.messages.filter(({ role }) => role === "tool").map(({ content }) => content),
        ["20 degrees", "no such city\n<system-reminder>Be brief.</system-reminder>"]
      )
    })
  })

  it("come whole in a stream, in blocks of their own", () =>
    serving(
      alone(
        worker("a", {
          parts: [
            { type: "text", text: "Let me look." },
            { type: "tool-call", id: "x", name: "weather", arguments: '{"city":"Rome"}' },
            { type: "tool-call", id: "y", name: "weather", arguments: '{"city":"Oslo"}' },
            { type: "finish", reason: "tool-calls", usage }
          ]
        })
      ),
      async (to) => {
        const request = { ...ask("Weather?"), tools: [weather] }
        assert.deepStrictEqual(shortly(await events(to, request)).slice(1, -2), [
          "start 0 text",
          "0 text_delta",
          "stop 0",
          "start 1 tool_use",
          "1 input_json_delta",
          "stop 1",
          "start 2 tool_use",
          "2 input_json_delta",
          "stop 2"
        ])
        const message = await to.anthropic.messages.stream(request).finalMessage()
        assert.deepStrictEqual(
          message.content.map((block) => (block.type === "tool_use" ? block.input : block.type)),
          ["text", { city: "Rome" }, { city: "Oslo" }]
        )
      }
    ))

  it("may be forced, forbidden, and asked for one at a time", () => {
    const a = worker("a", said("1"), said("2"), said("3"))
    return serving({ ...alone(a), settings: { reassign: "never" } }, async ({ anthropic }) => {
      const request = { ...ask("Weather?"), tools: [weather] }
      await anthropic.messages.create({ ...request, tool_choice: { type: "none" } })
      await anthropic.messages.create({ ...request, tool_choice: { type: "any" } }).catch(() => {})
      await anthropic.messages
        .create({ ...request, tool_choice: { type: "tool", name: "weather", disable_parallel_tool_use: true } })
        .catch(() => {})
      assert.deepStrictEqual(
        a.calls.map(({ toolChoice }) => toolChoice),
        ["none", "required", { name: "weather" }]
      )
      assert.strictEqual(a.calls[2]?.parallelToolCalls, false)
    })
  })

  it("may have schemas of any kind, which reach the worker as they are; what they require is asked for again", () => {
    const input_schema = {
      type: "object" as const,
      properties: { url: { type: "string", pattern: "^https:" }, mode: { enum: [{ a: 1 }, "b"] } },
      if: { required: ["mode"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { minProperties: 2 },
      required: ["url"]
    }
    const a = worker("a", asks(["fetch", {}]), asks(["fetch", { url: "https://example.com" }]))
    return serving(alone(a), async ({ anthropic }) => {
      const { content } = await anthropic.messages.create({ ...ask("Fetch"), tools: [{ name: "fetch", input_schema }] })
      assert.deepStrictEqual(
        content.map((block) => block.type === "tool_use" && block.input),
        [{ url: "https://example.com" }]
      )
      assert.deepStrictEqual(a.calls[0]?.tools?.[0]?.input, input_schema)
      assert.include(JSON.stringify(a.calls[1]?.messages.at(-1)), "url is missing")
    })
  })

  it("without a result are answered with a note, and results without a call are given to the worker", () => {
    const a = worker("a", asks(["weather", { city: "Rome" }]), said("It stays unknown."), said("Twenty."))
    return serving(alone(a), async ({ anthropic }) => {
      const request = { ...ask("Weather?"), tools: [weather] }
      const { content } = await anthropic.messages.create(request)
      const unanswered = await anthropic.messages.create({
        ...request,
        messages: [...request.messages, { role: "assistant", content }, ...request.messages]
      })
      assert.deepInclude(unanswered.content[0] as object, { text: "It stays unknown." })
      assert.include(JSON.stringify(a.calls[1]?.messages), "No result: the call")
      const unasked = await anthropic.messages.create({
        ...request,
        messages: [{ role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "20" }] }]
      })
      assert.deepInclude(unasked.content[0] as object, { text: "Twenty." })
      assert.strictEqual(a.calls[2]?.messages.at(-1)?.content, "20")
    })
  })
})
