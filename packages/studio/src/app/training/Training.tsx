/** @jsxImportSource preact */
/** The page for a training run: main result, charts, comparison with other runs, plan topologies, and rollouts. */
import { useSignal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import * as Format from "../../run/Format.ts"
import type { Line, Opened } from "../../training/Listing.ts"
import * as Listing from "../../training/Listing.ts"
import * as Training from "../../training/Series.ts"
import { useAll, useData } from "../Data.ts"
import { State } from "../Icons.tsx"
import { Failed, Money, Skeleton, Stat } from "../Parts.tsx"
import { href, place, setQuery } from "../Router.ts"
import { Card, Figures } from "../Sheet.tsx"
import { Curves, Shares, ValueTable } from "./Curves.tsx"
import { Settings, WorkersByKind } from "./Details.tsx"
import { Rollouts } from "./Rollouts.tsx"

/** Maximum number of training runs shown in the same charts. */
const maxOverlay = 6

/** Merges the charts of several training runs, with one curve per run. */
const overlaid = (trainings: ReadonlyArray<Opened>): ReadonlyArray<Training.Chart> => {
  const all = trainings.map(({ id, metrics }) => ({ id, charts: Training.chartsOf(metrics, true) }))
  const titles = [...new Set(all.flatMap(({ charts }) => charts.map(({ title }) => title)))]
  return titles.map((title) => {
    const found = all.flatMap(({ charts, id }) => {
      const chart = charts.find((one) => one.title === title)
      return chart === undefined ? [] : [{ chart, name: id }]
    })
    return {
      ...found[0]!.chart,
      title: title === "Accuracy by kind" ? "Accuracy" : title,
      series: found.map(({ chart, name }) => ({ ...chart.series[0]!, name }))
    }
  })
}

const Overlay = ({ id, others }: { readonly id: string; readonly others: ReadonlyArray<string> }) => {
  const { value } = useData<{ readonly data: ReadonlyArray<Line> }>(Listing.path)
  const rest = (value?.data ?? []).filter((line) => line.damaged === undefined && line.id !== id)
  if (rest.length === 0) return null
  const put = (names: ReadonlyArray<string>) => setQuery({ with: names.length === 0 ? undefined : names.join("\n") })
  return (
    <>
      {others.map((other) => (
        <button
          key={other}
          type="button"
          class="chip on"
          aria-label={`Remove ${other}`}
          onClick={() => put(others.filter((one) => one !== other))}
        >
          {Format.oneLine(other, 30)} ×
        </button>
      ))}
      {others.length < maxOverlay - 1 && rest.some((line) => !others.includes(line.id)) && (
        <label class="choice">
          <span class="unseen">Compare with another training</span>
          <select value="" onChange={(event) => put([...others, event.currentTarget.value])}>
            <option value="">Overlay a training</option>
            {rest
              .filter((line) => !others.includes(line.id))
              .map((line) => (
                <option key={line.id} value={line.id}>
                  {Format.oneLine(line.id, 40)}
                </option>
              ))}
          </select>
        </label>
      )}
    </>
  )
}

const Shapes = ({ spans }: { readonly spans: ReadonlyArray<Training.ShapeSpan> }) => (
  <Card title="Most frequent plan" note="workers of the steps, with the steps that they see in parentheses">
    <Figures
      caption="Most frequent shape of plan over the iterations"
      items={spans}
      columns={[
        ["Iterations", ({ from, to }) => (from === to ? from : `${from} to ${to}`)],
        ["Plan", ({ shape }) => Format.oneLine(shape.replaceAll(" > ", " → "), 200), ""],
        ["Share of the plans", ({ share }) => Format.share(share)]
      ]}
    />
  </Card>
)

/** Maximum number of rows in the table of topologies. */
const maxSpans = 12

/** Numbers the iterations from 1, as progress lines and checkpoints do. Files and paths number them from 0. */
const counted = (opened: Opened): Opened => ({
  ...opened,
  metrics: opened.metrics.map((one) => ({ ...one, iteration: one.iteration + 1 })),
  rollouts: opened.rollouts.map((iteration) => iteration + 1)
})

const View = ({ opened: read }: { readonly opened: Opened }) => {
  const opened = useMemo(() => counted(read), [read])
  const { config, id, metrics, rollouts } = opened
  const { query } = place.value
  const others = (query.get("with") ?? "").split("\n").filter((name) => name !== "" && name !== id)
  const loaded = useAll<Opened>(others.map(Listing.pathOf))
  const weight = useSignal(0.7)
  const cursor = useSignal<number | undefined>(undefined)
  const trainings = [opened, ...loaded.values.map(counted)]
  const isOverlay = trainings.length > 1
  const charts = isOverlay ? overlaid(trainings) : Training.chartsOf(metrics)
  const finding = Training.findingOf(metrics)
  const { early, late } = Training.ends(metrics)
  const line = Listing.lineOf(id, config, metrics, 0)
  const all = trainings.flatMap((one) =>
    one.metrics.filter(({ type }) => type === "grpo" || one.metrics.every((found) => found.type !== "grpo"))
  )
  const [from, to] = [
    Math.min(...all.map(({ iteration }) => iteration)),
    Math.max(...all.map(({ iteration }) => iteration))
  ]
  const warm = metrics.filter(({ type }) => type !== "grpo")
  const wanted = Number(query.get("iteration") ?? Number.NaN)
  const iteration = rollouts.includes(wanted) ? wanted : rollouts.at(-1)
  const pick = (near: number) => {
    const [closest] = [...rollouts].sort((one, other) => Math.abs(one - near) - Math.abs(other - near))
    if (closest !== undefined) setQuery({ iteration: String(closest) })
  }
  const meanOf = (some: typeof early, value: (one: (typeof early)[number]) => number) =>
    some.reduce((sum, one) => sum + value(one), 0) / Math.max(1, some.length)
  const spans = Training.shapeSpans(metrics)
  const isDone = line.iterations >= line.planned
  const sumOf = (value: (one: (typeof early)[number]) => number) =>
    metrics.reduce((sum, one) => sum + (one.type === "grpo" ? value(one) : 0), 0)
  const millis = metrics.reduce((sum, { seconds }) => sum + 1000 * seconds.total, 0)
  const phases = Training.phasesOf(metrics)
  const isOfWarmStart = ({ title }: Training.Chart) => title === "Loss of the warm start"
  const curves = (chart: Training.Chart) => (
    <Curves
      key={chart.title}
      chart={chart}
      from={isOfWarmStart(chart) ? (warm[0]?.iteration ?? 0) : from}
      to={isOfWarmStart(chart) ? (warm.at(-1)?.iteration ?? to) : to}
      weight={weight.value}
      cursor={cursor}
      onPick={pick}
    />
  )
  return (
    <div>
      <header class="bar wraps">
        <span class="crumb">
          <a href={href(["training"])}>Training</a> /
        </span>
        <b class="clip">{Format.oneLine(id, 60)}</b>
        {isDone ? (
          <State state="answered" word="Finished" />
        ) : (
          <State state="budget" word={`${Format.whole(line.iterations)} of ${Format.whole(line.planned)} iterations`} />
        )}
        <span class="grow" />
        <Overlay id={id} others={others} />
        <label class="slider">
          <span class="dim">Smoothing {weight.value.toFixed(2)}</span>
          <input
            type="range"
            min="0"
            max="0.95"
            step="0.05"
            value={weight.value}
            aria-label="Smoothing"
            onInput={(event) => (weight.value = Number(event.currentTarget.value))}
          />
        </label>
      </header>
      <div class="sheet">
        <div class="lede-row">
          <div class="lede grow">
            <h1>{finding.title}</h1>
            <p>
              {Format.oneLine(line.engine, 120)}; {Format.counted(config.pool.length, "worker")}; seed {config.seed}.{" "}
              {finding.detail}
            </p>
            {phases.length > 1 && (
              <p class="dim">
                Phases:{" "}
                {phases
                  .map(
                    ({ from, name, to }) => `${Format.oneLine(name, 40)} (${from === to ? from : `${from} to ${to}`})`
                  )
                  .join(", ")}
              </p>
            )}
            {loaded.error !== undefined && <p class="tone-failed">{Format.visible(loaded.error.message)}</p>}
          </div>
          {late.length > 0 && (
            <dl class="stats">
              <Stat name="Accuracy" note={`was ${Format.share(meanOf(early, ({ correct }) => correct))}`}>
                {Format.share(meanOf(late, ({ correct }) => correct))}
              </Stat>
              <Stat name="Readable" note={`was ${Format.share(meanOf(early, ({ parsed }) => parsed))}`}>
                {Format.share(meanOf(late, ({ parsed }) => parsed))}
              </Stat>
              <Stat name="Steps" note={`was ${meanOf(early, ({ steps }) => steps).toFixed(2)}`}>
                {meanOf(late, ({ steps }) => steps).toFixed(2)}
              </Stat>
              <Stat name="Rollouts" note={`${Format.whole(sumOf(({ calls }) => calls?.total ?? 0))} calls`}>
                {Format.whole(sumOf(({ rollouts }) => rollouts))}
              </Stat>
              <Stat name="Iterations" note={`in ${Format.duration(millis)}`}>
                {Format.whole(line.iterations)}
              </Stat>
              <Stat name="Cost" note={line.is_play ? "play money" : undefined}>
                <Money usd={line.cost_usd} />
              </Stat>
            </dl>
          )}
        </div>
        {charts.length === 0 && <p class="dim">No iteration has ended yet.</p>}
        <div class="columns">
          {charts.filter(({ isMain }) => isMain).map(curves)}
          {!isOverlay && (
            <Shares shares={Training.workerShares(metrics)} from={from} to={to} cursor={cursor} onPick={pick} />
          )}
        </div>
        {iteration !== undefined && (
          <Rollouts
            opened={opened}
            iteration={iteration}
            isPlay={line.is_play}
            onIteration={(iteration) => setQuery({ iteration: String(iteration) })}
          />
        )}
        {spans.length > 0 && (
          <Shapes
            spans={spans.length <= maxSpans ? spans : [...spans.slice(0, maxSpans / 2), ...spans.slice(-maxSpans / 2)]}
          />
        )}
        <div class="columns">{charts.filter(({ isMain }) => isMain !== true).map(curves)}</div>
        {!isOverlay && late.length > 0 && <WorkersByKind early={early} late={late} />}
        <ValueTable charts={charts} />
        <Settings config={config} />
      </div>
    </div>
  )
}

/** Renders a training run. */
export const TrainingPage = ({ id }: { readonly id: string }) => {
  const { error, retry, value } = useData<Opened>(Listing.pathOf(id), 5_000)
  if (value !== undefined) return <View opened={value} />
  return error === undefined ? <Skeleton rows={12} /> : <Failed error={error} retry={retry} />
}
