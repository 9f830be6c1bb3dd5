import type { Report } from "@divisi/evals/Report"
import { describe, expect, it } from "vitest"
import * as ReportText from "../src/eval/ReportText.ts"
import { widthOf } from "../src/view/Line.ts"

/** A report of policies with these means on ten questions, the first compared with all others. */
const report = (means: Readonly<Record<string, number>>, questions = 10): Report => {
  const names = Object.keys(means)
  const score = (name: string) => ({
    mean: means[name]!,
    standardError: 0.1,
    questions,
    samples: questions,
    unparsed: 0,
    unanswered: 0,
    missing: 0,
    missingBy: {},
    minimumDetectable: questions < 6 ? null : 0.3
  })
  return {
    pool: [],
    config: { policies: names.map((name) => ({ name })) },
    benchmarks: [{ benchmark: "gym" }],
    cells: names.map((policy) => ({
      policy,
      benchmark: "gym",
      score: score(policy),
      unpricedCalls: 0,
      failedCalls: 0
    })),
    overall: names.map((policy) => ({ policy, ...score(policy), costUsd: 0.01, steps: 1, millis: 100 })),
    comparisons: names.slice(1).map((against) => ({
      policy: names[0]!,
      against,
      benchmark: "gym",
      mean: means[names[0]!]! - means[against]!,
      low: -0.1,
      high: 0.3,
      pAdjusted: 1,
      confidence: 0.95
    })),
    extent: { status: "complete", samples: 10, planned: 10, paidUsd: 0 }
  } as unknown as Report
}

const singles = Object.fromEntries("abcdefgh".split("").map((name, index) => [`single:${name}`, index / 10]))

describe("a report on a terminal", () => {
  it("folds the single workers behind the best three into one row, so that the Conductor stays in sight", () => {
    const lines = ReportText.text(report({ lexical: 0.9, ...singles, random: 0.5 })).split("\n")
    expect(lines[1]).toMatch(/^lexical/)
    expect(lines.filter((line) => /^single:/.test(line)).map((line) => line.split(" ")[0])).toEqual([
      "single:f",
      "single:g",
      "single:h"
    ])
    expect(lines).toContainEqual(expect.stringMatching(/^5 more single workers +0\.0 to 40\.0$/))
    expect(lines.filter((line) => line.startsWith("lexical − single:"))).toHaveLength(3)
    expect(lines).toContainEqual(expect.stringMatching(/^lexical − random/))
    expect(lines.at(-1)).toContain("The report lists the others")
  })

  it("leaves four single workers as they are", () => {
    const { "single:a": a, "single:b": b, "single:c": c, "single:d": d } = singles
    const text = ReportText.text(
      report({ lexical: 0.9, "single:a": a!, "single:b": b!, "single:c": c!, "single:d": d! })
    )
    expect(text.match(/^single:/gm)).toHaveLength(4)
    expect(text).not.toContain("more single")
  })

  it("fits a narrow terminal", () => {
    const wide = ReportText.text(report({ lexical: 0.9, ...singles }), 80)
    expect(wide).toContain("time")
    expect(wide).toContain("p (Holm)")
    const narrow = ReportText.text(report({ lexical: 0.9, ...singles }), 52).split("\n")
    const tables = narrow.filter((line) => /^(?:policy|lexical|single|difference|\d more)/.test(line))
    expect(Math.max(...tables.map(widthOf))).toBeLessThanOrEqual(52)
    expect(tables[0]).toMatch(/^policy +gym % +cost/)
    expect(tables.at(-1)).toMatch(/ to \+30\.0$/)
  })

  it("says that a few questions find no difference", () => {
    expect(ReportText.text(report({ lexical: 1 }, 2))).toContain("gym: 2 questions, too few to detect a difference")
    expect(ReportText.text(report({ lexical: 1 }))).toContain(
      "can detect a difference of 30.0 points between lexical and another policy (80% power)"
    )
  })
})
