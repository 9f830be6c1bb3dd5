/** @jsxImportSource preact */
/**
 * Line charts over iterations, with raw and smoothed lines, bands, labels at the line ends, and a cursor shared by all
 * charts.
 */
import { type Signal, useSignal } from "@preact/signals"
import * as Format from "../../run/Format.ts"
import * as Listing from "../../training/Listing.ts"
import type { Chart, Series, WorkerShares } from "../../training/Series.ts"

const height = 150

/** Horizontal resolution of SVG paths. Charts are stretched to the width of their container. */
const units = 1_000

/** Formats a value for display. */
const valueText = (value: number, unit: Chart["unit"]): string => {
  if (unit === "share") return Format.share(value)
  if (unit === "usd") return Format.money(value)
  const size = Math.abs(value)
  if (size !== 0 && size < 0.01) return value.toExponential(1)
  return value.toFixed(size >= 100 ? 0 : 2)
}

/** Returns at most five round values for an axis. */
const ticksTo = (top: number): ReadonlyArray<number> => {
  const rough = top / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999) ?? power * 10
  return Array.from({ length: Math.floor(top / step + 1e-9) + 1 }, (_, index) => index * step)
}

interface Scale {
  readonly from: number
  readonly to: number
  readonly top: number
}

const x = ({ from, to }: Scale, value: number): number => (value - from) / Math.max(1, to - from)
const y = ({ top }: Scale, value: number): number => 1 - Math.min(1, Math.max(0, value / top))
const percent = (share: number): string => `${(100 * share).toFixed(2)}%`

const pathOf = (scale: Scale, points: ReadonlyArray<readonly [number, number]>): string => {
  const places = points.map(
    ([at, value]) => `${(units * x(scale, at)).toFixed(1)} ${(units * y(scale, value)).toFixed(1)}`
  )
  const d = places.length === 0 ? "" : `M${places.join("L")}`
  // A single point is drawn as a dot, which a line of no length with round ends is.
  return points.length === 1 ? `${d}h0` : d
}

const bandOf = (scale: Scale, { points }: Series): string => {
  const known = points.flatMap(({ high, low, x }) =>
    low === undefined || high === undefined ? [] : [{ x, low, high }]
  )
  if (known.length < 2) return ""
  const up = known.map(({ high, x }) => [x, high] as const)
  const down = known.map(({ low, x }) => [x, Math.max(0, low)] as const).reverse()
  return `${pathOf(scale, [...up, ...down])}Z`
}

const smoothed = ({ points }: Series, weight: number): ReadonlyArray<readonly [number, number]> => {
  const values = Listing.smooth(
    points.map(({ y }) => y),
    weight
  )
  return points.map(({ x, y }, index) => [x, values[index] ?? y] as const)
}

/** Computes label positions at the line ends, without overlaps. */
const labelPlaces = (ends: ReadonlyArray<number>): ReadonlyArray<number> => {
  const order = ends.map((at, index) => ({ at, index })).sort((one, other) => one.at - other.at)
  let last = Number.NEGATIVE_INFINITY
  const places = [...ends]
  for (const { at, index } of order) {
    last = Math.max(at, last + 13)
    places[index] = last
  }
  const over = Math.max(0, last - (height - 4))
  return places.map((place) => place - over)
}

interface Props {
  readonly chart: Chart
  /** The iterations on the axis, the same for all charts. */
  readonly from: number
  readonly to: number
  readonly weight: number
  readonly cursor: Signal<number | undefined>
  readonly onPick: (iteration: number) => void
}

const iterationAt = (event: MouseEvent & { readonly currentTarget: Element }, from: number, to: number): number => {
  const { left, width } = event.currentTarget.getBoundingClientRect()
  return Math.round(from + Math.min(1, Math.max(0, (event.clientX - left) / width)) * (to - from))
}

const Axes = ({
  cursor,
  scale,
  unit
}: {
  readonly scale: Scale
  readonly unit: Chart["unit"]
  readonly cursor: number | undefined
}) => {
  const marks = ticksTo(scale.to - scale.from)
  return (
    <>
      {ticksTo(scale.top).map((value) => (
        <g key={value}>
          <line class="grid-line" x1="0" x2="100%" y1={percent(y(scale, value))} y2={percent(y(scale, value))} />
          <text class="tick" x="-8" y={percent(y(scale, value))} dy="4" text-anchor="end">
            {unit === "usd"
              ? value === 0
                ? "$0"
                : Format.money(value).replace(/(\.\d*[1-9])0+$|\.0+$/, "$1")
              : unit === "share"
                ? Math.round(100 * value)
                : Number(value.toFixed(4))}
          </text>
        </g>
      ))}
      {marks.map((step) => (
        <text key={step} class="tick" x={percent(x(scale, scale.from + step))} y="100%" dy="18" text-anchor="middle">
          {Math.round(scale.from + step)}
        </text>
      ))}
      {cursor !== undefined && cursor >= scale.from && cursor <= scale.to && (
        <line class="cursor" x1={percent(x(scale, cursor))} x2={percent(x(scale, cursor))} y1="-6" y2="100%" />
      )}
    </>
  )
}

/** Renders a chart. */
export const Curves = ({ chart, cursor, from, onPick, to, weight }: Props) => {
  const { note, series, title, unit } = chart
  const seen = series.flatMap(({ points }) => points.filter(({ x }) => x >= from && x <= to))
  // A band may exceed the scale of its chart only slightly.
  const most = chart.top === undefined ? Number.POSITIVE_INFINITY : chart.top * 1.15
  const highest = Math.max(chart.top ?? 0, ...seen.map(({ high, y }) => Math.max(y, Math.min(high ?? y, most))))
  const scale = { from, to, top: highest === 0 ? 1 : highest === chart.top ? highest : highest * 1.04 }
  const lines = series.map((one) => smoothed(one, chart.isExact === true ? 0 : weight))
  const places = labelPlaces(lines.map((line) => y(scale, line.at(-1)?.[1] ?? 0) * height))
  const at = cursor.value
  const said = series
    .map((one) => `${one.name} from ${valueText(one.points[0]!.y, unit)} to ${valueText(one.points.at(-1)!.y, unit)}`)
    .join("; ")
  return (
    <section class="card curves" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <span class="dim">{unit === "share" ? `%, ${note}` : note}</span>
      </header>
      <div class="body plot-body">
        <svg
          class="plot"
          width="100%"
          height={height}
          role="img"
          aria-label={`${title}: ${said}. All values are in the table at the end.`}
          onPointerMove={(event) => (cursor.value = iterationAt(event, from, to))}
          onPointerLeave={() => (cursor.value = undefined)}
          onClick={(event) => onPick(iterationAt(event, from, to))}
        >
          <rect class="catch" width="100%" height="100%" />
          <Axes scale={scale} unit={unit} cursor={at} />
          <svg width="100%" height="100%" viewBox={`0 0 ${units} ${units}`} preserveAspectRatio="none">
            {series.map((one, index) => (
              <g key={one.name} class={`series s${(index % 6) + 1}`}>
                <path class="band" d={bandOf(scale, one)} />
                {weight > 0 && chart.isExact !== true && (
                  <path
                    class="raw"
                    d={pathOf(
                      scale,
                      one.points.map(({ x, y }) => [x, y])
                    )}
                  />
                )}
                <path class="smoothed" d={pathOf(scale, lines[index]!)} />
              </g>
            ))}
          </svg>
          {series.map((one, index) => {
            const found = at === undefined ? undefined : one.points.find((point) => point.x === at)
            return (
              <text key={one.name} class={`end-label s${(index % 6) + 1}`} x="100%" y={places[index]! + 4} dx="6">
                {found === undefined ? Format.oneLine(one.name, 16) : valueText(found.y, unit)}
              </text>
            )
          })}
        </svg>
      </div>
    </section>
  )
}

/** Renders the shares of the workers as stacked areas. */
export const Shares = ({
  cursor,
  from,
  onPick,
  shares,
  to
}: Omit<Props, "chart" | "weight"> & { readonly shares: WorkerShares }) => {
  const { columns, workers } = shares
  const scale = { from, to, top: 1 }
  const sums = columns.map(({ shares }) => {
    let sum = 0
    return shares.map((share) => {
      const low = sum
      sum += share
      return [low, sum] as const
    })
  })
  const area = (index: number) =>
    `${pathOf(scale, [
      ...columns.map(({ x }, at) => [x, sums[at]![index]![1]] as const),
      ...columns.map(({ x }, at) => [x, sums[at]![index]![0]] as const).reverse()
    ])}Z`
  const last = sums.at(-1)
  // The shares of a single iteration are in the bars of the workers.
  if (last === undefined || columns.length < 2) return null
  const places = labelPlaces(last.map(([low, high]) => (1 - (low + high) / 2) * height))
  const late = columns.at(-1)!.shares
  return (
    <section class="card curves" aria-label="Workers">
      <header>
        <h2>Workers</h2>
        <span class="dim">%, share of the steps</span>
      </header>
      <div class="body plot-body">
        <svg
          class="plot"
          width="100%"
          height={height}
          role="img"
          aria-label={`Share of the steps, last iteration: ${workers.map((id, index) => `${id} ${Format.share(late[index]!)}`).join(", ")}.`}
          onPointerMove={(event) => (cursor.value = iterationAt(event, from, to))}
          onPointerLeave={() => (cursor.value = undefined)}
          onClick={(event) => onPick(iterationAt(event, from, to))}
        >
          <rect class="catch" width="100%" height="100%" />
          <svg width="100%" height="100%" viewBox={`0 0 ${units} ${units}`} preserveAspectRatio="none">
            {workers.map((id, index) => (
              <path key={id} class={`area s${(index % 6) + 1}`} d={area(index)} />
            ))}
          </svg>
          <Axes scale={scale} unit="share" cursor={cursor.value} />
          {workers.map((id, index) => (
            <text key={id} class={`end-label s${(index % 6) + 1}`} x="100%" y={places[index]! + 4} dx="6">
              {Format.oneLine(id, 16)}
            </text>
          ))}
        </svg>
      </div>
    </section>
  )
}

/** Maximum number of rows in the table of values. If there are more iterations, only every nth has a row. */
const maxRows = 300

/** Renders the values of charts as a table. */
export const ValueTable = ({ charts }: { readonly charts: ReadonlyArray<Chart> }) => {
  const isOpen = useSignal(false)
  const columns = charts.flatMap(({ series, title, unit }) =>
    series.map(({ name, points }) => ({
      name: series.length === 1 ? title : `${title}: ${name}`,
      unit,
      values: new Map(points.map(({ x, y }) => [x, y]))
    }))
  )
  const all = [...new Set(columns.flatMap(({ values }) => [...values.keys()]))].sort((one, other) => one - other)
  const step = Math.max(1, (all.length - 1) / (maxRows - 1))
  const iterations = Array.from({ length: Math.min(all.length, maxRows) }, (_, row) => all[Math.round(row * step)]!)
  return (
    <section class="card" aria-label="As table">
      <header>
        <h2>As table</h2>
        <span class="dim">
          {Format.whole(iterations.length)}
          {iterations.length < all.length && ` of ${Format.whole(all.length)}`} iterations
        </span>
        <span class="grow" />
        <button
          type="button"
          class="button"
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {isOpen.value ? "Hide" : "Show"}
        </button>
      </header>
      <div class="body" role="group" aria-label="Values, scrollable" tabIndex={0}>
        {isOpen.value && (
          <table class="table">
            <caption class="unseen">Values of all charts</caption>
            <thead>
              <tr>
                <th scope="col">Iteration</th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col" class="right">
                    {Format.oneLine(name, 40)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {iterations.map((iteration) => (
                <tr key={iteration}>
                  <th scope="row">{iteration}</th>
                  {columns.map(({ name, unit, values }) => {
                    const value = values.get(iteration)
                    return (
                      <td key={name} class="right">
                        {value === undefined ? "" : valueText(value, unit)}
                      </td>
                    )
                  })}
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </section>
  )
}
