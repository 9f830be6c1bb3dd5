import type { RunResult } from "@divisi/core/Conductor"
import { assert, describe, it } from "@effect/vitest"
import * as Progress from "../src/gym/Progress.ts"
import * as ReportText from "../src/gym/ReportText.ts"
import * as Tally from "../src/gym/Tally.ts"
import { workflow } from "./fixture.ts"

const result = (answer: string | undefined): RunResult => ({
  runId: "run-1",
  outcome: answer === undefined ? "failed" : "answered",
  answer,
  detail: undefined,
  error: undefined,
  spend: { usage: { inputTokens: 1, outputTokens: 1 }, costUsd: 0.5, calls: 1, unpricedCalls: 1 },
  durationMillis: 1,
  rounds: [{ workflow, failed: [], answer, confirmed: false }]
})

const tally = [true, true, false, undefined].reduce<Tally.Tally>(
  (tally, correct) => Tally.add(tally, result(correct === undefined ? undefined : "x"), correct === true),
  Tally.empty
)

describe("a tally", () => {
  it("counts a run without an answer as wrong", () => {
    assert.deepStrictEqual(tally, { tasks: 4, correct: 2, unanswered: 1, costUsd: 2, unpricedCalls: 4, steps: 12 })
  })

  it("gives the accuracy with the standard error of a mean of zeros and ones", () => {
    const report = Tally.report("p", tally)
    assert.strictEqual(report.accuracy, 0.5)
    assert.closeTo(report.standardError, Math.sqrt(0.25 / 3), 1e-12)
    assert.deepStrictEqual([report.costUsd, report.meanSteps, report.tasks], [2, 3, 4])
  })

  it("says nothing false of one task, or of none", () => {
    assert.deepStrictEqual(Tally.report("p", Tally.empty), {
      policy: "p",
      accuracy: 0,
      standardError: 0,
      costUsd: 0,
      meanSteps: 0,
      tasks: 0
    })
    assert.strictEqual(Tally.report("p", Tally.add(Tally.empty, result("x"), true)).standardError, 0)
  })

  it("is shown for people, alone and in a table", () => {
    const report = Tally.report("lexical", tally)
    assert.strictEqual(
      ReportText.one(report, tally),
      [
        "policy    lexical",
        "tasks     4",
        "accuracy  50.0 % ± 28.9",
        "cost      $2.00, $0.50 per task",
        "steps     3.00 per task",
        "          1 task without an answer",
        "          4 calls of unknown price"
      ].join("\n")
    )
    assert.strictEqual(
      ReportText.several([report, { ...report, policy: "a", accuracy: 1, standardError: 0 }]),
      [
        "policy         accuracy   cost per task   steps",
        "lexical   50.0 % ± 28.9           $0.50    3.00",
        "a         100.0 % ± 0.0           $0.50    3.00"
      ].join("\n")
    )
  })
})

describe("progress", () => {
  const record = (isLive: boolean) => {
    const written: Array<string> = []
    let time = 0
    const output = { columns: 60, write: (text: string) => void written.push(text) }
    return { written, tick: (millis: number) => (time += millis), progress: Progress.make(output, isLive, () => time) }
  }

  it("writes a plain line every two seconds at most", () => {
    const { progress, tick, written } = record(false)
    for (let count = 0; count < 50; count++) {
      tick(100)
      progress.show("lexical", tally, 8)
    }
    progress.close()
    assert.deepStrictEqual(
      written,
      Array.from({ length: 2 }, () => "lexical: 4 of 8, 50.0 % correct, $2.00\n")
    )
  })

  it("redraws a bar on a terminal, never wider than it, and takes it away", () => {
    const { progress, tick, written } = record(true)
    for (let count = 0; count < 10; count++) {
      tick(10)
      progress.show("a policy with a long name", tally, 8)
    }
    progress.close()
    assert.strictEqual(written.length, 3)
    assert.isAtMost(written[0]!.replace("\r", "").replace("\u001b[K", "").length, 59)
    assert.strictEqual(written.at(-1), "\r\u001b[K")
  })

  it("fills the bar by the eighth of a column", () => {
    assert.strictEqual(Progress.bar(0, 4, 4), "    ")
    assert.strictEqual(Progress.bar(1, 3, 4), "█▎  ")
    assert.strictEqual(Progress.bar(4, 4, 4), "████")
    assert.strictEqual(Progress.bar(0, 0, 2), "  ")
  })
})
