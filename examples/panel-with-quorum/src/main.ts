/** A panel of five whose judge does not wait for the slowest. */
import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { conduct, policy, spendByWorker, worker } from "@divisi/core/promise"

const member = (id: string, millis: number) =>
  worker({
    id,
    answer: async (_request, { signal }) => {
      await sleep(millis, undefined, { signal })
      return "42"
    }
  })

const judge = worker({
  id: "judge",
  answer: ({ messages }) => {
    const answers = messages.filter(({ role, content }) => role === "assistant" && content === "42")
    return `42, by ${answers.length} of 5`
  }
})

const pool = [member("a", 1), member("b", 1), member("c", 1), member("d", 1), member("straggler", 60_000), judge]

const { answer, spend, transcript } = await conduct({
  question: "What is 6 times 7?",
  pool,
  maxSteps: 6,
  policy: policy("panel", () => ({
    steps: [
      ...["a", "b", "c", "d", "straggler"].map((id) => ({ worker: id, subtask: "", access: [] })),
      { worker: "judge", subtask: "Judge.", access: "all" as const, enough: { answers: 4, graceMillis: 50 } }
    ]
  }))
})

assert.equal(answer, "42, by 4 of 5")
assert.equal(transcript.rounds[0]!.steps[4]!.detail, "late")
// The straggler was asked, so its request is charged.
assert.equal(spendByWorker(transcript).straggler?.calls, 1)
console.log(`${answer}, ${spend.calls} calls`)
