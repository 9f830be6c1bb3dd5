/** A run and its fork with another worker, side by side. */
import assert from "node:assert/strict"
import { conduct, fork, policy, worker } from "@divisi/core/promise"

const called: Array<string> = []
const member = (id: string, outputPerMillion: number, answer: string) =>
  worker({
    id,
    pricing: { inputPerMillion: 1, outputPerMillion },
    answer: () => {
      called.push(id)
      return answer
    }
  })

const options = {
  pool: [member("reader", 1, "6 rows of 7"), member("small", 1, "about 40"), member("large", 20, "42")],
  policy: policy("read, then solve", () => ({
    steps: [
      { worker: "reader", subtask: "Read the question.", access: [] },
      { worker: "small", subtask: "Solve it.", access: [0] }
    ]
  }))
}

const first = await conduct({ ...options, question: "How many seats are in the room?" })
const other = await fork({
  ...options,
  transcript: first.transcript,
  at: { round: 0, step: 1 },
  change: { worker: "large" }
})

// The first step is not asked again.
assert.deepEqual(called, ["reader", "small", "large"])
assert.equal(first.answer, "about 40")
assert.equal(other.answer, "42")
assert.equal(other.spend.calls, 1)
assert.deepEqual(other.transcript.forkOf, { runId: first.runId, round: 0, step: 1 })

/** The cost of the step of a run that differs. */
const costOf = ({ transcript }: Pick<typeof first, "transcript">) =>
  transcript.rounds[0]?.steps[1]?.paid?.costUsd ?? Number.NaN

assert.ok(costOf(other) > costOf(first))
for (const [name, run] of Object.entries({ first, fork: other })) {
  console.log(`${name.padEnd(5)} $${costOf(run).toFixed(6)}  ${run.answer}`)
}
