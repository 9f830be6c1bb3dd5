import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Baselines, Budget, ResponseCache } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { aiSdk, ConductorModel, conductorModel } from "@divisi/providers-ai-sdk"
import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "@effect/vitest"
import { generateText, jsonSchema, type LanguageModel, streamText, tool } from "ai"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { beforeAll } from "vitest"

beforeAll(() => {
  globalThis.AI_SDK_LOG_WARNINGS = false
})

const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 6, reasoningTokens: 2 }

const said = (...texts: ReadonlyArray<string>): ScriptedWorker.Reply => ({
  parts: [...texts.map((text): WorkerPart => ({ type: "text", text })), { type: "finish", reason: "stop", usage }]
})

const pricing = { inputPerMillion: 100_000, outputPerMillion: 100_000, cachedInputPerMillion: 0 }

const draft = () => ScriptedWorker.make({ id: "draft", pricing, replies: [said("a ", "draft")] })
const editor = (...replies: ReadonlyArray<ScriptedWorker.Reply>) =>
  ScriptedWorker.make({ id: "editor", pricing, replies: replies.length === 0 ? [said("the ", "answer")] : replies })

/** A draft, then the answer of a worker that sees it. */
const edited = Policy.fixed("draft and edit", () => ({
  steps: [
    { worker: 0, subtask: "Write a draft.", access: [] },
    { worker: 1, subtask: "Edit it.", access: [0] }
  ]
}))

/** The question itself, asked again and again. */
const again: Policy.Policy = {
  name: "again",
  propose: () => Effect.succeed({ workflow: { steps: [{ worker: 0, subtask: "", access: [] }] } })
}

const two = (second: ScriptedWorker.ScriptedWorker, options: Partial<Conductor.Options> = {}) =>
  Conductor.make({ policy: edited, pool: WorkerPool.makeUnsafe([draft(), second]), ...options })

const lone = (worker: ScriptedWorker.ScriptedWorker, options: Partial<Conductor.Options> = {}) =>
  Conductor.make({ policy: Baselines.single(0), pool: WorkerPool.makeUnsafe([worker]), ...options })

const collect = async <A>(items: AsyncIterable<A>): Promise<Array<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}

const thrown = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => assert.fail("It must fail."),
    (error) => error
  )

describe("generateText over a Conductor", () => {
  it("answers with the text, the usage of all calls, and what the run was", async () => {
    const result = await generateText({ model: conductorModel(two(editor())), prompt: "Write." })
    assert.strictEqual(result.text, "the answer")
    assert.strictEqual(result.finishReason, "stop")
    assert.strictEqual(result.usage.inputTokens, 20)
    assert.strictEqual(result.usage.outputTokens, 12)
    assert.strictEqual(result.usage.inputTokenDetails.cacheReadTokens, 8)
    assert.strictEqual(result.usage.outputTokenDetails.reasoningTokens, 4)
    const { durationMillis: _, runId, ...metadata } = result.finalStep.providerMetadata?.divisi ?? {}
    assert.strictEqual(result.finalStep.response.id, runId)
    assert.deepStrictEqual(metadata, {
      ending: "answered",
      costUsd: 2.4,
      unpricedCalls: 0,
      calls: 2,
      rounds: 1,
      workers: ["draft", "editor"]
    })
  })

  it("asks with the whole conversation and its system text", async () => {
    const worker = editor()
    await generateText({
      model: conductorModel(lone(worker)),
      instructions: "Be terse.",
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "reasoning", text: "Hm." },
            { type: "text", text: "Ho" }
          ]
        },
        {
          role: "user",
          content: [
            { type: "text", text: "Now" },
            { type: "text", text: "write." }
          ]
        }
      ]
    })
    assert.deepStrictEqual(worker.calls[0]?.messages, [
      { role: "system", content: "Be terse." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Ho" },
      { role: "user", content: "Now\n\nwrite." }
    ])
  })

  it("passes a seed on, and warns of what a Conductor decides itself", async () => {
    const worker = editor()
    const result = await generateText({
      model: conductorModel(lone(worker)),
      prompt: "Write.",
      seed: 7,
      temperature: 0.5,
      maxOutputTokens: 10,
      stopSequences: ["END"],
      tools: { clock: tool({ inputSchema: jsonSchema({ type: "object" }), execute: () => "now" }) }
    })
    const features = (result.warnings ?? []).map((warning) => (warning.type === "unsupported" ? warning.feature : "?"))
    assert.deepStrictEqual(features.toSorted(), ["maxOutputTokens", "stopSequences", "temperature", "tools"])
    assert.isDefined(worker.calls[0]?.seed)
    assert.strictEqual(result.text, "the answer")
  })

  it("warns of nothing when nothing is asked in vain", async () => {
    const result = await generateText({ model: conductorModel(lone(editor())), prompt: "Write." })
    assert.deepStrictEqual(result.warnings ?? [], [])
  })

  it("refuses what a team cannot be shown", async () => {
    const worker = editor()
    const model = conductorModel(lone(worker))
    const file = { type: "file", mediaType: "image/png", data: new Uint8Array([1]) } as const
    const image = await thrown(generateText({ model, messages: [{ role: "user", content: [file] }] }))
    assert.match(String(image), /accepts only text, not a file part/)
    const prefill = await thrown(
      generateText({
        model,
        messages: [
          { role: "user", content: "Hi" },
          { role: "assistant", content: "The answer is" }
        ]
      })
    )
    assert.match(String(prefill), /last message must have the role user/)
    assert.strictEqual(worker.calls.length, 0)
  })

  it("fails once, with what it cost, when the run has no answer", async () => {
    const worker = editor({ fail: { _tag: "Quota", detail: "empty" } })
    const error = await thrown(generateText({ model: conductorModel(lone(worker)), prompt: "Write." }))
    assert.instanceOf(error, ConductorModel.ConductorModelError)
    assert.strictEqual(error.ending, "failed")
    assert.match(error.message, /editor has no quota left/)
    assert.strictEqual(error.spend?.calls, 1)
    assert.strictEqual(worker.calls.length, 1)
  })

  it("returns the best answer so far with a notice when the budget ends the run", async () => {
    const result = await generateText({
      model: conductorModel(lone(editor(), { policy: again, recursion: 1, budget: { calls: 1 } })),
      prompt: "Write."
    })
    assert.strictEqual(result.text, "the answer")
    assert.strictEqual(result.rawFinishReason, "budget")
    assert.strictEqual(result.finishReason, "other")
  })

  it("shares a ledger and services between runs", async () => {
    const worker = editor()
    const ledger = Budget.make({ calls: 5 })
    const cache = ResponseCache.makeMemory({ maxEntries: 10 })
    const model = conductorModel(lone(worker, { seed: 1 }), {
      run: { ledger },
      context: Context.make(ResponseCache.ResponseCache, cache)
    })
    for (let time = 0; time < 3; time++) await generateText({ model, prompt: "Write." })
    assert.strictEqual(worker.calls.length, 1)
    assert.strictEqual(ledger.spent().calls, 1)
  })
})

describe("streamText over a Conductor", () => {
  it("streams the step that answers, and only it", async () => {
    const { stream, textStream: _ } = streamText({ model: conductorModel(two(editor())), prompt: "Write." })
    const parts = await collect(stream)
    assert.deepStrictEqual(
      parts.flatMap((part) => (part.type === "text-delta" ? [part.text] : [])),
      // Deltas that arrive together are merged.
      ["the answer"]
    )
    assert.isFalse(parts.some((part) => part.type.startsWith("reasoning") || part.type === "raw"))
    const end = parts.find((part) => part.type === "finish-step")
    assert.strictEqual(end?.usage.inputTokens, 20)
    assert.strictEqual(end?.providerMetadata?.divisi?.costUsd, 2.4)
  })

  it("waits for the end where another round may follow", async () => {
    const policy = Policy.fixed("again", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))
    const result = streamText({
      model: conductorModel(lone(editor(), { policy, recursion: 1 })),
      prompt: "Write."
    })
    assert.deepStrictEqual(await collect(result.textStream), ["the answer"])
  })

  it("tells the plan and the steps as reasoning when asked to, before the text", async () => {
    const model = conductorModel(two(editor()), { progress: true })
    const parts = await collect(streamText({ model, prompt: "Write." }).stream)
    const reasoning = parts.flatMap((part) => (part.type === "reasoning-delta" ? [part.text] : [])).join("")
    assert.match(
      reasoning,
      /^Plan by draft and edit:\n {2}1\. worker 0: Write a draft\.\n {2}2\. worker 1, sees 1: Edit/
    )
    assert.match(reasoning, /Step 1: draft has answered\./)
    const types = parts.map(({ type }) => type)
    assert.isBelow(types.lastIndexOf("reasoning-end"), types.indexOf("text-start"))
  })

  it("gives every event as a raw part when asked to", async () => {
    const result = streamText({
      model: conductorModel(lone(editor())),
      prompt: "Write.",
      includeRawChunks: true
    })
    const raw = (await collect(result.stream)).flatMap((part) =>
      part.type === "raw" ? [(part.rawValue as { type: string }).type] : []
    )
    assert.strictEqual(raw[0], "run-started")
    assert.strictEqual(raw.at(-1), "run-finished")
  })

  it("fails instead of continuing with another text", async () => {
    const cut: ScriptedWorker.Reply = { parts: [{ type: "text", text: "I" }], thenFail: { _tag: "Network" } }
    const model = conductorModel(lone(editor(cut, said("We")), { retry: { baseDelayMillis: 0 } }))
    const parts = await collect(streamText({ model, prompt: "Write.", onError: () => {} }).stream)
    const texts = parts.flatMap((part) => (part.type === "text-delta" ? [part.text] : []))
    assert.deepStrictEqual(texts, ["I"])
    const error = parts.find((part) => part.type === "error")
    assert.match(String(error?.error), /the text so far is not valid/)
  })
})

describe("aborting", () => {
  const hanging = async () => {
    const answer = Script.answer(["one", "two", "three"])
    const server = await WireServer.start(OpenAiChat.dialect, [{ type: "hang", answer, after: 1 }])
    const lab = createOpenAICompatible({ name: "lab", baseURL: server.url })
    const pool = WorkerPool.makeUnsafe([aiSdk(lab("model-1"))])
    const model: LanguageModel = conductorModel(Conductor.make({ policy: Baselines.single(0), pool }))
    return { server, model }
  }

  it("a stream ends the run and closes the sockets of its workers", async () => {
    const { model, server } = await hanging()
    await using _ = server
    const controller = new AbortController()
    const result = streamText({ model, prompt: "Count.", abortSignal: controller.signal })
    const types: Array<string> = []
    for await (const part of result.stream) {
      types.push(part.type)
      if (part.type === "text-delta") controller.abort()
    }
    assert.include(types, "abort")
    assert.isFalse((await server.exchange(0).then(({ closed }) => closed)).isWhole)
  })

  it("a whole answer ends the run and closes the sockets of its workers", async () => {
    const { model, server } = await hanging()
    await using _ = server
    const controller = new AbortController()
    const failed = thrown(generateText({ model, prompt: "Count.", abortSignal: controller.signal }))
    const exchange = await server.exchange(0)
    controller.abort()
    assert.strictEqual(((await failed) as Error).name, "AbortError")
    assert.isFalse((await exchange.closed).isWhole)
  })

  it("before the start calls no worker", async () => {
    const { model, server } = await hanging()
    await using _ = server
    await thrown(generateText({ model, prompt: "Count.", abortSignal: AbortSignal.abort() }))
    assert.strictEqual(server.exchanges.length, 0)
  })

  it("a reader that has enough ends the run", async () => {
    const { server } = await hanging()
    await using _ = server
    const lab = createOpenAICompatible({ name: "lab", baseURL: server.url })
    const pool = WorkerPool.makeUnsafe([aiSdk(lab("model-1"))])
    const model = conductorModel(Conductor.make({ policy: Baselines.single(0), pool }))
    const { stream } = await model.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "Count." }] }] })
    for await (const part of stream) if (part.type === "text-delta") break
    assert.isFalse((await server.exchange(0).then(({ closed }) => closed)).isWhole)
  })
})
