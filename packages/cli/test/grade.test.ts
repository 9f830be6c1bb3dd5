import { writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "vitest"
import { inFolder, tutti } from "./process.ts"

describe("tutti grade", () => {
  it("gives a verdict for every line, in their order, and goes on after one that it cannot read", async () => {
    const input = [
      { gold: "\\frac{1}{2}", answer: "So it is \\boxed{0.5}." },
      { gold: 42, answer: "43" },
      { gold: "5" }
    ]
    const lines = `${input.map((line) => JSON.stringify(line)).join("\n")}\nnonsense\n`
    const { code, errors, output } = await tutti(["grade", "--grader", "math", "--lines"], { input: lines })
    assert.deepStrictEqual(
      output
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
      [
        { correct: true, rung: "rational", extracted: "0.5" },
        { correct: false, rung: "rational", extracted: "43" },
        { correct: null, error: 'this line has no text "answer"' },
        { correct: null, error: "this line is not JSON" }
      ]
    )
    assert.include(errors, "2 lines were not graded")
    assert.strictEqual(code, 1)
  })

  it("reads a file, uses another grader, and ends well though the algebra's thread was needed", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "answers.jsonl")
      writeFileSync(file, '{"gold":"385","answer":"\\\\sum_{k=1}^{10} k^2"}\n')
      const sum = await tutti(["grade", "--lines", file])
      assert.deepInclude(JSON.parse(sum.output), { correct: true, rung: "algebra" })
      assert.strictEqual(sum.code, 0)
      writeFileSync(file, '{"gold":"C","answer":"Answer: (C)"}\n')
      const letter = await tutti(["grade", "--grader", "letter", "--lines", file])
      assert.deepInclude(JSON.parse(letter.output), { correct: true, rung: "letter" })
    }))

  it("grades one answer, and says by its exit code whether it is right", async () => {
    const right = await tutti(["grade", "--gold", "x^2-1", "--answer", "(x+1)(x-1)"])
    assert.deepStrictEqual([right.code, JSON.parse(right.output).rung], [0, "identity"])
    assert.strictEqual((await tutti(["grade", "--gold", "1", "--answer", "2"])).code, 1)
  })

  it("says which graders there are, and what is missing", async () => {
    const unknown = await tutti(["grade", "--grader", "vibes", "--lines"])
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.errors, "There are math, math500")
    assert.strictEqual((await tutti(["grade"])).code, 2)
    const absent = await tutti(["grade", "--lines", "nowhere.jsonl"])
    assert.strictEqual(absent.code, 2)
    assert.include(absent.errors, "nowhere.jsonl")
  })
})
