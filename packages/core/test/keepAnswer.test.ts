/** `budget.keep: "answer"`: a limit that stops other steps leaves room for the last one. */
import { assert, describe, it } from "vitest"
import * as promise from "../src/promise.ts"

const pricing = { inputPerMillion: 1, outputPerMillion: 1 }

/** A pool of one worker that records what it is asked. */
const made = () => {
  const asked: Array<string> = []
  const worker = promise.worker({
    id: "a",
    pricing,
    limits: { maxOutputTokens: 100 },
    answer: ({ messages }) => {
      asked.push(messages.map(({ content }) => String(content)).join("\n"))
      return { text: `answer ${asked.length}`, usage: { inputTokens: 10, outputTokens: 10 } }
    }
  })
  return { asked, pool: [worker] }
}

const question = "Why?"
const chain = (length: number, access: "all" | ReadonlyArray<number> = "all") =>
  promise.policy("chain", () => ({
    steps: Array.from({ length }, (_, step) => ({
      worker: 0,
      subtask: `Do ${step}.`,
      access: step === 0 ? [] : access
    }))
  }))

describe("a budget that keeps the answer", () => {
  it("runs the last step on what there is, and marks the answer", async () => {
    const { asked, pool } = made()
    const result = await promise.conduct({ question, pool, policy: chain(5), budget: { calls: 3, keep: "answer" } })
    assert.deepStrictEqual([result.ending, result.answer, result.isPartial], ["budget", "answer 3", true])
    assert.strictEqual(result.spend.calls, 3)
    assert.strictEqual(result.partial, undefined)
    const states = result.transcript.rounds[0]!.steps.map(({ state }) => state)
    assert.deepStrictEqual(states, ["answered", "answered", "failed", "skipped", "answered"])
    assert.include(asked[2], "answer 2")
    assert.include(asked[2], "This step was not run, so it has no answer.")
    const without = await promise.conduct({ question, pool, policy: chain(5), budget: { calls: 3 } })
    assert.deepStrictEqual([without.answer, without.isPartial, without.partial?.step], [undefined, undefined, 2])
  })

  it("separates the reserved call from the spend in its error", async () => {
    const { pool } = made()
    const { error } = await promise.conduct({ question, pool, policy: chain(3), budget: { calls: 2, keep: "answer" } })
    assert.strictEqual(
      error?.message,
      "The next call could exceed the call limit of 2 calls: it needs up to 1 call (1 call spent, 1 call reserved for the answering step). Raise the limit."
    )
    const plain = await promise.conduct({ question, pool, policy: chain(3), budget: { calls: 2 } })
    assert.include(
      plain.error?.message,
      "The next call could exceed the call limit of 2 calls: it needs up to 1 call (2 calls spent)."
    )
  })

  it("never exceeds a limit, and leaves a run that fits as it is", async () => {
    for (let tokens = 200; tokens <= 6_000; tokens += 200) {
      const { pool } = made()
      const limited = await promise.conduct({ question, pool, policy: chain(4), budget: { tokens, keep: "answer" } })
      const { inputTokens, outputTokens } = limited.spend.usage
      assert.isAtMost(inputTokens + outputTokens, tokens)
      if (limited.ending === "budget" && tokens >= 1_000) assert.isTrue(limited.isPartial, `${tokens} tokens`)
    }
    const { pool } = made()
    const plain = await promise.conduct({ question, pool, policy: chain(3), budget: { costUsd: 1 } })
    const kept = await promise.conduct({ question, pool, policy: chain(3), budget: { costUsd: 1, keep: "answer" } })
    assert.deepStrictEqual([kept.ending, kept.spend.calls], [plain.ending, plain.spend.calls])
    assert.strictEqual(kept.isPartial, undefined)
  })

  it("keeps it for steps that run at once, and for a plan with items", async () => {
    const { asked, pool } = made()
    const wide = promise.policy("wide", () => ({
      steps: [0, 1, 2, 3].map((step) => ({ worker: 0, subtask: `Do ${step}.`, access: step === 3 ? [0, 1, 2] : [] }))
    }))
    const result = await promise.conduct({ question, pool, policy: wide, budget: { calls: 2, keep: "answer" } })
    assert.deepStrictEqual([result.answer, result.spend.calls, asked.length], ["answer 2", 2, 2])
    const lists = promise.worker({
      id: "a",
      pricing,
      answer: ({ messages }) => (messages.length === 1 ? '["x", "y", "z"]' : "joined")
    })
    const items = promise.policy("items", () => ({
      steps: [
        { worker: 0, subtask: "List.", access: [], gives: { list: 3 } },
        { worker: 0, subtask: "Do {item}.", access: [], each: 0 },
        { worker: 0, subtask: "Join.", access: [1] }
      ]
    }))
    const joined = await promise.conduct({
      question,
      pool: [lists],
      policy: items,
      budget: { calls: 3, keep: "answer" }
    })
    assert.deepStrictEqual([joined.ending, joined.answer, joined.spend.calls], ["budget", "joined", 3])
  })

  it.each([1, 4, 16])("leaves room for the answers of a map's items, %i at once, at any limit", async (itemsAtOnce) => {
    const text = "x".repeat(300)
    const answerOf = (messages: ReadonlyArray<{ readonly content: unknown }>) => {
      const asked = messages.map(({ content }) => String(content)).join("\n")
      if (asked.includes("Sum up.")) return "the sum"
      return asked.includes("Review") ? text : JSON.stringify(Array.from({ length: 16 }, (_, item) => `file ${item}`))
    }
    const pool = [
      promise.worker({
        id: "a",
        pricing,
        limits: { maxOutputTokens: 100 },
        answer: ({ messages }) => answerOf(messages)
      })
    ]
    const policy = promise.policy("map", () => ({
      steps: [
        { worker: 0, subtask: "List.", access: [], gives: { list: 16 } },
        { worker: 0, subtask: "Review {item}.", access: [], each: 0 },
        { worker: 0, subtask: "Sum up.", access: [1] }
      ]
    }))
    const seen = new Set<number>()
    for (let tokens = 3_000; tokens < 14_000; tokens += 500) {
      const budget = { tokens, keep: "answer" } as const
      const result = await promise.conduct({ question, pool, policy, itemsAtOnce, budget })
      assert.strictEqual(result.answer, "the sum", `${tokens} tokens: ${result.detail}`)
      assert.strictEqual(result.isPartial, result.ending === "answered" ? undefined : true)
      seen.add((result.transcript.rounds[0]!.steps[1]!.items ?? []).filter(({ state }) => state === "answered").length)
    }
    assert.isTrue(seen.has(16) && seen.size > 4, [...seen].join(", "))
  })

  it("is resumed from a journal with the same answer, and refuses other words", async () => {
    const { asked, pool } = made()
    const journal = promise.memoryJournal()
    const options = {
      question,
      pool,
      policy: chain(5),
      journal,
      runId: "r",
      budget: { calls: 3, keep: "answer" }
    } as const
    const result = await promise.conduct(options)
    const again = await promise.conduct(options)
    assert.deepStrictEqual([again.answer, again.isPartial, asked.length], [result.answer, true, 3])
    const wrong = { ...options, budget: { calls: 3, keep: "all" as "answer" } }
    await promise.conduct(wrong).then(
      () => assert.fail("It was accepted."),
      (error: Error) => assert.include(error.message, 'must be "answer"')
    )
  })
})
