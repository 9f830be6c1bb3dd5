import { assert, describe, it } from "@effect/vitest"
import { conduct, policy, worker, workerError } from "../src/promise.ts"
import * as Seed from "../src/Seed.ts"
import * as Task from "../src/task/Task.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import * as Price from "../src/workflow/Price.ts"
import type { Step } from "../src/workflow/Workflow.ts"

const question = "What is 6 times 7?"
const bytes = (text: unknown) => new TextEncoder().encode(typeof text === "string" ? text : JSON.stringify(text)).length

/** A worker whose answers have two bytes a token, each of which another worker counts as a token. */
const scripted = (draw: Seed.Draw, id: string) => {
  const maxOutputTokens = 1 + Seed.below(draw, 60)
  return worker({
    id,
    maxOutputTokens,
    pricing: {
      inputPerMillion: Seed.below(draw, 5),
      outputPerMillion: Seed.below(draw, 20),
      perCall: Seed.below(draw, 2)
    },
    answer: ({ maxOutputTokens: limit = maxOutputTokens, messages }) => {
      if (Seed.chance(draw, 0.2)) {
        throw workerError(id, Seed.chance(draw, 0.5) ? { _tag: "Overloaded" } : { _tag: "Defect", detail: "no" })
      }
      const outputTokens = 1 + Seed.below(draw, limit)
      const inputTokens = messages.reduce((all, { content }) => all + bytes(content), 0)
      return { text: "ab".repeat(outputTokens), usage: { inputTokens, outputTokens } }
    }
  })
}

const randomStep = (draw: Seed.Draw, index: number, workers: number): Step => ({
  worker: Seed.below(draw, workers),
  subtask: "x".repeat(Seed.below(draw, 40)),
  access: Seed.chance(draw, 0.3)
    ? "all"
    : Array.from({ length: index }, (_, at) => at).filter(() => Seed.chance(draw, 0.5)),
  ...(Seed.chance(draw, 0.3) && {
    check: {
      by: Seed.chance(draw, 0.5) ? "short" : Seed.below(draw, workers),
      onFailure: Seed.pick(draw, ["revise", "next", "continue"] as const)
    }
  })
})

describe("Price", () => {
  it("is not exceeded, and not undercut, by random plans", async () => {
    let ratio = 0
    for (let seed = 0; seed < 300; seed++) {
      const draw = Seed.draw(seed)
      const pool = ["a", "b", "c"].map((id) => scripted(draw, id))
      const steps = Array.from({ length: 1 + Seed.below(draw, 5) }, (_, index) => randomStep(draw, index, 3))
      const checks = { short: (answer: string) => answer.length < 40 }
      const retry = { maxAttempts: 1 + Seed.below(draw, 3), baseDelayMillis: 0 }
      const plan = { steps, ...(Seed.chance(draw, 0.2) && { answer: "majority" as const }) }
      const price = Price.of(plan, { pool: WorkerPool.makeUnsafe(pool), task: Task.make(question), retry, checks })
      const { ending, spend } = await conduct({
        question,
        pool,
        policy: policy("drawn", () => plan),
        retry,
        checks,
        revisions: 0,
        seed
      })
      const spent = {
        calls: spend.calls,
        tokens: spend.usage.inputTokens + spend.usage.outputTokens,
        costUsd: spend.costUsd
      }
      for (const part of ["calls", "tokens", "costUsd"] as const) {
        assert.isAtMost(spent[part], price.most[part]! * (1 + 1e-12), `${part} of seed ${seed}`)
        if (ending === "answered")
          assert.isAtLeast(spent[part], price.least[part]! * (1 - 1e-12), `${part} of seed ${seed}`)
      }
      ratio += price.most.calls / Math.max(1, spend.calls) / 300
    }
    assert.isBelow(ratio, 12)
  })

  const pool = WorkerPool.makeUnsafe([
    worker({
      id: "cheap",
      maxOutputTokens: 100,
      pricing: { inputPerMillion: 1, outputPerMillion: 4 },
      answer: () => ""
    }),
    worker({
      id: "strong",
      maxOutputTokens: 1_000,
      pricing: { inputPerMillion: 5, outputPerMillion: 20 },
      answer: () => ""
    }),
    worker({ id: "unpriced", maxOutputTokens: 100, answer: () => "" })
  ])
  const once = { pool, task: Task.make(question), retry: { maxAttempts: 1 }, reassign: "never" } as const
  const step = (worker: number, more: Partial<Step> = {}): Step => ({ worker, subtask: "", access: "all", ...more })

  it("counts the call of each step", () => {
    const { least, likely, most, steps } = Price.of({ steps: [step(0), step(1)] }, once)
    assert.deepStrictEqual([least.calls, likely.calls, most.calls], [2, 2, 2])
    assert.isTrue(least.costUsd! < likely.costUsd! && likely.costUsd! < most.costUsd!)
    assert.deepStrictEqual(most.costUsd, steps[0]!.costUsd! + steps[1]!.costUsd!)
  })

  it("accepts ids of workers, and refuses what has no price", () => {
    const named = { steps: [{ ...step(0), worker: pool.workers[0].id }] }
    assert.deepStrictEqual(Price.of(named, once), Price.of({ steps: [step(0)] }, once))
    const refused = (plan: unknown, message: RegExp, setting: unknown = once) =>
      assert.throws(() => Price.of(plan as never, setting as never), message)
    refused({ steps: [{ ...step(0), worker: "nobody" }] }, /Price\.of: Step 0: worker "nobody" is not in the pool/)
    for (const worker of [7, -1, 0.5, undefined])
      refused({ steps: [step(0), { ...step(0), worker }] }, /Step 1: worker/)
    refused(undefined, /expected a workflow/)
    assert.deepStrictEqual(Price.of(named, { ...once, pool: pool.workers }), Price.of(named, once))
    assert.deepStrictEqual(
      Price.of(named, { ...once, task: "q" }),
      Price.of(named, { ...once, task: { question: "q" } })
    )
    refused(named, /"pool" must be a list of workers, or the pool of WorkerPool\.makeUnsafe, not an object/, {
      ...once,
      pool: WorkerPool.make(pool.workers)
    })
    refused(named, /a task must be a non-empty string, parts, .* not an empty object/, { ...once, task: {} })
    refused(named, /option "retries" does not exist/, { ...once, retries: 1 })
  })

  it("counts retries, and workers that take over", () => {
    const plan = { steps: [step(0)] }
    const { least: rest, steps: parts } = Price.of(
      { steps: [step(0), step(1, { access: [0] })] },
      { ...once, kept: new Set([0]) }
    )
    assert.deepStrictEqual([rest.calls, parts[0]?.calls, parts[1]?.calls], [1, 0, 1])
    assert.strictEqual(Price.of(plan, { ...once, retry: undefined }).most.calls, 3)
    assert.strictEqual(Price.of(plan, { pool, task: once.task }).most.calls, 9)
    assert.isNumber(Price.of(plan, { pool, task: once.task }).most.costUsd)
  })

  it("leaves out steps that are not run", () => {
    const plan = { steps: [step(1), step(0, { access: [] })] }
    assert.deepStrictEqual(Price.of(plan, once).steps[0], { calls: 0, tokens: 0, costUsd: 0 })
    assert.strictEqual(Price.of(plan, { ...once, skipUnseen: false }).most.calls, 2)
    assert.strictEqual(Price.of({ steps: [] }, once).most.calls, 0)
  })

  it("does not guess the price of an unpriced worker, of a nested run or of tools", () => {
    for (const price of [
      Price.of({ steps: [step(0), step(2)] }, once),
      Price.of({ steps: [step(0), step(3)] }, once)
    ]) {
      assert.isUndefined(price.least.costUsd)
      assert.isUndefined(price.likely.costUsd)
      assert.isUndefined(price.most.costUsd)
      assert.isNumber(price.steps[0]!.costUsd)
      assert.isUndefined(price.steps[1]!.costUsd)
    }
    assert.isUndefined(Price.of({ steps: [step(0)] }, { ...once, tools: "last-step" }).most.costUsd)
    const critic = { name: "critic", score: () => assert.fail() }
    const judged = step(0, { check: { by: "critic", onFailure: "continue" } })
    assert.isUndefined(Price.of({ steps: [judged] }, { ...once, checks: { critic } }).most.costUsd)
  })

  it("counts the judges of checks, and the second question about an answer of another shape", () => {
    const judged = step(0, { check: { by: 1, onFailure: "continue" } })
    assert.strictEqual(Price.of({ steps: [judged] }, once).most.calls, 2)
    assert.strictEqual(Price.of({ steps: [step(0)] }, { ...once, isShaped: true }).most.calls, 3)
  })
})
