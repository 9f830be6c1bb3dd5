/** @jsxImportSource preact */
/** Sections below the charts of a training run: workers by kind of task, and settings. */
import * as Format from "../../run/Format.ts"
import type { Config, Metrics } from "../../training/Listing.ts"
import * as Training from "../../training/Series.ts"
import { Text } from "../Parts.tsx"
import { type BarRow, Bars, Card, Figures, namesOf } from "../Sheet.tsx"

/** Maximum number of task kinds that have bars. */
const maxKinds = 48

const sharesOf = (steps: ReadonlyMap<string, number> = new Map()): BarRow["shares"] => {
  const all = [...steps.values()].reduce((sum, count) => sum + count, 0)
  return [...steps].map(([name, count]) => ({ name, share: all === 0 ? 0 : count / all }))
}

const iterationsOf = (metrics: ReadonlyArray<Metrics>): string => {
  const [from, to] = [metrics[0]?.iteration, metrics.at(-1)?.iteration]
  return from === to ? `iteration ${from}` : `iterations ${from} to ${to}`
}

/** Each worker's share of the steps, by kind of task, in the first and last tenth of the iterations. */
export const WorkersByKind = ({
  early,
  late
}: {
  readonly early: ReadonlyArray<Metrics>
  readonly late: ReadonlyArray<Metrics>
}) => {
  const before = Training.workersByKind(early)
  const after = Training.workersByKind(late)
  const [all, ...kinds] = after.length < before.length ? before : after
  const rows = [all!, ...kinds.slice(0, maxKinds)].flatMap(({ kind }): ReadonlyArray<BarRow> => {
    const sharesIn = (some: typeof after) => sharesOf(some.find((one) => one.kind === kind)?.steps)
    return [
      { name: `${kind}, early`, shares: sharesIn(before) },
      { name: `${kind}, late`, shares: sharesIn(after) }
    ]
  })
  return (
    <Card
      title="Workers by kind of task"
      note={`share of the steps; early: ${iterationsOf(early)}, late: ${iterationsOf(late)}`}
    >
      <Bars caption="Workers of each kind of task" names={namesOf(rows)} rows={rows} />
    </Card>
  )
}

/** Workers with their descriptions, and the complete configuration. */
export const Settings = ({ config }: { readonly config: Config }) => (
  <Card title="Settings">
    <Figures
      caption="Workers"
      items={config.pool}
      columns={[
        ["Worker", ({ id }) => Format.oneLine(id, 60)],
        ["Description", ({ description = "" }) => Format.oneLine(description, 300), "wide"]
      ]}
    />
    <details>
      <summary>Configuration</summary>
      <Text text={JSON.stringify(config, null, 2)} kind="code-text" />
    </details>
  </Card>
)
