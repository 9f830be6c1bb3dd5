import { describe, expect, it } from "vitest"
import * as NestedRuns from "../src/NestedRuns.ts"

describe("runs that start runs", () => {
  it("end, and are charged as the vendor's book says", async () => {
    const started = { worker: 0, tool: 0, policy: 0, check: 0 }
    const endings: Record<string, number> = {}
    for (let seed = 0; seed < 60; seed++) {
      const found = await NestedRuns.simulate(seed)
      expect({ seed, problems: found.problems }).toEqual({ seed, problems: [] })
      for (const way of Object.keys(started) as Array<NestedRuns.Way>) started[way] += found.started[way]
      for (const [ending, count] of Object.entries(found.endings)) endings[ending] = (endings[ending] ?? 0) + count
    }
    expect(Math.min(...Object.values(started))).toBeGreaterThan(10)
    expect(endings.answered).toBeGreaterThan(100)
    expect(endings.budget).toBeGreaterThan(10)
  })

  it("end where calls can only wait for each other", async () => {
    expect((await NestedRuns.simulate(516)).problems).toEqual([])
  })
})
