import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Policy from "../src/policy/Policy.ts"
import type { RunEvent } from "../src/record/RunEvent.ts"
import * as Transcript from "../src/record/Transcript.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const nestedRun = Effect.gen(function* () {
  const events: Array<RunEvent> = []
  const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: [{ fail: { _tag: "Quota" } }, "42"] })])
  const policy: Policy.Policy = {
    name: "half",
    propose: ({ self }) =>
      Effect.succeed({
        workflow: {
          steps: [
            { worker: 0, subtask: "Try.", access: [] },
            { worker: self ? 1 : 0, subtask: "Again.", access: "all" as const }
          ]
        }
      })
  }
  const conductor = Conductor.make({ policy, pool, self: { maxDepth: 1 } })
  yield* conductor.run("Why?", { runId: "run", listener: (event) => events.push(event) })
  return events
})

describe("Transcript", () => {
  it.effect("can be read at any moment, and reading it does not change what comes of it", () =>
    Effect.gen(function* () {
      const events = yield* nestedRun
      const recorder = Transcript.recorder()
      assert.isUndefined(recorder.transcript())
      for (const [index, event] of events.entries()) {
        recorder.listener(event)
        assert.deepStrictEqual(recorder.transcript(), Transcript.fromEvents(events.slice(0, index + 1)))
      }
      const whole = Transcript.fromEvents(events)!
      assert.strictEqual(whole.outcome, "answered")
      assert.deepStrictEqual(
        whole.rounds[0]!.steps.map(({ state }) => state),
        ["failed", "answered"]
      )
      assert.strictEqual(whole.rounds[0]!.steps[1]!.nested!.rounds[0]!.steps.length, 2)
    })
  )

  it.effect("ignores events of other runs, and is plain JSON", () =>
    Effect.gen(function* () {
      const events = yield* nestedRun
      const other: RunEvent = { type: "round-started", runId: "runner", at: 0, round: 1 }
      const whole = Transcript.fromEvents(events)!
      assert.strictEqual(Transcript.append(whole, other), whole)
      assert.isUndefined(Transcript.fromEvents([other]))
      assert.deepStrictEqual(JSON.parse(JSON.stringify(whole)), whole)
    })
  )

  it("shows an answer as it arrives, and forgets a failed attempt's", () => {
    const base = { runId: "run", at: 0, round: 0, step: 0 }
    const delta = (text: string): RunEvent => ({ ...base, type: "step-delta", kind: "text", text })
    const before: ReadonlyArray<RunEvent> = [
      {
        type: "run-started",
        runId: "run",
        at: 0,
        version: 1,
        task: { id: "task", messages: [{ role: "user", content: "Why?" }] },
        pool: [{ id: "a" }],
        policy: "test",
        seed: 0
      },
      { type: "round-started", runId: "run", at: 0, round: 0 },
      {
        type: "workflow-proposed",
        runId: "run",
        at: 0,
        round: 0,
        policy: "test",
        workflow: { steps: [{ worker: 0, subtask: "", access: [] }] },
        notes: [],
        durationMillis: 0
      },
      { ...base, type: "step-started", worker: "a" },
      delta("wro"),
      delta("ng")
    ]
    const text = (events: ReadonlyArray<RunEvent>) => Transcript.fromEvents(events)?.rounds[0]?.steps[0]?.text
    assert.strictEqual(text(before), "wrong")
    const failed: RunEvent = {
      ...base,
      type: "call-failed",
      worker: "a",
      attempt: 0,
      reason: { _tag: "Network" },
      message: "gone",
      usage: { inputTokens: 1, outputTokens: 2 },
      costUsd: undefined
    }
    assert.strictEqual(text([...before, failed, delta("right")]), "right")
  })
})
