/** Two runs next to each other. */
import { describe, expect, it } from "vitest"
import * as Comparison from "../src/run/Comparison.ts"
import { fromTranscript } from "../src/run/Summary.ts"
import { incident, mapped, suspended } from "./fixtures/runs.ts"

describe("two runs", () => {
  it("of one plan have the same answer, and steps that differ in nothing", async () => {
    const [one, other] = [await incident(20), await incident(20)]
    expect(Comparison.findingOf(one, other)).toMatch(/^Both runs give the same answer at the same cost/)
    expect(Comparison.pairsOf(one, other).every(({ differs }) => differs === undefined)).toBe(true)
  })

  it("of two plans part at the first step that is different, and have steps that only one has", async () => {
    const one = await incident(20)
    const other = JSON.parse(JSON.stringify(await mapped()).replaceAll('"lister"', '"qwen3-8b"'))
    const pairs = Comparison.pairsOf(one, other)
    expect(pairs.map(({ differs }) => differs)).toEqual(["subtask", "worker", "worker", ...Array(3).fill("only one")])
    expect(Comparison.findingOf(one, other)).toContain("The answers differ, and A costs")
  })

  it("show which one has an answer", async () => {
    expect(Comparison.findingOf(await suspended(), await mapped())).toContain("Only B has an answer")
  })

  it("count steps that were carried out, failed ones included", async () => {
    expect(Comparison.figuresOf(await incident(20))).toMatchObject({ steps: 5, calls: 8 })
  })

  it("of one question are compared with the dearest one by a single worker", async () => {
    const team = await incident(20)
    const own = fromTranscript(team)
    const alone = (id: string, cost_usd: number, more: object = {}) => ({
      ...own,
      id,
      workers: [id],
      cost_usd,
      ...more
    })
    const others = [alone("a", 1), alone("b", 2), alone("c", 3, { state: "failed" }), alone("d", 4, { question: "?" })]
    expect(Comparison.aloneOf(team, [own, ...others])?.id).toBe("b")
    expect(Comparison.aloneOf(team, [own])).toBeUndefined()
    expect(Comparison.workersOf(team)).toEqual([
      "qwen3-8b",
      "gemini-2.5-flash",
      "local-llama",
      "gpt-5-mini",
      "claude-sonnet-4-6"
    ])
  })
})
