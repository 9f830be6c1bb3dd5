import type { RunEvent } from "@divisi/core"
import { describe, expect, it } from "vitest"
import * as BlockView from "../src/view/BlockView.ts"
import * as PlainView from "../src/view/PlainView.ts"
import { events, finished, fold, started } from "./fixture.ts"

type Part = Parameters<typeof events>[0][number]

const workflow = {
  steps: [
    { worker: 0, subtask: "List.", access: [], gives: { list: 40 } },
    { worker: 0, subtask: "Review {item}.", access: [], each: 0 },
    { worker: 0, subtask: "Sum up.", access: [1] }
  ]
}

const failed = (item: string) =>
  ({ type: "step-failed", round: 0, step: 1, item, worker: "calendar", message: "boom", durationMillis: 1 }) as const

const map = (items: number, ended: number): ReadonlyArray<Part> => [
  started,
  { type: "round-started", round: 0 },
  { type: "workflow-proposed", round: 0, policy: "drawn", workflow, notes: [], durationMillis: 0 },
  { type: "step-started", round: 0, step: 0, worker: "calendar" },
  finished(0, "calendar", "[]"),
  { type: "step-unfolded", round: 0, step: 1, items },
  ...Array.from({ length: ended }, (_, index): Part => {
    const item = `${index}`
    return index === 2 ? failed(item) : { ...(finished(1, "calendar", "fine") as RunEvent.Of<"step-finished">), item }
  })
]

describe("a step that runs for items", () => {
  it("is shown by how many of them have ended", () => {
    const lines = BlockView.live(fold(events(map(40, 12))), { width: 80, now: 2_000 })
    expect(JSON.stringify(lines)).toContain("12 of 40 items, 1 failed")
  })

  it("is one line at its end, after a line for each failed item", () => {
    const run = fold(events([...map(4, 4), { type: "step-joined", round: 0, step: 1 }]))
    const lines = PlainView.entries(run).flatMap(({ lines }) => lines)
    expect(lines.some((line) => /^step 1 +item 2: calendar failed: boom$/u.test(line))).toBe(true)
    expect(lines.some((line) => /^step 1 +4 of 4 items, 1 failed \(/u.test(line))).toBe(true)
  })
})
