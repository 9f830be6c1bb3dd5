import { assert, describe, it } from "@effect/vitest"
import * as Transcript from "../src/events/Transcript.ts"
import { conduct, decodeTranscript, encodeTranscript, memoryJournal, policy, resume, worker } from "../src/promise.ts"
import type { Workflow } from "../src/workflow/Workflow.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 4 }

/** A run of two workers, and the workers that were called, in order. */
const team = (
  plans: ReadonlyArray<Workflow> = [
    {
      steps: [
        { worker: 0, subtask: "Try.", access: [] },
        { worker: 1, subtask: "Check.", access: [0] }
      ]
    }
  ]
) => {
  const called: Array<string> = []
  const member = (id: string) =>
    worker({
      id,
      pricing,
      maxOutputTokens: 100,
      answer: () => {
        called.push(id)
        return `answer of ${id}`
      }
    })
  const planned = policy("planner", ({ round }) => plans[Math.min(round, plans.length - 1)]!)
  return {
    called,
    options: {
      question: "What is 6 times 7?",
      pool: [member("a"), member("b")],
      policy: planned,
      approvePlans: true,
      seed: 1
    }
  }
}

const argumentsOf = (call: { readonly call: { readonly arguments: string } } | undefined) =>
  JSON.parse(call!.call.arguments)
const other = 'model_id = [1]\nsubtasks = ["Solve it."]\naccess_list = [[]]\n'

describe("approvePlans", () => {
  it("suspends before the first call, with the plan and its price", async () => {
    const { called, options } = team()
    const suspended = await conduct(options)
    assert.strictEqual(suspended.ending, "suspended")
    assert.deepStrictEqual(called, [])
    assert.strictEqual(suspended.spend.calls, 0)
    const [call] = suspended.waitingFor
    assert.deepInclude(call, { id: "0.plan", round: 0, worker: "planner", for: "plan" })
    assert.strictEqual(call!.call.name, "plan")
    const { plan, price } = argumentsOf(call)
    assert.strictEqual(plan, 'model_id = [0, 1]\nsubtasks = ["Try.", "Check."]\naccess_list = [[], [0]]\n')
    assert.strictEqual(price.least.calls, 2)
    assert.isAbove(price.most.costUsd, price.likely.costUsd)
    assert.deepStrictEqual(suspended.transcript.rounds[0]?.waitingFor, [call!])
    assert.include(suspended.detail, "0.plan")
  })

  it("runs an approved plan, also if it is approved twice", async () => {
    const { called, options } = team()
    const suspended = await conduct(options)
    if (suspended.ending !== "suspended") return assert.fail(suspended.ending)
    const result = await suspended.resume({ "0.plan": { approved: true } })
    assert.strictEqual(result.answer, "answer of b")
    assert.deepStrictEqual(called, ["a", "b"])
    assert.deepInclude(result.transcript.rounds[0], { decision: { decision: "approved" } })
    assert.notProperty(result.transcript.rounds[0], "waitingFor")
    const { question: _, seed, ...rest } = options
    const again = await resume({
      ...rest,
      seed,
      transcript: result.transcript,
      results: { "0.plan": { approved: true } }
    })
    assert.strictEqual(again.answer, "answer of b")
    assert.deepStrictEqual(called, ["a", "b"])
  })

  it("keeps the limits on plans and the approval if the run is resumed without these options", async () => {
    const steps = Array.from({ length: 8 }, (_, step) => ({
      worker: 0,
      subtask: `Do ${step}.`,
      access: "all" as const
    }))
    const { called, options } = team([{ steps }])
    const { approvePlans: _, question: __, ...rest } = options
    const journal = memoryJournal()
    const start = { runId: "r", journal }
    const suspended = await conduct({ ...options, ...start, maxSteps: 8 })
    assert.strictEqual(suspended.ending, "suspended")
    const waiting = await resume({ ...rest, ...start })
    assert.deepStrictEqual([waiting.ending, waiting.detail, called], ["suspended", suspended.detail, []])
    const refused = await resume({ ...rest, ...start, maxSteps: 7, results: { "0.plan": { approved: true } } })
    assert.include(refused.detail, "at most 7 are allowed")
    const result = await resume({ ...rest, ...start, results: { "0.plan": { approved: true } } })
    assert.deepStrictEqual([result.ending, called.length], ["answered", 8])
  })

  it("ends as refused without a call if the plan is refused", async () => {
    const { called, options } = team()
    const suspended = await conduct(options)
    if (suspended.ending !== "suspended") return assert.fail(suspended.ending)
    const result = await suspended.resume({ "0.plan": { approved: false, reason: "too expensive" } })
    assert.strictEqual(result.ending, "refused")
    assert.include(result.detail, "too expensive")
    assert.strictEqual(result.spend.calls, 0)
    assert.deepStrictEqual(called, [])
    assert.deepStrictEqual(result.transcript.rounds[0]?.decision, { decision: "refused", reason: "too expensive" })
  })

  it.each([other, { content: other }, '{"approved": true}'] as const)(
    "takes another plan or an approval as text: %j",
    async (given) => {
      const { called, options } = team()
      const suspended = await conduct(options)
      if (suspended.ending !== "suspended") return assert.fail(suspended.ending)
      const result = await suspended.resume({ "0.plan": given })
      assert.strictEqual(result.answer, "answer of b")
      assert.deepStrictEqual(called, given === '{"approved": true}' ? ["a", "b"] : ["b"])
    }
  )

  it("records an edited plan, and runs it again from the record", async () => {
    const { called, options } = team()
    const suspended = await conduct(options)
    if (suspended.ending !== "suspended") return assert.fail(suspended.ending)
    const result = await suspended.resume({ "0.plan": other })
    const [round] = result.transcript.rounds
    assert.deepStrictEqual(round?.decision, { decision: "edited", text: other })
    assert.strictEqual(round?.workflow?.steps[0]?.subtask, "Solve it.")
    assert.lengthOf(round?.steps ?? [], 1)
    const { question: _, ...rest } = options
    const again = await resume({ ...rest, transcript: await decodeTranscript(encodeTranscript(result.transcript)) })
    assert.strictEqual(again.answer, "answer of b")
    assert.deepStrictEqual(called, ["b"])
  })

  it("still waits if the given plan cannot be read, and says why", async () => {
    const { called, options } = team()
    const suspended = await conduct(options)
    if (suspended.ending !== "suspended") return assert.fail(suspended.ending)
    const again = await suspended.resume({ "0.plan": 'model_id = [7]\nsubtasks = [""]\naccess_list = [[]]' })
    if (again.ending !== "suspended") return assert.fail(again.ending)
    assert.include(argumentsOf(again.waitingFor[0]).problem, "worker 7 does not exist")
    const result = await again.resume({ "0.plan": { approved: true } })
    assert.deepStrictEqual(called, ["a", "b"])
    assert.strictEqual(result.ending, "answered")
  })

  it("asks `approvePlan` where it is given", async () => {
    const { called, options } = team()
    const asked: Array<string> = []
    const result = await conduct({
      ...options,
      approvePlan: async ({ id }) => {
        asked.push(id)
        return { approved: true }
      }
    })
    assert.strictEqual(result.ending, "answered")
    assert.deepStrictEqual(asked, ["0.plan"])
    const refused = await conduct({ ...options, approvePlan: () => ({ approved: false }) })
    assert.strictEqual(refused.ending, "refused")
    assert.deepStrictEqual(called, ["a", "b"])
  })

  it("asks for each round, and for the plan of a nested run", async () => {
    const one = { steps: [{ worker: 0, subtask: "", access: [] }] }
    const { called, options } = team([one, { steps: [{ worker: 1, subtask: "", access: "all" }] }])
    let result = await conduct({ ...options, recursion: 1 })
    const ids: Array<string> = []
    while (result.ending === "suspended") {
      const { id } = result.waitingFor[0]!
      ids.push(id)
      result = await result.resume({ [id]: { approved: true } })
    }
    assert.deepStrictEqual(ids, ["0.plan", "1.plan"])
    assert.deepStrictEqual(called, ["a", "b"])

    const nesting = policy("nesting", ({ self }) =>
      self ? { steps: [{ worker: 2, subtask: "Solve it.", access: [] }] } : one
    )
    const outer = await conduct({ ...options, policy: nesting, self: { maxDepth: 1 } })
    if (outer.ending !== "suspended") return assert.fail(outer.ending)
    assert.notProperty(argumentsOf(outer.waitingFor[0]).price.most, "costUsd")
    const inner = await outer.resume({ "0.plan": { approved: true } })
    if (inner.ending !== "suspended") return assert.fail(inner.ending)
    assert.deepStrictEqual(
      inner.waitingFor.map(({ id }) => id),
      ["0.0/0.plan"]
    )
    const ended = await inner.resume({ "0.0/0.plan": { approved: true } })
    assert.strictEqual(ended.answer, "answer of a")
  })

  it("is resumed from a journal, whose record says what was decided", async () => {
    for (const given of [{ approved: true }, other] as const) {
      const { called, options } = team()
      const journal = memoryJournal()
      const { question, ...rest } = options
      await conduct({ ...options, journal, runId: "run" })
      // It waits, however often it is begun.
      assert.strictEqual((await conduct({ ...options, journal, runId: "run" })).ending, "suspended")
      // The process ends within the first call.
      const stop = new AbortController()
      const [a, b] = rest.pool
      const stopping = [a!, b!].map((one) =>
        worker({ id: one.id, pricing, maxOutputTokens: 100, answer: () => new Promise<string>(() => stop.abort()) })
      )
      const stopped = await resume({
        ...rest,
        pool: stopping,
        journal,
        runId: "run",
        results: { "0.plan": given },
        signal: stop.signal
      })
      assert.strictEqual(stopped.ending, "interrupted")
      const result = await resume({ ...rest, journal, runId: "run" })
      assert.strictEqual(result.answer, "answer of b")
      assert.deepStrictEqual(called, given === other ? ["b"] : ["a", "b"])
      const { decision } = result.transcript.rounds[0]!
      assert.deepStrictEqual(decision, given === other ? { decision: "edited", text: other } : { decision: "approved" })
      assert.deepStrictEqual(
        await conduct({ ...options, question, journal, runId: "run" }).then(
          ({ transcript }) => Transcript.endOf(transcript) > 0
        ),
        true
      )
    }
  })

  it("refuses an id that no plan waits under", async () => {
    const { options } = team()
    const suspended = await conduct(options)
    if (suspended.ending !== "suspended") return assert.fail(suspended.ending)
    const wrong = await suspended.resume({ "1.plan": { approved: true } }).then(() => undefined, String)
    assert.include(wrong, '"0.plan" (plan)')
  })

  it("prices a workflow for the policy", async () => {
    const prices: Array<number> = []
    const { options } = team()
    const cheap = policy("cheap", ({ price }) => {
      const plan: Workflow = { steps: [{ worker: 0, subtask: "", access: [] }] }
      prices.push(price(plan).most.calls)
      return plan
    })
    await conduct({ ...options, approvePlans: false, policy: cheap, retry: { maxAttempts: 2 }, reassign: "never" })
    assert.deepStrictEqual(prices, [2])
  })
})
