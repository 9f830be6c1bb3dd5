/** Runs that are started within a call of another run, on the account that pays for that call. */
import assert from "node:assert/strict"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { type ConductOptions, conduct, ledger, policy, single, tool, worker } from "../src/promise.ts"
import * as Budget from "../src/run/Budget.ts"
import * as Conductor from "../src/run/Conductor.ts"
import type { Worker } from "../src/task/Worker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 1 }
const usage = { inputTokens: 10, outputTokens: 5 }
const paid = 15e-6

/** A worker whose worst case is a little more than 1,000 tokens. */
const asking = (id: string, answer: () => unknown): Worker =>
  worker({
    id,
    pricing,
    maxOutputTokens: 1_000,
    answer: async () => ({ text: String(await answer()), usage })
  })

const plain = (id = "plain") => asking(id, () => "42")

/** The ending of a run on an account. */
const ending = async (account: Budget.Ledger, member: Worker, more: Partial<ConductOptions> = {}) =>
  (await conduct({ question: "Why?", pool: [member], policy: single(0), ledger: account, ...more })).ending

/** Nothing is reserved after the end, and nothing is lost. */
const isSettled = (account: Budget.Ledger, calls: number) => {
  const { open, reservedCostUsd, reservedTokens } = account as unknown as Budget.Standing
  assert.deepEqual({ open, reservedCostUsd, reservedTokens }, { open: 0, reservedCostUsd: 0, reservedTokens: 0 })
  assert.equal(account.spent().calls, calls)
  assert.ok(Math.abs(account.spent().costUsd - calls * paid) < 1e-12)
}

/** Room for one worst case and what a few calls use. */
const one = { costUsd: 0.0013 }

describe("a run within a call of another", () => {
  it("draws on what is reserved for the call", async () => {
    const account = ledger(one)
    const nested = asking("nested", () => ending(account, plain()))
    assert.equal(await ending(account, nested), "answered")
    isSettled(account, 2)
    const result = await conduct({ question: "q", pool: [nested], policy: single(0), ledger: account })
    assert.equal(result.answer, "answered")
    isSettled(account, 4)
  })

  it("draws under limits of tokens, budgets of its own, and accounts above", async () => {
    for (const limits of [one, { tokens: 1_300 }]) {
      const above = Budget.make(limits)
      const [left, right] = [Budget.make({}, above), Budget.make({}, above)]
      const nested = asking("nested", () => ending(right, plain(), { budget: limits }))
      const result = await conduct({
        question: "q",
        pool: [nested],
        policy: single(0),
        ledger: left,
        budget: limits
      })
      assert.equal(result.answer, "answered")
      isSettled(above, 2)
      isSettled(left, 1)
      isSettled(right, 1)
    }
  })

  it("does so in an effect, in a run within it, and through a run without an account", async () => {
    const account = Budget.make(one)
    const effect = (id: string, within: Worker | undefined, isPaid = true): Worker => ({
      ...plain(id),
      generate: (request) =>
        within === undefined
          ? plain(id).generate(request)
          : Effect.flatMap(
              Conductor.make({ pool: WorkerPool.makeUnsafe([within]), policy: single(0) }).run(
                "Why?",
                isPaid ? { ledger: account } : {}
              ),
              ({ answer, ending }) => Effect.succeed([{ type: "text", text: `${ending} ${answer}` }, finish] as never)
            )
    })
    const finish = { type: "finish", reason: "stop", usage }
    const inner = effect("c", undefined)
    const middle = effect("b", inner)
    const run = (member: Worker) =>
      Effect.runPromise(
        Conductor.make({ pool: WorkerPool.makeUnsafe([member]), policy: single(0) }).run("q", { ledger: account })
      )
    assert.equal((await run(effect("a", middle))).answer, "answered answered 42")
    isSettled(account, 3)
    assert.equal((await run(effect("a", effect("free", inner), false))).answer, "answered answered 42")
    isSettled(account, 5)
  })

  it("does so in a tool, a policy and a check of a run within the call", async () => {
    const account = ledger(one)
    const free = worker({
      id: "free",
      capabilities: { tools: true },
      answer: ({ messages }) =>
        messages.at(-1)?.role === "tool" ? "done" : { toolCalls: [{ name: "ask", arguments: {} }] }
    })
    const endings: Array<string> = []
    const ask = async () => {
      endings.push(await ending(account, plain()))
      return true
    }
    const nested = asking("nested", async () => {
      const planned = policy("planned", async () => {
        await ask()
        return { steps: [{ worker: 0, subtask: "", access: [], check: { by: "ask", onFailure: "revise" } }] }
      })
      const result = await conduct({
        question: "q",
        pool: [free],
        policy: planned,
        checks: { ask },
        tools: [tool({ name: "ask", input: { type: "object" }, execute: ask })]
      })
      return result.ending
    })
    assert.equal(await ending(account, nested), "answered")
    assert.deepEqual(endings, ["answered", "answered", "answered"])
    isSettled(account, 4)
  })

  it("shares what is reserved with other runs of the call, which wait for each other", async () => {
    const account = ledger({ costUsd: 0.0013 })
    const nested = asking("nested", async () =>
      (await Promise.all(["a", "b", "c"].map((id) => ending(account, plain(id))))).join(" ")
    )
    const result = await conduct({ question: "q", pool: [nested], policy: single(0), ledger: account })
    assert.equal(result.answer, "answered answered answered")
    isSettled(account, 4)
  })

  it("ends as budget at once if only the call around it can make room", async () => {
    for (const limits of [{ costUsd: 0.0016 }, { tokens: 1_600 }, { calls: 1 }]) {
      const account = ledger(limits)
      const large = { ...plain(), maxOutputTokens: 2_000 }
      const nested = asking("nested", () => ending(account, large))
      const result = await conduct({ question: "q", pool: [nested], policy: single(0), ledger: account })
      assert.equal(result.answer, "budget")
      isSettled(account, 1)
    }
  })

  it("ends as budget if the calls around others wait for each other", async () => {
    const account = ledger({ costUsd: 0.0025 })
    const { promise: bothStarted, resolve } = Promise.withResolvers<void>()
    let started = 0
    const nested = asking("nested", async () => {
      started += 1
      if (started === 2) resolve()
      await bothStarted
      return ending(account, { ...plain(), maxOutputTokens: 1_900 })
    })
    const run = async () =>
      (await conduct({ question: "q", pool: [nested], policy: single(0), ledger: account })).answer
    const endings = await Promise.all([run(), run()])
    assert.deepEqual(endings.toSorted(), ["answered", "budget"])
    isSettled(account, 3)
  })

  it("is charged at most what the limit has left, if a worker then uses all that was reserved for it", async () => {
    const account = ledger({ costUsd: 0.00115 })
    const all = { inputTokens: 20, outputTokens: 1_000 }
    const inner = { ...plain(), generate: worker({ id: "x", answer: () => ({ text: "42", usage: all }) }).generate }
    const nested = worker({
      id: "nested",
      pricing,
      maxOutputTokens: 1_000,
      answer: async () => ({ text: await ending(account, inner), usage: all })
    })
    await ending(account, nested)
    assert.equal(account.spent().calls, 2)
    assert.ok(account.spent().costUsd <= 0.00115)
    assert.ok(account.spent().costUsd >= 0.00102)
  })

  it("leaves an account alone that the call is not charged to", async () => {
    const [account, other] = [ledger(one), ledger(one)]
    const nested = asking("nested", () => ending(other, plain()))
    assert.equal(await ending(account, nested), "answered")
    isSettled(account, 1)
    isSettled(other, 1)
  })

  it("draws on the payer's account as well", async () => {
    const account = ledger(one)
    const pays = { ledger: undefined, payer: { account } }
    const nested = asking("nested", () => ending(account, plain(), pays))
    const result = await conduct({ question: "q", pool: [nested], policy: single(0), ...pays })
    assert.equal(result.answer, "answered")
    isSettled(account, 2)
  })

  it("does not take a run for one within a call that only shares its turn", async () => {
    const account = ledger({ costUsd: 0.0025 })
    const { promise: isOpen, resolve } = Promise.withResolvers<void>()
    const holding = asking("holding", async () => {
      await ending(ledger(one), plain())
      await isOpen
      return "held"
    })
    const held = ending(account, holding)
    const pool = [worker({ id: "free", answer: async () => String(await ending(account, plain())) })]
    const apart = await conduct({ question: "q", pool, policy: single(0) })
    assert.equal(apart.answer, "answered")
    const { reservedCostUsd } = account as unknown as Budget.Standing
    assert.ok(reservedCostUsd > 0.001, "what is reserved for the other call is still whole")
    resolve()
    await held
    isSettled(account, 2)
  })
})
