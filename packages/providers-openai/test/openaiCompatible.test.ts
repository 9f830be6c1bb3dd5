import type { Message } from "@divisi/core/Message"
import { WorkerStream } from "@divisi/core/streams"
import type { Worker } from "@divisi/core/Worker"
import { OpenAiChat, ProviderContract, Script, WireServer } from "@divisi/testkit/providers"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { assert, describe, it } from "vitest"
import { openaiCompatible, type Preset, presets } from "../src/index.ts"

const optionsOf = (preset: Preset): ProviderContract.Options => {
  const { name, reasoningEcho, reasoningField, reasoningFields = {}, usage } = preset
  const hasReasoningDetails = reasoningEcho === "reasoning_details"
  const noField = { type: "rejected", reason: `${name} has no such parameter` } as const
  return {
    name: `openaiCompatible (${name})`,
    dialect: OpenAiChat.compatible({ name, usage, reasoningField, hasReasoningDetails }),
    takesAbout: true,
    make: ({ about, baseURL, defaults, ...connection }) =>
      openaiCompatible({
        ...preset,
        model: "some/model",
        ...about,
        baseURL: `${baseURL}/v1`,
        capabilities: { images: true, files: true, ...preset.capabilities },
        ...defaults,
        ...connection
      }),
    settings: {
      reasoningEffort: reasoningFields.effort === undefined ? noField : undefined,
      reasoningBudget: reasoningFields.budget === undefined ? noField : undefined,
      reasoningOff: reasoningFields.off === undefined ? noField : undefined,
      fileUrl: { type: "rejected", reason: "Chat Completions requires the bytes of a file" }
    }
  }
}

ProviderContract.contract({ ...optionsOf(presets.openRouter), describe, it })
ProviderContract.contract({ ...optionsOf(presets.ollama), describe, it })
ProviderContract.contract({
  ...optionsOf({ ...presets.vllm, name: "a server without usage", usage: "none" }),
  gaps: {
    "usage/tokens": "the server reports no usage",
    "usage/cached": "the server reports no usage",
    "usage/cache-write": "the server reports no usage",
    "usage/reasoning": "the server reports no usage",
    "tool-call/usage": "the server reports no usage"
  },
  describe,
  it
})

// In what the others differ is a matter of requests, settings and usage.
const differing = ProviderContract.cases.filter(({ id }) =>
  /^(?:request|setting|usage|finish|tool|tool-call|tool-turn|image|file|output)\/|^answer\/reasoning$/.test(id)
)

for (const preset of [
  presets.vllm,
  presets.sglang,
  presets.llamaServer,
  presets.lmStudio,
  presets.deepSeek,
  presets.together
]) {
  describe(`openaiCompatible (${preset.name}) keeps its settings`, () => {
    for (const one of differing) it(`${one.id}: ${one.name}`, () => ProviderContract.check(one, optionsOf(preset)))
  })
}

describe("openaiCompatible (deepseek)", () => {
  const question: Message = { role: "user", content: "Weather in Ulm?" }
  const tools = [{ name: "weather", input: { type: "object" } }]

  it("gets the reasoning before a call of a tool back with its result, and others do not", async () => {
    const asking = [Script.reasoning("I must "), Script.reasoning("look."), ...Script.call("call_1", "weather", "{}")]
    await using server = await WireServer.start(OpenAiChat.compatible({ reasoningField: "reasoning_content" }), [
      Script.answer(asking, { ending: "tool-calls" }),
      Script.answer("Sunny.")
    ])
    const make = (preset: Preset) =>
      openaiCompatible({ ...preset, model: "m", apiKey: "k", baseURL: `${server.url}/v1` })
    const ask = (worker: Worker, messages: ReadonlyArray<Message>) =>
      Effect.runPromise(Stream.runCollect(WorkerStream.generate(worker, { messages, tools })))
    const finish = (await ask(make(presets.deepSeek), [question])).at(-1)
    const messages: ReadonlyArray<Message> = [
      question,
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "call_1", name: "weather", arguments: "{}" }],
        echo: finish?.type === "finish" ? finish.echo : undefined
      },
      { role: "tool", callId: "call_1", name: "weather", content: "sunny" }
    ]
    await ask(make(presets.deepSeek), messages)
    await ask(make(presets.vllm), messages)
    const said = server.exchanges.slice(1).map(({ body }) => (body as { messages: ReadonlyArray<object> }).messages[1])
    assert.deepInclude(said[0], { reasoning_content: "I must look." })
    assert.notProperty(said[1], "reasoning_content")
  })
})

describe("openaiCompatible with an address and a model alone", () => {
  const bare: ProviderContract.Options = {
    ...optionsOf({ name: "a server", source: "", baseURL: "" }),
    make: ({ about, baseURL, defaults, ...connection }) =>
      openaiCompatible({ baseURL: `${baseURL}/v1`, model: "some/model", ...about, ...defaults, ...connection })
  }
  const cases = differing.filter(({ id }) => id !== "answer/reasoning")
  for (const one of cases) it(`${one.id}: ${one.name}`, () => ProviderContract.check(one, bare))

  it("says what is misspelt or missing", () => {
    const made = (options: object) => () => openaiCompatible(options as never)
    assert.throws(made({ baseUrl: "http://a/v1", model: "b" }), 'Did you mean "baseURL"?')
    assert.throws(made({ baseURL: "http://a/v1" }), '"model" is missing')
  })
})
