/** The curves of a run: what it learned, and how the optimiser fared. */
import { svg } from "../chart/Axes.ts"
import { type Lines, last, lines, type Point, type Series, standardHeight } from "../chart/Lines.ts"
import { figure, legend } from "../page/Figure.ts"
import { type Html, html } from "../page/Html.ts"
import { percent, short, unknown, usd } from "../page/Numbers.ts"
import { section } from "../page/Page.ts"
import { colours } from "../page/Style.ts"
import { spread, table } from "../page/Table.ts"
import { buckets, type KindSum, kinds, learned, mean, middle, ofGrpo, phases, type Value } from "./Curves.ts"
import type { Metrics } from "./Training.ts"

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
export const chartFigure = (chart: Chart, marks: Lines["marks"] = []): Html | undefined => {
  const series = chart.series.filter((one) => last(one) !== undefined)
  if (series.length === 0) return undefined
  const items = series.map((one) => ({ name: one.name, colour: one.colour, value: chart.format(last(one)!) }))
  return figure({
    title: chart.title,
    note: chart.note,
    legend: legend(items),
    alternative: `${chart.title}; at the end: ${items.map(({ name, value }) => `${name} ${value}`).join(", ")}`,
    picture: svg(standardHeight, lines({ ...chart, series, marks })),
    table: numbers({ ...chart, series })
  })
}

const chartSection = (id: string, title: string, charts: ReadonlyArray<Chart>, metrics: ReadonlyArray<Metrics>) => {
  const marks = phases(metrics).map(({ from, name }) => ({ x: from, name }))
  const drawn = charts.flatMap((chart) => chartFigure(chart, marks) ?? [])
  return drawn.length === 0 ? undefined : section(id, title, html`<div class="charts">${drawn}</div>`)
}

// -------------------------------------------------------------------------------------------------------------------
// Series
// -------------------------------------------------------------------------------------------------------------------

/** More points of a curve cannot be told apart; those by kind are means over more iterations, as each has few tasks. */
const mostPoints = 300
const mostPointsOfKinds = 40

/** Values over the iterations, each from its first to its last. */
const series = (metrics: ReadonlyArray<Metrics>, values: Readonly<Record<string, Value>>): ReadonlyArray<Series> => {
  const parts = buckets(metrics, mostPoints)
  return Object.entries(values).map(([name, value], colour) => {
    const points = parts.map((part): Point => ({ x: middle(part), y: mean(part, value) }))
    const from = points.findIndex(({ y }) => y !== undefined)
    return {
      name,
      colour,
      points: from < 0 ? [] : points.slice(from, points.findLastIndex(({ y }) => y !== undefined) + 1)
    }
  })
}

/** Named values from the metrics, without gaps at iterations that lack them. */
const sparse = (
  metrics: ReadonlyArray<Metrics>,
  named: (metrics: Metrics) => Readonly<Record<string, number>>
): ReadonlyArray<Series> => {
  const names = [...new Set(metrics.flatMap((one) => Object.keys(named(one))))].sort().slice(0, colours)
  const values = names.map((name) => [name, (one: Metrics) => named(one)[name]] as const)
  return series(metrics, Object.fromEntries(values)).map((one) => ({
    ...one,
    points: one.points.filter(({ y }) => y !== undefined)
  }))
}

/** Ratios of sums for the kinds with most rollouts, as many as there are colours. */
const byKind = (metrics: ReadonlyArray<Metrics>, ratio: (kind: KindSum) => readonly [part: number, whole: number]) => {
  const parts = buckets(learned(metrics), mostPointsOfKinds).map((part) => ({ x: middle(part), kinds: kinds(part) }))
  return [...kinds(metrics)]
    .sort(([, left], [, right]) => right.rollouts - left.rollouts)
    .map(([kind]) => kind)
    .slice(0, colours)
    .sort()
    .map((name, colour): Series => {
      const points = parts.flatMap(({ kinds, x }) => {
        const sum = kinds.get(name)
        const [part, whole] = sum === undefined ? [0, 0] : ratio(sum)
        return whole === 0 ? [] : [{ x, y: part / whole }]
      })
      return { name, colour, points }
    })
}

const byRound = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<Series> => {
  const found = sparse(metrics, (one) =>
    one.type === "grpo"
      ? Object.fromEntries(one.rounds.map(({ correct, round }) => [`round ${round}`, correct] as const))
      : {}
  )
  return found.length < 2 ? [] : found
}

/** Shares are separate from values with another scale, such as steps. */
const heldOut = (metrics: ReadonlyArray<Metrics>, isShare: boolean): ReadonlyArray<Series> =>
  sparse(metrics, ({ evaluation = {} }) => evaluation).filter(
    ({ points }) => points.every(({ y = 0 }) => y >= 0 && y <= 1) === isShare
  )

// -------------------------------------------------------------------------------------------------------------------
// Sections
// -------------------------------------------------------------------------------------------------------------------

const shares = { format: percent, includes: [0, 1] }
const amounts = { format: short, includes: [0] }

/** The section on learning progress. */
export const learning = (metrics: ReadonlyArray<Metrics>): Html | undefined => {
  const charts: ReadonlyArray<Chart> = [
    {
      title: "Reward, and its parts",
      note: "Before penalties, a readable workflow is worth 0.5, and a workflow with a correct answer is worth 1. Lines are means over neighboring iterations.",
      format: short,
      includes: [0, 1],
      isSmooth: true,
      series: series(metrics, {
        reward: ofGrpo(({ rewardMean }) => rewardMean),
        "could be read": ofGrpo(({ parsed }) => parsed),
        right: ofGrpo(({ correct }) => correct)
      })
    },
    { title: "Held-out evaluation", format: short, includes: [0, 1], series: heldOut(metrics, true) },
    { title: "Held-out evaluation, other measures", ...amounts, series: heldOut(metrics, false) },
    {
      title: "Accuracy, by kind of task",
      ...shares,
      series: byKind(metrics, ({ correct, rollouts }) => [correct, rollouts])
    },
    {
      title: "Steps per workflow, by kind of task",
      note: "Unless a penalty was set, length is neither rewarded nor punished.",
      ...amounts,
      series: byKind(metrics, ({ steps, workflows }) => [steps, workflows])
    },
    {
      title: "Right, by round",
      note: "The first round, and those in which the policy sees its own workflow and answer.",
      ...shares,
      isSmooth: true,
      series: byRound(metrics)
    }
  ]
  return chartSection("learning", "What it learned", charts, metrics)
}

/** How the optimiser fared. */
export const optimiser = (metrics: ReadonlyArray<Metrics>): Html | undefined => {
  const chart = (title: string, values: Readonly<Record<string, Value>>, note?: string): Chart => ({
    title,
    note,
    ...amounts,
    isSmooth: true,
    series: series(metrics, values)
  })
  const loss = "Mean negative log-probability in nats: by the weights of the examples, and without."
  const charts: ReadonlyArray<Chart> = [
    chart(
      "Warm start: loss of a token",
      {
        weighted: (one) => (one.type === "grpo" ? undefined : one.weightedLoss),
        plain: (one) => (one.type === "grpo" ? undefined : one.tokenLoss)
      },
      loss
    ),
    chart(
      "Entropy of the policy",
      {
        entropy: ofGrpo(({ entropy }) => entropy),
        "surprisal of the samples": ofGrpo(({ surprisal }) => surprisal)
      },
      "Nats per token. Near 0, all rollouts of a group are equal, and nothing is learned anymore."
    ),
    {
      ...chart(
        "Groups without a learning signal",
        { "zero variance": ofGrpo(({ groups, zeroVariance }) => zeroVariance / groups) },
        "Share of groups in which all rewards were equal."
      ),
      ...shares
    },
    chart(
      "Gradient norm",
      { "gradient norm": ({ gradientNorm }) => gradientNorm },
      "Of the last step, before clipping."
    ),
    { ...chart("Learning rate", { "learning rate": ({ learningRate }) => learningRate }), isSmooth: false },
    chart("Tokens of a completion", { tokens: ofGrpo(({ completionTokens }) => completionTokens) }),
    {
      ...chart(
        "Distance to the sampler",
        { clipped: ofGrpo(({ clipped }) => clipped) },
        "Share of tokens whose gradient was clipped to zero."
      ),
      format: percent
    },
    { ...chart("Cost so far", { USD: ({ costUsd }) => costUsd }), format: usd, isSmooth: false },
    chart("Seconds of an iteration", { seconds: ({ seconds }) => seconds.total })
  ]
  return chartSection("optimiser", "How it learned", charts, metrics)
}
