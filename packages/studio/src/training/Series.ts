/** Computes the chart data for a training run, with one value per iteration. An iteration without a value is a gap. */
import * as Format from "../run/Format.ts"
import type { Metrics } from "./Listing.ts"

/** A curve. All curves of a chart cover the same iterations. */
export interface Series {
  readonly name: string
  readonly points: ReadonlyArray<Point>
}

/** A value at an iteration, with the limits of its band if there is a band. */
export interface Point {
  readonly x: number
  readonly y: number
  readonly low?: number
  readonly high?: number
}

/** A chart for one training run. `main` is the curve to show in comparisons with other training runs. */
export interface Chart {
  readonly title: string
  readonly note: string
  readonly unit: "share" | "usd" | "number"
  readonly series: ReadonlyArray<Series>
  /** Minimum upper end of the scale. */
  readonly top?: number
  /** Whether the curves are drawn without smoothing. */
  readonly isExact?: boolean
  /** Whether the chart is one of the most important ones. */
  readonly isMain?: boolean
}

type Grpo = Extract<Metrics, { type: "grpo" }>

const pointsOf = (
  metrics: ReadonlyArray<Metrics>,
  value: (one: Metrics) => number | undefined,
  spread: (one: Metrics) => number | undefined = () => undefined
): ReadonlyArray<Point> =>
  metrics.flatMap((one) => {
    const y = value(one)
    if (y === undefined || !Number.isFinite(y)) return []
    const width = spread(one)
    return [{ x: one.iteration, y, ...(width !== undefined && { low: y - width, high: y + width }) }]
  })

const grpo =
  (value: (one: Grpo) => number | undefined) =>
  (one: Metrics): number | undefined =>
    one.type === "grpo" ? value(one) : undefined

/** Maximum number of task kinds with a separate curve. */
const maxKinds = 6

/** Returns the kinds with the most rollouts, sorted by name. */
const kindsOf = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<string> => {
  const rollouts = new Map<string, number>()
  for (const one of metrics) {
    if (one.type !== "grpo") continue
    for (const [kind, found] of Object.entries(one.kinds))
      rollouts.set(kind, (rollouts.get(kind) ?? 0) + found.rollouts)
  }
  return [...rollouts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, maxKinds)
    .map(([kind]) => kind)
    .sort()
}

/**
 * Returns the charts for a training run. Charts without values are left out. With `isOverlay`, each chart contains only
 * its main curve.
 */
export const chartsOf = (metrics: ReadonlyArray<Metrics>, isOverlay = false): ReadonlyArray<Chart> => {
  const one = (name: string, value: (one: Metrics) => number | undefined): Series => ({
    name,
    points: pointsOf(metrics, value)
  })
  const kinds = kindsOf(metrics).map((kind) =>
    one(
      kind,
      grpo((found) => found.kinds[kind]?.correct)
    )
  )
  const correct = one(
    "all kinds",
    grpo(({ correct }) => correct)
  )
  const stepsByKind = kindsOf(metrics).map((kind) =>
    one(
      kind,
      grpo(({ kinds }) => {
        const found = kinds[kind]
        // The mean of no plans is undefined.
        return found === undefined || Object.keys(found.stepCounts ?? {}).length === 0 ? undefined : found.steps
      })
    )
  )
  const heldOut = [...new Set(metrics.flatMap(({ evaluation = {} }) => Object.keys(evaluation)))]
    .sort()
    .map((name) => one(name, ({ evaluation }) => evaluation?.[name]))
  const isShare = ({ points }: Series) => points.every(({ y }) => y >= 0 && y <= 1)
  const rounds = [
    ...new Set(metrics.flatMap((some) => (some.type === "grpo" ? (some.rounds ?? []) : [])).map(({ round }) => round))
  ]
    .sort((one, other) => one - other)
    .map((round) =>
      one(
        `round ${round}`,
        grpo(({ rounds = [] }) => rounds.find((some) => some.round === round)?.correct)
      )
    )
  const charts: ReadonlyArray<Chart> = [
    {
      title: "Reward",
      isMain: true,
      note: "mean of the rollouts, band of one standard deviation",
      unit: "number",
      top: 1,
      series: [
        {
          name: "reward",
          points: pointsOf(
            metrics,
            grpo(({ rewardMean }) => rewardMean),
            grpo(({ rewardStd }) => rewardStd)
          )
        }
      ]
    },
    {
      title: "Accuracy by kind",
      isMain: true,
      note: "share of rollouts with a correct answer",
      unit: "share",
      top: 1,
      series: isOverlay || kinds.length < 2 ? [correct] : kinds
    },
    {
      title: "Held-out evaluation",
      isMain: true,
      note: "measured between iterations",
      unit: "number",
      top: 1,
      series: heldOut.filter(isShare)
    },
    {
      title: "Held-out evaluation, other measures",
      note: "measured between iterations",
      unit: "number",
      series: heldOut.filter((one) => !isShare(one))
    },
    {
      title: "Entropy of the policy",
      isMain: true,
      note: "nats per token; near 0, all rollouts of a group are the same",
      unit: "number",
      series: [
        one(
          "entropy",
          grpo(({ entropy }) => entropy)
        ),
        one(
          "surprisal",
          grpo(({ surprisal }) => surprisal)
        )
      ]
    },
    {
      title: "Entropy of the plans",
      isMain: true,
      note: "nats over plan shapes; 0 if all plans have the same shape",
      unit: "number",
      series: [
        one(
          "shapes",
          grpo(({ shapes }) => shapes?.entropy)
        )
      ]
    },
    {
      title: "Groups without a learning signal",
      isMain: true,
      note: "share of groups whose rewards are all equal",
      unit: "share",
      top: 1,
      series: [
        one(
          "equal rewards",
          grpo(({ groups, zeroVariance }) => zeroVariance / groups)
        )
      ]
    },
    {
      title: "Readable and correct",
      note: "share of rollouts",
      unit: "share",
      top: 1,
      series: [
        one(
          "readable",
          grpo(({ parsed }) => parsed)
        ),
        { ...correct, name: "correct" }
      ]
    },
    {
      title: "Correct by round",
      note: "share of rollouts; in later rounds, the policy sees its own plan and answer",
      unit: "share",
      top: 1,
      series: rounds.length < 2 ? [] : rounds
    },
    {
      title: "Steps of a plan",
      note: "mean of readable plans",
      unit: "number",
      series:
        isOverlay || stepsByKind.length < 2
          ? [
              one(
                "steps",
                grpo(({ steps }) => steps)
              )
            ]
          : stepsByKind
    },
    {
      title: "Tokens of a completion",
      note: "mean of the rollouts",
      unit: "number",
      series: [
        one(
          "tokens",
          grpo(({ completionTokens }) => completionTokens)
        )
      ]
    },
    {
      title: "Distance to the sampler",
      note: "share of tokens whose gradient was clipped to zero",
      unit: "share",
      series: [
        one(
          "clipped",
          grpo(({ clipped }) => clipped)
        )
      ]
    },
    {
      title: "Loss of the warm start",
      note: "mean negative log-probability of a token, nats",
      unit: "number",
      series: [
        one("plain", (found) => (found.type === "grpo" ? undefined : found.tokenLoss)),
        one("weighted", (found) => (found.type === "grpo" ? undefined : found.weightedLoss))
      ]
    },
    {
      title: "Gradient norm",
      note: "of the last step, before clipping",
      unit: "number",
      series: [one("gradient", ({ gradientNorm }) => gradientNorm)]
    },
    {
      title: "Learning rate",
      note: "of the optimiser",
      unit: "number",
      isExact: true,
      series: [one("rate", ({ learningRate }) => learningRate)]
    },
    {
      title: "Cost so far",
      note: "workers and engine, stored iterations",
      unit: "usd",
      isExact: true,
      series: [one("cost", ({ costUsd }) => costUsd)]
    },
    {
      title: "Time of an iteration",
      note: "seconds",
      unit: "number",
      series: [one("seconds", ({ seconds }) => seconds.total)]
    }
  ]
  return charts.flatMap((chart) => {
    const series = chart.series.filter(({ points }) => points.length > 0).slice(0, isOverlay ? 1 : undefined)
    return series.length === 0 ? [] : [{ ...chart, series }]
  })
}

/** A range of iterations in which one topology was the most frequent. */
export interface ShapeSpan {
  readonly from: number
  readonly to: number
  readonly shape: string
  /** Mean share of this topology among all plans. */
  readonly share: number
}

/** Returns the most frequent topology over time. Adjacent iterations with the same topology are merged. */
export const shapeSpans = (metrics: ReadonlyArray<Metrics>): ReadonlyArray<ShapeSpan> => {
  const spans: Array<ShapeSpan & { readonly count: number }> = []
  for (const one of metrics) {
    if (one.type !== "grpo" || one.shapes === undefined) continue
    const { most: shape, share } = one.shapes
    const last = spans.at(-1)
    if (last?.shape !== shape) spans.push({ from: one.iteration, to: one.iteration, shape, share, count: 1 })
    else {
      const count = last.count + 1
      spans[spans.length - 1] = {
        ...last,
        to: one.iteration,
        count,
        share: (last.share * last.count + share) / count
      }
    }
  }
  return spans
}

/** Each worker's share of the steps in an iteration. */
export interface WorkerShares {
  readonly workers: ReadonlyArray<string>
  readonly columns: ReadonlyArray<{ readonly x: number; readonly shares: ReadonlyArray<number> }>
}

/** The workers with a separate color. All others are combined. */
const maxWorkers = 5

/** Returns each worker's share over the iterations. */
export const workerShares = (metrics: ReadonlyArray<Metrics>): WorkerShares => {
  const steps = metrics.flatMap((one) => {
    if (one.type !== "grpo") return []
    const counts = new Map<string, number>()
    for (const { workers } of Object.values(one.kinds))
      for (const [id, count] of Object.entries(workers)) counts.set(id, (counts.get(id) ?? 0) + count)
    return [{ x: one.iteration, counts }]
  })
  const totals = new Map<string, number>()
  for (const { counts } of steps) for (const [id, count] of counts) totals.set(id, (totals.get(id) ?? 0) + count)
  const ranked = [...totals].sort(([, one], [, other]) => other - one).map(([id]) => id)
  const named = ranked.slice(0, maxWorkers)
  const hasOthers = ranked.length > named.length
  return {
    workers: hasOthers ? [...named, "all others"] : named,
    columns: steps.map(({ counts, x }) => {
      const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
      const shares = named.map((id) => (all === 0 ? 0 : (counts.get(id) ?? 0) / all))
      const rest = 1 - shares.reduce((sum, share) => sum + share, 0)
      return { x, shares: hasOthers ? [...shares, all === 0 ? 0 : rest] : shares }
    })
  }
}

/** Returns the phases in the order in which they ran, with their first and last iteration. */
export const phasesOf = (
  metrics: ReadonlyArray<Metrics>
): ReadonlyArray<{ readonly name: string; readonly from: number; readonly to: number }> =>
  [...Map.groupBy(metrics, ({ phase }) => phase)].map(([name, part]) => ({
    name,
    from: part[0]!.iteration,
    to: part.at(-1)!.iteration
  }))

/**
 * Returns the number of steps per worker in a range of iterations: first for all kinds of tasks together, then for each
 * kind, sorted by name.
 */
export const workersByKind = (
  metrics: ReadonlyArray<Metrics>
): ReadonlyArray<{ readonly kind: string; readonly steps: ReadonlyMap<string, number> }> => {
  const kinds = metrics.flatMap((one) => (one.type === "grpo" ? Object.entries(one.kinds) : []))
  const stepsOf = (some: typeof kinds) => {
    const steps = new Map<string, number>()
    for (const [id, count] of some.flatMap(([, { workers }]) => Object.entries(workers)))
      steps.set(id, (steps.get(id) ?? 0) + count)
    return steps
  }
  const byKind = [...Map.groupBy(kinds, ([kind]) => kind)].sort(([one], [other]) => (one < other ? -1 : 1))
  return [
    { kind: "all kinds", steps: stepsOf(kinds) },
    ...byKind.map(([kind, some]) => ({ kind, steps: stepsOf(some) }))
  ]
}

/** The main result of a training run: the reward at the beginning and at the end. */
export interface Finding {
  readonly title: string
  readonly detail: string
}

const meanOf = (values: ReadonlyArray<number>): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)

/** Returns the first and last tenth of the reinforcement learning iterations. */
export const ends = (
  metrics: ReadonlyArray<Metrics>
): { readonly early: ReadonlyArray<Grpo>; readonly late: ReadonlyArray<Grpo> } => {
  const learned = metrics.filter((one): one is Grpo => one.type === "grpo")
  const size = Math.max(1, Math.floor(learned.length / 10))
  return { early: learned.slice(0, size), late: learned.slice(-size) }
}

/** Describes the main result in a sentence. */
export const findingOf = (metrics: ReadonlyArray<Metrics>): Finding => {
  const learned = metrics.filter((one): one is Grpo => one.type === "grpo")
  const { early, late } = ends(metrics)
  const [first] = early
  const last = late.at(-1)
  if (first === undefined || last === undefined) {
    const done = metrics.length
    return {
      title: `${Format.counted(done, "iteration")} of the warm start`,
      detail: "No iteration of reinforcement learning has ended."
    }
  }
  const [from, to] = [
    meanOf(early.map(({ rewardMean }) => rewardMean)),
    meanOf(late.map(({ rewardMean }) => rewardMean))
  ]
  const errors = [early, late].map((some) => {
    const rollouts = some.reduce((sum, one) => sum + one.rollouts, 0)
    return meanOf(some.map(({ rewardStd = 0 }) => rewardStd)) ** 2 / Math.max(1, rollouts)
  })
  const isClear = Math.abs(to - from) > 2 * Math.sqrt(errors[0]! + errors[1]!)
  const verb = !isClear ? "did not change clearly" : to > from ? "rose" : "fell"
  const flat = learned.findLastIndex(({ groups, zeroVariance }) => zeroVariance * 2 <= groups) + 1
  const since = learned[flat]?.iteration
  const warm = metrics.length - learned.length
  const means = `Means of ${early.length === 1 ? "the first and the last iteration" : `the first and the last ${early.length} iterations`}, without smoothing.`
  const title = `Reward ${to.toFixed(2)} in the first iteration`
  return {
    title:
      learned.length === 1
        ? title
        : `Reward ${verb}${isClear ? "" : ":"} from ${from.toFixed(2)} to ${to.toFixed(2)} in ${learned.length} iterations${warm > 0 ? ` after a warm start of ${warm}` : ""}`,
    detail:
      since === undefined
        ? `${means} Most groups have different rewards in the last iteration, so more iterations may help.`
        : `${means} From iteration ${since} on, most groups have equal rewards: more iterations bring little.`
  }
}
