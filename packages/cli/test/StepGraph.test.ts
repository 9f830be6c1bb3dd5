import type { Workflow } from "@divisi/core"
import { assert, describe, it } from "@effect/vitest"
import * as StepGraph from "../src/view/StepGraph.ts"

const drawing = (access: ReadonlyArray<Workflow.Access>, answer?: "majority"): ReadonlyArray<string> => {
  const workflow: Workflow.Workflow = {
    steps: access.map((access) => ({ worker: 0, subtask: "", access })),
    ...(answer === undefined ? {} : { answer })
  }
  const { rows, vote } = StepGraph.make(workflow)
  const lines = rows.flatMap((row) => [row.node, row.below])
  return (vote === undefined ? lines : [...lines, vote.node]).map((line) => line.trimEnd())
}

describe("StepGraph", () => {
  it("draws a chain straight down, also where every step sees all", () => {
    assert.deepStrictEqual(drawing([[], "all", "all"]), ["●", "│", "●", "│", "●", ""])
  })

  it("draws independent attempts and a judge", () => {
    assert.deepStrictEqual(drawing([[], [], "all"]), ["●", "│", "│ ●", "│ │", "●─┘", ""])
  })

  it("draws two chains that are joined", () => {
    assert.deepStrictEqual(drawing([[], [], [0], [1], "all"]), [
      "●",
      "│",
      "│ ●",
      "│ │",
      "● │",
      "│ │",
      "│ ●",
      "│ │",
      "●─┘",
      ""
    ])
  })

  it("draws one plan for two attempts, and a rail that is only passed", () => {
    assert.deepStrictEqual(drawing([[], [0], [0], [1], [2, 3]]), [
      "●",
      "│",
      "├─●",
      "│ │",
      "● │",
      "│ │",
      "│ ●",
      "│ │",
      "●─┘",
      ""
    ])
  })

  it("does not link a step to a hidden one above it", () => {
    assert.deepStrictEqual(drawing([[], []]), ["●", "", "  ●", ""])
  })

  it("draws the vote of a majority as one more node", () => {
    assert.deepStrictEqual(drawing([[], [], []], "majority"), ["●", "│", "│ ●", "│ │", "│ │ ●", "│ │ │", "●─┴─┘"])
  })

  it("makes all rows equally wide", () => {
    const { rows } = StepGraph.make({
      steps: ([[], [], [], [0, 1], "all"] as const).map((access) => ({ worker: 0, subtask: "", access }))
    })
    assert.strictEqual(new Set(rows.flatMap(({ below, node }) => [below.length, node.length])).size, 1)
  })

  it("draws nothing for no steps", () => {
    assert.deepStrictEqual(drawing([]), [])
  })
})
