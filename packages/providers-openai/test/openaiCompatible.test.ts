import { OpenAiChat, ProviderContract } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { openaiCompatible, type Preset, presets } from "../src/index.ts"

const optionsOf = (preset: Preset): ProviderContract.Options => {
  const { name, reasoningField, reasoningFields = {}, usage } = preset
  const noField = { type: "rejected", reason: `${name} has no such parameter` } as const
  return {
    name: `openaiCompatible (${name})`,
    dialect: OpenAiChat.compatible({ name, usage, reasoningField }),
    make: ({ baseURL, defaults, ...connection }) =>
      openaiCompatible({
        ...preset,
        model: "some/model",
        baseURL: `${baseURL}/v1`,
        capabilities: { images: true, files: true, ...preset.capabilities },
        ...defaults,
        ...connection
      }),
    settings: {
      reasoningEffort: reasoningFields.effort === undefined ? noField : undefined,
      reasoningBudget: reasoningFields.budget === undefined ? noField : undefined,
      reasoningOff: reasoningFields.off === undefined ? noField : undefined,
      fileUrl: { type: "rejected", reason: "Chat Completions takes the bytes of a file" }
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

describe("openaiCompatible with an address and a model alone", () => {
  const bare: ProviderContract.Options = {
    ...optionsOf({ name: "a server", source: "", baseURL: "" }),
    make: ({ baseURL, defaults, ...connection }) =>
      openaiCompatible({ baseURL: `${baseURL}/v1`, model: "some/model", ...defaults, ...connection })
  }
  const cases = differing.filter(({ id }) => id !== "answer/reasoning")
  for (const one of cases) it(`${one.id}: ${one.name}`, () => ProviderContract.check(one, bare))

  it("says what is misspelt or missing", () => {
    const made = (options: object) => () => openaiCompatible(options as never)
    assert.throws(made({ baseUrl: "http://a/v1", model: "b" }), 'Did you mean "baseURL"?')
    assert.throws(made({ baseURL: "http://a/v1" }), '"model" is missing')
  })
})
