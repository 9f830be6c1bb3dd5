import { LiveCodeBenchProblem } from "@divisi/graders/code"
import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import pickles from "./fixtures/pickles.json" with { type: "json" }

describe("pickled tests", () => {
  it("are read in every version that holds one text", () => {
    for (const version of ["protocol2", "protocol4", "protocol5"] as const) {
      assert.strictEqual(Result.getOrThrow(LiveCodeBenchProblem.readTests(pickles[version])).length, 2)
    }
    assert.strictEqual(Result.getOrThrow(LiveCodeBenchProblem.readTests(pickles.long)).length, 40)
  })

  it("are refused when they hold anything else", () => {
    for (const kind of ["call", "list", "number", "protocol0", "trailing", "cut", "notTests"] as const) {
      assert.isTrue(Result.isFailure(LiveCodeBenchProblem.readTests(pickles[kind])), kind)
    }
    const list = LiveCodeBenchProblem.readTests(pickles.list)
    assert.include(Result.isFailure(list) ? list.failure : "", "not allowed")
    for (const garbage of ["", "!!!", "AAAA", "[1]", '[{"input":1}]']) {
      assert.isTrue(Result.isFailure(LiveCodeBenchProblem.readTests(garbage)), garbage)
    }
  })

  it("take the last fenced block of an answer", () => {
    assert.strictEqual(LiveCodeBenchProblem.extract("```\na\n```\ntext\n```python\nb\n```"), "b")
    assert.strictEqual(LiveCodeBenchProblem.extract("```python\nb"), "b")
    assert.strictEqual(LiveCodeBenchProblem.extract("~~~python\na\n~~~\n```json\n{}\n```"), "a")
    assert.isUndefined(LiveCodeBenchProblem.extract("no program"))
  })
})
