/**
 * Measures the effect of penalties: accuracy compared with calls, cost and time, at the end of training runs with
 * different penalties.
 */
import type { Metrics } from "@divisi/trainer"
import * as Markdown from "./Markdown.ts"
import type { Found } from "./Part.ts"
import * as Runs from "./Runs.ts"

/** The number of iterations at the end of a run whose mean is reported. */
const last = 10

const values: Readonly<
  Record<"right" | "calls" | "usdPerThousand" | "steps", (metrics: Metrics.GrpoMetrics) => number>
> = {
  right: ({ correct }) => correct,
  calls: ({ calls, rollouts }) => calls.total / rollouts,
  usdPerThousand: ({ iterationCostUsd, rollouts }) => (1000 * iterationCostUsd) / rollouts,
  steps: ({ steps }) => steps
}

const endOf = (seeds: ReadonlyArray<Runs.Run>, value: (metrics: Metrics.GrpoMetrics) => number) =>
  Runs.overSeeds(seeds.map((run) => Runs.meanOf(run, -last, run.iterations.length, value)))

/** A row for every setting of the penalties. */
export const table = (runs: ReadonlyArray<Runs.Run>): Found => {
  const records = Runs.bySetting(runs).map(([setting, seeds]) => ({
    setting,
    seeds: seeds.length,
    right: endOf(seeds, values.right),
    calls: endOf(seeds, values.calls),
    usdPerThousand: endOf(seeds, values.usdPerThousand),
    steps: endOf(seeds, values.steps)
  }))
  const rows = records.map(({ calls, right, setting, steps, usdPerThousand }) => [
    setting,
    right === undefined ? "" : Markdown.percent(right),
    calls === undefined ? "" : Markdown.number(calls),
    usdPerThousand === undefined ? "" : Markdown.number(usdPerThousand, 3),
    steps === undefined ? "" : Markdown.number(steps)
  ])
  return { records, markdown: Markdown.table(["penalties", "right, %", "calls", "USD per 1,000 tasks", "steps"], rows) }
}
