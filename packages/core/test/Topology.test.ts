import { assert, describe, expect, it } from "@effect/vitest"
import * as Topology from "../src/workflow/Topology.ts"
import type * as Workflow from "../src/workflow/Workflow.ts"

const workflow = (...access: ReadonlyArray<Workflow.Access>): Workflow.Workflow => ({
  steps: access.map((access, index) => ({ worker: index, subtask: `Part ${index}`, access }))
})

const topology = (...access: ReadonlyArray<Workflow.Access>) => Topology.make(workflow(...access))

describe("shape", () => {
  const shapes: ReadonlyArray<readonly [Topology.Shape, ReadonlyArray<Workflow.Access>]> = [
    ["empty", []],
    ["single", [[]]],
    ["single", ["all"]],
    ["chain", [[], "all"]],
    ["chain", ["all", "all", "all", "all"]],
    ["chain", [[], [0], [1]]],
    ["chain", [[], [0], [0, 1]]],
    ["tree", [[], [], "all"]],
    ["tree", [[], [], [], [0, 1, 2]]],
    ["tree", [[], [], [0], [1], [2, 3]]],
    ["tree", [[], [], "all", "all"]],
    ["tree", [[], [0], [], [1, 2]]],
    ["dag", [[], [0], [0], [1, 2]]],
    ["dag", [[], []]],
    ["dag", [[], [], [], [0, 1]]],
    ["dag", [[], [], [0, 1], [0, 1], "all"]]
  ]
  for (const [name, access] of shapes) {
    it(`${name}: ${JSON.stringify(access)}`, () => assert.strictEqual(Topology.shape(topology(...access)), name))
  }

  it("takes attempts at one subtask with a judge for best-of-n, and parts that are joined for a tree", () => {
    const steps = (...subtasks: ReadonlyArray<string>) =>
      subtasks.map((subtask, worker) => ({
        worker,
        subtask,
        access: worker < subtasks.length - 1 ? [] : ("all" as const)
      }))
    const shapeOf = (...subtasks: ReadonlyArray<string>) => Topology.shape(Topology.make({ steps: steps(...subtasks) }))
    assert.strictEqual(shapeOf("", "", "Judge."), "best-of-n")
    assert.strictEqual(shapeOf("Solve it.", " solve  IT.", "Judge."), "best-of-n")
    assert.strictEqual(shapeOf("Search.", "Calculate.", "Join both."), "tree")
    assert.strictEqual(shapeOf("Try.", "Try.", "Check the dates.", "Join all."), "tree")
  })

  it("takes a majority of independent steps for best-of-n", () => {
    assert.strictEqual(Topology.shape(Topology.make({ ...workflow([], [], []), answer: "majority" })), "best-of-n")
    assert.strictEqual(Topology.shape(Topology.make({ ...workflow([], [0], []), answer: "majority" })), "dag")
  })
})

describe("measures", () => {
  it("layers steps by the longest way to them", () => {
    const one = topology([], [], [0], "all", [1])
    assert.deepStrictEqual(Topology.layers(one), [[0, 1], [2, 4], [3]])
    assert.strictEqual(Topology.width(one), 2)
    assert.strictEqual(Topology.depth(one), 3)
  })

  it("knows no steps", () => {
    const none = topology()
    assert.deepStrictEqual(Topology.layers(none), [])
    assert.strictEqual(Topology.width(none), 0)
    assert.deepStrictEqual(Topology.criticalPath(none), { steps: [], length: 0 })
    assert.deepStrictEqual(Topology.layout(none), { layers: 0, lanes: 0, steps: [], edges: [] })
  })

  it("finds the critical path by depth, and by durations", () => {
    const one = topology([], [], [0, 1], [], [2, 3])
    assert.deepStrictEqual(Topology.criticalPath(one), { steps: [0, 2, 4], length: 3 })
    assert.deepStrictEqual(Topology.criticalPath(one, [10, 20, 5, 40, 1]), { steps: [3, 4], length: 41 })
    assert.deepStrictEqual(Topology.criticalPath(one, [10, 20, 5, undefined, 1]), { steps: [1, 2, 4], length: 26 })
  })

  it("ends the critical path where the time ends, which need not be the last step", () => {
    assert.deepStrictEqual(Topology.criticalPath(topology([], []), [9, 3]), { steps: [0], length: 9 })
  })
})

describe("diagrams", () => {
  it("draws the reduction in Mermaid", () => {
    assert.strictEqual(
      Topology.toMermaid(topology([], "all", "all")),
      [
        "flowchart TD",
        '  0["Step 0: Model 0<br/>Part 0"]',
        '  1["Step 1: Model 1<br/>Part 1"]',
        '  2["Step 2: Model 2<br/>Part 2"]',
        "  0 --> 1",
        "  1 --> 2"
      ].join("\n")
    )
  })

  it("draws the reduction in DOT", () => {
    assert.strictEqual(
      Topology.toDot(topology([], [], "all"), { label: (step, index) => `${index}:${step.worker}` }),
      [
        'digraph "workflow" {',
        '  "0" [label="0:0"];',
        '  "1" [label="1:1"];',
        '  "2" [label="2:2"];',
        '  "0" -> "2" [label=""];',
        '  "1" -> "2" [label=""];',
        "}"
      ].join("\n")
    )
  })

  it("escapes labels, and shortens long subtasks between characters", () => {
    const hostile = Topology.make({ steps: [{ worker: 0, subtask: '"]; --> <b>\n\\ {x}', access: [] }] })
    assert.notMatch(Topology.toMermaid(hostile).split("\n")[1]!.slice(5, -2), /["[\]{}]/)
    assert.include(Topology.toDot(hostile), '\\"]; --> <b> \\\\ {x}"];')
    const acting = Topology.make({ steps: [{ worker: 0, subtask: "a\u001b[2J\u009b31m\u202eb", access: [] }] })
    for (const diagram of [Topology.toMermaid(acting), Topology.toDot(acting)]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.notMatch(diagram, /[\u001b\u0080-\u009f\u202e]/)
    }
    const long = Topology.make({ steps: [{ worker: 0, subtask: "🎻".repeat(100), access: [] }] })
    assert.include(Topology.toDot(long), `${"🎻".repeat(59)}…`)
  })
})

describe("layout", () => {
  it("centres layers, and draws only the edges of the reduction", () => {
    const layout = Topology.layout(topology([], [], [], "all", "all"))
    assert.deepStrictEqual(layout.steps, [
      { layer: 0, lane: 0 },
      { layer: 0, lane: 1 },
      { layer: 0, lane: 2 },
      { layer: 1, lane: 1 },
      { layer: 2, lane: 1 }
    ])
    assert.deepStrictEqual(
      layout.edges.map(({ from, to }) => [from, to]),
      [
        [0, 3],
        [1, 3],
        [2, 3],
        [3, 4]
      ]
    )
  })

  it("leads edges around the steps in their way", () => {
    const layout = Topology.layout(topology([], [0], [1], [], [2, 3]))
    const long = layout.edges.find((edge) => edge.from === 3)!
    assert.deepStrictEqual(
      long.points.map((point) => point.layer),
      [0, 1, 2, 3]
    )
    for (const { lane, layer } of long.points.slice(1, -1)) {
      assert.isFalse(layout.steps.some((step) => step.layer === layer && step.lane === lane))
    }
  })

  it("orders the steps of a layer so that edges do not cross", () => {
    const { steps } = Topology.layout(topology([], [], [1], [0], [2, 3]))
    assert.strictEqual(steps[0]!.lane < steps[1]!.lane, steps[3]!.lane < steps[2]!.lane)
  })
})

describe("a workflow with items", () => {
  const workflow: Workflow.Workflow = {
    steps: [
      { worker: 0, subtask: "List.", access: [], gives: { list: 4 } },
      { worker: 0, subtask: "Review.", access: [], each: 0 },
      { worker: 0, subtask: "Verify.", access: [1], each: 1 },
      { worker: 0, subtask: "Sum up.", access: [2] }
    ]
  }

  it("is a map, with an edge to each step that runs for the items", () => {
    const topology = Topology.make(workflow)
    expect(Topology.shape(topology)).toBe("map")
    expect(Topology.layers(topology)).toEqual([[0], [1], [2], [3]])
    expect(Topology.toMermaid(topology)).toContain("Step 1 ×n")
  })

  it("has the critical path of its items, which wait for their own inputs alone", () => {
    const item = (item: string, durationMillis: number) => ({ item, durationMillis })
    const {
      durations,
      places,
      workflow: unfolded
    } = Topology.unfold(workflow, [
      { durationMillis: 5 },
      { items: [item("0", 100), item("1", 10)] },
      { items: [item("0", 10), item("1", 100)] },
      { durationMillis: 1, without: [] }
    ])
    const { length, steps } = Topology.criticalPath(Topology.make(unfolded), durations)
    // A barrier between the two stages would make it 5 + 100 + 100 + 1.
    expect(length).toBe(116)
    expect(steps.map((step) => places[step])).toEqual(["0", "1[0]", "2[0]", "3"])
  })
})
