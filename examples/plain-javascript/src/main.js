/** Plain JavaScript: a run to wait for, to watch, to read as it answers, to stop, and to plan, save and account for. */
import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import {
  bestOf,
  conduct,
  decodeTranscript,
  encodeTranscript,
  languagePolicy,
  single,
  spendByWorker,
  streamAnswer,
  streamRun,
  worker
} from "@divisi/core/promise"

const pool = [
  worker({ id: "judge", answer: ({ messages }) => (messages.length > 1 ? "42, by majority" : "42") }),
  worker({
    id: "poet",
    answer: async function* () {
      yield "forty-"
      yield "two"
    }
  }),
  worker({
    id: "slow",
    answer: async (_request, { signal }) => {
      await sleep(60_000, undefined, { signal })
      return "42, at last"
    }
  })
]

const question = "What is 6 times 7?"

// To wait for: two attempts at once, and a judge that sees both.
const result = await conduct({ question, pool, policy: bestOf({ n: 2, workers: ["judge", "poet"], judge: "judge" }) })
console.log(`${result.answer}: ${result.ending} with ${result.spend.calls} calls`)
assert.equal(result.answer, "42, by majority")

// To watch: the events of a run, as they happen.
const seen = []
for await (const event of streamRun({ question, pool, policy: single("poet") })) {
  seen.push(event.type)
  if (event.type === "step-finished") console.log(`${event.worker}: ${event.answer}`)
}
assert.deepEqual([seen.at(0), seen.at(-1)], ["run-started", "run-finished"])

// To read: the text of the answer as it is written, and then the result.
const answer = streamAnswer({ question, pool, policy: single("poet") })
for await (const text of answer) process.stdout.write(text)
console.log(`: ${(await answer.result).ending}`)

// To stop: nothing is thrown, and what was done until then is in the result.
const stopped = await conduct({ question, pool, policy: single("slow"), signal: AbortSignal.timeout(100) })
console.log(`slow: ${stopped.ending} after ${Math.round(stopped.durationMillis)} ms`)
assert.equal(stopped.ending, "interrupted")
assert.equal(stopped.transcript.rounds[0]?.steps[0]?.worker, "slow")

// To plan with a model (here one that always writes the same), to see who cost what, and to save the run.
const planner = worker({
  id: "planner",
  answer: () => 'model_id = [1, 0]\nsubtasks = ["Multiply.", "Check it."]\naccess_list = [[], "all"]'
})
const planned = await conduct({ question, pool, policy: languagePolicy({ model: planner, fallback: single("judge") }) })
for (const [id, { calls, usage }] of Object.entries(spendByWorker(planned.transcript))) {
  console.log(`${id}: ${calls} call, ${usage.outputTokens} tokens`)
}
const again = await decodeTranscript(encodeTranscript(planned.transcript))
assert.equal(again.answer, planned.answer)

// A mistake is told before anything is asked.
const budget = /** @type {any} */ ({ costUSD: 1 })
await assert.rejects(conduct({ question, pool, policy: single("judge"), budget }), /Did you mean "budget.costUsd"/)
