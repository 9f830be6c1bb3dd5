/** The head of a training's page, what the run came to in a few figures, and its settings. */
import { type Html, html } from "../page/Html.ts"
import { count, counted, duration, percent, short, usd } from "../page/Numbers.ts"
import { note, section, tiles } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import type { Curves } from "./Curves.ts"
import type { Config } from "./Training.ts"
import * as Windows from "./Windows.ts"

const changes = ({ early, late }: Windows.Compared) => {
  const change = (label: string, name: string, format: (value: number) => string) => {
    const from = early.mean(name)
    const to = late.mean(name)
    return to === undefined
      ? []
      : [[label, format(to), from === undefined ? undefined : `early: ${format(from)}`] as const]
  }
  return [
    change("Reward", "reward", short),
    change("Right", "correct", percent),
    change("Could be read", "parsed", percent),
    change("Steps per workflow", "steps", short)
  ].flat()
}

/** What the run was, and what it came to. */
export const overview = (config: Config, curves: Curves, compared: Windows.Compared | undefined): Html => {
  const phases = curves.phases.map((phase) => `${phase.name} (${Windows.name(phase)})`)
  return html`<h1>${config.name}</h1>
${note(`${config.engine.model} trained by ${config.engine.name}; ${counted(config.pool.length, "worker")}; seed ${config.seed}. Phases: ${phases.join(", ")}.`)}
${tiles([
  ...(compared === undefined ? [] : changes(compared)),
  ["Iterations", count(curves.iterations), `in ${duration(curves.millis)}`],
  ["Cost of workers", usd(curves.costUsd), `${counted(curves.rollouts, "rollout")}, ${counted(curves.calls, "call")}`]
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
