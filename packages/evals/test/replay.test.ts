import { Baselines, Grader, LanguagePolicy, ResponseCache, Transcript } from "@divisi/core"
import * as Conductor from "@divisi/core/Conductor"
import { text } from "@divisi/core/Message"
import type * as Policy from "@divisi/core/Policy"
import * as ScriptedWorker from "@divisi/core/ScriptedWorker"
import * as Task from "@divisi/core/Task"
import * as WorkerPool from "@divisi/core/WorkerPool"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Replay from "../src/evaluation/Replay.ts"

const task = Task.make({ id: "six-seven", question: "6 times 7?", reference: "42" })

const pool = () =>
  WorkerPool.makeUnsafe([
    ScriptedWorker.make({ id: "a", replies: ["41", "42", "42"] }),
    ScriptedWorker.make({ id: "b", replies: ({ messages }) => `saw ${messages.length}` }),
    ScriptedWorker.make({ id: "c", replies: [{ fail: { _tag: "Quota" } }] })
  ])

const record = (policy: Policy.Policy, from: WorkerPool.WorkerPool, options: Partial<Conductor.Options> = {}) =>
  Effect.gen(function* () {
    const recorder = Transcript.recorder()
    const result = yield* Conductor.make({ policy, pool: from, seed: 1, ...options }).run(task, {
      listener: recorder.listener
    })
    return { result, transcript: recorder.transcript()! }
  })

describe("Replay.pool", () => {
  it.effect("gives the run again: samples in order, what was seen, and failures", () =>
    Effect.gen(function* () {
      const policies = [
        Baselines.selfConsistency({ n: 3, worker: "a" }),
        Baselines.bestOf({ n: 3, judge: "b" }),
        Baselines.selfReflection({ rounds: 2, worker: "b" })
      ]
      for (const policy of policies) {
        const first = yield* record(policy, pool())
        const again = yield* record(policy, Replay.pool(pool(), [first.transcript]))
        assert.deepStrictEqual(again.result.answer, first.result.answer)
        assert.deepStrictEqual(
          again.transcript.rounds[0]!.steps.map(({ detail, state, text }) => [state, text, detail]),
          first.transcript.rounds[0]!.steps.map(({ detail, state, text }) => [state, text, detail])
        )
      }
    })
  )

  it.effect("says what is not recorded, without trying again", () =>
    Effect.gen(function* () {
      const { transcript } = yield* record(Baselines.single("a"), pool())
      const { result, transcript: other } = yield* record(Baselines.single("b"), Replay.pool(pool(), [transcript]))
      assert.strictEqual(result.ending, "failed")
      const [call, ...more] = other.rounds[0]!.steps[0]!.lost
      assert.strictEqual(more.length, 0)
      assert.strictEqual(call?.reason?._tag, "InvalidRequest")
      assert.include(call?.message, 'no answer is recorded for "6 times 7?"')
    })
  )

  it.effect("answers from a response cache, and from nothing else", () =>
    Effect.gen(function* () {
      yield* record(Baselines.single("a"), pool())
      const found = yield* record(Baselines.single("a"), Replay.offline(pool()))
      assert.strictEqual(found.result.answer, "41")
      const lost = yield* record(Baselines.single("a"), Replay.offline(pool()), { seed: 2 })
      assert.strictEqual(lost.result.ending, "failed")
    }).pipe(Effect.provide(ResponseCache.layerMemory({ maxEntries: 10 })))
  )
})

describe("Replay.decisions", () => {
  const plan = 'Easy.\n\nmodel_id = [0]\nsubtasks = [""]\naccess_list = [[]]'

  it.effect("renders what the policy was shown, unreadable attempts included", () =>
    Effect.gen(function* () {
      const model = ScriptedWorker.make({ id: "writer", replies: ["no plan", plan] })
      const workers = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["42"] })])
      const { transcript } = yield* record(LanguagePolicy.make({ model }), workers)
      const decisions = yield* Replay.decisions([transcript], { grader: Grader.exact })
      assert.deepStrictEqual(
        decisions.map(({ prompt }) => prompt),
        model.calls.map(({ messages }) => messages)
      )
      assert.deepStrictEqual(
        decisions.map(({ completion, reward, workflow }) => [completion, reward, workflow?.steps.length]),
        [
          ["no plan", 0, undefined],
          [plan, 1, 1]
        ]
      )
    })
  )

  it.effect("shows recursive rounds who failed, in whatever round before, as it was shown", () =>
    Effect.gen(function* () {
      const lists = (workers: string) =>
        `model_id = [${workers}]\nsubtasks = [${workers && '""'}]\naccess_list = [${workers && "[]"}]`
      const model = ScriptedWorker.make({ id: "writer", replies: [lists("0"), lists("1"), lists("")] })
      const workers = WorkerPool.makeUnsafe([
        ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Quota" } }] }),
        ScriptedWorker.make({ id: "b", replies: ["42"] })
      ])
      const { transcript } = yield* record(LanguagePolicy.make({ model }), workers, {
        recursion: 2,
        reassign: "never"
      })
      const decisions = yield* Replay.decisions([transcript], { grader: Grader.exact })
      assert.deepStrictEqual(
        decisions.map(({ prompt }) => prompt),
        model.calls.map(({ messages }) => messages)
      )
      const saysWhoFailed = decisions.map(({ prompt }) => text(prompt[0]).includes("Model 0: it gave no answer"))
      assert.deepStrictEqual(saysWhoFailed, [false, true, true])
    })
  )

  it.effect("shows recursive rounds their previous answer, as it was shown", () =>
    Effect.gen(function* () {
      const empty = "model_id = []\nsubtasks = []\naccess_list = []"
      const model = ScriptedWorker.make({ id: "writer", replies: [plan, empty] })
      const workers = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: ["41"] })])
      const { transcript } = yield* record(LanguagePolicy.make({ model }), workers, { recursion: 1 })
      const decisions = yield* Replay.decisions([transcript], { grader: Grader.exact })
      assert.deepStrictEqual(
        decisions.map(({ prompt }) => prompt),
        model.calls.map(({ messages }) => messages)
      )
      assert.deepStrictEqual(
        decisions.map(({ reward, round }) => [round, reward]),
        [
          [0, 0.5],
          [1, 0.5]
        ]
      )
    })
  )

  it.effect("shows what came of a round without an answer, as it was shown", () =>
    Effect.gen(function* () {
      const again = 'model_id = [0]\nsubtasks = ["Again."]\naccess_list = ["all"]'
      const model = ScriptedWorker.make({ id: "writer", replies: [plan, again] })
      const worker = ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Quota" } }, "42"] })
      const workers = WorkerPool.makeUnsafe([worker])
      const { transcript } = yield* record(LanguagePolicy.make({ model }), workers, { recursion: 1 })
      const decisions = yield* Replay.decisions([transcript], { grader: Grader.exact })
      assert.deepStrictEqual(
        decisions.map(({ prompt }) => prompt),
        model.calls.map(({ messages }) => messages)
      )
      const [answer] = yield* Replay.answers([transcript], { grader: Grader.exact })
      assert.deepStrictEqual(answer!.prompt, worker.calls[1]!.messages)
      assert.include(JSON.stringify(answer!.prompt), "This step failed")
    })
  )

  it.effect("writes the workflows of policies in code as texts, and leaves majorities out", () =>
    Effect.gen(function* () {
      const written = yield* record(Baselines.single(1), pool())
      const voted = yield* record(Baselines.selfConsistency({ n: 3 }), pool())
      const decisions = yield* Replay.decisions([written.transcript, voted.transcript], { grader: Grader.exact })
      assert.strictEqual(decisions.length, 1)
      assert.include(decisions[0]!.completion, "model_id = [1]")
    })
  )
})

describe("Replay.answers", () => {
  it.effect("gives the messages that workers were sent, with the reward of the run, as JSON lines", () =>
    Effect.gen(function* () {
      const worker = ScriptedWorker.make({ id: "a", replies: ["41", "42"] })
      const { transcript } = yield* record(
        Baselines.selfReflection({ rounds: 1, worker: "a" }),
        WorkerPool.makeUnsafe([worker])
      )
      const answers = yield* Replay.answers([transcript], { grader: Grader.exact })
      assert.deepStrictEqual(
        answers.map(({ prompt }) => prompt),
        worker.calls.map(({ messages }) => messages)
      )
      assert.deepStrictEqual(
        answers.map(({ completion, reward }) => [completion, reward]),
        [
          ["41", 1],
          ["42", 1]
        ]
      )
      const lines = Replay.encode(answers).trimEnd().split("\n")
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line).version),
        [1, 1]
      )
    })
  )
})
