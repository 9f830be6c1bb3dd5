/** @jsxImportSource preact */
/** The waterfall chart of a run, with all steps on one time scale. */
import { RunEvent } from "@divisi/core"
import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import * as Format from "../run/Format.ts"
import type { Row, Waterfall } from "../run/Waterfall.ts"
import { Mark } from "./Icons.tsx"
import { attemptsText, callWords, plainMoney, skipText, stateOfStep } from "./Steps.ts"

const rowHeight = 32

/** Maximum number of a step's items that have separate bars. */
const maxItemBars = 100
const top = 28

/** Returns about `count` round values for a time axis, and at least two. */
export const ticksOf = (millis: number, count: number): ReadonlyArray<number> => {
  const rough = millis / Math.max(1, count)
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)))
  const sizes = [1, 2, 5, 10].map((factor) => factor * power).filter((size) => size <= millis)
  const step = sizes.find((size) => size >= rough) ?? sizes.at(-1) ?? power
  return Array.from({ length: Math.floor(millis / step) + 1 }, (_, index) => index * step)
}

/** Approximate width of a character of the labels, in pixels. */
const characterWidth = 6.3

const tick = (millis: number): string =>
  millis === 0 ? "0" : millis < 1_000 ? `${millis} ms` : `${Number((millis / 1_000).toFixed(1))} s`

const factOf = ({ calls, from = 0, isReused, record, to = 0 }: Row): string => {
  if (record.state === "skipped") return `skipped: ${skipText(record)}`
  if (isReused) return `${record.state === "failed" ? "failed, " : ""}from the forked run`
  if (record.state === "waiting") return ""
  if (record.state === "failed") return `failed after ${attemptsText(calls.length)}`
  if (record.state === "suspended") return "needs a result"
  return `${Format.duration(to - from)} · ${record.state === "running" ? "running" : plainMoney(record)}`
}

interface Props {
  readonly waterfall: Waterfall
  readonly selected: { readonly round: number; readonly step: number } | undefined
  readonly onSelect: (round: number, step: number) => void
  /** Start of the run, in milliseconds since 1970. */
  readonly start: number
  /** The displayed time, in milliseconds since the start. */
  readonly at: number
  readonly hasRounds: boolean
}

/** Renders the waterfall at the full width of its container. */
export const WaterfallChart = ({ at, hasRounds, onSelect, selected, start, waterfall }: Props) => {
  const holder = useRef<HTMLDivElement>(null)
  const width = useSignal(560)
  useEffect(() => {
    const element = holder.current
    if (element === null) return
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.max(280, Math.floor(entry?.contentRect.width ?? 560))
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const { millis, rows } = waterfall
  const nameWidth = Math.min(172, width.value * 0.34)
  const scale = width.value - nameWidth - 8
  const x = (time: number) => nameWidth + (Math.min(time, millis) / millis) * scale
  const height = top + rows.length * rowHeight + 6
  const critical = rows
    .map((row, index) => ({ row, index }))
    .filter(({ row }) => row.isCritical && row.calls.length > 0)
  const isBegun = rows.length === 0 || rows.some(({ from }) => from !== undefined)
  const characters = Math.floor((nameWidth - 46) / 7.4)
  return (
    <div class="waterfall" ref={holder}>
      <svg width={width.value} height={height} viewBox={`0 0 ${width.value} ${height}`} aria-hidden="true">
        <defs>
          <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="hatch-ground" width="5" height="5" />
            <path class="hatch-line" d="M0 0v5" />
          </pattern>
        </defs>
        {!isBegun && (
          <text class="tick" x={nameWidth} y="14">
            No step has started
          </text>
        )}
        {(isBegun ? ticksOf(millis, Math.max(2, Math.floor(scale / 90))) : []).map((time) => (
          <g key={time}>
            <path class="grid-line" d={`M${x(time)} ${top - 6}V${height}`} />
            <text
              class="tick"
              x={x(time)}
              y="14"
              text-anchor={time === 0 ? "start" : width.value - x(time) < 24 ? "end" : "middle"}
            >
              {tick(time)}
            </text>
          </g>
        ))}
        {rows.map((row, index) => {
          const y = top + index * rowHeight
          const isSelected = selected?.round === row.round && selected.step === row.step
          const state = stateOfStep(row.record)
          const name = RunEvent.authorOf(row.record)
          return (
            <g
              key={`${row.round}.${row.step}`}
              class={`row ${isSelected ? "selected" : ""}`}
              onClick={() => onSelect(row.round, row.step)}
            >
              <rect class="row-ground" x="0" y={y} width={width.value} height={rowHeight} rx="6" />
              <g transform={`translate(8 ${y + 9})`}>
                <Mark state={state} size={13} />
              </g>
              <text class="number" x="28" y={y + 20}>
                {hasRounds ? `${row.round}.${row.step}` : row.step}
              </text>
              <text class="worker" x={hasRounds ? 50 : 42} y={y + 20}>
                {name.length > characters ? `${name.slice(0, Math.max(3, characters - 1))}…` : name}
              </text>
              {row.calls.slice(1).map((call, at) => {
                const before = row.calls[at]!
                return call.from > before.to ? (
                  <g key={at}>
                    <title>{`${before.kind === "turn" ? "Tools" : "Pause before the next attempt"}, ${Format.duration(call.from - before.to)}`}</title>
                    <path
                      class={before.kind === "turn" ? "tool-time" : "pause"}
                      d={`M${x(before.to)} ${y + 16}H${x(call.from)}`}
                    />
                    <rect class="target" x={x(before.to)} y={y + 8} width={x(call.from) - x(before.to)} height="16" />
                  </g>
                ) : null
              })}
              {row.calls.map((call, at) => (
                <rect
                  key={at}
                  class={`call is-${call.kind} ${row.isCritical ? "critical" : ""}`}
                  x={x(call.from)}
                  y={y + 10.5}
                  width={Math.max(2, x(call.to) - x(call.from))}
                  height="11"
                  rx="2.5"
                >
                  <title>{`${callWords[call.kind]}, ${Format.duration(call.to - call.from)}`}</title>
                </rect>
              ))}
              {row.record.items?.slice(0, maxItemBars).map((item, at, { length }) => (
                <rect
                  key={item.item}
                  class={`call is-${item.state === "failed" ? "failed" : "answer"}`}
                  x={x((item.startedAt ?? start) - start)}
                  y={y + 5 + (at * 22) / length}
                  width={Math.max(
                    1,
                    x((item.endedAt ?? start + millis) - start) - x((item.startedAt ?? start) - start)
                  )}
                  height={Math.max(0.5, 22 / length - 0.5)}
                />
              ))}
            </g>
          )
        })}
        {critical.slice(1).map(({ index, row }, at) => {
          const before = critical[at]!
          if (before.row.round !== row.round) return null
          const end = x(row.from ?? 0)
          return (
            <path
              key={index}
              class="join"
              d={`M${end} ${top + before.index * rowHeight + 21}V${top + index * rowHeight + 11}`}
            />
          )
        })}
        {at < millis && <path class="now" d={`M${x(at)} ${top - 8}V${height}`} />}
        {rows.map((row, index) => {
          const end = x(row.calls.at(-1)?.to ?? row.from ?? 0)
          const fact = factOf(row)
          const room = 12 + fact.length * characterWidth
          const fits = width.value - end >= room
          const isLeft = !fits && x(row.from ?? 0) - nameWidth >= room
          if (!fits && !isLeft) return null
          return (
            <text
              key={`${row.round}.${row.step}`}
              class={`fact ${selected?.round === row.round && selected.step === row.step ? "selected" : ""}`}
              x={isLeft ? x(row.from ?? 0) - 8 : end + 8}
              y={top + index * rowHeight + 20}
              text-anchor={isLeft ? "end" : "start"}
            >
              {fact}
            </text>
          )
        })}
      </svg>
    </div>
  )
}
