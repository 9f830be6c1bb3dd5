/** The head of a training's page, what the run came to in a few figures, and its settings. */
import { type Html, html } from "../page/Html.ts"
import { count, counted, duration, percent, short, usd } from "../page/Numbers.ts"
import { note, section, tiles } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import { learned, mean, ofGrpo, phases } from "./Curves.ts"
import type { Config, GrpoMetrics, Metrics } from "./Training.ts"
import * as Windows from "./Windows.ts"

const changes = ({ early, late }: Windows.Compared) => {
  const change = (label: string, of: (metrics: GrpoMetrics) => number, format: (value: number) => string) => {
    const [from, to] = [mean(early, ofGrpo(of)), mean(late, ofGrpo(of))]
    return to === undefined
      ? []
      : [[label, format(to), from === undefined ? undefined : `early: ${format(from)}`] as const]
  }
  return [
    change("Reward", ({ rewardMean }) => rewardMean, short),
    change("Right", ({ correct }) => correct, percent),
    change("Could be read", ({ parsed }) => parsed, percent),
    change("Steps per workflow", ({ steps }) => steps, short)
  ].flat()
}

/** The settings and results of a run. */
export const overview = (
  config: Config,
  metrics: ReadonlyArray<Metrics>,
  compared: Windows.Compared | undefined
): Html => {
  const parts = phases(metrics).map((phase) => `${phase.name} (${Windows.name(phase)})`)
  const millis = metrics.reduce((sum, { seconds }) => sum + 1000 * seconds.total, 0)
  const total = (of: (one: GrpoMetrics) => number) => learned(metrics).reduce((sum, one) => sum + of(one), 0)
  return html`<h1>${config.name}</h1>
${note(`${config.engine.model} trained by ${config.engine.name}; ${counted(config.pool.length, "worker")}; seed ${config.seed}. Phases: ${parts.join(", ")}.`)}
${tiles([
  ...(compared === undefined ? [] : changes(compared)),
  ["Iterations", count(metrics.length), `in ${duration(millis)}`],
  [
    config.pool.every(({ isPlay }) => isPlay === true) ? "Cost of workers, in play money" : "Cost of workers",
    usd(metrics.at(-1)?.costUsd),
    `${counted(
      total(({ rollouts }) => rollouts),
      "rollout"
    )}, ${counted(
      total(({ calls }) => calls.total),
      "call"
    )}`
  ]
])}`
}

/** The workers and the whole configuration, folded away. */
export const settings = (config: Config): Html =>
  section(
    "settings",
    "Settings",
    html`<details><summary>Workers</summary>${table("The pool, by ordinal", config.pool, [
      { head: "worker", cell: ({ id }) => id },
      { head: "description", cell: ({ description = "–" }) => description }
    ])}</details>
<details><summary>Configuration</summary><pre>${JSON.stringify(config, null, 2)}</pre></details>`
  )
