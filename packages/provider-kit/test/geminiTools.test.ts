import type { Message } from "@divisi/core/Message"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { toBody } from "../src/dialects/generate-content/request.ts"
import { protocolOf } from "../src/dialects/generate-content/stream.ts"
import { capabilitiesOf } from "../src/gemini/capabilities.ts"

const hi: Message = { role: "user", content: "Hi" }

const weather = {
  name: "weather",
  description: "Weather of a city",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
} as const

const convert = (request: Partial<WorkerRequest>, model = "gemini-3.5-flash", omitUnsupported = false) =>
  toBody({ messages: [hi], ...request }, { model, capabilities: capabilitiesOf(model), omitUnsupported })

const body = (request: Partial<WorkerRequest>, model?: string, omitUnsupported?: boolean) =>
  Result.getOrThrow(convert(request, model, omitUnsupported))

const detailOf = (request: Partial<WorkerRequest>, model?: string, omitUnsupported?: boolean) => {
  const refused = convert(request, model, omitUnsupported)
  return Result.isFailure(refused) ? (refused.failure.detail ?? "") : ""
}

const contents = (messages: ReadonlyArray<Message>, model?: string) => body({ messages }, model).contents

describe("a conversation for Google", () => {
  it("shows pictures and files, by their bytes or by where they are", () => {
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image", data: "iVA=", mediaType: "image/png" },
      { type: "image", url: "https://example.com/cat.png" },
      { type: "file", name: "a.pdf", url: "gs://bucket/a.pdf", mediaType: "application/pdf" }
    ] as const
    assert.deepEqual(contents([{ role: "user", content }]), [
      {
        role: "user",
        parts: [
          { text: "What is this?" },
          { inlineData: { mimeType: "image/png", data: "iVA=" } },
          { fileData: { fileUri: "https://example.com/cat.png" } },
          { fileData: { fileUri: "gs://bucket/a.pdf", mimeType: "application/pdf" } }
        ]
      }
    ])
  })

  it("has the rules of the system and of the application in one instruction", () => {
    const messages: ReadonlyArray<Message> = [
      { role: "system", content: "Be terse." },
      { role: "developer", content: "Speak French." },
      hi
    ]
    assert.deepEqual(body({ messages }).systemInstruction, {
      role: "system",
      parts: [{ text: "Be terse.\n\nSpeak French." }]
    })
    assert.deepEqual(contents(messages), [{ role: "user", parts: [{ text: "Hi" }] }])
  })

  const calls = [
    { id: "a", name: "weather", arguments: '{"city":"Ulm"}' },
    { id: "b", name: "weather", arguments: '{"city":"Bonn"}' }
  ]
  const asked: Message = { role: "assistant", content: "Let me look.", toolCalls: calls }
  const result = (callId: string, content: string): Message => ({ role: "tool", callId, name: "weather", content })
  const call = (id: string, city: string, thoughtSignature?: string) => ({
    functionCall: { id, name: "weather", args: { city } },
    ...(thoughtSignature !== undefined && { thoughtSignature })
  })

  it("pairs calls with their results, those made together in one turn, and the user's next words apart", () => {
    const messages: ReadonlyArray<Message> = [
      hi,
      asked,
      result("a", "sunny"),
      { ...result("b", "no such city"), isError: true } as Message,
      { role: "user", content: "And?" }
    ]
    assert.deepEqual(contents(messages, "gemini-2.5-flash"), [
      { role: "user", parts: [{ text: "Hi" }] },
      { role: "model", parts: [{ text: "Let me look." }, call("a", "Ulm"), call("b", "Bonn")] },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "a", name: "weather", response: { output: "sunny" } } },
          { functionResponse: { id: "b", name: "weather", response: { error: "no such city" } } }
        ]
      },
      { role: "user", parts: [{ text: "And?" }] }
    ])
  })

  it("keeps arguments that are not an object, as the model wrote them", () => {
    const args = (text: string) => {
      const toolCalls = [{ id: "a", name: "weather", arguments: text }]
      const [said] = contents([{ role: "assistant", content: "", toolCalls }], "gemini-2.5-flash")
      const [part] = said!.parts
      return part !== undefined && "functionCall" in part ? part.functionCall.args : undefined
    }
    assert.deepEqual(args(""), {})
    assert.deepEqual(args('{"city":'), { arguments: '{"city":' })
    assert.deepEqual(args("[1]"), { arguments: "[1]" })
    assert.deepEqual(args("null"), { arguments: "null" })
  })

  it("gives the signatures back to the model that gave them, each with its part", () => {
    const echo = { vendor: "google", model: "gemini-3.5-flash", text: "T==", calls: { a: "A==" } }
    const messages: ReadonlyArray<Message> = [hi, { ...asked, echo }, result("a", "sunny"), result("b", "grey")]
    assert.deepEqual(contents(messages)[1]?.parts, [
      { text: "Let me look.", thoughtSignature: "T==" },
      call("a", "Ulm", "A=="),
      call("b", "Bonn")
    ])
  })

  it.each([
    ["no echo", undefined],
    ["another model's echo", { vendor: "google", model: "gemini-3-pro", calls: { a: "A==" } }],
    ["another vendor's echo", { type: "anthropic", blocks: [{ signature: "X" }] }],
    ["an echo that is none", "odd"]
  ])("signs the first call of a turn with %s as the vendor wants those that it did not sign", (_, echo) => {
    const messages: ReadonlyArray<Message> = [hi, { ...asked, echo }, result("a", "sunny"), result("b", "grey")]
    assert.deepEqual(contents(messages)[1]?.parts.slice(1), [
      call("a", "Ulm", "skip_thought_signature_validator"),
      call("b", "Bonn")
    ])
    assert.notInclude(JSON.stringify(contents(messages, "gemini-2.5-flash")), "thoughtSignature")
  })

  it("shows the images of a result within it, or next to it for a model that does not accept them there", () => {
    const message: Message = {
      role: "tool",
      callId: "a",
      name: "screen",
      content: [
        { type: "text", text: "The screen:" },
        { type: "image", data: "iVA=", mediaType: "image/png" },
        { type: "image", url: "https://example.com/b.png" }
      ]
    }
    const response = { output: "The screen:" }
    const picture = { inlineData: { mimeType: "image/png", data: "iVA=" } }
    const link = { fileData: { fileUri: "https://example.com/b.png" } }
    assert.deepEqual(contents([message])[0]?.parts, [
      { functionResponse: { id: "a", name: "screen", response, parts: [picture] } },
      link
    ])
    assert.deepEqual(contents([message], "gemini-2.5-flash")[0]?.parts, [
      { functionResponse: { id: "a", name: "screen", response } },
      picture,
      link
    ])
  })
})

describe("tools for Google", () => {
  it("are declared with their JSON Schemas", () => {
    assert.deepEqual(body({ tools: [weather, { name: "now", input: { type: "object" } }] }).tools, [
      {
        functionDeclarations: [
          { name: "weather", description: "Weather of a city", parametersJsonSchema: weather.input },
          { name: "now", parametersJsonSchema: { type: "object" } }
        ]
      }
    ])
  })

  it.each([
    [undefined, undefined],
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [{ name: "weather" }, { mode: "ANY", allowedFunctionNames: ["weather"] }]
  ] as Array<[WorkerRequest["toolChoice"], object | undefined]>)(
    "are chosen as the request says: %o",
    (choice, mode) => {
      const { toolConfig } = body({ tools: [weather], toolChoice: choice })
      assert.deepEqual(toolConfig?.functionCallingConfig, mode as never)
    }
  )

  it("have their arguments validated where one is strict", () => {
    const tools = [{ ...weather, strict: true }]
    assert.deepEqual(body({ tools }).toolConfig, { functionCallingConfig: { mode: "VALIDATED" } })
    assert.deepEqual(body({ tools, toolChoice: "required" }).toolConfig, { functionCallingConfig: { mode: "ANY" } })
  })

  it("are not selected if there are no tools", () => {
    assert.doesNotHaveAnyKeys(body({ tools: [], toolChoice: "required" }), ["tools", "toolConfig"])
  })

  it("may always be called together: one at a time is refused, or left out", () => {
    assert.include(detailOf({ tools: [weather], parallelToolCalls: false }), "parallelToolCalls")
    assert.isDefined(body({ tools: [weather], parallelToolCalls: true }).tools)
    assert.isDefined(body({ tools: [weather], parallelToolCalls: false }, undefined, true).tools)
  })
})

describe("the shape of an answer of Google", () => {
  const schema = { type: "object", properties: { name: { type: "string" } } }
  const shape = { responseMimeType: "application/json", responseJsonSchema: { description: "A city", ...schema } }
  const city = { type: "json-schema", name: "city", description: "A city", schema } as const

  it("is text, any JSON, or JSON of a schema", () => {
    const config = (output: WorkerRequest["output"]) => body({ output }).generationConfig
    assert.deepEqual(config({ type: "text" }), {})
    assert.deepEqual(config({ type: "json" }), { responseMimeType: "application/json" })
    assert.deepEqual(config(city), shape)
  })

  it("is sent with tools since Gemini 3, and refused with them before", () => {
    const both = { tools: [weather], output: city }
    assert.deepInclude(body(both), { generationConfig: shape })
    assert.isDefined(body(both).tools)
    const old = "gemini-2.5-flash"
    assert.include(detailOf(both, old), "output with tools")
    assert.include(detailOf(both, old, true), "output with tools")
    const done = body({ ...both, toolChoice: "none" }, old)
    assert.deepEqual(done.generationConfig, shape)
    assert.isUndefined(done.tools)
  })
})

describe("calls in an answer of Google", () => {
  const answer = (chunks: ReadonlyArray<object>, messages: ReadonlyArray<Message> = [hi]) => {
    const protocol = protocolOf({ model: "gemini-3.5-flash", messages })
    let { initial: state } = protocol
    const parts: Array<WorkerPart> = []
    for (const chunk of chunks) {
      const step = protocol.next(state, chunk)
      parts.push(...step.parts)
      state = step.state
      if (step.failure !== undefined) return { parts, failure: step.failure }
    }
    return { parts, reason: protocol.finishReason(state), echo: protocol.echo?.(state) }
  }
  const chunk = (parts: ReadonlyArray<unknown>, more: object = {}) => ({
    candidates: [{ content: { role: "model", parts }, ...more }],
    responseId: "resp_1"
  })
  const call = (more: object = {}) => ({ functionCall: { name: "weather", args: { city: "Ulm" }, ...more } })
  const told = { type: "tool-call", name: "weather", arguments: '{"city":"Ulm"}' }
  const stop = { finishReason: "STOP" }

  it("come whole, in order, among texts, and end the answer for their results", () => {
    const { parts, reason } = answer([
      chunk([{ text: "Looking." }, call({ id: "a" })]),
      chunk([call({ id: "b" })]),
      chunk([], stop)
    ])
    assert.deepEqual(parts, [
      { type: "text", text: "Looking." },
      { ...told, id: "a" } as WorkerPart,
      { ...told, id: "b" } as WorkerPart
    ])
    assert.strictEqual(reason, "tool-calls")
  })

  it("have ids also where Google gives none: the same for the same answer, and no two in a conversation", () => {
    const chunks = [chunk([call(), call()]), chunk([call({ args: undefined })], stop)]
    const { parts } = answer(chunks)
    const ids = parts.map((part) => ("id" in part ? part.id : ""))
    assert.strictEqual(new Set(ids).size, 3)
    for (const id of ids) assert.match(id, /^call-\w+$/)
    assert.deepEqual(answer(chunks).parts, parts)
    assert.deepInclude(parts[2], { arguments: "{}" })
    const toolCalls = ids.map((id) => ({ id, name: "weather", arguments: "{}" }))
    const others = [
      ...answer(chunks, [hi, { role: "assistant", content: "", toolCalls }]).parts,
      ...answer(chunks.map((one) => ({ ...one, responseId: "resp_2" }))).parts
    ]
    for (const part of others) assert.notInclude(ids, "id" in part ? part.id : "")
  })

  it("are cut by a limit as any answer is", () => {
    assert.strictEqual(answer([chunk([call()], { finishReason: "MAX_TOKENS" })]).reason, "length")
  })

  it("hand on their signatures, which go back with the next request", () => {
    const { echo, parts } = answer([
      chunk([
        { text: "Hm", thought: true },
        { text: "Looking.", thoughtSignature: "T==" }
      ]),
      chunk([{ ...call({ id: "a" }), thoughtSignature: "A==" }, call({ id: "b" })], stop)
    ])
    assert.deepEqual(JSON.parse(JSON.stringify(echo)), {
      vendor: "google",
      model: "gemini-3.5-flash",
      text: "T==",
      calls: { a: "A==" }
    })
    const toolCalls = parts.flatMap((part) => (part.type === "tool-call" ? [part] : []))
    const [said] = contents([{ role: "assistant", content: "Looking.", toolCalls, echo }])
    assert.deepEqual(
      said?.parts.map((part) => ("thoughtSignature" in part ? part.thoughtSignature : undefined)),
      ["T==", "A==", undefined]
    )
  })

  it("are required for an echo: an answer without calls has no echo", () => {
    const { echo, reason } = answer([chunk([{ text: "42", thoughtSignature: "T==" }], stop)])
    assert.isUndefined(echo)
    assert.strictEqual(reason, "stop")
  })

  it.each([
    ["MALFORMED_FUNCTION_CALL", "invalid function call"],
    ["UNEXPECTED_TOOL_CALL", "not offered"],
    ["MALFORMED_RESPONSE", "invalid response"]
  ])("that Google cannot read fail the answer: %s", (finishReason, words) => {
    const { failure, parts } = answer([chunk([{ text: "Hm" }], { finishReason, finishMessage: "print(x)" })])
    assert.strictEqual(failure?._tag, "Malformed")
    assert.include(failure?.detail, words)
    assert.include(failure?.detail, "print(x)")
    assert.lengthOf(parts, 1)
  })

  it.each([[7], [{ name: 7 }], [{ name: "weather", args: "odd" }], [{ id: {}, name: "weather" }], [{ args: {} }]])(
    "that are none fail the answer: %o",
    (functionCall) => {
      assert.throws(() => answer([chunk([{ functionCall }])]))
    }
  )
})
