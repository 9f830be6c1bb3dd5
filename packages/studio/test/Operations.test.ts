/** The figures of the page for operators. */
import { describe, expect, it } from "vitest"
import * as Operations from "../src/app/operate/Operations.ts"
import type { Summary } from "../src/run/Summary.ts"
import { incident } from "./fixtures/runs.ts"

const run = (started_at: number, cost_usd: number, owner: string | null) => ({ started_at, cost_usd, owner }) as Summary

describe("metrics", () => {
  it("are read with escaped labels, and summed by a label", () => {
    const text = [
      "# HELP divisi_failed_steps_total Calls",
      'divisi_failed_steps_total{worker="a\\"b\\\\",reason="Network"} 2',
      'divisi_failed_steps_total{worker="c",reason="Network"} 1',
      "divisi_runs_running 3",
      "not a metric"
    ].join("\n")
    const samples = Operations.parseMetrics(text)
    expect([...Operations.sumBy(samples, "divisi_failed_steps_total", "worker")]).toEqual([
      ['a"b\\', 2],
      ["c", 1]
    ])
    expect(Operations.sumOf(samples, "divisi_failed_steps_total")).toBe(3)
    expect(Operations.sumOf(samples, "divisi_runs_running")).toBe(3)
  })
})

describe("costs", () => {
  const now = Date.UTC(2026, 10, 28, 12)

  it("by day include days without a run", () => {
    const days = Operations.byDay([run(now, 1, "k"), run(now - 2 * 86_400_000, 2, null)], now, 3)
    expect(days).toEqual([
      { name: "2026-11-26", runs: 1, costUsd: 2 },
      { name: "2026-11-27", runs: 0, costUsd: 0 },
      { name: "2026-11-28", runs: 1, costUsd: 1 }
    ])
  })

  it("by key begin with the most expensive, and name the command line", () => {
    expect(Operations.byKey([run(now, 1, "k"), run(now, 2, null)]).map(({ name }) => name)).toEqual([
      "command line",
      "k"
    ])
  })

  it("by worker are those of its calls, failed ones included", async () => {
    const transcript = await incident(20)
    const costs = Operations.byWorker([transcript])
    const total = costs.reduce((sum, { costUsd }) => sum + costUsd, 0)
    expect(total).toBeCloseTo(transcript.spend!.costUsd, 12)
    expect(costs[0]).toMatchObject({ name: "claude-sonnet-4-6", runs: 1 })
    expect(costs.map(({ name }) => name)).toContain("local-llama")
  })
})
