/** What each worker turned out to be good at, as a table. */
import { count, percent, seconds, unknown, usd } from "../report/format.ts"
import type { Sample } from "../report/Report.ts"
import { fromSamples, make, type Rate, type WorkerProfile } from "../report/WorkerProfile.ts"
import { table } from "./chart.ts"
import { html, type Markup } from "./markup.ts"

const rate = ({ high, low, mean, samples }: Rate): string =>
  mean === null ? unknown : `${percent(mean)} (${percent(low)} to ${percent(high)}, of ${count(samples)})`

/** The kinds that stand out, with their estimates; fewer than three samples say nothing. */
const kinds = ({ alone, kinds }: WorkerProfile, isWanted: (estimate: number, overall: number) => boolean): string =>
  kinds
    .filter(({ rate }) => rate.samples >= 3 && isWanted(rate.estimate, alone.estimate))
    .slice(0, 4)
    .map(({ kind, rate }) => `${kind} ${percent(rate.estimate)}`)
    .join(", ")

/** A row for each worker that was asked; nothing without samples. */
export const profiles = (samples: ReadonlyArray<Sample>): Markup => {
  const { workers } = make(fromSamples(samples))
  if (workers.length === 0) return html``
  return html`<h3>What workers are good at</h3>
<p class="soft">Alone: runs that were one call of the worker, all policies together, with the interval; policies choose whom they ask, so this is how a worker does on what it is given. In teams: the runs of several calls that it was part of. Kinds are estimates, drawn towards the worker's own mean.</p>
${table("What workers are good at", workers, [
  { head: "worker", cell: ({ worker }) => worker },
  { head: "right alone, %", cell: ({ alone }) => rate(alone) },
  { head: "good at, %", cell: (one) => kinds(one, (estimate, overall) => estimate >= overall + 0.1) },
  { head: "in teams, %", cell: ({ inTeams }) => rate(inTeams) },
  { head: "calls", cell: ({ calls }) => count(calls) },
  { head: "failed", cell: ({ failed }) => count(failed) },
  { head: "time", cell: ({ medianMillis }) => seconds(medianMillis) },
  { head: "USD a call", cell: ({ costUsd }) => usd(costUsd) }
])}`
}
