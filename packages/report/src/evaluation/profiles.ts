/** The measured strengths of each worker, as a table. */
import { type Html, html } from "../page/Html.ts"
import { count, inPercent, seconds, unknown, usd } from "../page/Numbers.ts"
import { note } from "../page/Page.ts"
import { table } from "../page/Table.ts"
import type { Profiles, Rate } from "./Evaluation.ts"

type Profile = Profiles["workers"][number]

const rate = ({ high, low, mean, samples }: Rate): string =>
  mean === null ? unknown : `${inPercent(mean)} (${inPercent(low)} to ${inPercent(high)}, of ${count(samples)})`

/** The kinds that stand out, with their estimates; fewer than three samples say nothing. */
const goodAt = ({ alone, kinds }: Profile): string =>
  kinds
    .filter(({ rate }) => rate.samples >= 3 && rate.estimate >= alone.estimate + 0.1)
    .slice(0, 4)
    .map(({ kind, rate }) => `${kind} ${inPercent(rate.estimate)}`)
    .join(", ")

/** A row for each worker that was asked; nothing where none was. */
export const profiles = ({ workers }: Profiles): Html | undefined =>
  workers.length === 0
    ? undefined
    : html`<h3>What workers are good at</h3>
${note("Alone: runs with a single call of the worker, over all policies, with the interval. Policies choose the worker, so this shows how it performs on the questions that it receives. In teams: runs with several calls, at least one of them to this worker. Figures per kind are estimates, shrunk toward the worker's own mean.")}
${table("What workers are good at", workers, [
  { head: "worker", cell: ({ worker }) => worker },
  { head: "right alone, %", cell: ({ alone }) => rate(alone) },
  { head: "good at, %", cell: goodAt },
  { head: "in teams, %", cell: ({ inTeams }) => rate(inTeams) },
  { head: "calls", cell: ({ calls }) => count(calls) },
  { head: "failed", cell: ({ failed }) => count(failed) },
  { head: "time", cell: ({ medianMillis }) => seconds(medianMillis) },
  { head: "USD a call", cell: ({ costUsd }) => usd(costUsd) }
])}`
