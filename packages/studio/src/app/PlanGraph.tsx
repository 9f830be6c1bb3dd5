/** @jsxImportSource preact */
/** Displays a round's plan as a graph with layers from left to right, using core's layout. */
import { RunEvent, Topology, type Transcript } from "@divisi/core"
import * as Format from "../run/Format.ts"
import type { Row } from "../run/Waterfall.ts"
import { lookOf, Mark } from "./Icons.tsx"
import { attemptsText, plainMoney, skipText, stateOfStep } from "./Steps.ts"

const node = { width: 158, height: 60, gapX: 28, gapY: 18, margin: 14 }

/**
 * Minimum scale. A wide plan is scaled down to fit its pane; below this scale it scrolls instead, so that its text
 * stays legible.
 */
const minScale = 0.8

const shortened = (text: string, most: number): string => {
  const line = Format.oneLine(text, 200)
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

/** Returns the last line of a node: its time and price, or the reason why they are missing. */
const factOf = ({ calls, isReused, record }: Row, access: string): string => {
  const { state } = record
  if (state === "skipped") return skipText(record)
  if (isReused) return state === "failed" ? "failed, not paid again" : "reused, not paid again"
  if (state === "waiting") return access === "" ? "not started" : `waits for ${access}`
  if (state === "suspended") return "needs a result"
  if (state === "running") return "running"
  const time = Format.duration((record.endedAt ?? 0) - (record.startedAt ?? 0))
  if (state === "failed") return `${attemptsText(calls.length)} · ${time}`
  return `${time} · ${plainMoney(record)}`
}

interface Props {
  /** Distinguishes several plans on the same page. */
  readonly name?: string
  readonly round: Transcript.RoundRecord
  readonly rows: ReadonlyArray<Row>
  readonly selected: number | undefined
  readonly onSelect: (step: number) => void
}

const accessOf = (access: "all" | ReadonlyArray<number>, step: number): string => {
  const seen = access === "all" ? Array.from({ length: step }, (_, index) => index) : access
  return seen.length === 0 ? "" : `${seen.length === 1 ? "step" : "steps"} ${seen.join(", ")}`
}

/** Renders the plan. */
export const PlanGraph = ({ name: plan = "", onSelect, round, rows, selected }: Props) => {
  const { workflow } = round
  if (workflow === undefined || workflow.steps.length === 0) return <p class="pane-note">No plan yet.</p>
  const layout = Topology.layout(Topology.make(workflow))
  const { gapX, gapY, height, margin, width } = node
  const x = (layer: number) => margin + layer * (width + gapX)
  const y = (lane: number) => margin + lane * (height + gapY)
  const isCritical = (step: number) => rows[step]?.isCritical === true
  const whole = { width: x(layout.layers) - gapX + margin, height: y(layout.lanes) - gapY + margin }
  const path = (points: Topology.Layout["edges"][number]["points"]): string => {
    const middle = (at: { readonly lane: number }) => y(at.lane) + height / 2
    const [first, ...rest] = points
    let d = `M${x(first!.layer) + width} ${middle(first!)}`
    let from = { x: x(first!.layer) + width, y: middle(first!) }
    for (const [index, point] of rest.entries()) {
      const to = { x: x(point.layer), y: middle(point) }
      const bend = (to.x - from.x) / 2
      d += ` C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`
      if (index < rest.length - 1) d += ` H${to.x + width}`
      from = { x: to.x + width, y: to.y }
    }
    return d
  }
  const move = (event: KeyboardEvent, step: number) => {
    const { layer, lane } = layout.steps[step]!
    const others = layout.steps.map((at, index) => ({ ...at, index })).filter(({ index }) => index !== step)
    const by: Readonly<Record<string, (at: Topology.Position) => number | undefined>> = {
      ArrowRight: (at) => (at.layer > layer ? (at.layer - layer) * 100 + Math.abs(at.lane - lane) : undefined),
      ArrowLeft: (at) => (at.layer < layer ? (layer - at.layer) * 100 + Math.abs(at.lane - lane) : undefined),
      ArrowDown: (at) => (at.layer === layer && at.lane > lane ? at.lane - lane : undefined),
      ArrowUp: (at) => (at.layer === layer && at.lane < lane ? lane - at.lane : undefined)
    }
    const distance = by[event.key]
    if (distance === undefined) return
    const [next] = others
      .flatMap((at) => {
        const far = distance(at)
        return far === undefined ? [] : [{ far, index: at.index }]
      })
      .sort((one, other) => one.far - other.far)
    event.preventDefault()
    event.stopPropagation()
    if (next === undefined) return
    onSelect(next.index)
    document.getElementById(`node${plan}-${round.round}-${next.index}`)?.focus()
  }
  const stop = selected ?? workflow.steps.length - 1
  return (
    <svg
      class="plan"
      width={whole.width}
      height={whole.height}
      viewBox={`0 0 ${whole.width} ${whole.height}`}
      ref={(element) => element?.style.setProperty("min-width", `${minScale * whole.width}px`)}
      role="group"
      aria-label={`Plan of round ${round.round}`}
    >
      {layout.edges.map(({ from, points, to }) => {
        const kind =
          rows[from]?.record.state === "failed" ? "lost" : isCritical(from) && isCritical(to) ? "critical" : ""
        return <path key={`${from}-${to}`} class={`edge ${kind}`} d={path(points)} />
      })}
      {workflow.steps.map(({ access, subtask }, step) => {
        const row = rows[step]
        if (row === undefined) return null
        const at = layout.steps[step]!
        const state = stateOfStep(row.record)
        const fact = factOf(row, accessOf(access, step))
        const title = subtask === "" ? "The question" : Format.oneLine(subtask, 400)
        const name = `Step ${step}, ${RunEvent.authorOf(row.record)}, ${lookOf(state).word}, ${fact}: ${title}`
        const classes = ["node", `is-${state}`, isCritical(step) ? "critical" : "", selected === step ? "selected" : ""]
        return (
          <g key={step} class={classes.join(" ")} transform={`translate(${x(at.layer)} ${y(at.lane)})`}>
            <g aria-hidden="true">
              {row.record.nested !== undefined && (
                <rect class="outer" x="-3" y="-3" width={width + 6} height={height + 6} rx="10" />
              )}
              <rect class="box" width={width} height={height} rx="8" />
              <g transform="translate(10 9)">
                <Mark state={state} size={13} />
              </g>
              <text class="number" x="29" y="20">
                {step}
              </text>
              <text class="worker" x="40" y="20">
                {shortened(RunEvent.authorOf(row.record), 15)}
              </text>
              <text x="10" y="36">
                {shortened(title, 22)}
              </text>
              <text class="fact" x="10" y="51">
                {shortened(fact, 23)}
              </text>
            </g>
            <rect
              id={`node${plan}-${round.round}-${step}`}
              class="target"
              width={width}
              height={height}
              rx="8"
              role="button"
              tabindex={step === stop ? 0 : -1}
              aria-label={name}
              aria-pressed={selected === step}
              onClick={() => onSelect(step)}
              onKeyDown={(event) => {
                if (event.key === "Enter" || event.key === " ") {
                  event.preventDefault()
                  onSelect(step)
                } else move(event, step)
              }}
            />
          </g>
        )
      })}
    </svg>
  )
}
