/** Promise 5: a step whose worker failed permanently goes to the next eligible worker, but never where the caller named it. */
import { assert, describe, it } from "vitest"
import { agreed, bestOf, checked, conduct, policy, selfConsistency, single, worker } from "../src/promise.ts"

const down = (id: string) =>
  worker({
    id,
    answer: () => {
      throw new Error("401 bad key")
    }
  })

/** A worker whose vendor asks to wait. */
const limited = (id: string, seconds: number) =>
  worker({
    id,
    answer: () => {
      throw Object.assign(new Error("Slow down."), { status: 429, headers: { "retry-after": `${seconds}` } })
    }
  })

const up = (id: string, text = `from ${id}`) => worker({ id, answer: () => text })

const one = policy("one", () => ({ steps: [{ worker: 0, subtask: "", access: [] }] }))

const ask = (options: Pick<Parameters<typeof conduct>[0], "policy" | "reassign" | "pool">) =>
  conduct({ question: "Who?", ...options })

describe("a worker that fails permanently", () => {
  it("is replaced by the next one by default, as the transcript reports", async () => {
    const { answer, ending, transcript } = await ask({ pool: [down("a"), down("b"), up("c")], policy: one })
    assert.deepStrictEqual([ending, answer], ["answered", "from c"])
    assert.deepStrictEqual(
      transcript.rounds[0]?.steps[0]?.reassigned.map(({ from }) => from),
      ["a", "b"]
    )
  })

  it("is not replaced where a setting turns it off", async () => {
    const { ending } = await ask({ pool: [down("a"), up("b")], policy: one, reassign: "never" })
    assert.strictEqual(ending, "failed")
  })

  it("is not replaced where the caller named it", async () => {
    const pool = [down("a"), up("b"), up("c", "from b")]
    assert.strictEqual((await ask({ pool, policy: single("a") })).ending, "failed")
    assert.strictEqual((await ask({ pool, policy: selfConsistency({ n: 2, worker: "a" }) })).ending, "failed")
    // The third decides between two: it must not answer for one of them.
    const voted = await ask({ pool, policy: agreed("a", "b", "c") })
    assert.deepStrictEqual([voted.answer, voted.rounds.length], ["from b", 2])
    const escalated = await ask({ pool, policy: checked("a", "c", () => true) })
    assert.strictEqual(escalated.answer, "from b")
  })

  it("is replaced where the policy chose it", async () => {
    const pool = [down("a"), up("b")]
    for (const chosen of [selfConsistency({ n: 2 }), bestOf({ n: 2 }), single("a", { failover: true })]) {
      assert.strictEqual((await ask({ pool, policy: chosen })).answer, "from b", chosen.name)
    }
  })

  it("is replaced at once where the run would end before the retry", async () => {
    const budget = { durationMillis: 60_000 }
    const pool = [limited("a", 90), up("b")]
    const { answer } = await conduct({ question: "Who?", pool, policy: one, budget })
    assert.strictEqual(answer, "from b")
  })

  it("leaves the error after which a retry helps soonest, if all fail", async () => {
    const pools = [
      [limited("a", 500), limited("b", 300), down("c")],
      [down("c"), limited("b", 300), limited("a", 500)],
      [limited("a", 500), down("c"), limited("b", 300)]
    ]
    for (const pool of pools) {
      const { detail, ending } = await ask({ pool, policy: one })
      assert.strictEqual(ending, "failed")
      assert.match(detail ?? "", /\bb\b.*Slow down/)
    }
  })

  it("is replaced if a setting allows it, whether the policy or the caller named it", async () => {
    const { answer } = await ask({ pool: [down("a"), up("b")], policy: single("a"), reassign: "next" })
    assert.strictEqual(answer, "from b")
  })
})
