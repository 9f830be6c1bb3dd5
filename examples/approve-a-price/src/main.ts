/** A plan that waits for approval, with its price. */
import assert from "node:assert/strict"
import { type ConductResult, conduct, policy, worker } from "@divisi/core/promise"

let calls = 0
const member = (id: string, outputPerMillion: number) =>
  worker({
    id,
    pricing: { inputPerMillion: 1, outputPerMillion },
    maxOutputTokens: 1_000,
    answer: () => {
      calls += 1
      return `42, by ${id}`
    }
  })

const propose = () =>
  conduct({
    question: "What is 6 times 7?",
    pool: [member("small", 1), member("large", 20)],
    approvePlans: true,
    policy: policy("two steps", () => ({
      steps: [
        { worker: "small", subtask: "Solve it.", access: [] },
        { worker: "large", subtask: "Check it.", access: [0] }
      ]
    }))
  })

/** The suspended run, and the plan that it waits for. */
const waiting = (result: ConductResult) => {
  assert.equal(result.ending, "suspended")
  const [call] = result.waitingFor
  assert.ok(call)
  return { id: call.id, resume: result.resume, ...JSON.parse(call.call.arguments) }
}

const first = waiting(await propose())
assert.equal(calls, 0)
assert.ok(first.price.most.costUsd > first.price.likely.costUsd)
console.log(first.plan)
for (const name of ["least", "likely", "most"]) {
  const price = first.price[name]
  console.log(`${name.padEnd(6)} ${price.calls} calls, $${price.costUsd.toFixed(6)}`)
}

const approved = await first.resume({ [first.id]: { approved: true } })
assert.equal(approved.answer, "42, by large")
assert.equal(calls, 2)
assert.ok(approved.spend.costUsd <= first.price.most.costUsd)
console.log(`approved: ${approved.answer}`)

const second = waiting(await propose())
const refused = await second.resume({ [second.id]: { approved: false, reason: "too expensive" } })
assert.equal(refused.ending, "refused")
assert.equal(calls, 2)
console.log(`refused: ${refused.detail}`)

const third = waiting(await propose())
const cheaper = 'model_id = [0]\nsubtasks = ["Solve it."]\naccess_list = [[]]\n'
const replaced = await third.resume({ [third.id]: cheaper })
assert.equal(replaced.answer, "42, by small")
assert.equal(calls, 3)
assert.ok(replaced.spend.costUsd < approved.spend.costUsd)
console.log(`replaced: ${replaced.answer}`)
