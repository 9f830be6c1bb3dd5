import { assert, describe, expect, it } from "@effect/vitest"
import * as CurvePicture from "../src/CurvePicture.ts"
import * as EstimatePicture from "../src/EstimatePicture.ts"
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
    assert.include(
      WorkflowPicture.render({ steps: [] }, "the previous answer is final"),
      "the previous answer is final"
    )
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

describe("the picture of estimates", () => {
  const of = (mean: number) => ({ mean, standardError: 0.05 })
  const svg = EstimatePicture.render("Right & wrong", {
    series: ["</text><script>", "second"],
    rows: [
      { name: "first row", estimates: [of(0.9), of(0.1)] },
      { name: "second row", estimates: [undefined, of(0.5)] }
    ],
    format: (share) => `${Math.round(100 * share)} %`,
    range: [0, 1]
  })

  it("has a dot in its error for each estimate, further right for more, and none where there is no estimate", () => {
    const places = [...svg.matchAll(/<circle class="c(\d)" cx="([\d.]+)" cy="([\d.]+)" r="4.5">/g)].map(
      ([, series, x, y]) => [series, Number(x), Number(y)] as const
    )
    assert.deepStrictEqual(
      places.map(([series]) => series),
      ["0", "1", "1"]
    )
    assert.isAbove(places[0]![1], places[2]![1])
    assert.isAbove(places[2]![1], places[1]![1])
    assert.strictEqual(places[0]![2], places[1]![2])
    assert.isAbove(places[2]![2], places[1]![2])
    assert.lengthOf(svg.match(/<line class="line c/g) ?? [], 3)
  })

  it("has names that are text, and values in words when the pointer is over a dot", () => {
    assert.include(svg, '<title id="name">Right &amp; wrong</title>')
    assert.notInclude(svg, "<script")
    assert.include(svg, "second: 50 %")
    assert.notMatch(svg, /NaN|Infinity|undefined/)
  })
})
