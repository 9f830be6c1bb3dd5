import { LanguagePolicy, WorkflowText } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import { WorkerStream } from "@divisi/core/streams"
import type { WorkerPart, WorkerRequest } from "@divisi/core/Worker"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { TinyModel } from "@divisi/gguf"
import { WorkflowGrammar } from "@divisi/gguf/browser"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as LlamaCppModel from "../src/LlamaCppModel.ts"
import { tiny } from "./model.ts"

const source = await tiny()
const roomy = await tiny({ contextLength: 8192 }, "roomy.gguf")

const load = (options: Partial<LlamaCppModel.Options> = {}) =>
  LlamaCppModel.load({ source, gpu: "none", contextTokens: 1024, sequences: 4, ...options })

const ask = (content: string): WorkerRequest["messages"] => [{ role: "user", content }]

const format = { type: "workflow", poolSize: 7, maxSteps: 5, access: "fine-grained", allowEmpty: false } as const

const textOf = (parts: ReadonlyArray<WorkerPart>) =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")

const finishOf = (parts: ReadonlyArray<WorkerPart>) => {
  const last = parts.at(-1)
  assert.strictEqual(last?.type, "finish")
  return last as Extract<WorkerPart, { type: "finish" }>
}

const generate = (model: LlamaCppModel.LlamaCppModel, request: WorkerRequest, options?: LlamaCppModel.WorkerOptions) =>
  Stream.runCollect(WorkerStream.generate(LlamaCppModel.worker(model, options), request))

describe("LlamaCppModel", () => {
  it.effect("is loaded once for all that use it, and leaves memory with the last of them", () =>
    Effect.gen(function* () {
      const first = yield* Effect.scoped(
        Effect.gen(function* () {
          const [one, two] = yield* Effect.all([load(), load()], { concurrency: "unbounded" })
          assert.strictEqual(one, two)
          const other = yield* load({ sequences: 2 })
          assert.notStrictEqual(other.runtime.scheduler, one.runtime.scheduler)
          assert.strictEqual(other.llama, one.llama)
          assert.strictEqual(one.threads, 1)
          assert.strictEqual(one.backend, "processor")
          return one
        })
      )
      assert.isTrue(first.llama.disposed)
      const again = yield* Effect.scoped(load())
      assert.notStrictEqual(again.llama, first.llama)
    })
  )

  it.effect("samples tokens with the log-probabilities that a forward pass gives them", () =>
    Effect.gen(function* () {
      const model = yield* load({ keyValueType: "F32", flashAttention: false })
      const tinyModel = TinyModel.random({ architecture: "llama", seed: 1 })
      const { logProbs, prompt, tokens } = yield* LlamaCppModel.sample(model, {
        prompt: ask("Why?"),
        seed: 7,
        maxOutputTokens: 40
      })
      const logits = TinyModel.forward(tinyModel, [...prompt, ...tokens])
      for (const [index, token] of tokens.entries()) {
        const row = logits[prompt.length - 1 + index]!
        const most = Math.max(...row)
        const total = row.reduce((sum, logit) => sum + Math.exp(logit - most), 0)
        assert.approximately(logProbs[index]!, row[token]! - most - Math.log(total), 1e-4)
      }
      assert.strictEqual(tokens.length, logProbs.length)
    })
  )

  it.effect("refuses log-probabilities of anything but the model's own distribution", () =>
    Effect.gen(function* () {
      const model = yield* load()
      const refusal = (request: Partial<LlamaCppModel.SampleRequest>) =>
        Effect.map(
          Effect.flip(LlamaCppModel.sample(model, { prompt: ask("Why?"), ...request })),
          (error) => error.message
        )
      assert.match(yield* refusal({ temperature: 0.5 }), /only with temperature at 1; got 0.5/)
      assert.match(yield* refusal({ topK: 40 }), /only with topK at 0; got 40/)
      assert.match(yield* refusal({ grammar: true }), /a grammar changes what is sampled/)
      assert.match(yield* refusal({ prompt: [] }), /the prompt is empty/)
    })
  )

  it.effect("writes a valid workflow under the grammar, whatever the weights and however few the tokens", () =>
    Effect.gen(function* () {
      const model = yield* load()
      const requests = Array.from({ length: 96 }, (_, index) => ({
        ...format,
        poolSize: (index % 12) + 1,
        maxSteps: (index % 8) + 1,
        access: index % 2 === 0 ? ("binary" as const) : ("fine-grained" as const),
        allowEmpty: index % 3 === 0
      }))
      yield* Effect.forEach(
        requests,
        (format, index) =>
          Effect.gen(function* () {
            const maxOutputTokens = [4, 30, 60, 120][index % 4]!
            const parts = yield* generate(model, {
              messages: ask(`Question ${index}`),
              seed: index,
              maxOutputTokens,
              format
            })
            const text = textOf(parts)
            const { start } = WorkflowGrammar.span(text)!
            const strict = WorkflowText.read(text.slice(start), { ...format, mode: "strict" })
            const workflow = Result.getOrThrow(strict).workflow
            assert.deepStrictEqual(Result.getOrThrow(WorkflowText.read(text, format)).workflow, workflow)
            assert.isAtMost(finishOf(parts).usage.outputTokens, maxOutputTokens)
          }),
        { concurrency: "unbounded" }
      )
    })
  )

  it.effect("writes a readable program or answer under the grammar, however few the tokens", () =>
    Effect.gen(function* () {
      const model = yield* load()
      const how = { checks: ["tests"], shapes: ["finding"], tools: ["search"] }
      const writer = LlamaCppModel.worker(model, { reasoningTokens: 1, temperature: 1 })
      const asked = {
        ...format,
        poolSize: 3,
        maxSteps: 2,
        access: "fine-grained" as const,
        allowEmpty: false,
        how,
        mayAnswer: true
      }
      const plans = yield* Effect.forEach(
        Array.from({ length: 24 }, (_, index) => index),
        (index) =>
          Effect.map(
            Stream.runCollect(
              WorkerStream.generate(writer, {
                messages: ask(`Question ${index}`),
                seed: index,
                maxOutputTokens: [8, 90, 300, 300][index % 4]!,
                format: asked
              })
            ),
            (parts) => {
              const text = textOf(parts)
              const { start } = WorkflowGrammar.span(text, 0, asked)!
              const rules = { ...asked, ...how, how: true, mayAnswer: true }
              return Result.getOrThrow(WorkflowText.read(text.slice(start), { ...rules, mode: "strict" }))
            }
          ),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(plans.length, 24)
    })
  )

  it.live("plans for a Conductor, and answers in its pool", () =>
    Effect.gen(function* () {
      const model = yield* load({ source: roomy, contextTokens: 8192, sequences: 2 })
      const local = LlamaCppModel.worker(model, { maxOutputTokens: 20 })
      const pool = WorkerPool.makeUnsafe([local, ScriptedWorker.make({ id: "other", replies: ["42"] })])
      const policy = LanguagePolicy.make({
        model: LlamaCppModel.worker(model, { reasoningTokens: 8 }),
        maxOutputTokens: 60,
        prompt: { examples: [] }
      })
      const result = yield* Conductor.make({ policy, pool, maxSteps: 2, seed: 11 }).run("What is 6 times 7?")
      const { ending, spend } = result
      assert.strictEqual(ending, "answered", JSON.stringify(result).slice(0, 600))
      assert.strictEqual(spend.costUsd, 0)
    })
  )

  it.effect("evaluates what prompts have in common once, also when they come at the same time", () =>
    Effect.gen(function* () {
      const model = yield* load({ sequences: 3, queueLimit: 11 })
      const common = { role: "system", content: "Rules that all runs share. ".repeat(12) } as const
      const run = (question: string) =>
        generate(model, { messages: [common, { role: "user", content: question }], maxOutputTokens: 3, seed: 1 })
      const before = LlamaCppModel.meter(model)
      const questions = Array.from({ length: 9 }, (_, index) => `Question ${index}?`)
      const results = yield* Effect.forEach(questions, run, { concurrency: "unbounded" })
      const meter = LlamaCppModel.meter(model)
      const inputs = results.map((parts) => finishOf(parts).usage)
      const total = inputs.reduce((sum, usage) => sum + usage.inputTokens, 0)
      const prompt = inputs[0]!.inputTokens
      assert.isAbove(prompt, 320)
      assert.strictEqual(
        meter.evaluatedTokens - before.evaluatedTokens + (meter.reusedTokens - before.reusedTokens),
        total
      )
      // The first run evaluates its whole prompt; each other one at most its question and the words around it.
      assert.isAtMost(meter.evaluatedTokens - before.evaluatedTokens, prompt + 8 * 50)
      assert.isAtLeast(inputs.filter((usage) => (usage.cachedInputTokens ?? 0) > 320).length, 8)
      // The context says the same: what its sequences were given to evaluate, but for the tokens that were sampled.
      const given = model.runtime.scheduler.slots.reduce(
        (sum, { sequence }) => sum + sequence.tokenMeter.usedInputTokens,
        0
      )
      assert.isAtMost(given, prompt + 8 * 50)
    })
  )

  it.effect("gives the same text on a copied prefix as on an evaluated one", () =>
    Effect.gen(function* () {
      const request = {
        messages: [{ role: "system", content: "Shared rules. ".repeat(20) }, ...ask("Why?")],
        maxOutputTokens: 24,
        seed: 5
      } as const
      const alone = yield* Effect.scoped(
        Effect.flatMap(load({ sequences: 1, keyValueType: "F32" }), (model) => generate(model, request))
      )
      const model = yield* load({ sequences: 2, keyValueType: "F32" })
      const both = yield* Effect.all(
        [generate(model, { ...request, messages: [request.messages[0]!, ...ask("Other?")] }), generate(model, request)],
        { concurrency: "unbounded" }
      )
      assert.strictEqual(textOf(both[1]), textOf(alone))
      assert.isAbove(finishOf(both[1]).usage.cachedInputTokens ?? 0, 250)
    })
  )

  it.effect("serves in turn, refuses what is too much, and frees the place of a run that is interrupted", () =>
    Effect.gen(function* () {
      const model = yield* load({ sequences: 1, queueLimit: 1 })
      const long = { messages: ask("Go on."), maxOutputTokens: 900, seed: 1 }
      const running = yield* Effect.forkChild(generate(model, long))
      yield* Effect.promise(() => until(() => LlamaCppModel.meter(model).running === 1))
      const waiting = yield* Effect.forkChild(generate(model, { ...long, maxOutputTokens: 2 }))
      yield* Effect.promise(() => until(() => LlamaCppModel.meter(model).waiting === 1))
      const error = yield* Effect.flip(generate(model, long))
      assert.strictEqual(error.reason._tag, "Overloaded")
      assert.match(error.message, /1 runs are in progress and 1 are waiting/)
      yield* Fiber.interrupt(running)
      const parts = yield* Fiber.join(waiting)
      assert.strictEqual(finishOf(parts).usage.outputTokens, 2)
      // A pending run leaves the queue when it is interrupted.
      const first = yield* Effect.forkChild(generate(model, long))
      yield* Effect.promise(() => until(() => LlamaCppModel.meter(model).running === 1))
      const second = yield* Effect.forkChild(generate(model, long))
      yield* Effect.promise(() => until(() => LlamaCppModel.meter(model).waiting === 1))
      yield* Fiber.interrupt(second)
      assert.strictEqual(LlamaCppModel.meter(model).waiting, 0)
      yield* Fiber.interrupt(first)
      yield* Effect.promise(() => until(() => LlamaCppModel.meter(model).running === 0))
    })
  )

  it.effect("serves those that wait in the order in which they came", () =>
    Effect.gen(function* () {
      const model = yield* load({ sequences: 1 })
      const order: Array<number> = []
      yield* Effect.forEach(
        [0, 1, 2, 3, 4, 5],
        (index) =>
          Effect.andThen(
            generate(model, { messages: ask(`Question ${index}`), maxOutputTokens: 6 - index, seed: index }),
            Effect.sync(() => order.push(index))
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(order, [0, 1, 2, 3, 4, 5])
    })
  )

  it.effect("says how long a prompt is that the context has no room for", () =>
    Effect.gen(function* () {
      const model = yield* load({ contextTokens: 256 })
      const error = yield* Effect.flip(generate(model, { messages: ask("word ".repeat(100)) }))
      assert.strictEqual(error.reason._tag, "ContextTooLong")
      assert.match(error.message, /the prompt has \d{3} tokens, but the context has only 256; raise contextTokens/)
    })
  )

  it.effect("stops at a stop sequence, at the limit and when the third list closes", () =>
    Effect.gen(function* () {
      const model = yield* load()
      const request = { messages: ask("Write."), maxOutputTokens: 60, seed: 2, temperature: 1 }
      const whole = textOf(yield* generate(model, request))
      const stop = whole.slice(2, 4)
      const parts = yield* generate(model, { ...request, stopSequences: [stop] })
      assert.strictEqual(textOf(parts), whole.slice(0, whole.indexOf(stop)))
      assert.strictEqual(finishOf(parts).reason, "stop")
      const short = finishOf(yield* generate(model, { ...request, maxOutputTokens: 5 }))
      assert.deepStrictEqual([short.reason, short.usage.outputTokens], ["length", 5])
    })
  )

  it.effect("is greedy at temperature 0, and repeats itself with the same seed", () =>
    Effect.gen(function* () {
      const model = yield* load()
      const texts = (temperature: number, seeds: ReadonlyArray<number>) =>
        Effect.forEach(seeds, (seed) =>
          Effect.map(generate(model, { messages: ask("Write."), maxOutputTokens: 12, temperature, seed }), textOf)
        )
      const greedy = yield* texts(0, [1, 2])
      assert.strictEqual(greedy[0], greedy[1])
      const sampled = yield* texts(1, [1, 1, 2])
      assert.strictEqual(sampled[0], sampled[1])
      assert.notStrictEqual(sampled[1], sampled[2])
    })
  )
})

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resume) => setImmediate(resume))
}
