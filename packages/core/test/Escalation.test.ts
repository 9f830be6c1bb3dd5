import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { lineOfChecked } from "../src/events/check.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Escalation from "../src/policy/Escalation.ts"
import type { Policy } from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as Check from "../src/task/Check.ts"
import * as Grader from "../src/task/Grader.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const priced = { inputPerMillion: 0, outputPerMillion: 1e6 }

const says = (id: string, reply: ScriptedWorker.Reply) => ScriptedWorker.make({ id, replies: [reply], pricing: priced })

const ran = (
  policy: Policy,
  workers: readonly [ScriptedWorker.ScriptedWorker, ...ReadonlyArray<ScriptedWorker.ScriptedWorker>],
  options: Partial<Conductor.Options> = {}
) =>
  Effect.gen(function* () {
    const recorder = Transcript.recorder()
    const conductor = Conductor.make({ ...options, policy, pool: WorkerPool.makeUnsafe(workers) })
    const task = { question: "What is 6 times 7?", reference: "42" }
    const result = yield* conductor.run(task, { listener: recorder.listener })
    return { ...result, asked: workers.map(({ calls }) => calls.length), transcript: recorder.transcript()! }
  })

const failing: ScriptedWorker.Reply = { fail: { _tag: "ContentFiltered" } }

describe("checked", () => {
  it.effect("calls no other worker if the answer passes", () =>
    Effect.gen(function* () {
      const workers = [says("cheap", "42"), says("strong", "no")] as const
      const { answer, asked, spend } = yield* ran(Escalation.checked("cheap", "strong", Grader.exact), workers)
      assert.deepStrictEqual([answer, asked, spend.costUsd], ["42", [1, 0], 1])
    })
  )

  it.effect("asks the second worker the bare question where it fails, and the notes say why", () =>
    Effect.gen(function* () {
      const strong = says("strong", "42")
      const policy = Escalation.checked(0, 1, (answer) => /^\d+$/.test(answer) || "It is no number.")
      const { answer, spend, transcript } = yield* ran(policy, [says("cheap", "forty"), strong])
      assert.deepStrictEqual([answer, spend.calls, spend.costUsd], ["42", 2, 2])
      assert.deepStrictEqual(transcript.rounds[1]!.notes, ["The answer failed its check. It is no number."])
      assert.deepStrictEqual(strong.calls[0]!.messages, [{ role: "user", content: "What is 6 times 7?" }])
    })
  )

  it.effect("asks the second worker where the first gives no answer, or the check throws", () =>
    Effect.gen(function* () {
      const broken = () => {
        throw new Error("no shell")
      }
      for (const [first, check] of [
        [says("cheap", failing), () => true],
        [says("cheap", "42"), broken]
      ] as const) {
        const { answer } = yield* ran(Escalation.checked(0, 1, check), [first, says("strong", "instead")])
        assert.strictEqual(answer, "instead")
      }
    })
  )

  it.effect("distinguishes a check that could not run from one that objects with the same words", () =>
    Effect.gen(function* () {
      const words = "The check could not run: no shell"
      const broken = () => {
        throw new Error("no shell")
      }
      for (const [check, couldNotRun, note] of [
        [broken, true, words],
        [() => Promise.reject(new Error("no shell")), true, words],
        [() => words, undefined, `The answer failed its check. ${words}`]
      ] as const) {
        const { transcript } = yield* ran(Escalation.checked(0, 1, check), [says("cheap", "41"), says("strong", "42")])
        const [found] = transcript.rounds[0]!.steps[0]!.checks!
        assert.deepInclude(found, { passed: false, objection: words, ...(couldNotRun && { couldNotRun }) })
        assert.strictEqual(found!.couldNotRun, couldNotRun)
        const line = lineOfChecked({ type: "step-checked", round: 0, step: 0, ...found! })
        assert.match(line, couldNotRun ? /cheap was not checked by/ : /cheap fails the check/)
        assert.deepStrictEqual(transcript.rounds[1]!.notes, [note])
      }
    })
  )

  it.effect("has a worker judge, whose cost is in the transcript", () =>
    Effect.gen(function* () {
      for (const [verdict, answer, costUsd] of [
        ["Fine. Verdict: right", "41", 4],
        ["Off by one. Verdict: wrong", "42", 7]
      ] as const) {
        const judge = says("judge", verdict)
        const workers = [says("cheap", "41"), says("strong", "42")] as const
        const run = yield* ran(Escalation.checked("cheap", "strong", judge), workers)
        assert.deepStrictEqual([run.answer, run.spend.costUsd], [answer, costUsd])
        assert.include(judge.calls[0]!.messages[0]!.content, "Answer:\n41")
        assert.lengthOf(run.transcript.rounds[0]!.steps[0]!.checkAnswers!, 1)
      }
    })
  )

  it.effect("stays within a budget of one call", () =>
    Effect.gen(function* () {
      const workers = [says("cheap", "41"), says("strong", "42")] as const
      const run = yield* ran(Escalation.checked(0, 1, Grader.exact), workers, { budget: { calls: 1 } })
      assert.deepStrictEqual([run.ending, run.answer, run.asked], ["budget", "41", [1, 0]])
    })
  )

  it.effect("does not ask again when there are rounds left", () =>
    Effect.gen(function* () {
      const workers = [says("cheap", "41"), says("strong", "43")] as const
      const { asked } = yield* ran(Escalation.checked(0, 1, Grader.exact), workers, { recursion: 4 })
      assert.deepStrictEqual(asked, [1, 1])
    })
  )

  it.effect("checks the shape of an answer", () =>
    Effect.gen(function* () {
      const shape = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
      for (const [first, answer] of [
        ['```json\n{"sum": 42}\n```', '```json\n{"sum": 42}\n```'],
        ['{"total": 42}', "instead"],
        ["It is 42.", "instead"]
      ] as const) {
        const policy = Escalation.checked(0, 1, Check.matches(shape))
        assert.strictEqual((yield* ran(policy, [says("cheap", first), says("strong", "instead")])).answer, answer)
      }
    })
  )

  it("rejects a value that is not a check", () => {
    assert.throws(
      () => Escalation.checked(0, 1, "grader" as never),
      /must be a function, a grader, a critic or a worker/
    )
  })
})

describe("agreed", () => {
  it.effect("calls only two workers if their final answers agree", () =>
    Effect.gen(function* () {
      const workers = [says("a", "So the answer is 42."), says("b", "\\boxed{42}"), says("c", "no")] as const
      const { answer, asked } = yield* ran(Escalation.agreed("a", "b", "c"), workers)
      assert.deepStrictEqual([answer, asked], ["So the answer is 42.", [1, 1, 0]])
    })
  )

  it.effect("asks the third where they differ, or one has no answer", () =>
    Effect.gen(function* () {
      for (const second of ["43", failing]) {
        const workers = [says("a", "42"), says("b", second), says("c", "42!")] as const
        const { answer, asked, transcript } = yield* ran(Escalation.agreed(0, 1, 2), workers)
        assert.deepStrictEqual([answer, asked[2]], ["42!", 1])
        assert.lengthOf(transcript.rounds, 2)
      }
    })
  )

  it.effect("ends with the reason where it names a worker that there is not", () =>
    Effect.gen(function* () {
      const { detail } = yield* ran(Escalation.agreed("a", "b", "z"), [says("a", "1"), says("b", "1")])
      assert.include(detail, 'worker "z" is not in the pool')
    })
  )
})
