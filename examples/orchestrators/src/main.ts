/** Runs each orchestrator with models that follow a script, prints its turns, and resumes it from its transcript. */
import assert from "node:assert/strict"
import { type ConductResult, conduct, type Policy, resume, type Worker, worker } from "@divisi/core/promise"
import { agentflow } from "./agentflow.ts"
import { handoffs } from "./handoffs.ts"
import { orchestrator8b } from "./orchestrator8b.ts"
import { routerR1 } from "./routerR1.ts"

type Turn = string | { readonly toolCalls: ReadonlyArray<{ readonly name: string; readonly arguments: object }> }

let asked = 0

/** A model that says these things, one after the other. */
const script = (id: string, ...turns: ReadonlyArray<Turn>): Worker => {
  let turn = 0
  return worker({
    id,
    isLanguageModel: true,
    capabilities: { tools: true },
    answer: () => {
      asked += 1
      return turns[Math.min(turn++, turns.length - 1)]!
    }
  })
}
const call = (name: string, given: object): Turn => ({ toolCalls: [{ name, arguments: given }] })

const atlas = { ...script("atlas", "Ulm has 128,928 inhabitants."), description: "knows places" }
const sums = { ...script("sums", "257,856"), description: "calculates" }
const question = "How many inhabitants have two cities like Ulm?"

const show = async (policy: Policy, pool: Parameters<typeof conduct>[0]["pool"]): Promise<ConductResult> => {
  const result = await conduct({ question, pool, policy, budget: { calls: 20 } })
  const turns = result.rounds.map(({ isOwn, workflow }) =>
    isOwn === true ? "itself" : workflow.steps.map(({ worker }) => pool[worker]?.id).join(", ")
  )
  console.log(`${policy.name}: ${turns.join(" → ")} → ${result.answer} (${result.spend.calls} calls)`)
  // A policy has no state of its own: a run that is resumed from its transcript makes no call, and has the same answer.
  const before = asked
  const again = await resume({ pool, policy, transcript: result.transcript })
  assert.deepEqual([again.answer, asked], [result.answer, before])
  return result
}

const seats = {
  search: { "search-1": "atlas" },
  enhance_reasoning: { "reasoner-1": "sums" },
  answer: { "answer-1": "sums" }
}
const orchestrator = script(
  "orchestrator",
  call("search", { model: "search-1" }),
  call("answer", { model: "answer-1" })
)
const orchestrated = await show(orchestrator8b(orchestrator, seats), [atlas, sums])
assert.deepEqual([orchestrated.answer, orchestrated.spend.calls], ["257,856", 4])

const triage = script("triage", call("transfer_to_arithmetic", {}))
const arithmetic = script("arithmetic", "257,856")
const handed = await show(
  handoffs([
    { name: "triage", model: triage, instructions: "Hand over.", handoffs: ["arithmetic"] },
    { name: "arithmetic", model: arithmetic, instructions: "Calculate.", handoffs: ["triage"] }
  ]),
  [atlas]
)
assert.deepEqual([handed.answer, handed.spend.calls], ["257,856", 2])

const router = script(
  "router",
  "<think>…</think><search>atlas: inhabitants of Ulm</search>",
  "<answer>257,856</answer>"
)
const routed = await show(routerR1(router), [atlas, sums])
assert.deepEqual([routed.answer, routed.spend.calls], ["257,856", 3])

const planner = script("planner", '{"worker": "atlas", "goal": "Find the inhabitants of Ulm."}')
const flow = await show(agentflow({ planner, verifier: script("verifier", "STOP"), generator: "sums" }), [atlas, sums])
assert.deepEqual([flow.answer, flow.spend.calls], ["257,856", 4])
