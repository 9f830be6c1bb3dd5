import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type { Metrics } from "../src/Metrics.ts"
import * as Report from "../src/Report.ts"
import * as RunLayout from "../src/RunLayout.ts"
import * as Curves from "../src/report/Curves.ts"
import { excerpt, html } from "../src/report/Html.ts"
import { lineChart, smoothed } from "../src/report/LineChart.ts"
import * as Scale from "../src/report/Scale.ts"
import * as Windows from "../src/report/Windows.ts"
import { hostile, inFolder, type Options, workers, write } from "./reportRun.ts"

const read = (folder: string) => Effect.runPromise(Report.read(folder))

const failure = (folder: string) => Effect.runPromise(Effect.flip(Report.read(folder)))

const page = (options: Options = {}): Promise<string> =>
  inFolder(async (folder) => {
    write(folder, options)
    return Report.render(await read(folder))
  })

const metricsOf = (folder: string): ReadonlyArray<Metrics> =>
  readFileSync(path.join(folder, RunLayout.metrics), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("a report", () => {
  it("shows what models wrote as text, and loads and runs nothing", async () => {
    const text = await page()
    assert.include(text, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;")
    assert.include(text, "made-up &lt;run&gt;")
    assert.notInclude(text, hostile)
    assert.notMatch(text, /<(script|img|link|iframe|object|embed|a)\b/i)
    assert.notMatch(text, /\s(src|href|on\w+)\s*=\s*"/i)
    assert.notMatch(text, /url\(|@import/)
    assert.notMatch(text, /[\u202a-\u202e\ufeff]/)
    assert.include(text, `default-src &#39;none&#39;;`)
  })

  it("closes every element that it opens", async () => {
    const text = await page()
    for (const name of ["div", "figure", "svg", "table", "details", "section", "article", "span", "ol", "ul", "g"]) {
      const opened = text.match(new RegExp(`<${name}[\\s>]`, "g"))?.length
      assert.strictEqual(opened, text.match(new RegExp(`</${name}>`, "g"))?.length, name)
    }
  })

  it("has a name and a table for every picture", async () => {
    const text = await page()
    const figures = text.split("<figure>").slice(1)
    assert.isAtLeast(figures.length, 15)
    for (const figure of figures) {
      assert.match(figure, /role="img" aria-label="[^"]+"/)
      assert.match(figure, /<table>/)
    }
  })

  it("sets the first tenth of the learning beside the last, by kind and by worker", () =>
    inFolder(async (folder) => {
      write(folder, { warmStart: 20, iterations: 60 })
      const { curves, samples } = await read(folder)
      const { early, late } = Windows.make(curves)!
      assert.deepStrictEqual([early.from, early.to, late.from, late.to], [20, 25, 74, 79])
      const learned = metricsOf(folder).flatMap((metrics) => (metrics.type === "grpo" ? [metrics] : []))
      const mean = learned.slice(-6).reduce((sum, { rewardMean }) => sum + rewardMean, 0) / 6
      assert.closeTo(late.mean("reward")!, mean, 1e-12)
      const asked = learned.slice(0, 6).reduce((sum, { kinds }) => sum + kinds.logic!.workers.abacus!, 0)
      assert.strictEqual(early.kinds.get("logic")!.workers.get("abacus"), asked)
      assert.deepStrictEqual([...samples.early.keys()].sort(), [
        "arithmetic",
        "calendar",
        "composite",
        "logic",
        "units"
      ])
      for (const sample of samples.late.values()) assert.isAtLeast(sample.iteration, 74)
    }))

  it("keeps shares and other measures of the held-out evaluation apart", async () => {
    const [, shares, others] = (await page()).split(/<h3>Held-out evaluation/)
    assert.include(shares!.split("</figure>")[0]!, "accuracy")
    assert.notInclude(shares!.split("</figure>")[0]!, "calls")
    assert.include(others!.split("</figure>")[0]!, "calls <b>1.5</b>")
  })

  it("is the same for the same run", async () => {
    assert.strictEqual(await page(), await page())
  })

  it("reads a run that was stopped while it wrote", () =>
    inFolder(async (folder) => {
      write(folder, { iterations: 10 })
      appendFileSync(path.join(folder, RunLayout.metrics), '{"type":"grpo","iteration":30,"rewa')
      truncateSync(path.join(folder, RunLayout.rolloutsOf(29)), 300)
      const { curves, samples } = await read(folder)
      assert.strictEqual(curves.iterations, 30)
      assert.isAtLeast(samples.early.size, 5)
      assert.include(Report.render({ ...(await read(folder)) }), "What it learned")
    }))

  it("does without rollouts, with a single iteration, and with a warm start alone", async () => {
    const bare = await page({ rollouts: false })
    assert.notInclude(bare, "What it writes")
    assert.include(await page({ warmStart: 0, iterations: 1 }), "Who is asked")
    const warm = await page({ iterations: 0 })
    assert.include(warm, "Warm start: loss of a token")
    assert.notInclude(warm, "Who is asked")
  })

  it("says what a folder lacks", () =>
    inFolder(async (folder) => {
      assert.include((await failure(folder)).message, "has no config.json")
      writeFileSync(path.join(folder, RunLayout.config), '{"version":99}')
      assert.include((await failure(folder)).message, "version 99")
      writeFileSync(path.join(folder, RunLayout.config), "{")
      assert.include((await failure(folder)).message, "not valid JSON")
      writeFileSync(path.join(folder, RunLayout.config), '{"version":1}')
      assert.include((await failure(folder)).message, "no iteration has ended")
    }))
})

describe("curves", () => {
  it("keep no more of a long run than of a short one, and the same means", () =>
    inFolder(async (folder) => {
      write(folder, { warmStart: 0, iterations: 1_300, rollouts: false })
      const { curves } = await read(folder)
      const metrics = metricsOf(folder)
      assert.isAtMost(curves.buckets.length, 512)
      assert.strictEqual(curves.iterations, 1_300)
      const whole = Curves.join(curves.buckets)
      const mean = metrics.reduce((sum, one) => sum + (one.type === "grpo" ? one.rewardMean : 0), 0) / 1_300
      assert.closeTo(Curves.mean(whole, "reward")!, mean, 1e-9)
      assert.deepStrictEqual([whole.from, whole.to], [0, 1_299])
      curves.buckets.forEach((bucket, index) => {
        assert.strictEqual(bucket.from, index === 0 ? 0 : curves.buckets[index - 1]!.to + 1)
      })
      assert.deepStrictEqual([...whole.kinds.get("units")!.workers.keys()], workers)
    }))

  it("count an iteration once that was done again", () =>
    inFolder(async (folder) => {
      write(folder, { warmStart: 2, iterations: 5 })
      const recorder = Curves.recorder()
      const metrics = metricsOf(folder)
      for (const one of [...metrics.slice(0, 5), ...metrics.slice(3)]) recorder.add(one)
      assert.strictEqual(recorder.curves().iterations, 7)
      assert.deepStrictEqual(
        recorder.curves().phases.map(({ from, name, to }) => [name, from, to]),
        [
          ["warm start", 0, 1],
          ["learn", 2, 6]
        ]
      )
    }))

  it("are smoothed without their gaps", () => {
    const points = [1, undefined, 3, 8].map((y, x) => ({ x, y }))
    assert.deepStrictEqual(
      smoothed(points, 1).map(({ y }) => y),
      [1, undefined, 5.5, 5.5]
    )
  })

  it("are not drawn where nothing is known", () => {
    const chart = { title: "t", format: String, series: [{ name: "s", colour: 0, points: [{ x: 0, y: undefined }] }] }
    assert.isUndefined(lineChart(chart))
    const one = lineChart({ ...chart, series: [{ name: "s", colour: 0, points: [{ x: 3, y: 5 }] }] })!
    assert.notMatch(one.markup, /NaN|Infinity/)
  })
})

describe("scales", () => {
  it("have marks at round values that cover all", () => {
    assert.deepStrictEqual(Scale.ticks(0, 1, 4), [0, 0.5, 1])
    assert.deepStrictEqual(Scale.ticks(0.3, 0.7, 4), [0.3, 0.4, 0.5, 0.6, 0.7])
    assert.deepStrictEqual(Scale.ticks(-3, 11, 4), [-5, 0, 5, 10, 15])
    assert.deepStrictEqual(Scale.whole(0, 3, 0, 300).ticks, [0, 1, 2, 3])
    assert.strictEqual(Scale.rounded(0, 1, 200, 0).at(0.5), 100)
    assert.isTrue(Number.isFinite(Scale.rounded(2, 2, 200, 0).at(2)))
    assert.deepStrictEqual([Scale.rounded(0, 0, 200, 0).ticks[0], Scale.rounded(0, 0, 200, 0).at(0)], [0, 200])
  })
})

describe("templates", () => {
  it("escape all but templates", () => {
    assert.strictEqual(
      html`<p title="${'"'}">${["<b>", html`<i>`]}${undefined}${false}${0}</p>`.markup,
      `<p title="&quot;">&lt;b&gt;<i>0</p>`
    )
  })

  it("cut a text between characters, and say how much is missing", () => {
    assert.strictEqual(excerpt("abc", 3), "abc")
    assert.strictEqual(excerpt("ab😀cd", 3), "ab\ufffd… (3 more characters)")
  })
})
