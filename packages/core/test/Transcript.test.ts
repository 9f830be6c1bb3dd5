import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { RunEvent } from "../src/events/RunEvent.ts"
import * as Transcript from "../src/events/Transcript.ts"
import type * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const started: RunEvent = {
  type: "run-started",
  runId: "run",
  at: 0,
  version: 1,
  task: { id: "task", messages: [{ role: "user", content: "Why?" }] },
  pool: [{ id: "a" }],
  policy: "test",
  seed: 0
}

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
      assert.strictEqual(whole.ending, "answered")
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
      assert.deepStrictEqual(Transcript.fromEvents([...events, other]), whole)
      assert.isUndefined(Transcript.fromEvents([other]))
      assert.deepStrictEqual(JSON.parse(JSON.stringify(whole)), whole)
    })
  )

  it("shows an answer as it arrives, and forgets a failed attempt's", () => {
    const base = { runId: "run", at: 0, round: 0, step: 0 }
    const delta = (text: string): RunEvent => ({ ...base, type: "step-delta", kind: "text", text })
    const before: ReadonlyArray<RunEvent> = [
      started,
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

  it.effect("adds up what was paid as it is paid, as the run's own account does in the end", () =>
    Effect.gen(function* () {
      const events = yield* nestedRun
      const { spend, ...unended } = Transcript.fromEvents(events)!
      assert.deepStrictEqual(Transcript.spendSoFar(unended), spend)
      const { nested } = unended.rounds[0]!.steps[1]!
      assert.deepStrictEqual(Transcript.spendSoFar(nested!), nested!.spend)
    })
  )

  it("counts failed calls, and not an answer from the cache", () => {
    const paid = { usage: { inputTokens: 30, outputTokens: 10 }, costUsd: 0.1 }
    const at = { runId: "run", at: 0, round: 0 }
    const answer = { ...at, type: "step-finished", worker: "a", answer: "x", durationMillis: 1, ...paid } as const
    const steps = [0, 1].map(() => ({ worker: 0, subtask: "", access: [] }))
    const transcript = Transcript.fromEvents([
      started,
      { ...at, type: "round-started" },
      { ...at, type: "workflow-proposed", policy: "test", workflow: { steps }, notes: [], durationMillis: 0 },
      { ...answer, step: 0, finishReason: "stop", cached: true },
      { ...at, type: "call-interrupted", step: 1, worker: "a", ...paid, costUsd: undefined },
      { ...answer, step: 1, finishReason: "stop", cached: false }
    ])!
    assert.deepStrictEqual(Transcript.spendSoFar(transcript), {
      usage: { inputTokens: 90, outputTokens: 30 },
      costUsd: 0.2,
      calls: 2,
      unpricedCalls: 1
    })
  })

  it.effect("shows a run as it was at any time: as its events up to then would", () =>
    Effect.gen(function* () {
      // Each event a millisecond after the one before, so that there is a time between any two.
      const events = (yield* nestedRun).map((event, index) => ({ ...event, at: 1_000 + index }))
      const ends = new Map(events.flatMap((event) => (event.type === "run-finished" ? [[event.runId, event.at]] : [])))
      const starts = new Map(events.flatMap((event) => (event.type === "run-started" ? [[event.runId, event.at]] : [])))
      const timed = events.map((event) =>
        event.type === "run-finished"
          ? { ...event, durationMillis: ends.get(event.runId)! - starts.get(event.runId)! }
          : event
      ) as ReadonlyArray<RunEvent>
      const whole = Transcript.fromEvents(timed)!
      assert.strictEqual(Transcript.endOf(whole), timed.at(-1)!.at)
      for (const [index, { at }] of timed.entries()) {
        // The arrival times of text pieces are not recorded.
        const known = timed.slice(0, index + 1).filter(({ type }) => type !== "step-delta")
        assert.deepStrictEqual(Transcript.at(whole, at), Transcript.fromEvents(known), `after event ${index}`)
      }
      assert.deepStrictEqual(Transcript.at(whole, 999).rounds, [])
    })
  )

  it("restarts a completion in every attempt", () => {
    const delta = (attempt: number, text: string): RunEvent => ({
      type: "completion-delta",
      runId: "run",
      at: 0,
      round: 0,
      attempt,
      kind: "text",
      text
    })
    const events = [delta(0, "mod"), delta(0, "el"), delta(1, "model_id")]
    const transcript = Transcript.fromEvents([
      started,
      { type: "round-started", runId: "run", at: 0, round: 0 },
      ...events
    ])
    assert.deepStrictEqual(
      transcript!.rounds[0]!.completions.map(({ text }) => text),
      ["model", "model_id"]
    )
  })
})
