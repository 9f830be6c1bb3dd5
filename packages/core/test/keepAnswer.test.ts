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

describe.each(["journal", "transcript"] as const)("an answer on the reservation, resumed from a %s", (source) => {
  type Options = Partial<promise.ConductOptions>
  type Result = Awaited<ReturnType<typeof promise.conduct>>

  /** Runs with the first budget, and resumes with each of the others. */
  const inTurn = async (
    policy: promise.Policy,
    pool: ReturnType<typeof made>["pool"],
    budgets: ReadonlyArray<Options["budget"]>,
    more: Options = {}
  ) => {
    const journal = promise.memoryJournal()
    const results: Array<Result> = []
    for (const budget of budgets) {
      const options = { pool, policy, budget, ...more }
      const before = results.at(-1)
      results.push(
        before === undefined
          ? await promise.conduct({ ...options, question, ...(source === "journal" && { journal, runId: "r" }) })
          : source === "journal"
            ? await promise.resume({ ...options, journal, runId: "r" })
            : await promise.resume({
                ...options,
                transcript: await promise.decodeTranscript(promise.encodeTranscript(before.transcript))
              })
      )
    }
    return results
  }
  const seenBy = (text: string) => Array.from(text.matchAll(/answer \d+/g), ([name]) => name)

  it("is replaced, and stays charged, once all steps have answers", async () => {
    for (const budget of [{ calls: 6 }, { calls: 6, keep: "answer" }, {}] as const) {
      const { asked, pool } = made()
      const kept = { calls: 3, keep: "answer" } as const
      const [first, same, larger] = await inTurn(chain(5), pool, [kept, kept, budget])
      assert.deepStrictEqual([same!.answer, same!.isPartial, same!.spend.calls], [first!.answer, true, 3])
      assert.deepStrictEqual([larger!.ending, larger!.answer, larger!.isPartial], ["answered", "answer 6", undefined])
      assert.deepStrictEqual([larger!.spend.calls, larger!.spend.usage.inputTokens, asked.length], [6, 60, 6])
      assert.deepStrictEqual(seenBy(asked[5]!), ["answer 1", "answer 2", "answer 4", "answer 5"])
      const { lost } = larger!.transcript.rounds[0]!.steps[4]!
      assert.deepStrictEqual(
        lost.map(({ isRetired, usage }) => [isRetired, usage.outputTokens]),
        [[true, 10]]
      )
      assert.deepStrictEqual([larger!.failures, larger!.error], [[], undefined])
    }
  })

  it("never exceeds a limit, and always has an answer", async () => {
    for (let calls = 3; calls < 9; calls++) {
      const { asked, pool } = made()
      const budgets = [3, calls, calls, 9].map((calls) => ({ calls, keep: "answer" }) as const)
      const [, larger, same, last] = await inTurn(chain(5), pool, budgets)
      assert.isAtMost(larger!.spend.calls, calls)
      assert.isString(larger!.answer, `${calls} calls: ${larger!.detail}`)
      assert.deepStrictEqual([same!.answer, same!.spend.calls], [larger!.answer, larger!.spend.calls])
      assert.strictEqual(last!.ending, "answered", last!.detail)
      assert.strictEqual(last!.spend.calls, asked.length)
      assert.strictEqual(seenBy(asked.at(-1)!).length, 4)
    }
  })

  it("is replaced if an input failed, was checked, or was not waited for", async () => {
    const { asked, pool } = made()
    const checks = { never: (answer: string) => `${answer} is wrong` }
    const checked = promise.policy("checked", () => ({
      steps: [
        { worker: 0, subtask: "First.", access: [], check: { by: "never", onFailure: "again", times: 3 } },
        { worker: 0, subtask: "Last.", access: [0] }
      ]
    }))
    const budgets = [{ calls: 3, keep: "answer" }, { calls: 12 }] as const
    const [few, all] = await inTurn(checked, pool, budgets, { checks })
    assert.deepStrictEqual([few!.answer, all!.ending, all!.answer], ["answer 3", "answered", "answer 6"])
    assert.deepStrictEqual(seenBy(asked[5]!), ["answer 5"])
    const quorum = promise.policy("quorum", () => ({
      steps: [0, 1, 2, 3, 4].map((step) => ({
        worker: 0,
        subtask: `Do ${step}.`,
        access: step === 4 ? [0, 1, 2, 3] : step === 0 ? [] : [step - 1],
        ...(step === 4 && { enough: { answers: 4 } })
      }))
    }))
    const other = made()
    const [, whole] = await inTurn(quorum, other.pool, budgets)
    assert.deepStrictEqual([whole!.ending, whole!.answer, whole!.spend.calls], ["answered", "answer 6", 6])
  })

  // A transcript does not show which of its calls were reached.
  it.runIf(source === "journal")("stays charged if its step is not run any more", async () => {
    const { asked, pool } = made()
    const checks = { second: (answer: string) => (answer === "answer 1" ? "It is wrong." : true) }
    const repaired = promise.policy("repaired", () => ({
      steps: [
        { worker: 0, subtask: "First.", access: [], check: { by: "second", onFailure: "again", times: 2 } },
        { worker: 0, subtask: "Repair.", access: [0], when: { failed: 0 } }
      ]
    }))
    const budgets = [{ calls: 2, keep: "answer" }, { calls: 6 }] as const
    const [few, all] = await inTurn(repaired, pool, budgets, { checks })
    assert.deepStrictEqual([few!.ending, few!.answer, few!.spend.calls], ["budget", "answer 2", 2])
    assert.deepStrictEqual([asked.length, all!.spend.calls], [3, 3], all!.detail)
  })

  it("is replaced if its items are complete", async () => {
    const asked: Array<string> = []
    const answer = ({ messages }: { readonly messages: ReadonlyArray<{ readonly content: unknown }> }) => {
      asked.push(messages.map(({ content }) => String(content)).join("\n"))
      return asked.length === 1 ? '["x", "y", "z"]' : `answer ${asked.length}`
    }
    const pool = [promise.worker({ id: "a", pricing, answer })]
    const items = promise.policy("items", () => ({
      steps: [
        { worker: 0, subtask: "List.", access: [], gives: { list: 3 } },
        { worker: 0, subtask: "Do {item}.", access: [], each: 0 },
        { worker: 0, subtask: "Join.", access: [1] }
      ]
    }))
    const budgets = [{ calls: 3, keep: "answer" }, { calls: 3, keep: "answer" }, { calls: 6 }] as const
    const [, same, whole] = await inTurn(items, pool, budgets, { itemsAtOnce: 1 })
    assert.deepStrictEqual([same!.answer, same!.spend.calls], ["answer 3", 3])
    assert.deepStrictEqual([whole!.ending, whole!.answer, whole!.spend.calls], ["answered", "answer 6", 6])
    assert.strictEqual(seenBy(asked[5]!).length, 3)
  })

  it("is charged once if the resumed run is stopped before the new answer", async () => {
    const stopped = new AbortController()
    let calls = 0
    const answer = () => {
      calls += 1
      if (calls !== 6) return { text: `answer ${calls}`, usage: { inputTokens: 10, outputTokens: 10 } }
      stopped.abort()
      return new Promise<string>(() => {})
    }
    const pool = [promise.worker({ id: "a", pricing, limits: { maxOutputTokens: 100 }, answer })]
    const journal = promise.memoryJournal()
    const options = { pool, policy: chain(5) }
    const from = source === "journal" ? { journal, runId: "r" } : {}
    const first = await promise.conduct({ ...options, ...from, question, budget: { calls: 3, keep: "answer" } })
    const resumed = (result: Result, more: Options = {}) =>
      source === "journal"
        ? promise.resume({ ...options, ...more, journal, runId: "r" })
        : promise.resume({ ...options, ...more, transcript: result.transcript })
    const cut = await resumed(first, { signal: stopped.signal })
    assert.strictEqual(cut.ending, "interrupted")
    const last = await resumed(cut)
    assert.deepStrictEqual([last.ending, last.answer, last.spend.calls, calls], ["answered", "answer 7", 7, 7])
  })
})
