import { describe, expect, it } from "vitest"
import { checkExamples, findExamples } from "../checks/documentation.ts"

const example = (line: number, code: string, isRun = true) => ({ file: "packages/core/src/Page.ts", line, code, isRun })

describe("documentation", () => {
  it("reports what does not type-check, does not run, or is not as claimed, and where", async () => {
    const report = await checkExamples([
      example(1, "const sum: number = 1 + 1\nsum // => 2\n"),
      example(11, 'const sum: string = 1 + 1\nconsole.log("printed")\n'),
      example(21, "const list = [{ a: 1 }]\nlist // => [{ a: 2 }]\n"),
      example(31, 'throw new Error("broken")\n'),
      example(41, 'throw new Error("never run")\n', false),
      example(51, "const list: Array<string> = []\nfor (const a of list) {\n  a // => 1\n}\n")
    ])
    // Two examples and one claim.
    expect(report.passed).toBe(3)
    expect(report.problems.map((problem) => problem.split("\n")[0])).toEqual([
      "packages/core/src/Page.ts:11: Type 'number' is not assignable to type 'string'.",
      "packages/core/src/Page.ts:22: says [ { a: 2 } ], and is [ { a: 1 } ]",
      "packages/core/src/Page.ts:31: Error: broken",
      "packages/core/src/Page.ts:53: the example never comes to this claim."
    ])
  })

  it("reports a claim that stands where no example is", () => {
    const page = "f() // => 1\n\n```js\ng() // => 2\n```\n\n```ts\nh() // => 3\n```\n"
    const program = "/** f() // => 1 */\nf()\n"
    const { examples, problems } = findExamples([
      { file: "page.md", text: page },
      { file: "bench/src/main.ts", text: program }
    ])
    expect(examples.length).toBe(1)
    expect(problems.map((problem) => problem.split(": ")[0])).toEqual(["page.md:1", "page.md:4", "bench/src/main.ts:1"])
  })
})
