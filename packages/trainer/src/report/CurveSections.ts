/** The curves of a run: what it learned, and how the optimiser fared. */
import { type Curves, type KindSum, mean, namesOf, regroup, sumKinds } from "./Curves.ts"
import { type Html, html } from "./Html.ts"
import { type LineChart, lineChart, type Point, type Series } from "./LineChart.ts"
import { percent, short, usd } from "./Numbers.ts"
import * as Style from "./Style.ts"

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
    .slice(0, Style.colours)
    .map((name, colour) => ({
      name: name.slice(prefix.length),
      colour,
      points: points(curves, name).filter(({ y }) => y !== undefined)
    }))

const mostPointsOfKinds = 40

/** The kinds with most rollouts, as many as there are colours. */
const kindsOf = (curves: Curves): ReadonlyArray<string> =>
  [...sumKinds(curves.buckets)]
    .sort(([, left], [, right]) => right.rollouts - left.rollouts)
    .map(([kind]) => kind)
    .slice(0, Style.colours)
    .sort()

const byKind = (curves: Curves, value: (kind: KindSum) => number | undefined): ReadonlyArray<Series> => {
  const buckets = regroup(
    curves.buckets.filter(({ isGrpo }) => isGrpo),
    mostPointsOfKinds
  )
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

// -------------------------------------------------------------------------------------------------------------------
// Sections
// -------------------------------------------------------------------------------------------------------------------

const section = (curves: Curves, title: string, charts: ReadonlyArray<LineChart>): Html | undefined => {
  const marks = curves.phases.map(({ from, name }) => ({ x: from, name }))
  const drawn = charts.flatMap((chart) => lineChart({ ...chart, marks }) ?? [])
  return drawn.length === 0 ? undefined : html`<section><h2>${title}</h2><div class="charts">${drawn}</div></section>`
}

const reward = (curves: Curves): LineChart => ({
  title: "Reward, and its parts",
  note: "A workflow that can be read is worth 0.5, one whose answer is right 1, before penalties. Lines are means over neighbouring iterations.",
  format: short,
  includes: [0, 1],
  smooth: true,
  series: series(curves, { reward: "reward", parsed: "could be read", correct: "right" })
})

const rounds = (curves: Curves): LineChart => {
  const found = sparse(curves, "correct of ")
  return {
    title: "Right, by round",
    note: "The first round, and those in which the policy sees its own workflow and answer.",
    format: percent,
    includes: [0, 1],
    smooth: true,
    series: found.length < 2 ? [] : found
  }
}

/** Shares stand apart from what has another scale, e.g. steps. */
const heldOut = (curves: Curves, isShare: boolean): ReadonlyArray<Series> =>
  sparse(curves, "held out: ").filter(({ points }) => points.every(({ y = 0 }) => y >= 0 && y <= 1) === isShare)

/** What was learned. */
export const learning = (curves: Curves): Html | undefined =>
  section(curves, "What it learned", [
    reward(curves),
    { title: "Held-out evaluation", format: short, includes: [0, 1], series: heldOut(curves, true) },
    { title: "Held-out evaluation, other measures", format: short, includes: [0], series: heldOut(curves, false) },
    {
      title: "Right, by kind of task",
      format: percent,
      includes: [0, 1],
      series: byKind(curves, ({ correct, rollouts }) => ratio(correct, rollouts))
    },
    {
      title: "Steps per workflow, by kind of task",
      note: "Nothing rewards or punishes length, unless a penalty was set.",
      format: short,
      includes: [0],
      series: byKind(curves, ({ steps, workflows }) => ratio(steps, workflows))
    },
    rounds(curves)
  ])

const warmStart = (curves: Curves): LineChart => ({
  title: "Warm start: loss of a token",
  note: "Mean negative log-probability in nats: by the weights of the examples, and without.",
  format: short,
  includes: [0],
  smooth: true,
  series: series(curves, { weightedLoss: "weighted", tokenLoss: "plain" })
})

/** How the optimiser fared. */
export const optimiser = (curves: Curves): Html | undefined =>
  section(curves, "How it learned", [
    warmStart(curves),
    {
      title: "Entropy of the policy",
      note: "Nats per token. Near 0 all rollouts of a group are alike, and nothing is learned any more.",
      format: short,
      includes: [0],
      smooth: true,
      series: series(curves, { entropy: "entropy", surprisal: "surprisal of what was sampled" })
    },
    {
      title: "Groups that teach nothing",
      note: "Share of groups all of whose rewards were equal.",
      format: percent,
      includes: [0, 1],
      smooth: true,
      series: series(curves, { zeroVariance: "zero variance" })
    },
    {
      title: "Gradient norm",
      note: "Of the last step, before it was cut.",
      format: short,
      includes: [0],
      smooth: true,
      series: series(curves, { gradientNorm: "gradient norm" })
    },
    { title: "Learning rate", format: short, includes: [0], series: series(curves, { learningRate: "learning rate" }) },
    {
      title: "Tokens of a completion",
      format: short,
      includes: [0],
      smooth: true,
      series: series(curves, { completionTokens: "tokens" })
    },
    {
      title: "Distance to the sampler",
      note: "Share of tokens where the clip stopped the gradient.",
      format: percent,
      includes: [0],
      smooth: true,
      series: series(curves, { clipped: "clipped" })
    },
    { title: "Cost so far", format: usd, includes: [0], series: series(curves, { costUsd: "USD" }) },
    {
      title: "Seconds of an iteration",
      format: short,
      includes: [0],
      smooth: true,
      series: series(curves, { seconds: "seconds" })
    }
  ])
