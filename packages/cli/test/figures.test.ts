import type { Sample } from "@divisi/evals/Report"
import { assert, describe, it } from "@effect/vitest"
import * as Figures from "../src/gym/Figures.ts"
import * as ReportText from "../src/gym/ReportText.ts"
import * as Progress from "../src/view/Progress.ts"

const sample = (correct: boolean | undefined) =>
  ({
    correct: correct === true,
    rung: correct === undefined ? "no-answer" : "gym",
    costUsd: 0.5,
    unpricedCalls: 1,
    steps: [{}, {}, {}]
  }) as unknown as Sample

const samples = [true, true, false, undefined].map(sample)

const lost = { costUsd: 0, unpricedCalls: 0, steps: [], missing: { cause: "worker" } } as unknown as Sample

describe("figures", () => {
  it("count a run without an answer as wrong", () => {
    assert.deepStrictEqual(Figures.gaps(samples), { unanswered: 1, unpricedCalls: 4 })
    assert.strictEqual(Figures.of("p", samples, false).accuracy, 0.5)
  })

  it("measure no run that an outage has cut short", () => {
    assert.deepStrictEqual(Figures.gaps([...samples, lost]), { unanswered: 1, unpricedCalls: 4 })
    const figures = Figures.of("p", [...samples, lost], false)
    assert.deepInclude(figures, { accuracy: 0.5, tasks: 5, notMeasured: 1, notMeasuredBy: { worker: 1 } })
    const line = "1 task not measured and not included in the accuracy (worker: 1)"
    assert.include(ReportText.one(figures, Figures.gaps(samples)), line)
    assert.include(ReportText.several([figures]), `p: ${line}`)
    const none = Figures.of("p", [lost], false)
    assert.strictEqual(none.accuracy, null)
    assert.include(ReportText.one(none, Figures.gaps([lost])), "accuracy  –")
  })

  it("give the accuracy with the standard error of a mean of zeros and ones", () => {
    const figures = Figures.of("p", samples, false)
    assert.strictEqual(figures.accuracy, 0.5)
    assert.closeTo(figures.standardError, Math.sqrt(0.25 / 3), 1e-12)
    assert.deepStrictEqual([figures.costUsd, figures.meanSteps, figures.tasks], [2, 3, 4])
  })

  it("say nothing false of one task, or of none", () => {
    assert.deepStrictEqual(Figures.of("p", [], false), {
      policy: "p",
      accuracy: null,
      standardError: 0,
      costUsd: 0,
      isPlay: false,
      meanSteps: 0,
      tasks: 0,
      notMeasured: 0,
      notMeasuredBy: {}
    })
    assert.strictEqual(Figures.of("p", samples.slice(0, 1), false).standardError, 0)
  })

  it("are shown for people, alone and in a table", () => {
    const report = Figures.of("lexical", samples, false)
    assert.include(
      ReportText.one(Figures.of("lexical", samples, true), Figures.gaps(samples)),
      "cost      $2.00, $0.50 play money per task"
    )
    assert.strictEqual(
      ReportText.one(report, Figures.gaps(samples)),
      [
        "policy    lexical",
        "tasks     4",
        "accuracy  50.0% ± 28.9",
        "cost      $2.00, $0.50 per task",
        "steps     3.00 per task",
        "          1 task without an answer",
        "          4 calls of unknown price"
      ].join("\n")
    )
    assert.strictEqual(
      ReportText.several([report, { ...report, policy: "a", accuracy: 1, standardError: 0 }]),
      [
        "policy        accuracy   cost per task   steps",
        "lexical   50.0% ± 28.9           $0.50    3.00",
        "a         100.0% ± 0.0           $0.50    3.00"
      ].join("\n")
    )
  })
})

describe("progress", () => {
  const record = (isLive: boolean) => {
    const written: Array<string> = []
    let time = 0
    const output = { columns: 60, write: (text: string) => void written.push(text) }
    const options = { isLive, now: () => time, plainMillis: 2_000, hasBar: true }
    return { written, tick: (millis: number) => (time += millis), progress: Progress.make(output, options) }
  }

  it("writes a plain line every two seconds at most, and at the end how far it came", () => {
    const { progress, tick, written } = record(false)
    for (let done = 0; done < 50; done++) {
      tick(100)
      progress.show({ done, total: 80, text: `lexical: ${done} of 80` })
    }
    progress.close()
    assert.deepStrictEqual(
      written,
      [0, 20, 40, 49].map((done) => `lexical: ${done} of 80\n`)
    )
  })

  it("redraws a bar on a terminal, never wider than it, and takes it away", () => {
    const { progress, tick, written } = record(true)
    for (let count = 0; count < 20; count++) {
      tick(10)
      progress.show({ done: 4, total: 8, text: "a policy with a long name: 4 of 8, 50.0% correct, $2.00" })
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
