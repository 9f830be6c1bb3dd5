/** The failures of a run are in its result, in its last event and in its transcript. */
import * as Effect from "effect/Effect"
import { assert, describe, it } from "vitest"
import * as StepFailure from "../src/events/StepFailure.ts"
import {
  conduct,
  decodeTranscript,
  encodeTranscript,
  memoryJournal,
  policy,
  resume,
  single,
  worker
} from "../src/promise.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Critic from "../src/task/Critic.ts"
import type { WorkerErrorReason } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const failing = (_tag: WorkerErrorReason["_tag"]) =>
  ScriptedWorker.make({ id: _tag, replies: [{ fail: { _tag, detail: "said" } }] })

const answerer = worker({ id: "answerer", answer: () => "42" })

const team = policy("a team", ({ pool }) => ({
  steps: pool.workers.map((_, worker) => ({ worker, subtask: "", access: "all" as const }))
}))

const shared = { question: "What is it?", policy: team, maxSteps: 12, retry: { maxAttempts: 1 } } as const

const tags = [
  "RateLimited",
  "Overloaded",
  "Timeout",
  "Network",
  "Malformed",
  "InvalidRequest",
  "Authentication",
  "Quota",
  "ContentFiltered",
  "ContextTooLong",
  "Defect"
] as const

const withoutRun = ({ runId: _, ...failure }: StepFailure.StepFailure) => failure

describe("failures of a run", () => {
  it("name each failed step with its worker and its reason, of every class", async () => {
    const result = await conduct({ ...shared, pool: [...tags.map(failing), answerer], reassign: "never" })
    assert.strictEqual(result.ending, "answered")
    assert.deepStrictEqual(
      result.failures.map(({ reason, step, worker }) => [step, worker, reason]),
      tags.map((tag, step) => [step, tag, tag])
    )
    assert.deepStrictEqual(StepFailure.failuresOf(result.transcript), result.failures)
    assert.match(StepFailure.summaryOf(result.failures) ?? "", /^11 steps failed \(RateLimited: rate limited; /)
  })

  it("name the worker that took a step over, and count no call that was retried", async () => {
    const flaky = ScriptedWorker.make({ id: "flaky", replies: [{ fail: { _tag: "Overloaded" } }, "fine"] })
    const retry = { maxAttempts: 2, baseDelayMillis: 0, maxDelayMillis: 0 }
    const pool = [failing("Authentication"), flaky, answerer]
    const result = await conduct({ ...shared, pool, retry, reassign: "next" })
    assert.deepStrictEqual(result.failures.map(withoutRun), [
      {
        round: 0,
        step: 0,
        worker: "Authentication",
        reason: "Authentication",
        message: "Authentication refused the credentials: said. Check its API key.",
        reassignedTo: "flaky"
      }
    ])
    assert.deepStrictEqual(StepFailure.failuresOf(result.transcript), result.failures)
    assert.strictEqual(
      StepFailure.summaryOf(result.failures),
      "1 step reassigned (Authentication: credentials refused, taken over by flaky)"
    )
  })

  it("are empty if none failed", async () => {
    const result = await conduct({ ...shared, pool: [answerer] })
    assert.deepStrictEqual([result.failures, StepFailure.summaryOf(result.failures)], [[], undefined])
  })

  it("are in the last event, and the same for a run of a journal that has ended", async () => {
    const journal = memoryJournal()
    const told: Array<unknown> = []
    const pool = [failing("Quota"), answerer]
    const first = await conduct({
      ...shared,
      pool,
      journal,
      runId: "run-1",
      onEvent: (event) => void (event.type === "run-finished" && told.push(event.failures))
    })
    assert.deepStrictEqual(told, [first.failures])
    const again = await resume({ ...shared, pool, journal, runId: "run-1" })
    assert.deepStrictEqual(again.failures, first.failures)
  })

  it("end a run at refused credentials if it shall, by both APIs, and the next worker is not asked", async () => {
    const last = ScriptedWorker.make({ id: "last", replies: ["42"] })
    const pool = [failing("Authentication"), last]
    const settings = { ...shared, reassign: "next", onAuthenticationFailure: "end" } as const
    const result = await conduct({ ...settings, pool })
    const { question, ...rest } = settings
    const conductor = Conductor.make({ ...rest, pool: WorkerPool.makeUnsafe(pool) })
    const same = await Effect.runPromise(conductor.run(question))
    for (const { ending, failures } of [result, same]) {
      assert.deepStrictEqual([ending, failures.map(({ reason }) => reason)], ["failed", ["Authentication"]])
    }
    assert.lengthOf(last.calls, 0)
  })

  it("of nested runs are those of the run", async () => {
    let depth = 0
    const nesting = policy("nesting", ({ pool }) => ({
      steps:
        depth++ === 0
          ? [{ worker: pool.workers.length, subtask: "", access: [] }]
          : [
              { worker: 0, subtask: "", access: [] },
              { worker: 1, subtask: "", access: "all" as const }
            ]
    }))
    const pool = [failing("Network"), answerer]
    const result = await conduct({ ...shared, policy: nesting, pool, self: { maxDepth: 1 }, runId: "outer" })
    assert.deepStrictEqual(
      result.failures.map(({ reason, runId }) => [runId, reason]),
      [["outer/0.0", "Network"]]
    )
    assert.deepStrictEqual(StepFailure.failuresOf(result.transcript), result.failures)
  })

  describe("of calls that are not a step's own", () => {
    const judge = failing("Overloaded")
    const revising = (onFailure: "continue" | "next" | "revise", by: string | number) =>
      policy("checked", () => ({ steps: [{ worker: 0, subtask: "", access: [], check: { by, onFailure } }] }), {
        checks: { judge, scored: Critic.fromWorker(judge) }
      })

    it.each([
      ["a check", "judge", "continue"],
      ["a check that hands the step on", "judge", "next"],
      ["a check that calls for another plan", "judge", "revise"],
      ["a critic that checks", "scored", "continue"],
      ["a worker that checks", 1, "continue"]
    ] as const)("name the worker of %s", async (_, by, onFailure) => {
      const pool = [answerer, judge]
      const journal = memoryJournal()
      const options = { ...shared, pool, policy: revising(onFailure, by), journal, runId: "r" }
      const result = await conduct(options)
      const checks = result.failures.filter((failure) => failure.by === "check").map(withoutRun)
      assert.isNotEmpty(checks)
      const { message, ...first } = checks[0]!
      assert.deepStrictEqual(first, { round: 0, step: 0, by: "check", worker: judge.id, reason: "Overloaded" })
      assert.match(message, /overloaded/)
      assert.deepStrictEqual(StepFailure.failuresOf(result.transcript), result.failures)
      assert.deepStrictEqual(
        (await decodeTranscript(encodeTranscript(result.transcript))).rounds,
        result.transcript.rounds
      )
      assert.match(StepFailure.summaryOf(result.failures)!, /check calls? failed \(.*Overloaded: overloaded/)
      const again = await conduct(options)
      assert.deepStrictEqual(again.failures, result.failures)
    })

    it("name the worker of a critic, which no policy shares its failures with", async () => {
      const result = await conduct({ ...shared, pool: [answerer], policy: single(0), critic: Critic.fromWorker(judge) })
      assert.deepStrictEqual(
        result.failures.map(({ by, reason, round, worker }) => [round, by, worker, reason]),
        [[0, "critic", judge.id, "Overloaded"]]
      )
      assert.deepStrictEqual(StepFailure.failuresOf(result.transcript), result.failures)
      assert.match(StepFailure.summaryOf(result.failures)!, /^1 critic call failed/)
    })

    it("are outages where the check decided, and not where a later one passed", async () => {
      const decided = await conduct({ ...shared, pool: [answerer, judge], policy: revising("continue", "judge") })
      assert.lengthOf(StepFailure.outagesOf(decided.transcript), 1)
      const once = ScriptedWorker.make({ id: "once", replies: [{ fail: { _tag: "Overloaded" } }, "Verdict: right"] })
      const pool = [answerer, worker({ id: "other", answer: () => "42" }), once]
      const recovered = policy("checked", () => ({
        steps: [{ worker: 0, subtask: "", access: [], check: { by: 2, onFailure: "next" } }]
      }))
      const result = await conduct({ ...shared, pool, policy: recovered })
      assert.lengthOf(result.failures, 1)
      assert.isEmpty(StepFailure.outagesOf(result.transcript))
    })
  })
})
