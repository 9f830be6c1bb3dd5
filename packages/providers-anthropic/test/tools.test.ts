import type { Tool } from "@divisi/core"
import type { AssistantMessage, Content, Message, ToolMessage } from "@divisi/core/Message"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import { Dialects } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { anthropic } from "../src/index.ts"
import { type Target, toBody } from "../src/internal/request.ts"
import { conversation, target } from "./target.ts"

const user = (content: Content): Message => ({ role: "user", content })
const clock: Tool.ToolDefinition = {
  name: "clock",
  description: "The time in a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
}
const called: AssistantMessage = {
  role: "assistant",
  content: "I look.",
  toolCalls: [
    { id: "t1", name: "clock", arguments: '{"city":"Ulm"}' },
    { id: "t2", name: "clock", arguments: '{"city":"Bonn"}' }
  ]
}
const result = (callId: string, content: Content, isError = false): ToolMessage => ({
  role: "tool",
  callId,
  name: "clock",
  content,
  ...(isError ? { isError } : {})
})

const sent = (request: Partial<WorkerRequest>, to: Target = target("claude-sonnet-4-6")) =>
  JSON.parse(JSON.stringify(Result.getOrThrow(toBody({ messages: conversation, ...request }, to))))

const refusal = (request: Partial<WorkerRequest>, to: Target = target("claude-sonnet-4-6")) => {
  const body = toBody({ messages: conversation, ...request }, to)
  return Result.isFailure(body) ? body.failure.detail : undefined
}

describe("pictures and files", () => {
  it("are blocks, by their bytes or by where they are", () => {
    const { messages } = sent({
      messages: [
        user([
          { type: "text", text: "What is this?" },
          { type: "image", data: "iVA=", mediaType: "image/png" },
          { type: "image", url: "https://example.com/cat.webp" },
          { type: "file", name: "a.pdf", data: "JVBE", mediaType: "application/pdf" },
          { type: "file", url: "https://example.com/b.pdf" },
          { type: "file", name: "c.md", data: "w6nDtw==", mediaType: "text/markdown" },
          { type: "file", data: "iVA=", mediaType: "image/gif" }
        ])
      ]
    })
    assert.deepStrictEqual(messages, [
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "iVA=" } },
          { type: "image", source: { type: "url", url: "https://example.com/cat.webp" } },
          {
            type: "document",
            title: "a.pdf",
            source: { type: "base64", media_type: "application/pdf", data: "JVBE" }
          },
          { type: "document", source: { type: "url", url: "https://example.com/b.pdf" } },
          { type: "document", title: "c.md", source: { type: "text", media_type: "text/plain", data: "é÷" } },
          { type: "image", source: { type: "base64", media_type: "image/gif", data: "iVA=" } }
        ]
      }
    ])
  })

  it.each([
    ["image/tiff", { type: "image", data: "AA==", mediaType: "image/tiff" }],
    ["application/zip", { type: "file", data: "AA==", mediaType: "application/zip" }],
    ["text/csv", { type: "file", url: "https://example.com/a.csv", mediaType: "text/csv" }],
    ["not base64", { type: "file", data: "%", mediaType: "text/plain" }]
  ] as const)("that the vendor does not take are refused before anything is sent: %s", (word, part) => {
    assert.include(refusal({ messages: [user([part])] }), word)
  })
})

describe("rules", () => {
  it("of the system and of the application are one text, regardless of position", () => {
    const { messages, system } = sent({
      messages: [{ role: "system", content: "Be terse." }, user("Hi"), { role: "developer", content: "No jokes." }]
    })
    assert.deepStrictEqual(system, [{ type: "text", text: "Be terse.\n\nNo jokes." }])
    assert.strictEqual(messages.length, 1)
  })
})

describe("the tools of a request", () => {
  it("are its definitions, with strict schemas if the caller requests it", () => {
    const { tool_choice, tools } = sent({ tools: [clock, { name: "now", input: {}, strict: true }] })
    assert.deepStrictEqual(tools, [
      { name: "clock", description: "The time in a city", input_schema: clock.input },
      { name: "now", input_schema: { type: "object" }, strict: true }
    ])
    assert.isUndefined(tool_choice)
  })

  it.each([
    [{ toolChoice: "auto" }, { type: "auto" }],
    [{ toolChoice: "none", parallelToolCalls: false }, { type: "none" }],
    [{ toolChoice: "required" }, { type: "any" }],
    [
      { toolChoice: { name: "clock" }, parallelToolCalls: true },
      { type: "tool", name: "clock", disable_parallel_tool_use: false }
    ],
    [{ parallelToolCalls: false }, { type: "auto", disable_parallel_tool_use: true }]
  ] as const)("are chosen by %o", (choice, expected) => {
    assert.deepStrictEqual(sent({ tools: [clock], ...choice }).tool_choice, expected)
  })

  it("cannot be forced upon a model that thinks", () => {
    const choice = { tools: [clock], toolChoice: "required" } as const
    const effort = { reasoning: { type: "effort", effort: "low" } } as const
    assert.include(refusal({ ...choice, ...effort }), "toolChoice required")
    assert.include(refusal({ ...choice, toolChoice: { name: "clock" } }, target("claude-opus-5-5")), '"clock"')
    const lenient = target("claude-opus-5-5", { omitUnsupported: true })
    assert.include(refusal(choice, lenient), 'use "auto", or another model')
    assert.deepStrictEqual(sent({ ...choice, reasoning: { type: "off" } }).tool_choice, { type: "any" })
  })

  it("come before reasoning where one of both may be left out", () => {
    const lenient = target("claude-sonnet-4-6", { omitUnsupported: true })
    const forced = { tools: [clock], toolChoice: "required", reasoning: { type: "effort", effort: "low" } } as const
    const { thinking, tool_choice } = sent(forced, lenient)
    assert.deepStrictEqual([tool_choice, thinking], [{ type: "any" }, undefined])
  })

  it("are named and forbidden where only the conversation has any", () => {
    const { tool_choice, tools } = sent({ messages: [user("Time?"), called, result("t1", "1"), result("t2", "2")] })
    assert.deepStrictEqual(tools, [{ name: "clock", input_schema: { type: "object" } }])
    assert.deepStrictEqual(tool_choice, { type: "none" })
  })

  it("are cached with the system text, or without one", () => {
    const cached = target("claude-sonnet-4-6", { promptCache: { prefix: "system", keepFor: "5m" } })
    const bare = sent({ messages: [user("Hi")], tools: [clock] }, cached)
    assert.deepStrictEqual(bare.tools[0].cache_control, { type: "ephemeral" })
    const ruled = sent({ tools: [clock] }, cached)
    assert.isUndefined(ruled.tools[0].cache_control)
    assert.deepStrictEqual(ruled.system[0].cache_control, { type: "ephemeral" })
  })
})

describe("the turns of tools", () => {
  it("are calls with objects, and results in one turn before all else", () => {
    const { messages } = sent({
      messages: [
        user("Time?"),
        called,
        result("t1", [
          { type: "text", text: "12:00" },
          { type: "image", data: "iVA=", mediaType: "image/png" }
        ]),
        result("t2", ""),
        user("Well?")
      ]
    })
    assert.deepStrictEqual(messages.slice(1), [
      {
        role: "assistant",
        content: [
          { type: "text", text: "I look." },
          { type: "tool_use", id: "t1", name: "clock", input: { city: "Ulm" } },
          { type: "tool_use", id: "t2", name: "clock", input: { city: "Bonn" } }
        ]
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t1",
            content: [
              { type: "text", text: "12:00" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: "iVA=" } }
            ]
          },
          { type: "tool_result", tool_use_id: "t2" },
          { type: "text", text: "Well?" }
        ]
      }
    ])
  })

  it("that failed are texts, with their pictures after all results", () => {
    const picture = { type: "image", url: "https://example.com/a.png" } as const
    const { messages } = sent({
      messages: [
        user("Time?"),
        called,
        result("t1", [{ type: "text", text: "Broken." }, picture], true),
        result("t2", "2")
      ]
    })
    assert.deepStrictEqual(
      messages[2].content.map((block: Record<string, unknown>) => [block.type, block.is_error, block.content]),
      [
        ["tool_result", true, [{ type: "text", text: "Broken." }]],
        ["tool_result", undefined, [{ type: "text", text: "2" }]],
        ["image", undefined, undefined]
      ]
    )
  })

  it.each([
    ["", {}],
    ['{"city": "Ul', { INVALID_JSON: '{"city": "Ul' }],
    ["[1]", { INVALID_JSON: "[1]" }],
    ["null", { INVALID_JSON: "null" }]
  ])("say of arguments that are no object what the model wrote: %o", (text, input) => {
    const wrong: Message = { role: "assistant", content: "", toolCalls: [{ id: "t1", name: "clock", arguments: text }] }
    const { messages } = sent({ messages: [user("Time?"), wrong, result("t1", "no", true)] })
    assert.deepStrictEqual(messages[1].content, [{ type: "tool_use", id: "t1", name: "clock", input }])
  })
})

describe("the shape of an answer", () => {
  const format: Tool.JsonSchemaFormat = {
    type: "json-schema",
    name: "city",
    schema: { type: "object", properties: { people: { type: "integer", minimum: 1 } }, required: ["people"] }
  }

  it("is the caller's schema in addition to the effort", () => {
    const { output_config } = sent({ output: format, reasoning: { type: "effort", effort: "low" } })
    assert.deepStrictEqual(output_config, { effort: "low", format: { type: "json_schema", schema: format.schema } })
    assert.isUndefined(sent({ output: { type: "text" } }).output_config)
  })

  it("says in words what the vendor cannot hold to where that is enough", () => {
    const { output_config } = sent({ output: { ...format, strict: false } })
    assert.deepStrictEqual(output_config.format.schema, {
      type: "object",
      properties: { people: { type: "integer", description: "{minimum: 1}" } },
      additionalProperties: false,
      required: ["people"]
    })
    const open = { type: "object", additionalProperties: { type: "number" } }
    assert.include(refusal({ output: { ...format, strict: false, schema: open } }), "additionalProperties")
    assert.include(refusal({ output: { ...format, strict: false, schema: {} } }), "requires a type")
  })

  it("is refused if the vendor does not support it", () => {
    assert.include(refusal({ output: { type: "json" } }), "output json")
    const unable = target("claude-sonnet-4-6")
    const without = { ...unable, capabilities: { ...unable.capabilities, jsonSchema: false } }
    assert.include(refusal({ output: format }, without), "output json-schema")
    assert.include(refusal({ output: format }, { ...without, omitUnsupported: true }), "output json-schema")
    assert.include(refusal({ output: { type: "json" } }, { ...unable, omitUnsupported: true }), "output json")
  })
})

describe("an answer that calls tools", () => {
  const start = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block })
  const delta = (index: number, piece: object) => ({ type: "content_block_delta", index, delta: piece })
  const stop = (index: number) => ({ type: "content_block_stop", index })
  const json = (index: number, partial_json: string) => delta(index, { type: "input_json_delta", partial_json })
  const ending = (stop_reason: string) => [
    { type: "message_delta", delta: { stop_reason }, usage: { input_tokens: 5, output_tokens: 7 } },
    { type: "message_stop" }
  ]
  const opening = { type: "message_start", message: { usage: { input_tokens: 5, output_tokens: 1 } } }

  const read = (events: ReadonlyArray<object>, model = "claude-sonnet-4-6") => {
    const { echo, finishReason, initial, last, next } = Dialects.Messages.protocolOf(model)
    const parts: Array<WorkerPart> = []
    let state = initial
    for (const event of events) {
      const step = next(state, event)
      state = step.state
      parts.push(...step.parts)
    }
    parts.push(...(last?.(state) ?? []))
    return { parts, reason: finishReason(state), echo: echo?.(state) }
  }

  const twice = [
    opening,
    start(0, { type: "text", text: "" }),
    delta(0, { type: "text_delta", text: "I look." }),
    stop(0),
    start(1, { type: "tool_use", id: "t1", name: "clock", input: {} }),
    json(1, ""),
    json(1, '{"city":'),
    json(1, '"Ulm"}'),
    stop(1),
    start(2, { type: "tool_use", id: "t2", name: "now", input: {} }),
    stop(2),
    ...ending("tool_use")
  ]

  it("is texts, calls in pieces, and whole calls", () => {
    const { echo, parts, reason } = read(twice)
    assert.deepStrictEqual(parts, [
      { type: "text", text: "I look." },
      { type: "tool-call-delta", id: "t1", name: "clock", arguments: '{"city":' },
      { type: "tool-call-delta", id: "t1", name: "clock", arguments: '"Ulm"}' },
      { type: "tool-call", id: "t1", name: "clock", arguments: '{"city":"Ulm"}' },
      { type: "tool-call", id: "t2", name: "now", arguments: "{}" }
    ])
    assert.strictEqual(reason, "tool-calls")
    assert.isUndefined(echo)
  })

  it("names a call that was cut, without its arguments", () => {
    const { parts, reason } = read([
      opening,
      start(0, { type: "tool_use", id: "t1", name: "clock", input: {} }),
      json(0, '{"city": "Ul'),
      stop(0),
      ...ending("max_tokens")
    ])
    assert.deepStrictEqual(parts.at(-1), { type: "tool-call", id: "t1", name: "clock", arguments: "" })
    assert.strictEqual(reason, "length")
  })

  it("leaves out calls that the vendor runs itself", () => {
    const { parts } = read([
      opening,
      start(0, { type: "server_tool_use", id: "s1", name: "web_search", input: {} }),
      json(0, "{}"),
      stop(0),
      ...ending("end_turn")
    ])
    assert.deepStrictEqual(parts, [])
  })

  it.each([
    ["a call without a name", [start(0, { type: "tool_use", id: "t1", name: null, input: {} })]],
    ["a piece of no call", [json(4, "{}")]],
    [
      "a call that is cut off",
      [start(0, { type: "tool_use", id: "t1", name: "now" }), json(0, '{"city":'), ...ending("tool_use")]
    ],
    ["no call at all", ending("tool_use")]
  ])("cannot be read with %s", (_, events) => {
    assert.throws(() => read([opening, ...events]))
  })

  const signed = [
    opening,
    start(0, { type: "thinking", thinking: "", signature: "" }),
    delta(0, { type: "thinking_delta", thinking: "Hm" }),
    delta(0, { type: "thinking_delta", thinking: "m." }),
    delta(0, { type: "signature_delta", signature: "sig1" }),
    stop(0),
    start(1, { type: "redacted_thinking", data: "xyz" }),
    stop(1),
    start(2, { type: "text", text: "" }),
    delta(2, { type: "text_delta", text: "I lo" }),
    delta(2, { type: "text_delta", text: "ok." }),
    stop(2),
    start(3, { type: "tool_use", id: "t1", name: "clock", input: {} }),
    json(3, '{"city":"Ulm"}'),
    stop(3),
    start(4, { type: "thinking", thinking: "", signature: "" }),
    delta(4, { type: "signature_delta", signature: "sig2" }),
    stop(4),
    start(5, { type: "tool_use", id: "t2", name: "clock", input: {} }),
    json(5, '{"city":"Bonn"}'),
    stop(5),
    ...ending("tool_use")
  ]

  const back = (echo: unknown, turn: AssistantMessage = called, model = "claude-sonnet-4-6") =>
    sent({ messages: [user("Time?"), { ...turn, echo }, result("t1", "1"), result("t2", "2")] }, target(model))
      .messages[1].content

  it("gives its thinking back unchanged, where it stood", () => {
    const { echo } = read(signed)
    assert.deepStrictEqual(back(JSON.parse(JSON.stringify(echo))), [
      { type: "thinking", thinking: "Hmm.", signature: "sig1" },
      { type: "redacted_thinking", data: "xyz" },
      { type: "text", text: "I look." },
      { type: "tool_use", id: "t1", name: "clock", input: { city: "Ulm" } },
      { type: "thinking", thinking: "", signature: "sig2" },
      { type: "tool_use", id: "t2", name: "clock", input: { city: "Bonn" } }
    ])
  })

  it("gives its thinking back first where the turn was changed, and none of another model", () => {
    const { echo } = read(signed)
    const types = (content: ReadonlyArray<{ type: string }>) => content.map(({ type }) => type)
    const changed = back(echo, { ...called, content: "Other words." })
    assert.deepStrictEqual(types(changed), [
      "thinking",
      "redacted_thinking",
      "thinking",
      "text",
      "tool_use",
      "tool_use"
    ])
    assert.deepStrictEqual(types(back(echo, called, "claude-opus-4-6")), ["text", "tool_use", "tool_use"])
    assert.deepStrictEqual(types(back({ model: "claude-sonnet-4-6", blocks: "?" })), ["text", "tool_use", "tool_use"])
    assert.deepStrictEqual(types(back(["gpt"])), ["text", "tool_use", "tool_use"])
  })

  it("puts no mark for the cache on thinking", () => {
    const { echo } = read(signed)
    const to = target("claude-sonnet-4-6", { promptCache: { prefix: "conversation", keepFor: "5m" } })
    const turn = { ...called, content: "Other words.", toolCalls: [], echo }
    const { messages } = sent({ messages: [user("Time?"), turn, user("Go on.")] }, to)
    const marked = messages.flatMap(({ content }: { content: ReadonlyArray<Record<string, unknown>> }) =>
      content.filter((block) => "cache_control" in block)
    )
    assert.deepStrictEqual(
      marked.map(({ type }: { type: string }) => type),
      ["text"]
    )
  })
})

describe("a worker", () => {
  it("declares its model's capabilities, and the caller's overrides", () => {
    const able = { tools: true, images: true, files: true, jsonSchema: true, json: false, shapesWithTools: true }
    assert.deepStrictEqual(anthropic("claude-opus-5-5").capabilities, able)
    const told = anthropic("claude-of-tomorrow", { capabilities: { images: false } })
    assert.deepStrictEqual(told.capabilities, { ...able, images: false })
  })

  it("may have instructions of its own", () => {
    assert.strictEqual(anthropic("claude-opus-5-5", { instructions: "Be a critic." }).instructions, "Be a critic.")
  })
})
