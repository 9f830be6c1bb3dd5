import { assert, describe, it } from "@effect/vitest"
import * as SessionPage from "../src/SessionPage.ts"
import * as Spans from "../src/session/Spans.ts"

import { begin, run } from "./madeUpSession.ts"

const hostile = `</pre></article><script>alert("x")</script><img src="http://example.com/x.png" onerror=alert(1)>\u202e&amp;\u0007`

const twice = [run("a", 0, "First?"), run("b", 20_000, "Second?")]

describe("the figures of a session", () => {
  const figures = SessionPage.figures({ title: "Two runs", runs: twice })

  it("add up: by worker, by purpose and in all", () => {
    const sum = (spends: ReadonlyArray<{ readonly costUsd: number; readonly calls: number }>) => [
      spends.reduce((total, { costUsd }) => total + costUsd, 0).toFixed(6),
      spends.reduce((total, { calls }) => total + calls, 0)
    ]
    assert.deepStrictEqual(sum([figures.spend]), ["1.460000", 10])
    assert.deepStrictEqual(sum(figures.workers.map(({ spend }) => spend)), sum([figures.spend]))
    assert.deepStrictEqual(sum(Object.values(figures.purposes)), sum([figures.spend]))
  })

  it("say who did what: calls by what they were for, those that failed, and tools", () => {
    assert.deepStrictEqual(
      figures.workers.map(({ spend: _, ...rest }) => rest),
      [
        { id: "large", calls: { plan: 0, step: 0, answer: 6, judgement: 0 }, lostCalls: 2, toolCalls: 2 },
        { id: "small", calls: { plan: 0, step: 2, answer: 0, judgement: 0 }, lostCalls: 0, toolCalls: 0 },
        { id: "planner", calls: { plan: 2, step: 0, answer: 0, judgement: 0 }, lostCalls: 0, toolCalls: 0 }
      ]
    )
  })

  it("tell orchestration from answers", () => {
    assert.closeTo(figures.orchestration.cost!, 0.03 / 0.73, 1e-9)
    assert.closeTo(figures.orchestration.tokens!, 330 / 1100, 1e-9)
  })

  it("part the time of workers from that of tools, and count what runs at once a single time", () => {
    assert.deepStrictEqual([figures.workedMillis, figures.toolMillis, figures.to - begin], [12_000, 8_000, 30_000])
    const atOnce = SessionPage.figures({ title: "At once", runs: [twice[0]!, run("c", 0, "Third?")] })
    assert.deepStrictEqual([atOnce.workedMillis, atOnce.toolMillis], [6_000, 4_000])
  })

  it("show the same tokens at one worker's price, all of them and those of answers, with a price per call", () => {
    const pricing = { inputPerMillion: 1_000, outputPerMillion: 10_000, perCall: 0.5 }
    const { against } = SessionPage.figures({ title: "", runs: twice, against: { worker: "strong", pricing } })
    assert.closeTo(against!.allUsd, 2 * (1 + 1 + 5 * 0.5), 1e-9)
    assert.closeTo(against!.answersUsd, 2 * (0.7 + 0.7 + 3 * 0.5), 1e-9)
  })
})

describe("the page of runs in which no worker was asked", () => {
  const { answer: _, rounds: __, spend: ___, ...whole } = run("a", 0, "Refused?")
  const refused = { ...whole, ending: "refused", detail: "Not here.", rounds: [], durationMillis: 5 } as const
  const page = SessionPage.render({ title: "Refused", runs: [refused] })

  it("has no empty frames: the run is in a table, and there is nothing to draw", () => {
    assert.include(page, "Refused?")
    assert.include(page, "1 refused")
    assert.notInclude(page, "<figure>")
    assert.notInclude(page, 'class="legend"')
    assert.notMatch(page, /<svg[^>]*><\/svg>/)
    assert.notMatch(page, /<section id="(?:workers|purposes)">/)
  })
})

describe("the spans of a run", () => {
  it("are its calls and its tools, without empty gaps", () => {
    const spans = Spans.of(twice[0]!).map(({ from, to, worker }) => [from - begin, to - begin, worker])
    assert.deepStrictEqual(spans, [
      [0, 1_000, "planner"],
      [1_000, 3_000, "small"],
      [3_000, 5_000, "large"],
      [5_000, 9_000, undefined],
      [9_000, 10_000, "large"]
    ])
  })

  it("are in lanes if they overlap", () => {
    const spans = [
      { from: 0, to: 5, worker: "a" },
      { from: 1, to: 2, worker: "b" },
      { from: 2, to: 9, worker: "b" },
      { from: 5, to: 6, worker: "a" }
    ]
    assert.deepStrictEqual(
      Spans.lanes(spans).map((lane) => lane.map(({ worker }) => worker)),
      [
        ["a", "a"],
        ["b", "b"]
      ]
    )
  })
})

describe("the page of a session", () => {
  it("shows questions as text, without what a client put before them, and no answers", () => {
    const asked = `<system-reminder>Never mind.</system-reminder>\n <env>linux</env> ${hostile} What is it?`
    const text = SessionPage.render({ title: hostile, runs: [run("a", 0, asked)] })
    assert.include(text, "&lt;script&gt;")
    assert.notInclude(text, hostile)
    assert.notInclude(text, "Never mind")
    assert.notInclude(text, "The secret answer")
    assert.notMatch(text, /<(script|img|link|iframe|object|embed|a)\b/i)
    assert.notMatch(text, /NaN|Infinity|undefined/)
  })

  it("describes an estimate as hypothetical, and compares nothing without data", () => {
    const pricing = { inputPerMillion: 1, outputPerMillion: 2 }
    const text = SessionPage.render({ title: "", runs: twice, against: { worker: "strong", pricing }, alone: twice })
    assert.include(text, "Estimated, not measured")
    assert.include(text, "one worker, measured")
    assert.notInclude(SessionPage.render({ title: "", runs: twice }), "Compared with one strong worker")
  })

  it("draws so many runs that it can be read, those that cost most, and says how many it left out", () => {
    const many = Array.from({ length: 130 }, (_, index) => run(`r${index}`, index * 1_000, `Question ${index}?`))
    const text = SessionPage.render({ title: "Many", runs: many })
    assert.strictEqual(text.match(/<div class="row">\s*<span class="name" title="Question/g)?.length, 100)
    assert.include(text, "30 cost less")
  })

  it("closes every element that it opens, and is the same for the same session", () => {
    const text = SessionPage.render({ title: "Two", runs: twice })
    for (const name of ["div", "figure", "svg", "table", "details", "section", "span", "ul", "dl"]) {
      const opened = text.match(new RegExp(`<${name}[\\s>]`, "g"))?.length
      assert.strictEqual(opened, text.match(new RegExp(`</${name}>`, "g"))?.length, name)
    }
    assert.strictEqual(text, SessionPage.render({ title: "Two", runs: twice }))
  })
})
