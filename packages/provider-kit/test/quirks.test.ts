import type { WorkerErrorReason, WorkerPart } from "@divisi/core/Worker"
import { Dialects, type VendorStream } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"

const fold = <State>(protocol: VendorStream.Protocol<unknown, State>, events: ReadonlyArray<unknown>) => {
  const parts: Array<WorkerPart> = []
  const warnings: Array<string> = []
  const omitted: Array<string> = []
  let failure: WorkerErrorReason | undefined
  let state = protocol.initial
  for (const event of events) {
    const step = protocol.next(state, event)
    state = step.state
    parts.push(...step.parts)
    if (step.warning !== undefined) warnings.push(step.warning)
    omitted.push(...(step.omitted ?? []))
    failure ??= step.failure
  }
  if (protocol.finishReason(state) !== undefined) parts.push(...(protocol.last?.(state) ?? []))
  const text = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  const calls = parts.filter((part) => part.type === "tool-call")
  return {
    text,
    calls,
    warnings,
    omitted,
    failure,
    finish: protocol.finishReason(state),
    usage: protocol.usage(state),
    parts
  }
}

describe("an answer of Messages", () => {
  const read = (...events: ReadonlyArray<unknown>) => fold(Dialects.Messages.protocolOf("m"), events)
  const opening = (more: object = {}) => ({ type: "message_start", message: { usage: { input_tokens: 5 }, ...more } })
  const start = (block: object, index = 0) => ({ type: "content_block_start", index, content_block: block })
  const json = (partial_json: unknown, index = 0) => ({
    type: "content_block_delta",
    index,
    delta: { type: "input_json_delta", partial_json }
  })
  const stop = (index = 0) => ({ type: "content_block_stop", index })
  const end = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason }, usage: { output_tokens: 7 } })
  const tool = { type: "tool_use", id: "t1", name: "weather", input: {} }

  it("may be one object", () => {
    const content = [
      { type: "text", text: "I look." },
      { ...tool, input: { city: "Ulm" } }
    ]
    const usage = { input_tokens: 5, output_tokens: 6 }
    const { calls, finish, text, ...rest } = read({ type: "message", content, stop_reason: "tool_use", usage })
    assert.deepStrictEqual([text, finish, rest.usage], ["I look.", "tool-calls", { inputTokens: 5, outputTokens: 6 }])
    assert.deepStrictEqual(calls, [{ type: "tool-call", id: "t1", name: "weather", arguments: '{"city":"Ulm"}' }])
  })

  it("may have its blocks within the first event, or the last", () => {
    const content = [{ type: "text", text: "Sunny." }]
    assert.strictEqual(read(opening({ content }), end("end_turn")).text, "Sunny.")
    assert.strictEqual(read(opening({ content }), end("end_turn"), { type: "message_stop" }).text, "Sunny.")
    assert.strictEqual(read(opening(), { type: "message_stop", message: { content } }).text, "Sunny.")
  })

  it.each([
    ["an empty object before the real one", [start(tool), json("{}"), json('{"city":'), json('"Ulm"}')]],
    ["an object as a piece", [start(tool), json({ city: "Ulm" })]],
    ["JSON in a text at the beginning", [start({ ...tool, input: '{"city":"Ulm"}' })]],
    ["the object at the beginning and in pieces", [start({ ...tool, input: { city: "Ulm" } }), json('{"city":"Ulm"}')]],
    [
      "pieces at the index of another block",
      [start({ type: "text", text: "" }, 0), start(tool, 1), json('{"city":"Ulm"}', 0)]
    ]
  ])("may give the input of a tool as %s", (_, events) => {
    const { calls, parts } = read(opening(), ...events, end("tool_use"), { type: "message_stop" })
    assert.deepStrictEqual(
      calls.map((call) => call.arguments),
      ['{"city":"Ulm"}']
    )
    const pieces = parts.map((part) => (part.type === "tool-call-delta" ? part.arguments : "")).join("")
    assert.include(["", '{"city":"Ulm"}'], pieces)
  })

  it("may call tools without ids, or with one id", () => {
    for (const id of [null, "", "t1"]) {
      const { calls } = read(
        opening(),
        start({ ...tool, id }),
        stop(),
        start({ ...tool, id }, 1),
        stop(1),
        end("tool_use")
      )
      assert.strictEqual(new Set(calls.map((call) => call.id)).size, 2)
      assert.isTrue(calls.every((call) => call.id !== ""))
    }
  })

  it("may leave out the types of its events", () => {
    const { finish, text } = read(
      { message: { usage: { input_tokens: 5 } } },
      { index: 0, content_block: { type: "text", text: "" } },
      { index: 0, delta: { text: "Sunny." } },
      { index: 0 },
      { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } }
    )
    assert.deepStrictEqual([text, finish], ["Sunny.", "stop"])
  })

  it("may have null for a delta, and a list of parts for a text", () => {
    const { finish, text } = read(
      opening(),
      start({ type: "text", text: null }),
      {
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text: [{ type: "text", text: "Sunny." }] }
      },
      { type: "content_block_delta", index: 0, delta: null },
      { type: "message_delta", delta: null, usage: null },
      end("end_turn")
    )
    assert.deepStrictEqual([text, finish], ["Sunny.", "stop"])
  })

  it("may report its usage in the names of Bedrock or of OpenAI", () => {
    const metrics = { inputTokenCount: 8, outputTokenCount: 5 }
    const bedrock = read(end("end_turn"), { type: "message_stop", "amazon-bedrock-invocationMetrics": metrics })
    assert.deepStrictEqual(bedrock.usage, { inputTokens: 8, outputTokens: 5 })
    const openAi = { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } }
    assert.deepStrictEqual(read({ ...end("end_turn"), usage: openAi }).usage, {
      inputTokens: 10,
      outputTokens: 4,
      cachedInputTokens: 6
    })
  })

  it("names blocks of an unknown kind and citations, and none of tools that the vendor runs itself", () => {
    const { omitted, warnings } = read(
      opening(),
      start({ type: "server_tool_use" }),
      stop(),
      start({ type: "hologram" }, 1),
      stop(1),
      start({ type: "text", text: "Sunny.", citations: [{ type: "char_location" }] }, 2)
    )
    assert.deepStrictEqual([omitted, warnings], [["citations"], ['a block of type "hologram" is skipped']])
  })

  it.each([
    [{ type: "error", error: "Overloaded" }, "Overloaded", "Overloaded"],
    [{ code: 500, msg: "404 NOT_FOUND", success: false }, "Overloaded", "404 NOT_FOUND"],
    [{ error: { message: "Add credits", code: "insufficient_quota" } }, "Quota", "Add credits"],
    [{ type: "message_delta", delta: { stop_reason: "error", error: { message: "It died" } } }, "Overloaded", "It died"]
  ])("may fail in another form: %o", (event, tag, words) => {
    const { failure } = read(event)
    assert.strictEqual(failure?._tag, tag)
    assert.include(failure?.detail, words)
  })
})

describe("an answer of generateContent", () => {
  const protocol = Dialects.GenerateContent.protocolOf({ model: "m", messages: [] })
  const read = (...events: ReadonlyArray<unknown>) => fold(protocol, events)
  const chunk = (parts: unknown, finishReason?: string) => ({ candidates: [{ content: { parts }, finishReason }] })

  it("may be in snake case, with nulls for what is absent", () => {
    const { calls, finish, text, usage } = read({
      candidates: [
        {
          content: {
            parts: [
              { text: "I look.", function_call: null },
              { function_call: { name: "weather", args: { city: "Ulm" } }, thought_signature: "s" }
            ]
          },
          finish_reason: "STOP"
        }
      ],
      usage_metadata: { prompt_token_count: 3, candidates_token_count: 4 }
    })
    assert.deepStrictEqual([text, finish, usage], ["I look.", "tool-calls", { inputTokens: 3, outputTokens: 4 }])
    assert.deepStrictEqual(
      calls.map((call) => call.arguments),
      ['{"city":"Ulm"}']
    )
  })

  it.each([
    ["within a response", [{ response: chunk([{ text: "Sunny." }], "STOP") }]],
    ["with null for all that is absent", [{ candidates: null }, chunk(null), chunk([{ text: "Sunny." }], "stop")]],
    ["with one part instead of a list", [chunk({ text: "Sunny." }, "STOP")]],
    ["with its parts as the content", [{ candidates: [{ content: [{ text: "Sunny." }], finishReason: "STOP" }] }]],
    ["with a list for a text", [chunk([{ text: [{ text: "Sunny." }] }], "STOP")]],
    [
      "with an unspecified reason before the real one",
      [chunk([{ text: "Sunny." }], "FINISH_REASON_UNSPECIFIED"), chunk([], "STOP")]
    ]
  ])("may come %s", (_, events) => {
    const { finish, text } = read(...events)
    assert.deepStrictEqual([text, finish], ["Sunny.", "stop"])
  })

  it("may have arguments as JSON in a text", () => {
    const { calls } = read(chunk([{ functionCall: { name: "weather", args: '{"city":"Ulm"}' } }], "STOP"))
    assert.deepStrictEqual(
      calls.map((call) => call.arguments),
      ['{"city":"Ulm"}']
    )
  })

  it("counts its output by the total where nothing else says it, and keeps figures that a later event lacks", () => {
    const usageOf = (...reports: ReadonlyArray<object>) =>
      read(...reports.map((usageMetadata) => ({ ...chunk([], "STOP"), usageMetadata }))).usage
    assert.deepStrictEqual(usageOf({ promptTokenCount: 3, totalTokenCount: 10 }), { inputTokens: 3, outputTokens: 7 })
    assert.deepStrictEqual(usageOf({ promptTokenCount: 3, candidatesTokenCount: 4 }, { promptTokenCount: 3 }), {
      inputTokens: 3,
      outputTokens: 4
    })
  })

  it("names parts that are not text", () => {
    const picture = { inlineData: { mimeType: "image/png", data: "AA" } }
    const { omitted, text } = read(chunk([picture, { text: "Sunny." }], "STOP"))
    assert.deepStrictEqual([text, omitted], ["Sunny.", ["pictures"]])
  })

  it.each([
    [429, { error: { message: "Add credits", code: "insufficient_quota" } }, "Quota"],
    [
      500,
      {
        error: {
          message:
            'RateLimitError: {"error":{"code":429,"message":"Resource exhausted","status":"RESOURCE_EXHAUSTED"}}',
          code: "429"
        }
      },
      "RateLimited"
    ],
    [400, { detail: [{ loc: ["body", "model"], msg: "Field required" }] }, "InvalidRequest"]
  ])("may be refused in another vendor's form: %i", (status, body, tag) => {
    const refused = { status, headers: new Headers(), text: JSON.stringify(body), body }
    assert.strictEqual(Dialects.GenerateContent.reasonOfRefused(refused)._tag, tag)
  })
})
