/** Tests of a routing head as an engine: the engine contract, its text format, and training with the trainer. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { Prompt } from "@divisi/core"
import type { PlainMessage } from "@divisi/core/Message"
import { ReadingText } from "@divisi/policy-tiny"
import * as ChoiceHead from "@divisi/policy-tiny/ChoiceHead"
import * as ReadingPolicy from "@divisi/policy-tiny/ReadingPolicy"
import { EngineContract } from "@divisi/testkit/engines"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll } from "vitest"
import * as ReadingEngine from "../src/reader/ReadingEngine.ts"
import * as Teams from "../src/world/Teams.ts"

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-reading-engine-"))
afterAll(() => fs.rmSync(folder, { recursive: true }))

const { readers } = await Effect.runPromise(ReadingPolicy.load())
const unsure = Float64Array.from({ length: ChoiceHead.size }, (_, at) => Math.sin(3 * at + 1) / 8)

const teams = Teams.draw({ split: "train", seed: 3, count: 12, workers: [2, 5], composites: 1 })

const messagesOf = ({ pool, task }: Teams.Team, failed: ReadonlyArray<number> = []): ReadonlyArray<PlainMessage> =>
  Prompt.conductorMessages(
    {
      pool,
      task,
      maxSteps: 9,
      self: false,
      previous:
        failed.length === 0
          ? undefined
          : { workflow: { steps: [] }, answer: { type: "failed", message: "out of reach" }, failed }
    },
    ReadingText.options
  )

/** A text by lot: what an engine with other weights would write. */
const writtenBy = (messages: ReadonlyArray<PlainMessage>, seed: number) => {
  const engine = ReadingEngine.make({ readers, head: unsure })
  const { decode, render } = engine.tokenizer
  const request = { prompt: render(messages), maxTokens: 16_384, seed }
  const [sample] = Effect.runSync(Effect.scoped(Effect.flatMap(engine.sampler, (sampler) => sampler.sample(request))))
  return decode(sample!.tokens.slice(0, -1))
}

const [first, second] = [messagesOf(teams[0]!, [1]), messagesOf(teams[1]!)]

EngineContract.contract({
  name: "ReadingEngine",
  make: Effect.sync(() => ReadingEngine.make({ readers, head: unsure })),
  examples: [
    { messages: first, text: writtenBy(first, 1) },
    { messages: first, text: writtenBy(first, 2) },
    { messages: second, text: writtenBy(second, 3).slice(0, -20) }
  ],
  describe,
  it,
  afterAll
})

describe("ReadingEngine", () => {
  it("a text that is cut into tokens again has the tokens that were sampled", () => {
    const { decode, encode } = ReadingEngine.make({ readers, head: unsure }).tokenizer
    for (const [index, team] of teams.entries()) {
      const text = writtenBy(messagesOf(team), index)
      assert.strictEqual(decode(encode(text)), text)
      const engine = ReadingEngine.make({ readers, head: unsure })
      const datum = {
        prompt: engine.tokenizer.render(messagesOf(team)),
        completion: [...encode(text), engine.tokenizer.endToken]
      }
      const { logProbs } = Effect.runSync(engine.forward([datum]))
      assert.isAbove(Math.min(...logProbs[0]!), -100, text)
    }
  })

  it.live("the gradient is the slope of the objective, of its entropy too, where somebody has failed", () =>
    Effect.gen(function* () {
      const { forward, tokenizer } = ReadingEngine.make({ readers, head: unsure })
      const prompt = tokenizer.render(first)
      const completion = [...tokenizer.encode(writtenBy(first, 1)), tokenizer.endToken]
      const { logProbs } = yield* forward([{ prompt, completion }])
      const datum = {
        prompt,
        completion,
        advantages: completion.map((_, at) => Math.cos(at)),
        logProbs: Array.from(logProbs[0]!, (one) => one + 0.1)
      }
      const lossOf = Effect.fnUntraced(function* (head: ChoiceHead.Weights, rate: number) {
        const engine = ReadingEngine.make({ readers, head })
        const { loss } = yield* engine.forwardBackward([datum], {
          type: "clippedRatio",
          low: 0.3,
          high: 0.3,
          entropy: 0.2
        })
        // With such an epsilon a step is plain descent.
        yield* engine.step({ learningRate: rate * 1e9, epsilon: 1e9 })
        return { loss: loss!, head: engine.head() }
      })
      const { head: moved } = yield* lossOf(unsure, 1)
      for (let at = 0; at < ChoiceHead.size; at += 83) {
        const up = yield* lossOf(unsure.with(at, unsure[at]! + 1e-5), 0)
        const down = yield* lossOf(unsure.with(at, unsure[at]! - 1e-5), 0)
        const slope = (up.loss - down.loss) / 2e-5
        assert.approximately(unsure[at]! - moved[at]!, slope, 1e-5, `weight ${at}`)
      }
    })
  )

  it.live("writes a model that plans", () =>
    Effect.gen(function* () {
      const file = path.join(folder, "exported.gguf")
      yield* ReadingEngine.make({ readers, head: unsure }).export("gguf", file)
      const { head } = yield* ReadingPolicy.load(file)
      assert.deepStrictEqual(head, Float64Array.from(Float32Array.from(unsure)))
    })
  )
})
