import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Baselines from "../src/policy/Baselines.ts"
import * as Conductor from "../src/run/Conductor.ts"
import * as ScriptedWorker from "../src/ScriptedWorker.ts"
import * as WorkerPool from "../src/task/WorkerPool.ts"
import { voteOf } from "../src/workflow/vote.ts"

describe("votes", () => {
  it.effect("count final answers together, however they were reasoned, and give the first whole text that won", () =>
    Effect.gen(function* () {
      const replies = ["I guess 41.\nAnswer: 41", "6 + 36 makes it.\nAnswer: **42**", "7 × 6.\n\nThe answer is 42."]
      const pool = WorkerPool.makeUnsafe([ScriptedWorker.make({ id: "a", replies })])
      const conductor = Conductor.make({ policy: Baselines.selfConsistency({ n: 3 }), pool })
      const { answer } = yield* conductor.run("6 times 7?")
      assert.strictEqual(answer, replies[1])
    })
  )

  it("are read from the last box, tags, or words for it", () => {
    const same: ReadonlyArray<readonly [string, string]> = [
      ["so \\boxed{1} or rather \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"],
      ["<answer>3</answer> no: <answer> x + 1 </answer>", "x + 1"],
      ["The answer is B) is wrong.\nAnswer: (C).", "C"],
      ["**Answer:** $42$", "42"],
      ["  Forty   Two. ", "forty two"]
    ]
    for (const [text, answer] of same) assert.strictEqual(voteOf(text), voteOf(answer), text)
  })

  it("are the whole text where it gives no final answer, and differ where answers do", () => {
    assert.notStrictEqual(voteOf("Answer: 4"), voteOf("Answer: 5"))
    assert.notStrictEqual(voteOf("-4"), voteOf("4"))
    assert.notStrictEqual(voteOf("f(x)"), voteOf("f(y)"))
    assert.strictEqual(voteOf("Answer:"), "answer:")
    assert.strictEqual(voteOf("broken \\boxed{4"), "broken \\boxed{4")
  })

  it("of an answer of a million full stops are counted quickly", () => {
    const text = `x${".".repeat(1_000_000)}x`
    assert.isTrue(voteOf(`${text}. `) === text)
    assert.strictEqual(voteOf(`"**"${".".repeat(1_000_000)}`), "")
  })
})
