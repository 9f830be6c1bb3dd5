import { assert, describe, it } from "@effect/vitest"
import { rounded, whole } from "../src/chart/Axes.ts"
import { smoothed } from "../src/chart/Lines.ts"
import { excerpt, html } from "../src/page/Html.ts"
import * as TrainingPage from "../src/TrainingPage.ts"
import * as Curves from "../src/training/Curves.ts"
import { chartFigure } from "../src/training/charts.ts"
import { drawn } from "../src/training/samples.ts"
import * as Windows from "../src/training/Windows.ts"
import { hostile, type Options, run, workers } from "./madeUpRun.ts"

const page = (options: Options = {}): string => TrainingPage.render(run(options))

describe("the page of a training", () => {
  it("shows what models wrote as text, and loads and runs nothing", () => {
    const text = page()
    assert.include(text, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;")
    assert.include(text, "made-up &lt;run&gt;")
    assert.notInclude(text, hostile)
    assert.notMatch(text, /<(script|img|link|iframe|object|embed|a)\b/i)
    assert.notMatch(text, /\s(src|href|on\w+)\s*=\s*"/i)
    assert.notMatch(text, /url\(|@import/)
    assert.notMatch(text, /[\u202a-\u202e\ufeff]/)
    assert.include(text, `default-src 'none';`)
  })

  it("closes every element that it opens", () => {
    const text = page()
    for (const name of ["div", "figure", "svg", "table", "details", "section", "article", "span", "ol", "ul", "g"]) {
      const opened = text.match(new RegExp(`<${name}[\\s>]`, "g"))?.length
      assert.strictEqual(opened, text.match(new RegExp(`</${name}>`, "g"))?.length, name)
    }
  })

  it("has a name and a table for every picture", () => {
    const text = page()
    const figures = text.split("<figure>").slice(1)
    assert.isAtLeast(figures.length, 15)
    for (const figure of figures) {
      assert.match(figure, /role="img" aria-label="[^"]+"/)
      assert.match(figure, /<table>/)
    }
  })

  it("shows the first and the last tenth of the learning, by kind and by worker", () => {
    const { metrics, rollouts = [] } = run({ warmStart: 20, iterations: 60 })
    const { early, late } = Windows.make(metrics)!
    const samples = { early: drawn(rollouts, early), late: drawn(rollouts, late) }
    assert.deepStrictEqual(
      [Curves.endsOf(early), Curves.endsOf(late)],
      [
        { from: 20, to: 25 },
        { from: 74, to: 79 }
      ]
    )
    const learned = metrics.flatMap((metrics) => (metrics.type === "grpo" ? [metrics] : []))
    const mean = learned.slice(-6).reduce((sum, { rewardMean }) => sum + rewardMean, 0) / 6
    assert.closeTo(
      Curves.mean(
        late,
        Curves.ofGrpo(({ rewardMean }) => rewardMean)
      )!,
      mean,
      1e-12
    )
    const asked = learned.slice(0, 6).reduce((sum, { kinds }) => sum + kinds.logic!.workers.abacus!, 0)
    assert.strictEqual(Curves.kinds(early).get("logic")!.workers.get("abacus"), asked)
    assert.deepStrictEqual([...samples.early.keys()].sort(), ["arithmetic", "calendar", "composite", "logic", "units"])
    for (const { completion } of samples.late.values()) assert.isAtLeast(completion.iteration, 74)
  })

  it("keeps shares and other measures of the held-out evaluation apart", () => {
    const [, shares, others] = page().split(/<h3>Held-out evaluation/)
    assert.include(shares!.split("</figure>")[0]!, "accuracy")
    assert.notInclude(shares!.split("</figure>")[0]!, "calls")
    assert.include(others!.split("</figure>")[0]!, "calls <b>1.5</b>")
  })

  it("is the same for the same run", () => {
    assert.strictEqual(page(), page())
  })

  it("does without rollouts, with a single iteration, and with a warm start alone", () => {
    const bare = page({ rollouts: false })
    assert.notInclude(bare, "What it writes")
    assert.include(page({ warmStart: 0, iterations: 1 }), "Who is asked")
    const warm = page({ iterations: 0 })
    assert.include(warm, "Warm start: loss of a token")
    assert.notInclude(warm, "Who is asked")
  })
})

describe("curves", () => {
  it("draw no more of a long run than of a short one, and the same means", () => {
    const { metrics } = run({ warmStart: 0, iterations: 1_300, rollouts: false })
    const parts = Curves.buckets(metrics, 300)
    assert.isAtMost(parts.length, 300)
    assert.deepStrictEqual(parts.flat(), metrics)
    const mean = metrics.reduce((sum, one) => sum + (one.type === "grpo" ? one.rewardMean : 0), 0) / 1_300
    const found = Curves.mean(
      metrics,
      Curves.ofGrpo(({ rewardMean }) => rewardMean)
    )
    assert.closeTo(found!, mean, 1e-9)
    assert.deepStrictEqual(Curves.endsOf(metrics), { from: 0, to: 1_299 })
    assert.deepStrictEqual([...Curves.kinds(metrics).get("units")!.workers.keys()], workers)
    const lengthOf = (iterations: number) => page({ warmStart: 0, iterations, rollouts: false }).length
    assert.isBelow(lengthOf(1_300), 1.2 * lengthOf(300))
  })

  it("count an iteration once that was done again", () => {
    const { metrics } = run({ warmStart: 2, iterations: 5 })
    const done = Curves.once([...metrics.slice(0, 5), ...metrics.slice(3)])
    assert.deepStrictEqual(done, metrics)
    assert.deepStrictEqual(
      Curves.phases(done).map(({ from, name, to }) => [name, from, to]),
      [
        ["warm start", 0, 1],
        ["learn", 2, 6]
      ]
    )
  })

  it("are smoothed without their gaps", () => {
    const points = [1, undefined, 3, 8].map((y, x) => ({ x, y }))
    assert.deepStrictEqual(
      smoothed(points, 1).map(({ y }) => y),
      [1, undefined, 5.5, 5.5]
    )
  })

  it("are not drawn where nothing is known", () => {
    const chart = { title: "t", format: String, series: [{ name: "s", colour: 0, points: [{ x: 0, y: undefined }] }] }
    assert.isUndefined(chartFigure(chart))
    const alone = { ...chart, series: [{ name: "s", colour: 0, points: [{ x: 3, y: 5 }] }] }
    assert.notMatch(String(chartFigure(alone)), /NaN|Infinity/)
  })
})

describe("axes", () => {
  it("have marks at round values that cover all", () => {
    assert.deepStrictEqual(rounded(0, 1).ticks, [0, 0.2, 0.4, 0.6, 0.8, 1])
    assert.deepStrictEqual(rounded(0.3, 0.7).ticks, [0.3, 0.4, 0.5, 0.6, 0.7])
    assert.deepStrictEqual(rounded(-3, 11).ticks, [-5, 0, 5, 10, 15])
    assert.deepStrictEqual(whole(0, 3, [0, 300]).ticks, [0, 1, 2, 3])
    assert.strictEqual(rounded(0, 1, [200, 0]).at(0.5), 100)
    assert.isTrue(Number.isFinite(rounded(2, 2, [200, 0]).at(2)))
    assert.deepStrictEqual([rounded(0, 0, [200, 0]).ticks[0], rounded(0, 0, [200, 0]).at(0)], [0, 200])
  })
})

describe("templates", () => {
  it("escape all but templates", () => {
    assert.strictEqual(
      html`<p title="${'"'}">${["<b>", html`<i>`]}${undefined}${false}${0}</p>`.toString(),
      `<p title="&quot;">&lt;b&gt;<i>0</p>`
    )
  })

  it("cut a text between characters, and say how much is missing", () => {
    assert.strictEqual(excerpt("abc", 3), "abc")
    assert.strictEqual(excerpt("ab😀cd", 3), "ab\ufffd… (3 more characters)")
  })
})
