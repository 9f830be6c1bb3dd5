/** A refusal is not an answer, whether from a model, a vendor's filter, or the policy. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Transcript from "../src/events/Transcript.ts"
import * as Wire from "../src/events/Wire.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Policy from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import { noUsage } from "../src/task/Usage.ts"
import { Refusal } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const refusal = (text: string): ScriptedWorker.Reply => ({
  parts: [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    { type: "finish", reason: "refusal", usage: noUsage }
  ]
})

const declining = (id: string, text = "I would rather not.") => ScriptedWorker.make({ id, replies: [refusal(text)] })
const willing = ScriptedWorker.make({ id: "willing", replies: ["42"] })

const run = Effect.fnUntraced(function* (
  policy: Policy.Policy,
  workers: ReadonlyArray<ScriptedWorker.ScriptedWorker>,
  options: Partial<Conductor.Options> = {}
) {
  const recorder = Transcript.recorder()
  const conductor = Conductor.make({ policy, pool: WorkerPool.makeUnsafe(workers), ...options })
  const result = yield* conductor.run("Why?", { listener: recorder.listener })
  return { result, transcript: recorder.transcript()! }
})

describe("a refusal", () => {
  it.effect("is not an answer: the run names the worker that declined, and its words", () =>
    Effect.gen(function* () {
      const worker = declining("shy")
      const { result, transcript } = yield* run(Baselines.single(0), [worker])
      assert.strictEqual(result.ending, "refused")
      assert.strictEqual(result.answer, undefined)
      assert.strictEqual(result.detail, "shy declined to answer: I would rather not.")
      assert.instanceOf(result.error, Refusal)
      assert.strictEqual(worker.calls.length, 1, "nobody asks again")
      assert.strictEqual(transcript.ending, "refused")
      assert.strictEqual(transcript.rounds[0]!.steps[0]!.finishReason, "refusal")
      assert.isTrue(Result.isSuccess(Wire.decodeTranscript(Wire.encodeTranscript(transcript))))
    })
  )

  it.effect("may be without words", () =>
    Effect.gen(function* () {
      const { result } = yield* run(Baselines.single(0), [declining("silent", "")])
      assert.strictEqual(result.ending, "refused")
      assert.strictEqual(result.detail, "silent declined to answer.")
    })
  )

  it.effect("of a step in the middle is shown to those who see it, and the run is answered", () =>
    Effect.gen(function* () {
      const policy = Policy.fixed("two", () => ({
        steps: [
          { worker: 0, subtask: "Begin.", access: [] },
          { worker: 1, subtask: "End.", access: "all" }
        ]
      }))
      const last = ScriptedWorker.make({ id: "last", replies: ["42"] })
      const { result } = yield* run(policy, [declining("shy"), last])
      assert.strictEqual(result.ending, "answered")
      assert.include(JSON.stringify(last.calls[0]!.messages), "I would rather not.")
    })
  )

  it.effect("has no vote", () =>
    Effect.gen(function* () {
      const votes = (steps: ReadonlyArray<number>) =>
        Policy.fixed("votes", () => ({
          steps: steps.map((worker) => ({ worker, subtask: "", access: [] })),
          answer: "majority"
        }))
      const workers = [declining("shy"), willing]
      assert.strictEqual((yield* run(votes([0, 0, 1]), workers)).result.answer, "42")
      assert.strictEqual((yield* run(votes([0, 0]), workers)).result.ending, "refused")
    })
  )

  it.effect("is reported to the policy of the next round, which can call another worker", () =>
    Effect.gen(function* () {
      const seen: Array<Policy.Previous | undefined> = []
      const policy = Policy.planned("one after the other", ({ previous, round }) => {
        seen.push(previous)
        return Result.succeed({ steps: [{ worker: round, subtask: "", access: [] }] })
      })
      const { result } = yield* run(policy, [declining("shy"), willing], { recursion: 1 })
      assert.strictEqual(result.answer, "42")
      assert.deepStrictEqual(seen[1]!.answer, { type: "refused", text: "I would rather not.", worker: "shy" })
      assert.deepStrictEqual(seen[1]!.failed, [0])
      assert.isFalse(Policy.canStand(seen[1]))
    })
  )

  it.effect("of a policy ends the run before any worker is called, without a fallback", () =>
    Effect.gen(function* () {
      const policy: Policy.Policy = {
        name: "modest",
        propose: () =>
          Effect.fail(new Policy.PolicyError({ policy: "modest", detail: "Not our field.", isRefusal: true }))
      }
      const { result } = yield* run(Policy.withFallback(policy, Baselines.single(0)), [willing])
      assert.strictEqual(result.ending, "refused")
      assert.strictEqual(result.detail, "Not our field.")
      assert.strictEqual(result.spend.calls, 0)
    })
  )
})
