import type * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { assert, describe, it } from "vitest"
import { ask, events, notes, shortly, thinking, three, thrown, weather } from "./messages.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, usage, worker } from "./teams.ts"

describe("a message", () => {
  it("has what the work cost, and the share of the orchestration", () =>
    serving(three(), async ({ anthropic }) => {
      const message = await anthropic.messages.create(ask("How much?"))
      assert.match(message.id, /^msg_[0-9A-Za-z]{22}$/)
      assert.deepInclude(message, { type: "message", role: "assistant", model: "divisi", stop_reason: "end_turn" })
      assert.deepStrictEqual(message.content, [{ type: "text", text: "three" } as never])
      assert.deepInclude(message.usage, {
        input_tokens: 7,
        output_tokens: 3,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0
      })
      const more = message.usage as unknown as Readonly<Record<string, number>>
      assert.deepInclude(more, { orchestration_input_tokens: 14, orchestration_output_tokens: 6 })
      assert.closeTo(more.cost_usd!, 0.111, 1e-9)
    }))

  it("counts cache tokens separately, as Anthropic does", () => {
    const cached = { inputTokens: 100, outputTokens: 5, cachedInputTokens: 60, cacheWriteTokens: 30 }
    const a = worker("a", {
      parts: [
        { type: "text", text: "." },
        { type: "finish", reason: "stop", usage: cached }
      ]
    })
    return serving(alone(a), async ({ anthropic }) => {
      const message = await anthropic.messages.create(ask("How much?"))
      assert.deepInclude(message.usage, {
        input_tokens: 10,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30
      })
    })
  })

  it("shows the plan and the finished steps as thinking to those who read it", () =>
    serving(three(), async ({ anthropic }) => {
      const { content } = await anthropic.messages.create({ ...ask("How much?"), thinking })
      assert.deepStrictEqual(
        content.map(({ type }) => type),
        ["thinking", "text"]
      )
      assert.deepInclude(content[0], { thinking: notes })
      assert.isAbove(content[0]?.type === "thinking" ? content[0].signature.length : 0, 0)
    }))

  it("ends before a stop sequence, and says which", () =>
    serving(alone(worker("a", said("one EN", "D two"))), async ({ anthropic }) => {
      const message = await anthropic.messages.create({ ...ask("Count"), stop_sequences: ["STOP", "END"] })
      assert.deepInclude(message.content[0], { text: "one " })
      assert.deepInclude(message, { stop_reason: "stop_sequence", stop_sequence: "END" })
    }))

  it("says where it was cut at its limit, and where the worker declined", async () => {
    const cut: ScriptedWorker.Reply = {
      parts: [
        { type: "text", text: "It is" },
        { type: "finish", reason: "length", usage }
      ]
    }
    const declined: ScriptedWorker.Reply = {
      parts: [
        { type: "text", text: "No." },
        { type: "finish", reason: "refusal", usage }
      ]
    }
    for (const [reply, reason] of [
      [cut, "max_tokens"],
      [declined, "refusal"]
    ] as const) {
      await serving({ ...alone(worker("a", reply)), settings: { reassign: "never" } }, async ({ anthropic }) => {
        const message = await anthropic.messages.create(ask("Well?"))
        assert.strictEqual(message.stop_reason, reason)
        assert.strictEqual(message.content[0]?.type, "text")
      })
    }
  })

  it("has the shape that is asked for", () =>
    serving(alone(worker("a", said("five"), said('{"count":5}'))), async ({ anthropic }) => {
      const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] }
      const { content } = await anthropic.messages.create({
        ...ask("Count"),
        output_config: { format: { type: "json_schema", schema } }
      })
      assert.deepInclude(content[0], { text: '{"count":5}' })
    }))
})

describe("what a request says", () => {
  it("reaches the worker: rules, pictures, documents and settings", () => {
    const a = worker("a", said("A cat"))
    return serving(alone(a), async ({ anthropic }) => {
      await anthropic.messages.create({
        model: "worker/a",
        max_tokens: 50,
        ...{ temperature: 0.5 },
        thinking: { type: "enabled", budget_tokens: 1_024 },
        system: [
          { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
          { type: "text", text: "Be kind." }
        ],
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is this?" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVA=" } },
              { type: "image", source: { type: "url", url: "https://example.com/cat.png" } },
              {
                type: "document",
                title: "a.pdf",
                source: { type: "base64", media_type: "application/pdf", data: "JVA=" }
              },
              { type: "document", source: { type: "text", media_type: "text/plain", data: "Hé" } },
              {
                type: "search_result",
                title: "Cats",
                source: "cats.org",
                content: [{ type: "text", text: "They purr." }]
              }
            ]
          }
        ]
      })
      const request = a.calls[0]
      assert.deepInclude(request, { maxOutputTokens: 50, temperature: 0.5 })
      assert.deepStrictEqual(request?.reasoning, { type: "budget", tokens: 1_024 })
      assert.deepStrictEqual(request?.messages, [
        { role: "system", content: "Be brief.\nBe kind." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image", mediaType: "image/png", data: "iVA=" },
            { type: "image", url: "https://example.com/cat.png" },
            { type: "file", name: "a.pdf", mediaType: "application/pdf", data: "JVA=" },
            { type: "file", mediaType: "text/plain", data: "SMOp" },
            { type: "text", text: "Cats (cats.org)" },
            { type: "text", text: "They purr." }
          ]
        }
      ])
    })
  })

  it("may be more than this server knows: what coding agents send is not refused", () => {
    const a = worker("a", said("Hi"))
    return serving(alone(a), async ({ url }) => {
      const response = await fetch(`${url}/messages?beta=true`, {
        method: "POST",
        headers: { "anthropic-beta": "context-management-2025-06-27", "x-api-key": "none" },
        body: JSON.stringify({
          ...ask("Greet"),
          thinking,
          context_management: { edits: [] },
          output_config: { effort: "xhigh" },
          metadata: { user_id: "somebody" },
          tools: [
            weather,
            { type: "web_search_20250305", name: "web_search" },
            { type: "bash_20250124", name: "bash" }
          ],
          messages: [
            { role: "system", content: "Be brief." },
            { role: "user", content: [{ type: "text", text: "Greet", cache_control: { type: "ephemeral" } }] },
            {
              role: "assistant",
              content: [
                { type: "thinking", thinking: "Plan", signature: "x" },
                { type: "redacted_thinking", data: "x" },
                { type: "server_tool_use", id: "y", name: "web_search", input: {} },
                { type: "text", text: "Whom?" }
              ]
            },
            { role: "user", content: "Me" },
            { role: "system", content: "The folder is empty." }
          ]
        })
      })
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(a.calls[0]?.reasoning, { type: "effort", effort: "high" })
      assert.deepStrictEqual(
        a.calls[0]?.tools?.map(({ name }) => name),
        ["weather", "bash"]
      )
      assert.deepStrictEqual(a.calls[0]?.messages, [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Greet" },
        { role: "assistant", content: "Whom?" },
        { role: "system", content: "The folder is empty." },
        { role: "user", content: "Me" }
      ])
    })
  })
})

describe("a stream", () => {
  it("has every event in its order, with thinking before the answer", () =>
    serving(three(), async (to) => {
      const all = await events(to, { ...ask("How much?"), thinking })
      assert.deepStrictEqual(shortly(all), [
        "message_start",
        "start 0 thinking",
        "0 thinking_delta",
        "0 thinking_delta",
        "0 thinking_delta",
        "0 signature_delta",
        "stop 0",
        "start 1 text",
        "1 text_delta",
        "stop 1",
        "message_delta",
        "message_stop"
      ])
      const [first] = all
      assert.deepInclude(first?.type === "message_start" && first.message, { content: [], stop_reason: null })
      const last = all.at(-2)
      assert.deepInclude(last?.type === "message_delta" && last.delta, { stop_reason: "end_turn", stop_sequence: null })
      assert.deepInclude(last?.type === "message_delta" && last.usage, { input_tokens: 7, output_tokens: 3 })
    }))

  it("is put together by the SDK to what a body would have been", () =>
    serving(three(), async ({ anthropic }) => {
      const stream = anthropic.messages.stream({ ...ask("How much?"), thinking })
      const thoughts: Array<string> = []
      stream.on("thinking", (thought) => thoughts.push(thought))
      const message = await stream.finalMessage()
      assert.strictEqual(thoughts.join(""), notes)
      assert.strictEqual(await stream.finalText(), "three")
      assert.deepInclude(message, { stop_reason: "end_turn" })
      assert.deepInclude(message.usage, { input_tokens: 7, output_tokens: 3 })
    }))

  it("has no thinking for those who do not ask for it", () =>
    serving(three(), async (to) => {
      const all = await events(to, ask("How much?"))
      assert.notInclude(shortly(all).join(), "thinking")
    }))

  it("says that it is alive while nothing happens", () => {
    const a = worker("a", { ...(said("Done") as object), delayMillis: 60 } as ScriptedWorker.Reply)
    return serving({ ...alone(a), heartbeatMillis: 10 }, async (to) => {
      const types: ReadonlyArray<string> = (await events(to, ask("Work"))).map(({ type }) => type)
      assert.include(types, "ping")
      assert.strictEqual(types.at(-1), "message_stop")
    })
  })

  it("that breaks off ends with an error, and nothing after it", () =>
    serving(
      {
        ...alone(
          worker("a", {
            parts: [{ type: "text", text: "It is " }],
            thenFail: { _tag: "InvalidRequest", detail: "cut" }
          })
        ),
        settings: { reassign: "never" }
      },
      async (to) => {
        const types = (await events(to, ask("Hm"))).map(({ type }) => type)
        assert.strictEqual(types.at(-1), "error" as never)
        assert.notInclude(types, "message_stop")
        const error = await thrown(to.anthropic.messages.stream(ask("Hm")).finalMessage())
        assert.strictEqual(error.type, "invalid_request_error")
      }
    ))
})

describe("a request that fails", () => {
  it("has the status and the form that Anthropic's clients know", () =>
    serving(alone(worker("a", { fail: { _tag: "ContextTooLong" } })), async ({ anthropic, url }) => {
      const error = await thrown(anthropic.messages.create({ ...ask("Hm"), stream: true }))
      assert.strictEqual(error.status, 400)
      assert.include(error.message, "prompt is too long")
      assert.isString(error.requestID)
      const unknown = await thrown(anthropic.messages.create({ ...ask("Hm"), model: "claude-9" }))
      assert.deepInclude({ ...unknown }, { status: 404, type: "not_found_error" })
      const lost = await fetch(`${url}/messages/batches`)
      assert.deepInclude(await lost.json(), { type: "error" })
      assert.strictEqual(lost.status, 404)
    }))

  it("names the field that cannot be read", () =>
    serving(alone(worker("a", said("?"))), async ({ url }) => {
      const post = async (body: object) => {
        const response = await fetch(`${url}/messages`, { method: "POST", body: JSON.stringify(body) })
        assert.strictEqual(response.status, 400)
        const { error, type } = (await response.json()) as { type: string; error: { type: string; message: string } }
        assert.deepStrictEqual([type, error.type], ["error", "invalid_request_error"])
        return error.message
      }
      assert.match(await post({ ...ask("Hm"), messages: [] }), /^messages must contain/)
      const odd = { role: "user", content: [{ type: "input_audio" }] }
      assert.match(await post({ ...ask("Hm"), messages: [odd] }), /^messages\.0\.content\.0\.type must be/)
    }))
})

describe("tokens", () => {
  it("are counted by the workers who can, the most of them, and estimated where none can", () => {
    const counting = (id: string, count: number) => ({
      ...worker(id, said("?")),
      countInputTokens: ({ tools = [] }: { readonly tools?: ReadonlyArray<unknown> | undefined }) =>
        count + tools.length
    })
    const request = { model: "divisi", messages: ask("0123456789ab").messages, system: "0123" }
    return Promise.all([
      serving(alone(counting("a", 10), counting("b", 20)), async ({ anthropic }) => {
        assert.strictEqual((await anthropic.messages.countTokens({ ...request, tools: [weather] })).input_tokens, 21)
        const one = { ...request, model: "divisi:-b" }
        assert.strictEqual((await anthropic.messages.countTokens(one)).input_tokens, 10)
      }),
      serving(alone(worker("a", said("?"))), async ({ anthropic }) => {
        assert.strictEqual((await anthropic.messages.countTokens(request)).input_tokens, 4)
        const error = await thrown(anthropic.messages.countTokens({ ...request, model: "claude-9" }))
        assert.strictEqual(error.status, 404)
      })
    ])
  })
})

describe("a thread", () => {
  const lookup = {
    name: "lookup",
    input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] }
  }

  it("holds the conversation, its rules and its tools: only what is new is sent", () => {
    const a = worker("a", asks(["lookup", { city: "Rome" }]), said("Sunny"), said("Yes"))
    return serving(alone(a), async ({ url }) => {
      const post = async (body: object) =>
        (await fetch(`${url}/messages`, { method: "POST", body: JSON.stringify({ ...body, ...shared }) })).json()
      const shared = { model: "divisi", max_tokens: 100 }
      const user = (content: unknown) => ({ messages: [{ role: "user", content }] })
      const first = await post({ thread: { type: "create" }, system: "Be brief.", tools: [lookup], ...user("Rome?") })
      const thread = { type: "continue", previous_message_id: first.id }
      const result = { type: "tool_result", tool_use_id: first.content[0].id, content: "sun" }
      const second = await post({ thread, ...user([result]) })
      assert.strictEqual(second.content[0].text, "Sunny")
      const third = await post({ thread: { ...thread, previous_message_id: second.id }, ...user("Sure?") })
      assert.strictEqual(third.content[0].text, "Yes")
      const read = a.calls[2]!.messages.map(({ role }) => role)
      assert.deepStrictEqual(read, ["system", "user", "assistant", "tool", "assistant", "user"])
      const lost = await post({ thread: { ...thread, previous_message_id: "msg_x" }, ...user("Sure?") })
      assert.deepInclude(lost.error, { type: "not_found_error", details: { error_code: "thread_not_found" } })
    })
  })
})
