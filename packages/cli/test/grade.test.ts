import { writeFileSync } from "node:fs"
import path from "node:path"
import { OpenAiChat, Script, WireServer } from "@divisi/testkit/providers"
import { assert, describe, it } from "vitest"
import { divisi, inFolder, valuesOf } from "./process.ts"

describe("divisi grade", () => {
  it("gives a verdict for every line, in their order, and continues after an unreadable one", async () => {
    const input = [
      { gold: "\\frac{1}{2}", answer: "So it is \\boxed{0.5}." },
      { gold: 42, answer: "43" },
      { gold: "5" }
    ]
    const lines = `${input.map((line) => JSON.stringify(line)).join("\n")}\nnonsense\n`
    const { code, errors, output } = await divisi(["grade", "--grader", "math", "--lines"], { input: lines })
    assert.deepStrictEqual(valuesOf(output), [
      { correct: true, rung: "rational", extracted: "0.5" },
      { correct: false, rung: "rational", extracted: "43" },
      { correct: null, error: '"answer" is missing or not a string' },
      { correct: null, error: "the line is not JSON" }
    ])
    assert.include(errors, "2 lines were not graded")
    assert.strictEqual(code, 1)
  })

  it("ends a line at a line feed alone, and ignores a byte order mark", async () => {
    const input = ["4\u20282", "4\u20292", "42"].map((answer) => JSON.stringify({ gold: "42", answer })).join("\n")
    const { output } = await divisi(["grade", "--lines"], { input: `\ufeff${input}` })
    assert.lengthOf(output.trim().split("\n"), 3)
    assert.notInclude(output, "not JSON")
  })

  it("reads a file, uses another grader, and ends well though the algebra's thread was needed", () =>
    inFolder(async (folder) => {
      const file = path.join(folder, "answers.jsonl")
      writeFileSync(file, '{"gold":"385","answer":"\\\\sum_{k=1}^{10} k^2"}\n')
      const sum = await divisi(["grade", "--lines", file])
      assert.deepInclude(JSON.parse(sum.output), { correct: true, rung: "algebra" })
      assert.strictEqual(sum.code, 0)
      writeFileSync(file, '{"gold":"C","answer":"Answer: (C)"}\n')
      const letter = await divisi(["grade", "--grader", "letter", "--lines", file])
      assert.deepInclude(JSON.parse(letter.output), { correct: true, rung: "letter" })
    }))

  it("grades one answer, and says by its exit code whether it is right", async () => {
    const right = await divisi(["grade", "--gold", "x^2-1", "--answer", "(x+1)(x-1)"])
    assert.deepStrictEqual([right.code, JSON.parse(right.output).rung], [0, "identity"])
    assert.strictEqual((await divisi(["grade", "--gold", "1", "--answer", "2"])).code, 1)
  })

  it("says which graders there are, and what is missing", async () => {
    const unknown = await divisi(["grade", "--grader", "vibes", "--lines"])
    assert.strictEqual(unknown.code, 2)
    assert.include(unknown.errors, "Available: math, math500")
    assert.strictEqual((await divisi(["grade"])).code, 2)
    const absent = await divisi(["grade", "--lines", "nowhere.jsonl"])
    assert.strictEqual(absent.code, 2)
    assert.include(absent.errors, "nowhere.jsonl")
  })

  it("asks a model as a judge, and says how it agrees with labels", async () => {
    const server = await WireServer.start(OpenAiChat.compatible({ name: "my-judge", usage: "final" }), (request) => {
      const text = JSON.stringify(request.body)
      assert.include(text, "Where is the Louvre?")
      return Script.answer([text.includes("Lyon") ? "Verdict: INCORRECT" : "Verdict: CORRECT"])
    })
    try {
      const line = (answer: string, label: boolean) =>
        JSON.stringify({ question: "Where is the Louvre?", gold: "Paris", answer, label })
      const { code, errors, output } = await divisi(["grade", "--grader", "judge:my-judge:m", "--lines"], {
        input: [line("In France's capital", true), line("Lyon", false), line("London", false)].join("\n"),
        environment: { MY_JUDGE_BASE_URL: `${server.url}/v1` }
      })
      const verdicts = valuesOf(output)
      assert.deepStrictEqual(
        verdicts.map(({ correct, rung }) => [correct, rung]),
        [
          [true, "judge"],
          [false, "judge"],
          [true, "judge"]
        ]
      )
      assert.include(errors, "agrees with 66.7% of 3 labels, kappa 0.40, false positives: 1, false negatives: 0")
      assert.strictEqual(code, 0)
    } finally {
      await server.close()
    }
  })
})
