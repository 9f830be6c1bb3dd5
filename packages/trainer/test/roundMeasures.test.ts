import { conduct, single, tool, worker } from "@divisi/core/promise"
import { assert, it } from "vitest"
import { measure } from "../src/internal/roundMeasures.ts"

it("A round counts the turns in which its workers asked for tools", async () => {
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
  const { calls, cachedCalls, costUsd } = measure(transcript.rounds[0]!)
  assert.deepStrictEqual([calls, cachedCalls, costUsd], [2, 0, 2])
})
