/** @jsxImportSource preact */
/** A scatter plot of cost against accuracy that highlights the Pareto front. */
import type { Cell, Point, Report } from "../../evaluation/Listing.ts"
import * as Listing from "../../evaluation/Listing.ts"
import * as Format from "../../run/Format.ts"

const height = 270

/** Maximum number of labels for points outside the front. */
const maxLabels = 6

/** The width for which labels are laid out, in pixels. On narrower charts, fewer labels fit. */
const nominalWidth = 430

/** A point, in fractions of the chart's width and height. */
interface Placed extends Point {
  readonly x: number
  readonly y: number
}

interface Box {
  readonly from: number
  readonly to: number
  readonly y: number
}

type Side = "start" | "end"

/** Places labels to the right or left of their points without overlapping points or other labels. */
const labelled = (
  points: ReadonlyArray<Placed>,
  front: ReadonlySet<string>,
  selected: string
): ReadonlyMap<string, Side> => {
  const rank = ({ policy }: Point) => (policy === selected ? 0 : front.has(policy) ? 1 : 2)
  const order = [...points].sort((one, other) => rank(one) - rank(other) || other.mean - one.mean)
  const chosen = new Map<string, Side>()
  const taken: Array<Box> = points.map(({ x, y }) => ({
    from: x * nominalWidth - 6,
    to: x * nominalWidth + 6,
    y: y * height
  }))
  let others = 0
  for (const point of order) {
    if (rank(point) === 2 && others >= maxLabels) continue
    const long = Math.min(24, point.policy.length) * 6.4
    const at = point.x * nominalWidth
    const y = point.y * height
    const boxes: ReadonlyArray<readonly [Side, Box]> = [
      ["start", { from: at + 7, to: at + 9 + long, y }],
      ["end", { from: at - 9 - long, to: at - 7, y }]
    ]
    const isFree = ({ from, to, y }: Box) =>
      from > -20 &&
      to < nominalWidth + 16 &&
      taken.every((box) => Math.abs(box.y - y) > 13 || box.to < from || box.from > to)
    const found = boxes.find(([, box]) => isFree(box))
    if (found === undefined) continue
    if (rank(point) === 2) others += 1
    taken.push(found[1])
    chosen.set(point.policy, found[0])
  }
  return chosen
}

/** Renders the chart at the full width of its container. Horizontal positions are fractions. */
export const CostChart = ({
  cells,
  isPlay,
  report,
  selected
}: {
  readonly cells: ReadonlyArray<Cell>
  readonly report: Report
  readonly selected: string
  readonly isPlay: boolean
}) => {
  const points = cells.flatMap(
    ({ costUsd, policy, score }): ReadonlyArray<Point> =>
      typeof costUsd.mean === "number" && costUsd.mean > 0 && score.mean !== null
        ? [{ policy, mean: score.mean, costUsd: costUsd.mean }]
        : []
  )
  const logs = points.map(({ costUsd }) => Math.log10(costUsd))
  const low = Math.floor(Math.min(...logs) * 2 - 0.2) / 2
  const high = Math.ceil(Math.max(...logs) * 2 + 0.2) / 2
  const across = (costUsd: number) => (Math.log10(costUsd) - low) / Math.max(0.5, high - low)
  const placed = points.map((point): Placed => ({ ...point, x: across(point.costUsd), y: 1 - point.mean }))
  const front = Listing.frontier(points)
  const names = new Set(front.map(({ policy }) => policy))
  const labels = labelled(placed, names, selected)
  const isBaseline = (name: string) => report.config.policies.find((one) => one.name === name)?.isBaseline === true
  const powers = Array.from({ length: Math.floor(high) - Math.ceil(low) + 1 }, (_, index) => Math.ceil(low) + index)
  const percent = (share: number) => `${(100 * share).toFixed(2)}%`
  const down = (mean: number) => `${(100 * (1 - mean)).toFixed(2)}%`
  return (
    <section class="card" aria-label="Cost against accuracy">
      <header>
        <h2>Cost against accuracy</h2>
        <span class="grow" />
        <span class="legend" aria-hidden="true">
          <span>
            <i class="front-key" /> best for its cost
          </span>
        </span>
      </header>
      <div class="body plot-body">
        {points.length === 0 ? (
          <p class="dim">No policy has a known cost.</p>
        ) : (
          <svg
            class="plot"
            width="100%"
            height={height}
            role="img"
            aria-label={`Cost against accuracy. Best for their cost: ${front
              .map(({ costUsd, mean, policy }) => `${policy}, ${Format.share(mean)} at ${Format.money(costUsd)}`)
              .join("; ")}. All figures are in the table of accuracy.`}
          >
            {[0, 0.25, 0.5, 0.75, 1].map((mean) => (
              <g key={mean}>
                <line class="grid-line" x1="0" x2="100%" y1={down(mean)} y2={down(mean)} />
                <text class="tick" x="-8" y={down(mean)} dy="4" text-anchor="end">
                  {100 * mean}
                </text>
              </g>
            ))}
            {powers.map((power) => (
              <g key={power}>
                <line
                  class="grid-line"
                  x1={percent(across(10 ** power))}
                  x2={percent(across(10 ** power))}
                  y1="0"
                  y2="100%"
                />
                <text class="tick" x={percent(across(10 ** power))} y="100%" dy="18" text-anchor="middle">
                  {Format.money(10 ** power).replace(/(\.0*1)0+$/, "$1")}
                </text>
              </g>
            ))}
            <text class="tick" x="50%" y="100%" dy="34" text-anchor="middle">
              {isPlay ? "play money" : "USD"} a question, log scale
            </text>
            {front.slice(1).map(({ costUsd, mean, policy }, index) => {
              const before = front[index]!
              return (
                <g key={policy} class="front">
                  <line
                    x1={percent(across(before.costUsd))}
                    x2={percent(across(costUsd))}
                    y1={down(before.mean)}
                    y2={down(before.mean)}
                  />
                  <line
                    x1={percent(across(costUsd))}
                    x2={percent(across(costUsd))}
                    y1={down(before.mean)}
                    y2={down(mean)}
                  />
                </g>
              )
            })}
            {placed.map(({ costUsd, mean, policy, x }) => {
              const kind = policy === selected ? "own" : names.has(policy) ? "front" : isBaseline(policy) ? "ring" : ""
              const side = labels.get(policy)
              return (
                <g key={policy}>
                  <circle class={`point ${kind}`} cx={percent(x)} cy={down(mean)} r={kind === "own" ? 5.5 : 4.5}>
                    <title>{`${policy}: ${Format.share(mean)} at ${Format.money(costUsd, isPlay)} a question`}</title>
                  </circle>
                  {side !== undefined && (
                    <text
                      class={`point-label ${kind === "own" || kind === "front" ? "strong-label" : ""}`}
                      x={percent(x)}
                      y={down(mean)}
                      dx={side === "end" ? -9 : 9}
                      dy="4"
                      text-anchor={side}
                    >
                      {Format.oneLine(policy, 24)}
                    </text>
                  )}
                </g>
              )
            })}
          </svg>
        )}
      </div>
    </section>
  )
}
