/** Who plans where no policy was given. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as DefaultPolicy from "../src/policy/DefaultPolicy.ts"
import * as promise from "../src/promise.ts"
import * as Transcript from "../src/record/Transcript.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type { Worker } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const plan = 'The second is good at it.\n\nmodel_id = [2]\nsubtasks = [""]\naccess_list = [[]]'

const tool = ScriptedWorker.make({ id: "tool", replies: ["7"] })
const chat = (id: string, ...replies: ReadonlyArray<string>): Worker => ({
  ...ScriptedWorker.make({ id, replies }),
  isLanguageModel: true
})

const run = Effect.fnUntraced(function* (...workers: ReadonlyArray<Worker>) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ pool: WorkerPool.makeUnsafe(workers) })
  const result = yield* conductor.run("Why?", { listener: recorder.listener })
  return { result, round: recorder.transcript()!.rounds[0]! }
})

describe("a pool without a policy", () => {
  it.effect("of one worker is that worker", () =>
    Effect.gen(function* () {
      const { result, round } = yield* run(tool)
      assert.strictEqual(result.answer, "7")
      assert.deepStrictEqual(round.notes, [])
    })
  )

  it.effect("is planned for by its first language model, and the plan says so", () =>
    Effect.gen(function* () {
      const { result, round } = yield* run(tool, chat("first", plan), chat("second", "42"))
      assert.strictEqual(result.answer, "42")
      assert.match(round.notes[0]!, /^No policy was given, so first plans: .* policy: routed\(\), of @divisi/)
      const { round: alone } = yield* run(tool, chat("first", plan))
      assert.strictEqual(alone.notes[0], "No policy was given, so first plans: the first language model of the pool.")
      assert.strictEqual(round.policy, "first")
    })
  )

  it.effect("is answered by that model where it writes no plan", () =>
    Effect.gen(function* () {
      const { result } = yield* run(tool, chat("first", "No.", "No.", "No.", "41"), chat("second", "42"))
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

  it("is the same for promises", async () => {
    const result = await promise.conduct({ question: "Why?", pool: [tool, chat("first", plan), chat("second", "42")] })
    assert.strictEqual(result.answer, "42")
    assert.strictEqual(DefaultPolicy.of({ workers: [tool] }).name, "single:tool")
  })
})
