import { WorkerStream } from "@divisi/core/streams"
import type { Worker } from "@divisi/core/Worker"
import {
  AnthropicMessages,
  GoogleGenerateContent,
  OpenAiChat,
  OpenAiResponses,
  Script,
  WireServer
} from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { PaperPoolError, type PaperPoolOptions, paperPool } from "../src/paper/PaperPool.ts"

const ids = [
  "gemini-2.5-pro",
  "claude-sonnet-4",
  "gpt-5",
  "deepseek-r1-distill-qwen-32b",
  "gemma-3-27b-it",
  "qwen3-32b-thinking",
  "qwen3-32b"
]

const keys = { google: "g", anthropic: "a", openai: "o", openrouter: "r" }

/** Creates a pool apart from this machine's environment, and records its notices. */
const make = async (options: Partial<PaperPoolOptions>) => {
  const notices: Array<string> = []
  const workers = await paperPool({
    setting: "controlled",
    environment: {},
    today: "2026-05-01",
    onNotice: (notice) => notices.push(notice),
    ...options
  })
  return { workers, notices, ids: workers.map((worker) => worker.id) }
}

/** Returns the request that a worker sends if the caller sets nothing. */
const ask = (worker: Worker) =>
  Effect.runPromise(Stream.runDrain(WorkerStream.generate(worker, { messages: [{ role: "user", content: "Hello" }] })))

describe("the paper's pool", () => {
  it("is the seven in their order, where every key is at hand", async () => {
    const { ids: found, notices } = await make({ keys, required: true })
    assert.deepStrictEqual([found, notices], [ids, []])
  })

  it("leaves out what has no key, with a notice that names it", async () => {
    const { ids: found, notices } = await make({ environment: { OPENAI_API_KEY: "o", VLLM_BASE_URL: "http://gpu/v1" } })
    assert.deepStrictEqual(found, ids.slice(2))
    assert.deepStrictEqual(notices, [
      "Left out of the paper's pool: gemini-2.5-pro needs GEMINI_API_KEY or GOOGLE_API_KEY.",
      "Left out of the paper's pool: claude-sonnet-4 needs ANTHROPIC_API_KEY."
    ])
  })

  it("is an error when it is required and not complete, or empty", async () => {
    for (const options of [{ keys: { openai: "o" }, required: true }, {}]) {
      const error = await make(options).catch((error: unknown) => error)
      assert.instanceOf(error, PaperPoolError)
      assert.include(error.message, "qwen3-32b needs VLLM_BASE_URL or OPENROUTER_API_KEY.")
    }
  })

  it("knows when vendors shut its models down", async () => {
    const late = { keys, today: "2026-12-11" }
    const { ids: left, notices } = await make(late)
    assert.deepStrictEqual(left, ids.slice(3))
    assert.lengthOf(notices, 3)
    assert.match(notices[1]!, /claude-sonnet-4 was shut down by its vendor on 2026-06-15 .*claude-sonnet-4-6/)
    const filled = await make({ ...late, successors: true, required: true })
    assert.deepStrictEqual(filled.ids, ids)
    assert.lengthOf(filled.notices, 3)
    const named = await make({ ...late, models: { "gpt-5": "gpt-5.5" } })
    assert.deepStrictEqual(named.ids, ids.slice(2))
  })

  it("sends the settings of the paper to each vendor", async () => {
    const say = () => Script.answer("Hello.")
    await using google = await WireServer.start(GoogleGenerateContent.dialect, say)
    await using anthropic = await WireServer.start(AnthropicMessages.dialect, say)
    await using openai = await WireServer.start(OpenAiResponses.dialect, say)
    await using own = await WireServer.start(OpenAiChat.dialect, say)
    await using router = await WireServer.start(OpenAiChat.dialect, say)
    const sentBy = async (options: Partial<PaperPoolOptions>) => {
      const { workers } = await make({
        keys,
        required: true,
        baseURLs: {
          google: google.url,
          anthropic: anthropic.url,
          openai: `${openai.url}/v1`,
          openrouter: `${router.url}/v1`,
          "gemma-3-27b-it": `${own.url}/v1`,
          "qwen3-32b": `${own.url}/v1`
        },
        ...options
      })
      const before = [google, anthropic, openai, own, router].map(({ exchanges }) => exchanges.length)
      for (const worker of workers) await ask(worker)
      return [google, anthropic, openai, own, router].map(({ exchanges }, index) =>
        exchanges.slice(before[index]).map(({ sent }) => sent)
      )
    }
    const [gemini, claude, gpt, owned, routed] = await sentBy({ setting: "controlled" })
    const paper = { maxOutputTokens: 4_096, temperature: 0.2 }
    assert.deepInclude(gemini![0], { model: "gemini-2.5-pro", ...paper, reasoning: { type: "budget", tokens: 128 } })
    assert.deepInclude(claude![0], { model: "claude-sonnet-4-20250514", ...paper, reasoning: { type: "off" } })
    assert.deepInclude(gpt![0], {
      model: "gpt-5",
      maxOutputTokens: 4_096,
      reasoning: { type: "effort", effort: "minimal" }
    })
    assert.notProperty(gpt![0], "temperature")
    assert.deepStrictEqual(
      owned!.map(({ model, temperature }) => [model, temperature]),
      [
        ["google/gemma-3-27b-it", 0.2],
        ["Qwen/Qwen3-32B", 0.2]
      ]
    )
    assert.deepStrictEqual(
      routed!.map(({ maxOutputTokens, model }) => [model, maxOutputTokens]),
      [
        ["deepseek/deepseek-r1-distill-qwen-32b", 4_096],
        ["qwen/qwen3-32b", 4_096]
      ]
    )
    const [geminiMost, claudeMost, gptMost] = await sentBy({ setting: "unconstrained" })
    assert.deepInclude(geminiMost![0], { maxOutputTokens: 65_536, reasoning: { type: "budget", tokens: 32_768 } })
    assert.deepInclude(claudeMost![0], { maxOutputTokens: 64_000, reasoning: { type: "budget", tokens: 60_000 } })
    assert.deepInclude(gptMost![0], { reasoning: { type: "effort", effort: "high" } })
    for (const [sent] of [geminiMost!, claudeMost!, gptMost!]) assert.notProperty(sent!, "temperature")
  })
})
