import type { AssistantMessage, Message, ToolMessage } from "@divisi/core/Message"
import { ModelTurn, type VendorError } from "@divisi/provider-kit"
import { assert, describe, it } from "@effect/vitest"

const usage = { inputTokens: 3, outputTokens: 1 }

const asked = { messages: [], model: "lab:1", usage }

/** A turn that thinks, says something, and calls a tool; all of it signed, in pieces. */
const signed = () => {
  const [thought] = ModelTurn.write(ModelTurn.start, "reasoning", { id: "0", delta: "Hm.", metadata: {} })
  const metadata = { lab: { signature: "s1" } }
  const [ended] = ModelTurn.write(thought, "reasoning", { id: "0", delta: "", metadata })
  const [told] = ModelTurn.write(ended, "text", { id: "1", delta: "I look." })
  const [begun] = ModelTurn.begin(told, { id: "a", name: "weather" })
  const [called] = ModelTurn.call(begun, {
    id: "a",
    name: "weather",
    input: { city: "Ulm" },
    metadata: { lab: { id: 7 } }
  })
  return ModelTurn.finish(called, { ...asked, reason: "stop" })[1]
}

/** The turn after serialization. */
const kept = (change: Partial<AssistantMessage> = {}): AssistantMessage => {
  const finish = signed().at(-1)
  const echo = finish?.type === "finish" ? JSON.parse(JSON.stringify(finish.echo)) : undefined
  const toolCalls = [{ id: "a", name: "weather", arguments: '{"city":"Ulm"}' }]
  return { role: "assistant", content: "I look.", toolCalls, echo, ...change }
}

const tagOf = (read: () => unknown) => {
  try {
    return read()
  } catch (error) {
    return (error as VendorError.Failure).reason._tag
  }
}

describe("a model's turn", () => {
  it("gives calls once the answer is complete, and waits for them whatever the vendor says", () => {
    const parts = signed()
    assert.deepStrictEqual(
      parts.map(({ type }) => type),
      ["tool-call", "finish"]
    )
    assert.deepInclude(parts[0], { id: "a", name: "weather", arguments: '{"city":"Ulm"}' })
    assert.deepInclude(parts[1], { reason: "tool-calls", usage })
  })

  it("takes the pieces of a call for what the model wrote, and none of a call that has not begun", () => {
    const [begun] = ModelTurn.begin(ModelTurn.start, { id: "__proto__", name: "clock" })
    const [piece, given] = ModelTurn.piece(begun, "__proto__", "{ }")
    assert.deepStrictEqual(given, [{ type: "tool-call-delta", id: "__proto__", name: "clock", arguments: "{ }" }])
    assert.deepStrictEqual(ModelTurn.piece(piece, "constructor", "{}")[1], [])
    const [called] = ModelTurn.call(piece, { id: "__proto__", name: "clock", input: {} })
    assert.strictEqual(called.calls[0]?.arguments, "{ }")
  })

  it("gives the complete calls of an answer that a limit cut, and a notice for each other one", () => {
    const [one] = ModelTurn.call(ModelTurn.start, { id: "a", name: "weather", input: { city: "Ulm" } })
    const [two] = ModelTurn.call(one, { id: "b", name: "clock", input: "" })
    const [three] = ModelTurn.begin(two, { id: "c", name: "map" })
    const [, parts] = ModelTurn.finish(three, { ...asked, reason: "length" })
    const shown = parts.map((part) => (part.type === "notice" ? part.notice : part.type))
    assert.deepStrictEqual(shown.slice(2), ["tool-call", "finish"])
    assert.include(shown[0], 'the tool "clock"')
    assert.include(shown[1], 'the tool "map"')
  })

  it("is malformed where it was cut off, waits for nothing, or has calls without a name", () => {
    assert.strictEqual(
      tagOf(() => ModelTurn.end(ModelTurn.start)),
      "Malformed"
    )
    for (const reason of ["cut", "tool-calls"] as const) {
      assert.strictEqual(
        tagOf(() => ModelTurn.finish(ModelTurn.start, { ...asked, reason })),
        "Malformed"
      )
    }
    const nameless = { id: "a", name: "", input: "{}" }
    assert.strictEqual(
      tagOf(() => ModelTurn.call(ModelTurn.start, nameless)),
      "Malformed"
    )
    assert.strictEqual(
      tagOf(() => ModelTurn.write(ModelTurn.start, "text", { id: "0", delta: 7 })),
      "Malformed"
    )
  })

  it("goes back unchanged, with the vendor's data in its positions", () => {
    const [call] = kept().toolCalls ?? []
    assert.deepStrictEqual(JSON.parse(JSON.stringify(ModelTurn.turnParts(kept(), "lab:1"))), [
      { type: "reasoning", text: "Hm.", metadata: { lab: { signature: "s1" } } },
      { type: "text", text: "I look." },
      { type: "tool-call", call, metadata: { lab: { id: 7 } } }
    ])
  })

  it("goes back plain to another model, and where it was changed since", () => {
    const plain = ["text", "tool-call"]
    const types = (message: AssistantMessage, model: string) =>
      ModelTurn.turnParts(message, model).map(({ type }) => type)
    assert.deepStrictEqual(types(kept(), "lab:2"), plain)
    assert.deepStrictEqual(types(kept({ content: "I look again." }), "lab:1"), plain)
    assert.deepStrictEqual(types(kept({ toolCalls: [] }), "lab:1"), ["text"])
    for (const echo of [null, 7, [], { model: "lab:1", blocks: [null, { type: "tool-call", metadata: 7 }] }]) {
      assert.deepStrictEqual(types(kept({ echo }), "lab:1"), plain)
    }
  })
})

describe("turns", () => {
  it("have the results that follow each other as one", () => {
    const result = (callId: string): ToolMessage => ({ role: "tool", callId, name: "clock", content: callId })
    const user: Message = { role: "user", content: "Hi" }
    assert.deepStrictEqual(ModelTurn.turns([result("1"), user, result("2"), result("3")]), [
      [result("1")],
      user,
      [result("2"), result("3")]
    ])
  })
})
