import { assert, describe, it } from "vitest"
import { divisi, valuesOf } from "./process.ts"

describe("divisi grade", () => {
  it("refuses a line that has no end with one message", async () => {
    const { code, errors, output } = await divisi(["grade", "--lines"], { input: "x".repeat(2 ** 26 + 1) })
    assert.deepStrictEqual(
      [code, errors, output],
      [2, "divisi: Standard input cannot be read: line 1 is longer than 67108864 characters.\n", ""]
    )
  })

  it("runs programs in a sandbox, and ends with nothing left of it", async () => {
    const gold = { public_test_cases: [{ input: "2 3", output: "5", testtype: "stdin" }] }
    const program = (line: string) => ({ gold, answer: `\`\`\`python\n${line}\n\`\`\`` })
    const lines = [
      program("print(sum(map(int, input().split())))"),
      program("print(6)"),
      program("import os; os._exit(0)")
    ]
    const { code, output } = await divisi(["grade", "--grader", "livecodebench", "--lines"], {
      input: lines.map((line) => JSON.stringify(line)).join("\n")
    })
    const verdicts = valuesOf(output)
    assert.deepStrictEqual(
      verdicts.map(({ correct, rung }) => [correct, rung]),
      [
        [true, "tests"],
        [false, "wrong-answer"],
        [false, "wrong-answer"]
      ]
    )
    assert.strictEqual(code, 0)
    const unknown = await divisi(["grade", "--sandbox", "hope", "--lines"])
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.errors, "Available: pyodide, bubblewrap")
  })
})
