import { conduct, single, tool, worker } from "@divisi/core/promise"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { sampleOf } from "../src/evaluation/sampling.ts"
import * as WorkerProfile from "../src/report/WorkerProfile.ts"

const model = worker({
  id: "model",
  capabilities: { tools: true },
  pricing: { inputPerMillion: 0, outputPerMillion: 0, perCall: 1 },
  answer: ({ messages }) =>
    messages.at(-1)!.role === "tool" ? "42" : { toolCalls: [{ name: "calculator", arguments: {} }] }
})
const options = { question: "What is 6 times 7?", pool: [model], policy: single(0) }
const input = { type: "object" }
const calculator = tool({ name: "calculator", input, execute: () => "42" })

const sample = (result: Awaited<ReturnType<typeof conduct>>) => {
  const { spend, transcript } = result
  const { task } = transcript
  const where = { benchmark: "b", epoch: 0, policy: "p", seed: 0, stratum: undefined }
  return sampleOf({ ...where, task, result, transcript, spend, planningMillis: new Map(), verdict: undefined } as never)
}

describe("a worker that called tools", () => {
  it("counts with all its turns", async () => {
    const result = await conduct({ ...options, tools: [calculator] })
    const { costUsd, calls, steps } = sample(result)
    assert.deepStrictEqual([costUsd, calls, steps.map((step) => step.costUsd)], [2, 2, [2]])
    const [observation] = await Effect.runPromise(WorkerProfile.fromTranscripts([result.transcript]))
    assert.strictEqual(observation!.costUsd, 2)
  })

  it("that waits for a result gives no verdict, and says for what", async () => {
    const { correct, missing } = sample(await conduct({ ...options, tools: [tool({ name: "calculator", input })] }))
    assert.isUndefined(correct)
    assert.strictEqual(missing!.cause, "harness")
    assert.match(missing!.message, /calculator/)
  })
})
