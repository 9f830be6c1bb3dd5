/** The policy of a pool for which the caller names none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Transcript from "../src/events/Transcript.ts"
import * as DefaultPolicy from "../src/policy/DefaultPolicy.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as promise from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type { Worker } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const plan = 'The last is good at it.\n\nmodel_id = [2]\nsubtasks = [""]\naccess_list = [[]]'

const tool = ScriptedWorker.make({ id: "tool", replies: ["7"] })
const chat = (id: string, ...replies: ReadonlyArray<string>): Worker => ({
  ...ScriptedWorker.make({ id, replies }),
  isLanguageModel: true
})

const priced = (id: string, outputPerMillion: number): Worker => ({
  ...chat(id, id),
  pricing: { inputPerMillion: 1, outputPerMillion }
})

const run = Effect.fnUntraced(function* (...workers: ReadonlyArray<Worker>) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe(workers) })
  const result = yield* conductor.run("Why?", { listener: recorder.listener })
  const transcript = recorder.transcript()!
  return { result, transcript, round: transcript.rounds[0]! }
})

describe("a pool without a policy", () => {
  it.effect("of one worker is that worker", () =>
    Effect.gen(function* () {
      const { result, round } = yield* run(tool)
      assert.strictEqual(result.answer, "7")
      assert.deepStrictEqual(round.notes, [])
    })
  )

  it.effect("of several language models is answered by the strongest alone, and the run gives the reason", () =>
    Effect.gen(function* () {
      const { result, round, transcript } = yield* run(priced("small", 1), priced("large", 10))
      assert.strictEqual(result.answer, "large")
      assert.strictEqual(result.spend.calls, 1)
      assert.strictEqual(
        transcript.reason,
        "No policy was given, so the strongest worker answers alone: large has the highest price in the pool, and no public record covers the whole pool."
      )
      assert.deepStrictEqual(round.notes, [])
      const unknown = yield* run(chat("first", "1"), chat("second", "2"))
      assert.strictEqual(unknown.result.answer, "1")
      assert.include(unknown.transcript.reason, "first is first in the pool")
    })
  )

  it.effect("asks the next worker where the strongest fails", () =>
    Effect.gen(function* () {
      const broken = {
        ...priced("large", 10),
        ...ScriptedWorker.make({ id: "large", replies: [{ fail: { _tag: "InvalidRequest", detail: "No." } }] })
      }
      const { result } = yield* run(priced("small", 1), {
        ...broken,
        isLanguageModel: true,
        pricing: priced("large", 10).pricing
      })
      assert.strictEqual(result.answer, "small")
    })
  )

  it.effect("is planned for by its strongest language model if the other workers are not models", () =>
    Effect.gen(function* () {
      const { result, transcript } = yield* run(tool, chat("model", plan), { ...tool, id: "second" })
      assert.strictEqual(result.answer, "7")
      assert.strictEqual(transcript.policy, "model")
      assert.strictEqual(
        transcript.reason,
        "No policy was given, so model, the only language model in the pool, plans."
      )
      const both = yield* run(tool, priced("small", 1), priced("large", 10))
      assert.strictEqual(both.transcript.policy, "large")
    })
  )

  it.effect("is answered by that model where it writes no plan", () =>
    Effect.gen(function* () {
      const { result } = yield* run(tool, chat("model", "No.", "No.", "No.", "41"))
      assert.strictEqual(result.answer, "41")
    })
  )

  it.effect("and without a language model fails, and says what to give", () =>
    Effect.gen(function* () {
      const { result } = yield* run(tool, { ...tool, id: "other" })
      assert.strictEqual(result.ending, "failed")
      assert.include(result.detail, "isLanguageModel: true")
      assert.strictEqual(result.spend.calls, 0)
    })
  )

  it("is what was learned, or what reads descriptions, where the program has that", () => {
    const learned = Policy.fixed("learned", () => ({ steps: [] }))
    const pool = WorkerPool.makeUnsafe([priced("small", 1), priced("large", 10)])
    assert.strictEqual(DefaultPolicy.of(pool, { learned }).name, "learned")
    assert.strictEqual(DefaultPolicy.of({ workers: [tool] }, { learned }).name, "single:tool")
    const described = Policy.fixed("described", () => ({ steps: [] }))
    const other = { ...tool, id: "other" }
    const about = { ...tool, description: "Adds numbers." }
    assert.strictEqual(DefaultPolicy.of({ workers: [about, other] }, { described }).name, "described")
    assert.strictEqual(DefaultPolicy.of({ workers: [tool, other] }, { described }).reason, undefined)
  })

  it("is the same for promises", async () => {
    const result = await promise.conduct({ question: "Why?", pool: [priced("small", 1), priced("large", 10)] })
    assert.strictEqual(result.answer, "large")
    assert.match(result.transcript.reason ?? "", /^No policy was given/)
    const saved = await promise.decodeTranscript(promise.encodeTranscript(result.transcript))
    assert.strictEqual(saved.reason, result.transcript.reason)
  })
})
