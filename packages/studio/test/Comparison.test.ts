/** Two runs next to each other. */
import { describe, expect, it } from "vitest"
import * as Comparison from "../src/run/Comparison.ts"
import { incident, mapped, suspended } from "./fixtures/runs.ts"

describe("two runs", () => {
  it("of one plan have the same answer, and steps that differ in nothing", async () => {
    const [one, other] = [await incident(20), await incident(20)]
    expect(Comparison.findingOf(one, other)).toMatch(/^Both give the same answer for the same cost/)
    expect(Comparison.pairsOf(one, other).every(({ differs }) => differs === undefined)).toBe(true)
  })

  it("of two plans part at the first step that is different, and have steps that only one has", async () => {
    const [one, other] = [await incident(20), await mapped()]
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
})
