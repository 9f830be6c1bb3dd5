import * as Conductor from "@divisi/core/Conductor"
import * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import type { WorkerPart } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { ConductorLanguageModel } from "@divisi/providers-effect"
import { assert, describe, it } from "@effect/vitest"
import * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const usage = { inputTokens: 10, cachedInputTokens: 4, outputTokens: 6, reasoningTokens: 2 }

const said = (...texts: ReadonlyArray<string>): ScriptedWorker.Reply => ({
  parts: [...texts.map((text): WorkerPart => ({ type: "text", text })), { type: "finish", reason: "stop", usage }]
})

const edited = Policy.fixed("draft and edit", () => ({
  steps: [
    { worker: 0, subtask: "Write a draft.", access: [] },
    { worker: 1, subtask: "Edit it.", access: [0] }
  ]
}))

const editor = (...replies: ReadonlyArray<ScriptedWorker.Reply>) => ScriptedWorker.make({ id: "editor", replies })

const team = (second: ScriptedWorker.ScriptedWorker, options: Partial<Conductor.Options> = {}) => {
  const draft = ScriptedWorker.make({ id: "draft", replies: [said("a ", "draft")] })
  const pool = WorkerPool.makeUnsafe([draft, second])
  return ConductorLanguageModel.layer().pipe(Layer.provide(Conductor.layer({ policy: edited, pool, ...options })))
}

describe("ConductorLanguageModel", () => {
  it.effect("answers with the text, the usage of all calls, and what the run was", () =>
    Effect.gen(function* () {
      const response = yield* LanguageModel.generateText({ prompt: "Write." })
      assert.strictEqual(response.text, "the answer")
      assert.strictEqual(response.finishReason, "stop")
      assert.strictEqual(response.usage.inputTokens.total, 20)
      assert.strictEqual(response.usage.inputTokens.cacheRead, 8)
      assert.strictEqual(response.usage.outputTokens.reasoning, 4)
      const finish = response.content.find((part) => part.type === "finish")
      assert.deepInclude(finish?.metadata.divisi, { ending: "answered", calls: 2, workers: ["draft", "editor"] })
    }).pipe(Effect.provide(team(editor(said("the ", "answer")))))
  )

  it.effect("streams the step that answers, and only it", () =>
    Effect.gen(function* () {
      const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Write." }))
      assert.deepStrictEqual(
        parts.map((part) => (part.type === "text-delta" ? part.delta : part.type)),
        // Deltas that arrive together are merged.
        ["response-metadata", "text-start", "the answer", "text-end", "finish"]
      )
    }).pipe(Effect.provide(team(editor(said("the ", "answer")))))
  )

  it.effect("asks with the whole conversation", () => {
    const worker = editor(said("ok"))
    const prompt: ReadonlyArray<Prompt.MessageEncoded> = [
      { role: "system", content: "Be terse." },
      { role: "user", content: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "text", text: "Ho" }
        ]
      },
      { role: "user", content: "Write." }
    ]
    return Effect.gen(function* () {
      yield* LanguageModel.generateText({ prompt })
      assert.deepStrictEqual(worker.calls[0]?.messages.slice(0, 3), [
        { role: "system", content: "Be terse." },
        { role: "user", content: "Hi" },
        { role: "assistant", content: "Ho" }
      ])
    }).pipe(Effect.provide(team(worker)))
  })

  it.effect("fails before any call if a team does not support the request", () => {
    const worker = editor(said("ok"))
    const toolkit = Toolkit.make(Tool.make("clock", { success: Schema.String }))
    return Effect.gen(function* () {
      const handled = yield* toolkit.pipe(Effect.provide(toolkit.toLayer({ clock: () => Effect.succeed("now") })))
      const tools = yield* Effect.flip(LanguageModel.generateText({ prompt: "Write.", toolkit: handled }))
      assert.match(tools.message, /toolkit.*calls no tools/)
      const schema = Schema.Struct({ answer: Schema.String })
      const json = yield* Effect.flip(LanguageModel.generateObject({ prompt: "Write.", schema }))
      assert.match(json.message, /schema.*answers with text/)
      const prefill: ReadonlyArray<Prompt.MessageEncoded> = [
        { role: "user", content: "Hi" },
        { role: "assistant", content: "The" }
      ]
      const unanswered = yield* Effect.flip(LanguageModel.generateText({ prompt: prefill }))
      assert.match(unanswered.message, /last message must be the user's/)
      assert.strictEqual(worker.calls.length, 0)
    }).pipe(Effect.provide(team(worker)))
  })

  it.effect("fails without a retry when the run has no answer", () => {
    const layer = team(editor({ fail: { _tag: "Quota" } }), { reassign: "never" })
    return Effect.gen(function* () {
      const error = yield* Effect.flip(LanguageModel.generateText({ prompt: "Write." }))
      assert.match(error.message, /editor has no quota left/)
      assert.isFalse(error.isRetryable)
    }).pipe(Effect.provide(layer))
  })

  it.live("fails instead of continuing with another text", () => {
    const cut: ScriptedWorker.Reply = { parts: [{ type: "text", text: "I" }], thenFail: { _tag: "Network" } }
    const layer = team(editor(cut, said("We")), { retry: { baseDelayMillis: 0 } })
    return Effect.gen(function* () {
      const told: Array<string> = []
      const stream = Stream.tap(LanguageModel.streamText({ prompt: "Write." }), (part) =>
        Effect.sync(() => part.type === "text-delta" && told.push(part.delta))
      )
      const error = yield* Effect.flip(Stream.runDrain(stream))
      assert.deepStrictEqual(told, ["I"])
      assert.match(error.message, /text so far is not valid/)
    }).pipe(Effect.provide(layer))
  })

  it.live("stops the run when it is interrupted", () => {
    const worker = editor({ hang: true })
    return Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(LanguageModel.generateText({ prompt: "Write." }))
      yield* Effect.repeat(Effect.yieldNow, { until: () => worker.running() === 1 })
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(worker.running(), 0)
    }).pipe(Effect.provide(team(worker)))
  })
})
