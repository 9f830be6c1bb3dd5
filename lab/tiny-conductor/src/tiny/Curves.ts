/**
 * Learning curves of training runs: ablations compared with the full recipe, and different seeds compared with each
 * other.
 */
import { CurvePicture } from "@divisi/report"
import type { Metrics } from "@divisi/trainer"
import * as Markdown from "./Markdown.ts"
import type { Found } from "./Part.ts"
import * as Runs from "./Runs.ts"

const rows = 10

const rewardOf = ({ rewardMean }: Metrics.GrpoMetrics) => rewardMean
const rightOf = ({ correct }: Metrics.GrpoMetrics) => correct

/** Means over steps of a tenth of the longest run. */
const steps = (runs: ReadonlyArray<Runs.Run>) => {
  const longest = Math.max(0, ...runs.map(({ iterations }) => iterations.length))
  const size = Math.max(1, Math.ceil(longest / rows))
  return Array.from({ length: Math.ceil(longest / size) }, (_, index) => {
    const [from, to] = [index * size, Math.min(longest, (index + 1) * size)]
    const settings = Runs.bySetting(runs).map(([setting, seeds]) => ({
      setting,
      seeds: seeds.length,
      reward: Runs.overSeeds(seeds.map((run) => Runs.meanOf(run, from, to, rewardOf))),
      right: Runs.overSeeds(seeds.map((run) => Runs.meanOf(run, from, to, rightOf)))
    }))
    return { from, to, settings }
  })
}

/** The share of right answers and the reward of every setting. */
export const table = (runs: ReadonlyArray<Runs.Run>): Found => {
  const records = steps(runs)
  const settings = Runs.bySetting(runs).map(([setting]) => setting)
  const columns = ["iterations", ...settings.flatMap((setting) => [`${setting}: reward`, `${setting}: right, %`])]
  const cells = records.map(({ from, settings, to }) => [
    `${from + 1} to ${to}`,
    ...settings.flatMap(({ reward, right }) => [
      reward === undefined ? "" : Markdown.number(reward, 3),
      right === undefined ? "" : Markdown.percent(right)
    ])
  ])
  return { records, markdown: Markdown.table(columns, cells) }
}

/** The title of the picture. */
export const title = "Right answers in training, by iteration of reinforcement learning"

/** The share of right answers of every run, as a picture. */
export const picture = (runs: ReadonlyArray<Runs.Run>): string => {
  const settings = Runs.bySetting(runs).map(([setting]) => setting)
  return CurvePicture.render(title, {
    format: (share) => `${Math.round(100 * share)} %`,
    includes: [0, 1],
    isSmooth: true,
    series: runs.map(({ iterations, name, setting }) => ({
      name,
      colour: settings.indexOf(setting),
      points: iterations.map((metrics, index) => ({ x: index + 1, y: rightOf(metrics) }))
    }))
  })
}
