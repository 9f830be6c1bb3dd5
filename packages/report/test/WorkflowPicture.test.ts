import { assert, describe, expect, it } from "@effect/vitest"
import * as CurvePicture from "../src/CurvePicture.ts"
import * as WorkflowPicture from "../src/WorkflowPicture.ts"

const step = (subtask: string) => ({ worker: 0, subtask, access: [] })

describe("the picture of a workflow", () => {
  it("has its steps, in their order, and its lines", () => {
    const workflow = {
      steps: [
        { worker: 1, subtask: "How many minutes are there in 3 days?", access: [] },
        { worker: 0, subtask: "What weekday is it 100 days after a Monday?", access: [] },
        { worker: 2, subtask: "Put both answers in one sentence.", access: "all" as const }
      ]
    }
    const svg = WorkflowPicture.render(workflow, "3 steps, best-of-n, width 2, depth 2")
    expect(svg.replace(/<style>[\s\S]*<\/style>/, "")).toMatchSnapshot()
    assert.include(svg, "prefers-color-scheme:dark")
  })

  it("escapes what XML would take for its own, and replaces what it forbids", () => {
    const svg = WorkflowPicture.render(
      { steps: [step("<script>&\"'\u0000\u001b[1m\ud800\uffff]]>\u202e")] },
      "One step"
    )
    assert.notInclude(svg, "<script")
    assert.include(svg, "&lt;script&gt;&amp;&quot;&#39;")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.notMatch(svg, /[\u0000-\u0009\u000b-\u001f\u202e\uffff]/)
    assert.isTrue(svg.isWellFormed())
  })

  it("cuts a subtask that would fill the page", () => {
    const svg = WorkflowPicture.render({ steps: [step("word ".repeat(500))] }, "One step")
    assert.isBelow(svg.split("<text").length, 15)
    assert.include(svg, "…")
  })

  it("draws a workflow without steps", () => {
    assert.include(WorkflowPicture.render({ steps: [] }, "the previous answer stands"), "the previous answer stands")
  })
})

describe("the picture of curves", () => {
  it("has a name, a legend and one path for each curve, with gaps where nothing is known", () => {
    const points = [0.1, 0.5, undefined, 0.7, 0.9].map((y, x) => ({ x, y }))
    const series = [
      { name: "</text><script>", colour: 0, points },
      { name: "second", colour: 1, points: points.slice(0, 2) }
    ]
    const svg = CurvePicture.render("Right & wrong", { series, format: String, includes: [0, 1] })
    assert.include(svg, '<title id="name">Right &amp; wrong</title>')
    assert.include(svg, "&lt;/text&gt;&lt;script&gt;")
    assert.notInclude(svg, "<script")
    const paths = [...svg.matchAll(/<path class="line c\d" d="([^"]+)"/g)].map(([, path]) => path!)
    assert.strictEqual(paths.length, 2)
    assert.strictEqual(paths[0]!.split("M").length - 1, 2)
    assert.notMatch(svg, /NaN|Infinity|undefined/)
  })
})
