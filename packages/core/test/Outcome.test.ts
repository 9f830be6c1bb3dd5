import { conduct, policy, single, tool, worker } from "@divisi/core/promise"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Outcome from "../src/events/Outcome.ts"
import * as Transcript from "../src/events/Transcript.ts"
import * as Baselines from "../src/policy/Baselines.ts"
import type { Policy } from "../src/policy/Policy.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import type * as Task from "../src/task/Task.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const pool = WorkerPool.makeUnsafe(
  ["a", "b"].map((id) =>
    ScriptedWorker.make({ id, replies: ["42"], pricing: { inputPerMillion: 0, outputPerMillion: 1e6 } })
  )
)

const transcriptOf = (policy: Policy, task: Task.Input = "What is 6 times 7?") =>
  Effect.gen(function* () {
    const recorder = Transcript.recorder()
    yield* Conductor.make({ policy, pool }).run(task, { listener: recorder.listener })
    return recorder.transcript()!
  })

const scored = { score: 1, source: "user", at: 7 } as const

describe("An outcome", () => {
  it.effect("of a run that was one call is that worker's, with what the call cost", () =>
    Effect.gen(function* () {
      const question = "What is 6 times 7?"
      const transcript = yield* transcriptOf(Baselines.single("b"), { question, metadata: { family: "sums" } })
      const outcome = Outcome.fromTranscript(transcript, scored)!
      assert.strictEqual(outcome.worker, "b")
      assert.strictEqual(outcome.kind, "sums")
      const unnamed = yield* transcriptOf(Baselines.single("b"), { question, metadata: { subject: "" } })
      assert.notProperty(Outcome.fromTranscript(unnamed, scored), "kind")
      assert.strictEqual(outcome.costUsd, 1)
      assert.strictEqual(outcome.run, transcript.runId)
      assert.strictEqual(outcome.question, Outcome.nameOf(question))
      assert.notProperty(outcome, "text")
      assert.strictEqual(Outcome.fromTranscript(transcript, { ...scored, keepText: true })!.text, question)
    })
  )

  it.effect("names the model that the vendor says has answered", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 1, outputTokens: 1 }
      const modelOf = (model: string) =>
        Effect.gen(function* () {
          const finish = { type: "finish", reason: "stop", usage, model } as const
          const reply = { parts: [{ type: "text", text: "42" }, finish] } as const
          const recorder = Transcript.recorder()
          yield* Conductor.make({
            policy: Baselines.single("a"),
            pool: WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies: [reply] })])
          }).run("6 times 7?", { listener: recorder.listener })
          return Outcome.fromTranscript(recorder.transcript()!, scored)!.model
        })
      assert.strictEqual(yield* modelOf("a-2026-11-24"), "a-2026-11-24")
      assert.notInclude(yield* modelOf("a\u001b[31m"), "\u001b")
      assert.isUndefined(yield* modelOf("a".repeat(1_000)))
    })
  )

  it("of a worker that called tools has the cost of all its turns", async () => {
    const model = worker({
      id: "model",
      capabilities: { tools: true },
      pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
      answer: ({ messages }) =>
        messages.at(-1)!.role === "tool" ? "42" : { toolCalls: [{ name: "calculator", arguments: {} }] }
    })
    const calculator = tool({ name: "calculator", input: { type: "object" }, execute: () => "42" })
    const { transcript } = await conduct({
      question: "6 times 7?",
      pool: [model],
      policy: single(0),
      tools: [calculator]
    })
    assert.strictEqual(Outcome.fromTranscript(transcript, scored)!.costUsd, 2)
  })

  it.effect("of a team is the team's, with what the run cost", () =>
    Effect.gen(function* () {
      const outcome = Outcome.fromTranscript(yield* transcriptOf(Baselines.bestOf({ n: 2 })), scored)!
      assert.strictEqual(outcome.worker, "policy:best-of-2")
      assert.strictEqual(outcome.costUsd, 3)
    })
  )

  it.effect("of a step is credited to its worker, and is undefined for a step without an answer", () =>
    Effect.gen(function* () {
      const transcript = yield* transcriptOf(Baselines.bestOf({ n: 2 }))
      const second = Outcome.fromTranscript(transcript, { ...scored, score: 0, step: { round: 0, step: 1 } })!
      assert.strictEqual(second.worker, "b")
      assert.strictEqual(second.score, 0)
      assert.isUndefined(Outcome.fromTranscript(transcript, { ...scored, step: { round: 0, step: 9 } }))
    })
  )

  it("of an item is credited to its worker, and is undefined for a step with items", async () => {
    const pricing = { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 }
    const { transcript } = await conduct({
      question: "In order?",
      pool: [
        worker({ id: "list", pricing, answer: () => '["x", "y"]' }),
        worker({ id: "reviewer", pricing, answer: () => "fine" })
      ],
      policy: policy("map", () => ({
        steps: [
          { worker: "list", subtask: "List.", access: [], gives: { list: 2 } },
          { worker: "reviewer", subtask: "Review {item}.", access: [], each: 0 },
          { worker: "reviewer", subtask: "Join.", access: [1] }
        ]
      }))
    })
    const of = (item?: string) => Outcome.fromTranscript(transcript, { ...scored, step: { round: 0, step: 1, item } })
    assert.deepStrictEqual([of("1")?.worker, of("1")?.costUsd], ["reviewer", 1])
    assert.isUndefined(of("2"))
    assert.isUndefined(of())
  })
})
