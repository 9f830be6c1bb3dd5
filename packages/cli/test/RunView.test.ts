import { assert, describe, it } from "@effect/vitest"
import * as RunView from "../src/view/RunView.ts"
import { complete, events, finished, fold, type Part, proposed, runId, running, started } from "./fixture.ts"

describe("RunView", () => {
  it("adds up what was paid as it is paid, and takes the run's own account in the end", () => {
    assert.deepStrictEqual(fold(events(running)).spend, {
      usage: { inputTokens: 30, outputTokens: 10 },
      costUsd: 0.000012,
      calls: 1,
      unpricedCalls: 0
    })
    assert.strictEqual(fold(events(complete)).spend.calls, 3)
  })

  it("counts a failed call, and not an answer from the cache", () => {
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
    const cached = { ...finished(0, "units", "4320"), cached: true } as Part
    const { spend } = fold(events([started, ...proposed, failure, cached]))
    assert.deepStrictEqual([spend.calls, spend.unpricedCalls], [1, 1])
  })

  it("forgets why a call failed once the step is done", () => {
    assert.isUndefined(fold(events(complete)).rounds[0]!.steps[0]!.message)
  })

  it("ignores the events of other runs, and those before the first start", () => {
    const view = fold(events(running))
    assert.strictEqual(RunView.apply(view, { ...events(complete).at(-1)!, runId: "another" }), view)
    assert.isUndefined(RunView.apply(undefined, events(complete)[3]!))
  })

  it("puts a nested run under its step, and adds its cost to all runs around it", () => {
    const nested = { ...started, parent: { runId, round: 0, step: 2 } } as Part
    const inner = events([nested, ...proposed, finished(0, "units", "7")], `${runId}/0/2`)
    const view = fold([...events(running), ...inner])
    const child = view.rounds[0]!.steps[2]!.nested!
    assert.strictEqual(child.rounds[0]!.steps[0]!.answer, "7")
    assert.deepStrictEqual([child.spend.calls, view.spend.calls], [1, 2])
    // The step that it answers is no call of its own.
    const step = events([finished(2, "self", "7")])[0]!
    const ended = RunView.apply(view, step)!
    assert.strictEqual(ended.spend.calls, 2)
    assert.deepStrictEqual(ended.rounds[0]!.steps[2]!.usage, child.spend.usage)
  })

  it("keeps of a stream no more than views show", () => {
    const delta: Part = { type: "step-delta", round: 0, step: 1, kind: "text", text: "x".repeat(1_000) }
    const view = fold(events([...running, ...Array.from({ length: 100 }, () => delta)]))
    assert.isAtMost(view.rounds[0]!.steps[1]!.streamed.length, 400)
  })

  it("starts a completion anew in every attempt", () => {
    const delta = (attempt: number, text: string): Part => ({
      type: "completion-delta",
      round: 0,
      attempt,
      kind: "text",
      text
    })
    const parts: ReadonlyArray<Part> = [
      started,
      { type: "round-started", round: 0 },
      delta(0, "mod"),
      delta(0, "el"),
      delta(1, "model_id")
    ]
    assert.strictEqual(fold(events(parts)).rounds[0]!.completion, "model_id")
  })
})
