/** The figures of an evaluation's page. */
import { describe, expect, it } from "vitest"
import { Evaluations } from "../src/index.ts"

const cell = (policy: string, mean: number | null, costUsd: number) => ({
  policy,
  benchmark: "b",
  score: { mean, low: mean, high: mean, confidence: 0.95 },
  costUsd: { mean: costUsd, total: costUsd }
})

const report = (difference: { mean: number; low: number; high: number }, costs: readonly [number, number] = [1, 10]) =>
  ({
    config: { policies: [{ name: "one" }, { name: "two", isBaseline: true }] },
    cells: [cell("one", 0.9, costs[0]), cell("two", 0.7, costs[1])],
    comparisons: [{ benchmark: "b", policy: "one", against: "two", ...difference }]
  }) as unknown as Evaluations.Report

describe("the finding", () => {
  it.each([
    [{ mean: 0.2, low: 0.1, high: 0.3 }, "one is 20.0 points above two at 10 % of its cost"],
    [{ mean: -0.2, low: -0.3, high: -0.1 }, "one is 20.0 points below two at 10 % of its cost"],
    [{ mean: 0.2, low: -0.1, high: 0.5 }, "No difference shown between one and two, at 10 % of its cost"]
  ])("of %o", (difference, title) => {
    expect(Evaluations.findingOf(report(difference), "b").title).toBe(title)
  })

  it("names a higher cost, and leaves out an unknown one", () => {
    const difference = { mean: 0.2, low: 0.1, high: 0.3 }
    expect(Evaluations.findingOf(report(difference, [32, 10]), "b").title).toContain("at 3.2 times its cost")
    expect(Evaluations.findingOf(report(difference, [0, 10]), "b").title).toBe("one is 20.0 points above two")
  })

  it("is that no sample has a score, if none has", () => {
    const empty = { ...report({ mean: 0, low: 0, high: 0 }), cells: [] }
    expect(Evaluations.findingOf(empty, "b").title).toBe("No sample has a score")
  })
})

it("the single workers beyond the best three share a row, as on a terminal", () => {
  const means = [0.4, 0.1, 0.3, null, 0.2, 0.5].map((mean, index) => cell(`single:${index}`, mean, 1))
  const cells = [cell("team", 0.9, 1), ...means]
  const policies = cells.map(({ policy }) => ({ name: policy }))
  const overall = cells.map(({ policy, score }) => ({ policy, mean: score.mean }))
  const all = { config: { policies }, cells, overall } as unknown as Evaluations.Report
  const { rest, shown } = Evaluations.grouped(all, all.cells)
  expect(shown.map(({ policy }) => policy)).toEqual(["team", "single:0", "single:2", "single:5"])
  expect(rest).toEqual({ name: "3 more single workers", range: "10.0\u00a0% to 20.0\u00a0%" })
  const few = { ...all, config: { policies: policies.slice(0, 5) } } as unknown as Evaluations.Report
  expect(Evaluations.grouped(few, all.cells.slice(0, 5))).toEqual({ shown: all.cells.slice(0, 5) })
})

describe("the questions", () => {
  const sample = (policy: string, epoch: number, score: number | undefined) =>
    ({ benchmark: "b", task: "t", epoch, policy, score, stratum: "s" }) as Evaluations.Sample
  const scores = (one: ReadonlyArray<number | undefined>, two: ReadonlyArray<number | undefined>) =>
    Evaluations.questionsOf(report({ mean: 0, low: 0, high: 0 }), [
      ...one.map((score, epoch) => sample("one", epoch, score)),
      ...two.map((score, epoch) => sample("two", epoch, score)),
      sample("unknown policy", 0, 1)
    ])[0]!

  it("have the scores of each policy by epoch, with missing ones as null", () => {
    expect(scores([1, undefined], [0])).toEqual({
      benchmark: "b",
      task: "t",
      stratum: "s",
      scores: [[1, null], [0]]
    })
  })

  it("differ if the means of two policies differ, and never for lack of a score", () => {
    expect(Evaluations.differ(scores([1, 0], [0, 1]), 0, 1)).toBe(false)
    expect(Evaluations.differ(scores([1, 1], [0, 1]), 0, 1)).toBe(true)
    expect(Evaluations.differ(scores([1], [undefined]), 0, 1)).toBe(false)
  })
})

it("the frontier has the points that no other beats in both", () => {
  const point = (policy: string, mean: number, costUsd: number) => ({ policy, mean, costUsd })
  const points = [point("dear", 0.9, 9), point("cheap", 0.3, 1), point("beaten", 0.2, 2), point("good", 0.9, 3)]
  expect(Evaluations.frontier(points).map(({ policy }) => policy)).toEqual(["cheap", "good"])
})
