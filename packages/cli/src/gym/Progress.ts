/** How far a long command is: a bar on a terminal, and elsewhere a line now and then. */
import * as Format from "../view/Format.ts"
import { cut } from "../view/Line.ts"
import type { Output } from "../view/View.ts"
import type { Tally } from "./Tally.ts"

/** Is told how far it is. */
export interface Progress {
  readonly show: (label: string, tally: Tally, total: number) => void
  /** Takes the bar away. */
  readonly close: () => void
}

const barWidth = 24
const barMillis = 50
const lineMillis = 2_000

/** The text of the progress, without the bar. */
const describe = (label: string, { correct, costUsd, tasks }: Tally, total: number): string => {
  const share = tasks === 0 ? "" : `, ${((100 * correct) / tasks).toFixed(1)} % correct, ${Format.cost(costUsd)}`
  return `${label}: ${tasks} of ${total}${share}`
}

/** A bar, filled by eighths of a column. */
export const bar = (done: number, total: number, width = barWidth): string => {
  const eighths = total === 0 ? 0 : Math.floor((done / total) * width * 8)
  const rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]!
  return `${"█".repeat(Math.floor(eighths / 8))}${rest}`.padEnd(width)
}

/** Progress on the error output. `now` is in milliseconds. */
export const make = (output: Output, isLive: boolean, now: () => number): Progress => {
  let last = isLive ? Number.NEGATIVE_INFINITY : now()
  let hasBar = false
  return {
    show: (label, tally, total) => {
      if (now() - last < (isLive ? barMillis : lineMillis)) return
      last = now()
      const text = describe(label, tally, total)
      if (!isLive) return void output.write(`${text}\n`)
      hasBar = true
      output.write(`\r${cut(`▕${bar(tally.tasks, total)}▏ ${text}`, (output.columns ?? 80) - 1)}\u001b[K`)
    },
    close: () => {
      if (hasBar) output.write("\r\u001b[K")
      hasBar = false
    }
  }
}
