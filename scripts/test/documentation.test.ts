import { describe, expect, it } from "vitest"
import { checkExamples } from "../checks/documentation.ts"

const example = (line: number, code: string, isRun = true) => ({ file: "packages/core/src/Page.ts", line, code, isRun })

describe("documentation", () => {
  it("reports what does not type-check, does not run, or is not as claimed, and where", async () => {
    const report = await checkExamples([
      example(1, "const sum: number = 1 + 1\nsum // => 2\n"),
      example(11, 'const sum: string = 1 + 1\nconsole.log("printed")\n'),
      example(21, "const list = [{ a: 1 }]\nlist // => [{ a: 2 }]\n"),
      example(31, 'throw new Error("broken")\n'),
      example(41, 'throw new Error("never run")\n', false)
    ])
    expect(report.passed).toBe(2)
    expect(report.problems.map((problem) => problem.split("\n")[0])).toEqual([
      "packages/core/src/Page.ts:11: Type 'number' is not assignable to type 'string'.",
      "packages/core/src/Page.ts:22: says [ { a: 2 } ], and is [ { a: 1 } ]",
      "packages/core/src/Page.ts:31: Error: broken"
    ])
  })
})
