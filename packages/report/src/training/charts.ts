/** The curves of a run: what it learned, and how the optimiser fared. */
import { svg } from "../chart/Axes.ts"
import { type Lines, last, lines, type Point, type Series, standardHeight } from "../chart/Lines.ts"
import { figure, legend } from "../page/Figure.ts"
import { type Html, html } from "../page/Html.ts"
import { percent, short, unknown, usd } from "../page/Numbers.ts"
import { section } from "../page/Page.ts"
import { colours } from "../page/Style.ts"
import { spread, table } from "../page/Table.ts"
import { type Curves, type KindSum, mean, namesOf, regroup, sumKinds } from "./Curves.ts"

// -------------------------------------------------------------------------------------------------------------------
// Figures
// -------------------------------------------------------------------------------------------------------------------

interface Chart extends Omit<Lines, "marks" | "height"> {
  readonly title: string
  /** A sentence on what is seen. */
  readonly note?: string | undefined
}

const mostRows = 12

const numbers = ({ format, series, title }: Chart): Html => {
  const xs = [...new Set(series.flatMap(({ points }) => points.map(({ x }) => x)))].sort((a, b) => a - b)
  const columns = series.map(({ name, points }) => {
    const values = new Map(points.map(({ x, y }) => [x, y]))
    const cell = (x: number) => {
      const value = values.get(x)
      return value === undefined ? unknown : format(value)
    }
    return { head: name, cell }
  })
  return table(title, spread(xs, mostRows), [{ head: "iteration", cell: (x) => x }, ...columns])
}

/** The chart; nothing when no curve has a point. */
export const chartFigure = (chart: Chart, { phases }: Pick<Curves, "phases">): Html | undefined => {
  const series = chart.series.filter((one) => last(one) !== undefined)
  if (series.length === 0) return undefined
  const items = series.map((one) => ({ name: one.name, colour: one.colour, value: chart.format(last(one)!) }))
  const marks = phases.map(({ from, name }) => ({ x: from, name }))
  return figure({
    title: chart.title,
    note: chart.note,
    legend: legend(items),
    alternative: `${chart.title}; at the end: ${items.map(({ name, value }) => `${name} ${value}`).join(", ")}`,
    picture: svg(standardHeight, lines({ ...chart, series, marks })),
    table: numbers({ ...chart, series })
  })
}

const chartSection = (id: string, title: string, charts: ReadonlyArray<Chart>, curves: Curves): Html | undefined => {
  const drawn = charts.flatMap((chart) => chartFigure(chart, curves) ?? [])
  return drawn.length === 0 ? undefined : section(id, title, html`<div class="charts">${drawn}</div>`)
}

// -------------------------------------------------------------------------------------------------------------------
// Series
// -------------------------------------------------------------------------------------------------------------------

const middle = ({ from, to }: { readonly from: number; readonly to: number }): number => (from + to) / 2

/** A value over the iterations, from its first to its last. */
const points = ({ buckets }: Curves, name: string): ReadonlyArray<Point> => {
  const all = buckets.map((bucket) => ({ x: middle(bucket), y: mean(bucket, name) }))
  const first = all.findIndex(({ y }) => y !== undefined)
  const last = all.findLastIndex(({ y }) => y !== undefined)
  return first < 0 ? [] : all.slice(first, last + 1)
}

const series = (curves: Curves, names: Readonly<Record<string, string>>): ReadonlyArray<Series> =>
  Object.entries(names).map(([name, label], colour) => ({ name: label, colour, points: points(curves, name) }))

/** Values that are there for some iterations only, without the gaps between. */
const sparse = (curves: Curves, prefix: string): ReadonlyArray<Series> =>
  namesOf(curves.buckets, prefix)
    .slice(0, colours)
    .map((name, colour) => ({
      name: name.slice(prefix.length),
      colour,
      points: points(curves, name).filter(({ y }) => y !== undefined)
    }))

const mostPointsOfKinds = 40

/** The kinds with most rollouts, as many as there are colours. */
const kindsOf = ({ buckets }: Curves): ReadonlyArray<string> =>
  [...sumKinds(buckets)]
    .sort(([, left], [, right]) => right.rollouts - left.rollouts)
    .map(([kind]) => kind)
    .slice(0, colours)
    .sort()

const byKind = (curves: Curves, value: (kind: KindSum) => number | undefined): ReadonlyArray<Series> => {
  const learned = curves.buckets.filter(({ isGrpo }) => isGrpo)
  const buckets = regroup(learned, mostPointsOfKinds)
  return kindsOf(curves).map((kind, colour) => ({
    name: kind,
    colour,
    points: buckets.flatMap((bucket) => {
      const sum = bucket.kinds.get(kind)
      const y = sum === undefined ? undefined : value(sum)
      return y === undefined ? [] : [{ x: middle(bucket), y }]
    })
  }))
}

const ratio = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole)

const byRound = (curves: Curves): ReadonlyArray<Series> => {
  const found = sparse(curves, "correct of ")
  return found.length < 2 ? [] : found
}

/** Shares stand apart from what has another scale, such as steps. */
const heldOut = (curves: Curves, isShare: boolean): ReadonlyArray<Series> =>
  sparse(curves, "held out: ").filter(({ points }) => points.every(({ y = 0 }) => y >= 0 && y <= 1) === isShare)

// -------------------------------------------------------------------------------------------------------------------
// Sections
// -------------------------------------------------------------------------------------------------------------------

const share = { format: percent, includes: [0, 1] }
const amount = { format: short, includes: [0] }

/** What was learned. */
export const learning = (curves: Curves): Html | undefined =>
  chartSection(
    "learning",
    "What it learned",
    [
      {
        title: "Reward, and its parts",
        note: "A workflow that can be read is worth 0.5, one whose answer is right 1, before penalties. Lines are means over neighbouring iterations.",
        format: short,
        includes: [0, 1],
        isSmooth: true,
        series: series(curves, { reward: "reward", parsed: "could be read", correct: "right" })
      },
      { title: "Held-out evaluation", format: short, includes: [0, 1], series: heldOut(curves, true) },
      { title: "Held-out evaluation, other measures", ...amount, series: heldOut(curves, false) },
      {
        title: "Right, by kind of task",
        ...share,
        series: byKind(curves, ({ correct, rollouts }) => ratio(correct, rollouts))
      },
      {
        title: "Steps per workflow, by kind of task",
        note: "Nothing rewards or punishes length, unless a penalty was set.",
        ...amount,
        series: byKind(curves, ({ steps, workflows }) => ratio(steps, workflows))
      },
      {
        title: "Right, by round",
        note: "The first round, and those in which the policy sees its own workflow and answer.",
        ...share,
        isSmooth: true,
        series: byRound(curves)
      }
    ],
    curves
  )

/** A chart of values of the optimiser, means over neighbours. */
const measure = (curves: Curves, title: string, names: Readonly<Record<string, string>>, note?: string): Chart => ({
  title,
  note,
  ...amount,
  isSmooth: true,
  series: series(curves, names)
})

/** How the optimiser fared. */
export const optimiser = (curves: Curves): Html | undefined =>
  chartSection(
    "optimiser",
    "How it learned",
    [
      measure(
        curves,
        "Warm start: loss of a token",
        { weightedLoss: "weighted", tokenLoss: "plain" },
        "Mean negative log-probability in nats: by the weights of the examples, and without."
      ),
      measure(
        curves,
        "Entropy of the policy",
        { entropy: "entropy", surprisal: "surprisal of what was sampled" },
        "Nats per token. Near 0 all rollouts of a group are alike, and nothing is learned any more."
      ),
      {
        ...measure(
          curves,
          "Groups that teach nothing",
          { zeroVariance: "zero variance" },
          "Share of groups all of whose rewards were equal."
        ),
        ...share
      },
      measure(curves, "Gradient norm", { gradientNorm: "gradient norm" }, "Of the last step, before it was cut."),
      { ...measure(curves, "Learning rate", { learningRate: "learning rate" }), isSmooth: false },
      measure(curves, "Tokens of a completion", { completionTokens: "tokens" }),
      {
        ...measure(
          curves,
          "Distance to the sampler",
          { clipped: "clipped" },
          "Share of tokens where the clip stopped the gradient."
        ),
        format: percent
      },
      { ...measure(curves, "Cost so far", { costUsd: "USD" }), format: usd, isSmooth: false },
      measure(curves, "Seconds of an iteration", { seconds: "seconds" })
    ],
    curves
  )
