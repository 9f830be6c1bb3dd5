/** `budget.admit: "plan"`: a plan starts only if the most that it can cost fits the budget. */
import { assert, describe, it } from "vitest"
import * as promise from "../src/promise.ts"
import * as Seed from "../src/Seed.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 1 }
const question = "Why?"
/** One attempt and one worker for each step, so that plans have a price that can be counted. */
const once = { retry: { maxAttempts: 1 }, reassign: "never" } as const

const solver = () => {
  let calls = 0
  const worker = promise.worker({
    id: "solver",
    pricing,
    maxOutputTokens: 100,
    capabilities: { tools: true },
    answer: async () => {
      calls += 1
      await Promise.resolve()
      return { text: "ab".repeat(50), usage: { inputTokens: 10, outputTokens: 100 } }
    }
  })
  return { worker, calls: () => calls }
}

const chainOf = (length: number) => ({
  steps: Array.from({ length }, (_, step) => ({ worker: 0, subtask: `Do ${step}.`, access: "all" as const }))
})
const chain = (length: number) => promise.policy("chain", () => chainOf(length))

describe("a budget that admits whole plans", () => {
  it("ends the run before the first call of a plan that is too expensive, and names its price", async () => {
    const { calls, worker } = solver()
    const asked = { question, pool: [worker], policy: chain(4), ...once }
    const result = await promise.conduct({ ...asked, budget: { calls: 3, admit: "plan" } })
    assert.deepStrictEqual([result.ending, result.spend.calls, calls()], ["budget", 0, 0])
    assert.match(
      result.detail!,
      /^The plan is not admitted: it needs up to 4 calls, but the call limit is 3 calls \(0 calls spent\)\./
    )
    assert.match(
      result.detail!,
      /Its cost is at least .* USD \(4 calls, 0 tokens\), likely .*, and at most .* USD \(4 calls, \d+ tokens\)\./
    )
    const cut = await promise.conduct({ ...asked, budget: { calls: 3 } })
    assert.deepStrictEqual([cut.ending, cut.spend.calls], ["budget", 3])
    const whole = await promise.conduct({ ...asked, budget: { calls: 4, admit: "plan" } })
    assert.deepStrictEqual([whole.ending, whole.spend.calls], ["answered", 4])
  })

  it("returns the price to the model of the policy, which plans more cheaply", async () => {
    const { worker } = solver()
    const shown: Array<string> = []
    const list = (count: number, text: (step: number) => string) =>
      `[${Array.from({ length: count }, (_, step) => text(step)).join(", ")}]`
    const written = (count: number) =>
      `model_id = ${list(count, () => "0")}\nsubtasks = ${list(count, (step) => `"Do ${step}."`)}\naccess_list = ${list(count, () => "[]")}`
    let plans: Array<number> = []
    const model = promise.worker({
      id: "planner",
      pricing: promise.free,
      answer: ({ messages }) => {
        shown.push(String(messages.at(-1)!.content))
        return written(plans.shift()!)
      }
    })
    const run = (steps: Array<number>, fallback?: ReturnType<typeof chain>) => {
      plans = steps
      shown.length = 0
      const policy = promise.languagePolicy({ model, fallback })
      return promise.conduct({
        question,
        pool: [worker],
        policy,
        skipUnseen: false,
        recursion: 0,
        ...once,
        budget: { costUsd: 0.0004, admit: "plan" }
      })
    }
    const result = await run([4, 2])
    assert.deepStrictEqual([result.ending, result.spend.calls], ["answered", 4])
    assert.include(shown[1], "the cost limit is 0.0004 USD")
    assert.match(shown[1]!, /at most 0\.\d+ USD \(4 calls, \d+ tokens\)/)
    const [first] = result.transcript.rounds[0]!.completions
    assert.match(first!.error!, /The plan is not admitted/)

    const refused = await run([4, 5, 4])
    assert.deepStrictEqual([refused.ending, refused.spend.calls, shown.length], ["budget", 3, 3])
    const saved = await run([4, 5, 4], chain(1))
    assert.deepStrictEqual([saved.ending, saved.spend.calls], ["answered", 4])
    const inCode = await promise.conduct({
      question,
      pool: [worker],
      policy: promise.withFallback(chain(4), chain(1)),
      ...once,
      budget: { calls: 3, admit: "plan" }
    })
    assert.deepStrictEqual([inCode.ending, inCode.spend.calls], ["answered", 1])
  })

  it("does not admit a plan that cannot be priced", async () => {
    const { calls, worker } = solver()
    const tools = [
      promise.tool({ name: "now", description: "The time.", input: { type: "object" }, execute: () => "12:00" })
    ]
    const budget = { costUsd: 100, admit: "plan" } as const
    const result = await promise.conduct({ question, pool: [worker], policy: chain(1), tools, ...once, budget })
    assert.deepStrictEqual([result.ending, calls()], ["budget", 0])
    assert.match(result.detail!, /has no price: it contains a step with tools/)
    // Without a limit there is nothing to fit.
    const free = await promise.conduct({ question, pool: [worker], policy: chain(1), tools, budget: { admit: "plan" } })
    assert.strictEqual(free.ending, "answered")
  })

  it("leaves room on a shared account for the plan that was admitted first", async () => {
    const { worker } = solver()
    const account = promise.ledger({ calls: 5 })
    const ask = (length: number, admit?: "plan") =>
      promise.conduct({ question, pool: [worker], policy: chain(length), ledger: account, ...once, budget: { admit } })
    const [one, other, plain] = await Promise.all([ask(3, "plan"), ask(3, "plan"), ask(3)])
    assert.deepStrictEqual([one.ending, one.spend.calls], ["answered", 3])
    assert.deepStrictEqual([other.ending, other.spend.calls], ["budget", 0])
    assert.deepStrictEqual([plain.ending, plain.spend.calls], ["budget", 2])
    assert.strictEqual(account.spent().calls, 5)
  })

  it("releases what an admitted plan did not use", async () => {
    const { worker } = solver()
    const account = promise.ledger({ calls: 6 })
    const ask = () =>
      promise.conduct({
        question,
        pool: [worker],
        policy: chain(1),
        ledger: account,
        retry: { maxAttempts: 3 },
        budget: { admit: "plan" }
      })
    const endings = []
    for (let run = 0; run < 5; run++) endings.push((await ask()).ending)
    // A step may be tried three times, and is tried once.
    assert.deepStrictEqual(endings, ["answered", "answered", "answered", "answered", "budget"])
  })

  it("needs no price for a limit of calls or tokens", async () => {
    const pool = [promise.worker({ id: "a", answer: () => "42" })]
    const asked = { question, pool, policy: chain(2), ...once }
    const calls = await promise.conduct({ ...asked, budget: { calls: 2, admit: "plan" } })
    assert.deepStrictEqual([calls.ending, calls.spend.calls], ["answered", 2])
    const cost = await promise.conduct({ ...asked, budget: { costUsd: 2, admit: "plan" } })
    assert.match(cost.detail!, /worker "a" has no known price/)
  })

  it("shows a refusal before the plan is approved, and refuses afterwards", async () => {
    const { calls, worker } = solver()
    const asked = { question, pool: [worker], policy: chain(4), ...once }
    let shown: { readonly admission?: string } = {}
    const result = await promise.conduct({
      ...asked,
      approvePlans: true,
      approvePlan: ({ call }) => {
        shown = JSON.parse(call.arguments)
        return { approved: true }
      },
      budget: { calls: 3, admit: "plan" }
    })
    assert.match(shown.admission!, /^The plan is not admitted/)
    assert.deepStrictEqual([result.ending, calls()], ["budget", 0])
  })

  it("continues a plan that it admitted, in another process", async () => {
    const { worker } = solver()
    const journal = promise.memoryJournal()
    const stop = new AbortController()
    const asked = {
      question,
      policy: chain(3),
      runId: "run",
      journal,
      ...once,
      budget: { calls: 3, admit: "plan" as const }
    }
    let calls = 0
    const stopping = {
      ...worker,
      generate: (...given: Parameters<typeof worker.generate>) => {
        calls += 1
        if (calls === 2) stop.abort()
        return worker.generate(...given)
      }
    }
    const first = await promise.conduct({ ...asked, pool: [stopping], signal: stop.signal })
    assert.strictEqual(first.ending, "interrupted")
    const second = await promise.conduct({ ...asked, budget: { calls: 4, admit: "plan" }, pool: [worker] })
    assert.deepStrictEqual([second.ending, second.spend.calls <= 4], ["answered", true])
  })

  it("never lets a limit cut an admitted plan short", async () => {
    let admitted = 0
    for (let seed = 0; seed < 300; seed++) {
      const draw = Seed.draw(seed)
      const pool = ["a", "b"].map((id) =>
        promise.worker({
          id,
          maxOutputTokens: 1 + Seed.below(draw, 60),
          pricing: { inputPerMillion: Seed.below(draw, 5), outputPerMillion: Seed.below(draw, 20) },
          answer: ({ maxOutputTokens = 1 }) => {
            if (Seed.chance(draw, 0.2)) throw promise.workerError(id, { _tag: "Overloaded" })
            const outputTokens = 1 + Seed.below(draw, maxOutputTokens)
            return { text: "abcd".repeat(outputTokens), usage: { inputTokens: 5, outputTokens } }
          }
        })
      )
      const steps = Array.from({ length: 1 + Seed.below(draw, 5) }, (_, step) => ({
        worker: Seed.below(draw, 2),
        subtask: "x".repeat(Seed.below(draw, 40)),
        access: Seed.chance(draw, 0.5) ? ("all" as const) : step === 0 ? [] : [step - 1]
      }))
      const limit = Seed.pick(draw, [
        { calls: 1 + Seed.below(draw, 40) },
        { tokens: 100 + Seed.below(draw, 20_000) },
        { costUsd: Seed.below(draw, 100) / 2_000 }
      ])
      const result = await promise.conduct({
        question,
        pool,
        policy: promise.policy("drawn", () => ({ steps })),
        retry: { maxAttempts: 1 + Seed.below(draw, 2), baseDelayMillis: 0 },
        budget: { ...limit, admit: "plan" },
        seed
      })
      if (result.spend.calls === 0) continue
      admitted += 1
      assert.notStrictEqual(result.ending, "budget", `seed ${seed}: ${result.detail}`)
    }
    assert.isAbove(admitted, 60)
  })
})
