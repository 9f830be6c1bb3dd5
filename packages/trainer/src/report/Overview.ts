/** The head of a report: what the run was, and what it came to in a few figures. */
import type { TrainingConfig } from "../TrainingConfig.ts"
import type { Curves, Phase } from "./Curves.ts"
import { type Html, html } from "./Html.ts"
import * as Numbers from "./Numbers.ts"
import { table } from "./Table.ts"
import * as Windows from "./Windows.ts"

/** Where the two parts of the run are set side by side. */
export interface Compared {
  readonly early: Windows.Window
  readonly late: Windows.Window
}

const tile = (label: string, value: string, more?: string): Html =>
  html`<div class="tile"><dt>${label}</dt><dd><b>${value}</b>${more !== undefined && html`<span class="note">${more}</span>`}</dd></div>`

const change = (label: string, { early, late }: Compared, name: string, format: (value: number) => string) => {
  const from = early.mean(name)
  const to = late.mean(name)
  return to === undefined
    ? undefined
    : tile(label, format(to), from === undefined ? undefined : `early: ${format(from)}`)
}

/** The figures at the top of the page. */
export const tiles = (curves: Curves, compared: Compared | undefined): Html => html`
<dl class="tiles">
${
  compared !== undefined && [
    change("Reward", compared, "reward", Numbers.short),
    change("Right", compared, "correct", Numbers.percent),
    change("Could be read", compared, "parsed", Numbers.percent),
    change("Steps per workflow", compared, "steps", Numbers.short)
  ]
}
${tile("Iterations", curves.iterations.toLocaleString("en-US"), `in ${Numbers.duration(curves.millis)}`)}
${tile(
  "Cost of workers",
  Numbers.usd(curves.costUsd),
  `${Numbers.count(curves.rollouts, "rollout")}, ${Numbers.count(curves.calls, "call")}`
)}
</dl>`

const phaseText = (phase: Phase): string => `${phase.name} (${Windows.name(phase)})`

/** What the run was. */
export const title = (config: TrainingConfig, { phases }: Curves): Html => html`
<h1>${config.name}</h1>
<p class="note">${config.engine.model} trained by ${config.engine.name}; ${Numbers.count(config.pool.length, "worker")}; seed ${config.seed}. ${
  phases.length > 0 && html`Phases: ${phases.map(phaseText).join(", ")}.`
}</p>`

/** The workers and the whole configuration, folded away. */
export const settings = (config: TrainingConfig): Html => html`
<h2>Settings</h2>
<details><summary>Workers</summary>${table({
  caption: "The pool, by ordinal",
  columns: ["worker", "description"],
  rows: config.pool.map(({ description = "–", id }) => [id, description])
})}</details>
<details><summary>Configuration</summary><pre>${JSON.stringify(config, null, 2)}</pre></details>`
