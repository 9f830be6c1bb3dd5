import { type RunEvent, Transcript } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as BlockView from "../src/view/BlockView.ts"
import * as PlainView from "../src/view/PlainView.ts"
import * as Records from "../src/view/Records.ts"
import { complete, events, finished, fold, type Part, proposed, runId, running, started } from "./fixture.ts"

const failure: Part = {
  type: "call-failed",
  round: 0,
  step: 0,
  worker: "units",
  attempt: 0,
  reason: { _tag: "Overloaded" },
  message: "units is overloaded",
  usage: { inputTokens: 5, outputTokens: 0 },
  costUsd: undefined
}

const stepOf = (parts: ReadonlyArray<Part>, step: number) => fold(events(parts)).rounds[0]!.steps[step]!

describe("how views describe records", () => {
  it("adds up what was paid as it is paid, and takes the run's own account in the end", () => {
    assert.deepStrictEqual(Transcript.spendSoFar(fold(events(running))), {
      usage: { inputTokens: 30, outputTokens: 10 },
      costUsd: 0.000012,
      calls: 1,
      unpricedCalls: 0
    })
    assert.strictEqual(Transcript.spendSoFar(fold(events(complete))).calls, 3)
  })

  it("counts a failed call, and not an answer from the cache", () => {
    const cached = { ...finished(0, "units", "4320"), cached: true } as Part
    const { calls, unpricedCalls } = Transcript.spendSoFar(fold(events([started, ...proposed, failure, cached])))
    assert.deepStrictEqual([calls, unpricedCalls], [1, 1])
  })

  it("names the origin of an answer without a call", () => {
    const given = (origin: RunEvent.AnswerOrigin) => {
      const run = fold(events([started, ...proposed, { ...finished(0, "units", "4320"), origin } as Part]))
      return BlockView.toPlainText(BlockView.final(run, 80)) + JSON.stringify(PlainView.entries(run))
    }
    assert.match(given("caller"), /supplied for the fork[\s\S]*the caller \(.*supplied for the fork\): 4320/)
    assert.match(given("forked-run"), /from the forked run[\s\S]*units \(.*from the forked run\): 4320/)
  })

  it("counts the failed items and those whose answer the caller supplied", () => {
    const [step] = fold(events([started, ...proposed, finished(0, "units", "4320") as Part])).rounds[0]!.steps
    const item = step!
    const items: ReadonlyArray<typeof item> = [item, { ...item, origin: "caller" }, { ...item, state: "failed" }]
    const shown = (some: typeof items) => Records.itemsOf({ ...item, items: some, unfolded: 4 })
    assert.strictEqual(shown(items), "3 of 4 items, 1 failed, 1 supplied for the fork")
    assert.strictEqual(shown(items.slice(0, 1)), "1 of 4 items")
  })

  it("shows why a call failed while the step runs, and removes it once the step is done", () => {
    const start: Part = { type: "step-started", round: 0, step: 0, worker: "units" }
    const before = [started, ...proposed, start, failure]
    const shown = (parts: ReadonlyArray<Part>) =>
      BlockView.toPlainText(BlockView.live(fold(events(parts)), { width: 80, now: 2_000 }))
    assert.strictEqual(Records.setback(stepOf(before, 0)), "units is overloaded")
    assert.include(shown(before), "units is overloaded")
    const reassigned: Part = { type: "step-reassigned", round: 0, step: 0, from: "units", to: "generalist" }
    assert.include(shown([...before, reassigned]), "taken over from units")
    assert.notInclude(shown([...before, finished(0, "units", "4320")]), "overloaded")
  })

  it("puts a nested run under its step, and adds its cost to all runs around it", () => {
    const nested = { ...started, parent: { runId, round: 0, step: 2 } } as Part
    const inner = events([nested, ...proposed, finished(0, "units", "7")], `${runId}/0/2`)
    const outer = [...events(running), ...inner]
    const child = fold(outer).rounds[0]!.steps[2]!.nested!
    assert.strictEqual(child.rounds[0]!.steps[0]!.text, "7")
    const calls = (run: Transcript.Transcript) => Transcript.spendSoFar(run).calls
    assert.deepStrictEqual([calls(child), calls(fold(outer))], [1, 2])
    // The step that it answers is not a separate call.
    const ended = fold([...outer, ...events([finished(2, "self", "7")])])
    assert.strictEqual(calls(ended), 2)
    const paid = Records.paidFor(ended.rounds[0]!.steps[2]!)
    assert.deepStrictEqual(paid?.usage, Transcript.spendSoFar(child).usage)
  })
})
