import type OpenAI from "openai"
import { assert, describe, it } from "vitest"
import { ask, notes, slow, streamed, three, thrown, types, weather } from "./responses.ts"
import { serving } from "./serving.ts"
import { alone, asks, said, team, usage, worker } from "./teams.ts"

describe("a response", () => {
  it("has what the work cost, and the share of the orchestration", () =>
    serving(three(), async ({ client }) => {
      const response = await client.responses.create(ask("How much?"))
      assert.match(response.id, /^resp_[0-9A-Za-z]{22}$/)
      assert.deepInclude(response, { object: "response", status: "completed", model: "divisi", error: null })
      assert.strictEqual(response.output_text, "three")
      assert.deepInclude(response.usage, { input_tokens: 7, output_tokens: 3, total_tokens: 10 })
      assert.deepInclude(response.usage?.input_tokens_details as object, {
        cached_tokens: 0,
        orchestration_input_tokens: 14
      })
      assert.deepInclude(response.usage?.output_tokens_details as object, {
        reasoning_tokens: 0,
        orchestration_output_tokens: 6
      })
      assert.closeTo((response.usage as unknown as { cost_usd: number }).cost_usd, 0.111, 1e-9)
    }))

  it("shows the plan and the finished steps as a summary of reasoning", () =>
    serving(three(), async ({ client }) => {
      const { output } = await client.responses.create(ask("How much?"))
      assert.deepStrictEqual(
        output.map(({ type }) => type),
        ["reasoning", "message"]
      )
      assert.deepStrictEqual(output[0]?.type === "reasoning" && output[0].summary.map(({ text }) => text), notes)
    }))

  it("repeats what was asked for, with all fields that clients read", () =>
    serving(alone(worker("a", said("Hi"))), async ({ client }) => {
      const response = await client.responses.create({
        ...ask("Greet"),
        instructions: "Be kind.",
        tools: [{ type: "function", name: "f" } as never, { type: "web_search" }],
        metadata: { topic: "t" }
      })
      assert.containsAllKeys(response, [
        ..."completed_at incomplete_details previous_response_id truncation parallel_tool_calls text top_p".split(" "),
        ..."presence_penalty frequency_penalty top_logprobs temperature reasoning max_output_tokens".split(" "),
        ..."max_tool_calls store background service_tier safety_identifier prompt_cache_key".split(" ")
      ])
      assert.deepInclude(response, { instructions: "Be kind.", tool_choice: "auto", metadata: { topic: "t" } })
      assert.deepStrictEqual(response.tools[0] as unknown, {
        type: "function",
        name: "f",
        description: null,
        parameters: null,
        strict: null
      })
    }))

  it("has the shape that is asked for", () =>
    serving(alone(worker("a", said("five"), said('{"count":5}'))), async ({ client }) => {
      const schema = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] }
      const response = await client.responses.create({
        ...ask("Count"),
        text: { format: { type: "json_schema", name: "count", schema } }
      })
      assert.strictEqual(response.output_text, '{"count":5}')
    }))

  it("is incomplete where it was cut at its limit", () => {
    const a = worker("a", {
      parts: [
        { type: "text", text: "It is" },
        { type: "finish", reason: "length", usage }
      ]
    })
    return serving(alone(a), async ({ client, url }) => {
      const response = await client.responses.create({ ...ask("Well?"), max_output_tokens: 16 })
      assert.strictEqual(response.status, "incomplete")
      assert.deepStrictEqual(response.incomplete_details, { reason: "max_output_tokens" })
      assert.strictEqual(a.calls[0]?.maxOutputTokens, 16)
      const { events } = await streamed(url, ask("Well?"))
      assert.strictEqual(events.at(-1)?.type, "response.incomplete")
    })
  })

  it("passes rules, pictures, files and settings on to the worker", () => {
    const a = worker("a", said("A cat"))
    return serving(alone(a), async ({ client }) => {
      await client.responses.create({
        model: "worker/a",
        instructions: "Be brief.",
        temperature: 0.5,
        reasoning: { effort: "low" },
        input: [
          { role: "developer", content: "Be kind." },
          { role: "assistant", phase: "commentary", content: "I am looking." },
          {
            role: "user",
            content: [
              { type: "input_text", text: "What is this?" },
              { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVA=" },
              { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVA=" }
            ]
          }
        ]
      })
      assert.deepInclude(a.calls[0], { temperature: 0.5 })
      assert.deepStrictEqual(a.calls[0]?.reasoning, { type: "effort", effort: "low" })
      assert.deepStrictEqual(a.calls[0]?.messages, [
        { role: "system", content: "Be brief." },
        { role: "developer", content: "Be kind." },
        { role: "assistant", content: "I am looking." },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image", mediaType: "image/png", data: "iVA=" },
            { type: "file", name: "a.pdf", mediaType: "application/pdf", data: "JVA=" }
          ]
        }
      ])
    })
  })
})

describe("a stream", () => {
  it("has every event in its order, with numbers from 0 on", () =>
    serving(three(), async ({ url }) => {
      const { events, isEnded } = await streamed(url, ask("How much?"))
      const note = ["part.added", "text.delta", "text.done", "part.done"].map((name) => `reasoning_summary_${name}`)
      assert.deepStrictEqual(types(events), [
        "created",
        "in_progress",
        "output_item.added",
        ...note,
        ...note,
        ...note,
        "output_item.done",
        "output_item.added",
        "content_part.added",
        "output_text.delta",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed"
      ])
      assert.deepStrictEqual(
        events.map((event) => "sequence_number" in event && event.sequence_number),
        events.map((_, at) => at)
      )
      assert.isTrue(isEnded)
    }))

  it("ends with what a body would have been", () =>
    serving(three(), async ({ client }) => {
      const stream = client.responses.stream(ask("How much?"))
      const pieces: Array<string> = []
      stream.on("response.output_text.delta", ({ delta }) => pieces.push(delta))
      const response = await stream.finalResponse()
      assert.strictEqual(pieces.join(""), "three")
      assert.strictEqual(response.output_text, "three")
      assert.deepInclude(response.usage, { total_tokens: 10 })
    }))

  it("says that it is alive while nothing happens, by an event that every client knows", () =>
    serving({ ...alone(worker("a", slow)), heartbeatMillis: 10 }, async ({ url }) => {
      const { events } = await streamed(url, ask("Work"))
      const signs = events.flatMap((event, at) => (at > 1 && event.type === "response.in_progress" ? [at] : []))
      assert.isAbove(signs.length, 0)
      const numberOf = (at: number) => (events[at] as { readonly sequence_number: number }).sequence_number
      assert.isTrue(signs.every((at) => numberOf(at) === numberOf(at - 1)))
      assert.strictEqual(events.at(-1)?.type, "response.completed")
    }))

  it("that breaks off ends as failed, with a code that says whether to try again", () =>
    serving(
      {
        ...alone(worker("a", { parts: [{ type: "text", text: "It is " }], thenFail: { _tag: "Overloaded" } })),
        settings: { reassign: "never", retry: { maxAttempts: 1, baseDelayMillis: 0 } }
      },
      async ({ url }) => {
        const { events } = await streamed(url, ask("Hm"))
        const last = events.at(-1)
        assert.strictEqual(last?.type, "response.failed")
        assert.deepInclude(last?.type === "response.failed" && last.response, { status: "failed" })
        assert.strictEqual(last?.type === "response.failed" && last.response.error?.code, "server_error")
        assert.notInclude(types(events), "output_text.done")
      }
    ))
})

describe("tools", () => {
  it("are called by the last step, and its run resumes with their results", () => {
    const [a, b] = [worker("a", said("one")), worker("b", said("two"))]
    const c = worker("c", asks(["weather", { city: "Rome" }], ["weather", { city: "Oslo" }]), said("Rome is warmer."))
    return serving(team(a, b, c), async ({ client }) => {
      const request = { model: "divisi", tools: [weather], store: false }
      const input: Array<OpenAI.Responses.ResponseInputItem> = [{ role: "user", content: "Which is warmer?" }]
      const first = await client.responses.create({ ...request, input })
      const calls = first.output.filter((item) => item.type === "function_call")
      assert.deepStrictEqual(
        calls.map((call) => call.arguments),
        ['{"city":"Rome"}', '{"city":"Oslo"}']
      )
      const results = calls.map(({ call_id }, at) => ({
        type: "function_call_output" as const,
        call_id,
        output: ["20 degrees", "5 degrees"][at]!
      }))
      const second = await client.responses.create({
        ...request,
        input: [...input, ...first.output, ...results] as never
      })
      assert.strictEqual(second.output_text, "Rome is warmer.")
      assert.deepStrictEqual([a.calls.length, b.calls.length, c.calls.length], [1, 1, 2])
      assert.strictEqual(second.usage?.total_tokens, 10, "only what the second segment has used")
    })
  })

  it("come whole in a stream, in items of their own", () =>
    serving(
      alone(
        worker("a", {
          parts: [
            { type: "text", text: "Let me look." },
            { type: "tool-call", id: "x", name: "weather", arguments: '{"city":"Rome"}' },
            { type: "finish", reason: "tool-calls", usage }
          ]
        })
      ),
      async ({ url }) => {
        const { events } = await streamed(url, { ...ask("Weather?"), tools: [weather] })
        assert.deepStrictEqual(types(events).slice(-6), [
          "output_item.done",
          "output_item.added",
          "function_call_arguments.delta",
          "function_call_arguments.done",
          "output_item.done",
          "completed"
        ])
        const done = events.find((event) => event.type === "response.function_call_arguments.done")
        assert.deepInclude(done as object, { name: "weather", arguments: '{"city":"Rome"}', output_index: 1 })
      }
    ))

  it("of any text and in name spaces are called by their own names, as Codex offers them", () => {
    const a = worker("a", asks(["patch", { input: "*** Begin" }], ["files__read", { path: "a" }]), said("Done"))
    return serving(alone(a), async ({ client }) => {
      const tools = [
        { type: "custom", name: "patch", format: { type: "grammar", syntax: "lark", definition: "start: /.+/" } },
        { type: "namespace", name: "files", description: "", tools: [{ ...weather, name: "read", parameters: {} }] },
        { type: "web_search" }
      ]
      const request = { model: "divisi", tools: tools as never, store: false }
      const first = await client.responses.create({ ...request, input: "Patch" })
      assert.deepStrictEqual(
        a.calls[0]?.tools?.map(({ name }) => name),
        ["patch", "files__read"]
      )
      assert.include(a.calls[0]?.tools?.[0]?.description, "start: /.+/")
      const [patch, read] = first.output as unknown as ReadonlyArray<Record<string, string>>
      assert.deepInclude(patch, { type: "custom_tool_call", name: "patch", input: "*** Begin" })
      assert.deepInclude(read, { type: "function_call", name: "read", namespace: "files", arguments: '{"path":"a"}' })
      const results = [
        { type: "custom_tool_call_output", call_id: patch?.call_id, output: "patched" },
        { type: "function_call_output", call_id: read?.call_id, output: [{ type: "input_text", text: "text" }] }
      ]
      const input = [{ role: "user", content: "Patch" }, ...first.output, ...results]
      assert.strictEqual((await client.responses.create({ ...request, input: input as never })).output_text, "Done")
      assert.strictEqual(a.calls.length, 2)
    })
  })

  it("without a result are answered with a note, and results without a call are given to the worker", () => {
    const a = worker("a", asks(["weather", { city: "Rome" }]), said("It stays unknown."), said("Twenty."))
    return serving(alone(a), async ({ client }) => {
      const { id } = await client.responses.create({ ...ask("Weather?"), tools: [weather] })
      const missing = await client.responses.create({ ...ask("And?"), tools: [weather], previous_response_id: id })
      assert.strictEqual(missing.output_text, "It stays unknown.")
      assert.include(JSON.stringify(a.calls[1]?.messages), "No result: the call")
      const output = { type: "function_call_output" as const, call_id: "call_1", output: "20" }
      const unasked = await client.responses.create({ model: "divisi", input: [output] })
      assert.strictEqual(unasked.output_text, "Twenty.")
      assert.strictEqual(a.calls[2]?.messages.at(-1)?.content, "20")
    })
  })
})

describe("a request that fails", () => {
  it("has the status and the form that OpenAI's clients know", () =>
    serving(alone(worker("a", { fail: { _tag: "ContextTooLong" } })), async ({ client }) => {
      const error = await thrown(client.responses.create({ ...ask("Hm"), stream: true }))
      assert.deepInclude({ ...error }, { status: 400, code: "context_length_exceeded" })
      const empty = await thrown(client.responses.create({ model: "divisi" }))
      assert.deepInclude({ ...empty }, { status: 400, param: "input" })
      const elsewhere = await thrown(client.responses.create({ ...ask("Hm"), conversation: "conv_1" }))
      assert.deepInclude({ ...elsewhere }, { status: 400, param: "conversation" })
    }))
})

describe("tokens of a request", () => {
  it("are counted without a worker call", () => {
    const a = worker("a", said("?"))
    return serving(alone(a), async ({ client }) => {
      const { input_tokens } = await client.responses.inputTokens.count(ask("0123456789ab"))
      assert.strictEqual(input_tokens, 3)
      assert.strictEqual(a.calls.length, 0)
    })
  })
})

describe("a trigger of compaction", () => {
  type Item = { readonly type: string; readonly encrypted_content?: string; readonly id?: string }
  type Event = {
    readonly type: string
    readonly item?: Item
    readonly response?: { readonly output: ReadonlyArray<Item> }
  }

  const trigger = { type: "compaction_trigger" }
  const history = [
    { role: "user", content: "I am Ann. I launch on Tuesday." },
    { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "sunny" }
  ]
  const tools = [{ type: "function", name: "look" }]

  const eventsOf = async (url: string, body: object): Promise<ReadonlyArray<Event>> => {
    const response = await fetch(`${url}/responses`, {
      method: "POST",
      body: JSON.stringify({ model: "divisi", stream: true, ...body })
    })
    const text = await response.text()
    return text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []))
  }

  it("is answered by one item, which stands for the conversation afterwards", () => {
    const a = worker("a", said("Ann launches ", "on Tuesday."), said("Tuesday"))
    return serving(alone(a), async ({ client, url }) => {
      const events = await eventsOf(url, {
        input: [...history, trigger],
        tools,
        text: { format: { type: "json_schema", name: "x", schema: { type: "object" } } }
      })
      assert.deepStrictEqual(
        events.map(({ type }) => type),
        ["created", "in_progress", "output_item.added", "output_item.done", "completed"].map(
          (type) => `response.${type}`
        )
      )
      const item = events[3]!.item!
      assert.strictEqual(item.type, "compaction")
      assert.deepStrictEqual(events[4]?.response?.output, [item])
      const asked = a.calls[0]!
      assert.strictEqual(asked.toolChoice, "none")
      assert.isUndefined(asked.output)
      assert.deepStrictEqual(
        asked.messages.map(({ role }) => role),
        ["user", "assistant", "tool", "user"]
      )
      // As Codex builds its history: what the user said, and the item.
      const input = [history[0], item, { role: "user", content: "When?" }]
      const response = await client.responses.create({ model: "divisi", input: input as never })
      assert.strictEqual(response.output_text, "Tuesday")
      assert.include(a.calls[1]?.messages[1]?.content, "Ann launches on Tuesday.")
    })
  })

  it("is found wherever it is, in the form of the first versions of Codex, and in a whole response", () => {
    const a = worker("a", said("one"), said("two"), said("three"))
    return serving(alone(a), async ({ client }) => {
      const inputs = [
        [trigger, history[0]],
        [history[0], { type: "context_compaction" }]
      ]
      for (const input of inputs) {
        const { output } = await client.responses.create({ model: "divisi", input: input as never })
        assert.deepStrictEqual(
          output.map(({ type }) => type as string),
          ["compaction"]
        )
      }
      const [aliased] = (await client.responses.create({ model: "divisi", input: inputs[0] as never })).output
      for (const type of ["compaction_summary", "context_compaction"]) {
        const input = [
          { ...aliased, type },
          { role: "user", content: "When?" }
        ]
        await client.responses.create({ model: "divisi", input: input as never })
        assert.include(a.calls.at(-1)?.messages[0]?.content, "three")
      }
    })
  })

  it("replaces what came before in a stored conversation", () => {
    const a = worker("a", said("Hello"), said("The summary"), said("Tuesday"))
    return serving(alone(a), async ({ client }) => {
      const first = await client.responses.create({ model: "divisi", input: "I am Ann." })
      const second = await client.responses.create({
        model: "divisi",
        previous_response_id: first.id,
        input: [trigger] as never
      })
      assert.strictEqual(second.output.length, 1)
      assert.strictEqual(a.calls[1]?.messages.length, 3)
      await client.responses.create({ model: "divisi", previous_response_id: second.id, input: "When?" })
      const { messages } = a.calls[2]!
      assert.strictEqual(messages.length, 2)
      assert.include(messages[0]?.content, "The summary")
      assert.deepStrictEqual(messages[1], { role: "user", content: "When?" })
    })
  })

  it("gives no item where the model wrote no summary, or a part of one", () => {
    const cut = {
      parts: [
        { type: "text", text: "Ann lau" },
        { type: "finish", reason: "length", usage }
      ]
    } as const
    const a = worker("a", said(" "), cut)
    return serving(alone(a), async ({ url }) => {
      for (const end of ["response.failed", "response.incomplete"]) {
        const events = await eventsOf(url, { input: [...history, trigger], tools })
        assert.strictEqual(events.at(-1)?.type, end)
        assert.deepStrictEqual(events.at(-1)?.response?.output, [])
      }
    })
  })
})

describe("a conversation in short", () => {
  it("takes the place of the conversation", () => {
    const a = worker("a", said("Ann launches on Tuesday."), said("Tuesday"))
    return serving(alone(a), async ({ client }) => {
      const compacted = await client.responses.compact({ model: "divisi", input: "I am Ann. I launch on Tuesday." })
      assert.strictEqual(compacted.object, "response.compaction")
      assert.deepInclude(compacted.usage, { total_tokens: 10 })
      const input = [...compacted.output, { role: "user", content: "When?" }]
      const response = await client.responses.create({ model: "divisi", input: input as never })
      assert.strictEqual(response.output_text, "Tuesday")
      const [before, asked] = a.calls[1]?.messages ?? []
      assert.include(before?.content, "Ann launches on Tuesday.")
      assert.deepStrictEqual(asked, { role: "user", content: "When?" })
      const foreign = { type: "compaction", encrypted_content: "gAAAA" }
      const refused = await thrown(client.responses.create({ model: "divisi", input: [foreign] as never }))
      assert.strictEqual(refused.status, 400)
    })
  })
})
