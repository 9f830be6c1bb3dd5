/** The policy of a pool for which the caller names none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Transcript from "../src/events/Transcript.ts"
import * as DefaultPolicy from "../src/policy/DefaultPolicy.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as promise from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type * as Task from "../src/task/Task.ts"
import type { Worker } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const plan = 'The last is good at it.\n\nmodel_id = [2]\nsubtasks = [""]\naccess_list = [[]]'

const askSmall = 'It is easy.\n\nmodel_id = [0]\nsubtasks = [""]\naccess_list = [[]]'

const tool = ScriptedWorker.make({ id: "tool", replies: ["7"] })
const chat = (id: string, ...replies: ReadonlyArray<ScriptedWorker.Reply>) => ({
  ...ScriptedWorker.make({ id, replies }),
  isLanguageModel: true
})

const priced = (id: string, outputPerMillion: number): Worker => ({
  ...chat(id, id),
  pricing: { inputPerMillion: 1, outputPerMillion }
})

const runWith = Effect.fnUntraced(function* (
  workers: ReadonlyArray<Worker>,
  task: Task.Input,
  options: Omit<Conductor.Options, "pool"> = {}
) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ ...options, pool: WorkerPool.makeUnsafe(workers) })
  const result = yield* conductor.run(task, { listener: recorder.listener })
  const transcript = recorder.transcript()!
  return { result, transcript, round: transcript.rounds[0]! }
})

const run = (...workers: ReadonlyArray<Worker>) => runWith(workers, "Why?")

describe("a pool without a policy", () => {
  it.effect("of one worker is that worker", () =>
    Effect.gen(function* () {
      const { result, round } = yield* run(tool)
      assert.strictEqual(result.answer, "7")
      assert.deepStrictEqual(round.notes, [])
    })
  )

  it.effect("of several language models is planned for by the strongest, and the run gives the reason", () =>
    Effect.gen(function* () {
      const large = { ...chat("large", askSmall), pricing: { inputPerMillion: 1, outputPerMillion: 10 } }
      const { result, transcript } = yield* run(priced("small", 1), large)
      assert.strictEqual(result.answer, "small")
      assert.strictEqual(result.spend.calls, 2)
      assert.strictEqual(transcript.policy, "large")
      assert.strictEqual(
        transcript.reason,
        "No policy was given, so the strongest language model plans: large is chosen as the most expensive available worker, because no published results cover all of them."
      )
      const unknown = yield* run(chat("first", 'answer = "1"'), chat("second", "2"))
      assert.include(unknown.transcript.reason, "first is the first of the available workers")
    })
  )

  it.effect("takes one call if the question is easy", () =>
    Effect.gen(function* () {
      const { result } = yield* run(chat("first", 'answer = "41"'), chat("second", "2"))
      assert.strictEqual(result.answer, "41")
      assert.strictEqual(result.spend.calls, 1)
    })
  )

  it.effect("is answered by the strongest in a second call where its text is neither a plan nor an answer", () =>
    Effect.gen(function* () {
      const { result, round } = yield* run(chat("first", "I would say 41.", "41"), chat("second", "2"))
      assert.strictEqual(result.answer, "41")
      assert.strictEqual(result.spend.calls, 2)
      assert.match(round.notes[0]!, /^Using the fallback policy router\. /)
    })
  )

  it.effect("asks the next worker where the strongest fails, whatever the reason", () =>
    Effect.gen(function* () {
      for (const _tag of ["InvalidRequest", "Authentication", "Quota"] as const) {
        const { pricing } = priced("large", 10)
        const broken = chat("large", { fail: { _tag, detail: "No." } })
        const { result, round } = yield* run(priced("small", 1), { ...broken, pricing }, priced("tiny", 0.1))
        assert.strictEqual(result.answer, "small")
        assert.match(round.notes[0]!, /^large could not plan\. .*No\b/)
      }
    })
  )

  it.effect("is asked for the answer alone where the planner does not see all of the question", () =>
    Effect.gen(function* () {
      const pool = [priced("small", 1), { ...priced("large", 10), capabilities: { images: true } }]
      const image = { type: "image", url: "https://example.com/cat.png" } as const
      const seen = yield* runWith(pool, [{ type: "text", text: "What is this?" }, image])
      assert.strictEqual(seen.result.answer, "large")
      assert.strictEqual(seen.result.spend.calls, 1)
      assert.match(seen.round.notes[0]!, /without a plan/)
      const short = yield* runWith(pool, "Why?", { worker: { maxOutputTokens: 64 } })
      assert.strictEqual(short.result.answer, "large")
      assert.match(short.round.notes[0]!, /at most 64 tokens/)
    })
  )

  it.effect("limits a direct answer to the run's output tokens", () =>
    Effect.gen(function* () {
      const first = chat("first", 'answer = "1"')
      yield* runWith([first, chat("second", "2")], "Why?", { worker: { maxOutputTokens: 2_000 } })
      yield* run(first, chat("second", "2"))
      assert.deepStrictEqual(
        first.calls.map(({ maxOutputTokens }) => maxOutputTokens),
        [2_000, 8_192]
      )
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
      const { result } = yield* run(tool, chat("model", "No.", "41"))
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
    assert.strictEqual(result.transcript.policy, "large")
    assert.match(result.transcript.reason ?? "", /^No policy was given/)
    const saved = await promise.decodeTranscript(promise.encodeTranscript(result.transcript))
    assert.strictEqual(saved.reason, result.transcript.reason)
  })
})
