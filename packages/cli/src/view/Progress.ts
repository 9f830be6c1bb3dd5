/**
 * Displays the progress of long commands: on a terminal as a line that is redrawn, otherwise as a line printed at
 * intervals.
 */
import { cut, oneLine } from "./Line.ts"
import type { Output } from "./View.ts"

/** The progress of a command. */
export interface State {
  readonly done: number
  /** `undefined` if unknown. */
  readonly total: number | undefined
  readonly text: string
}

/** A progress display. */
export interface Progress {
  readonly show: (state: State) => void
  /** Removes the line. */
  readonly close: () => void
}

/** Options for displaying progress. Times are in milliseconds. */
export interface Options {
  readonly isLive: boolean
  readonly now: () => number
  /** Interval between two lines if they cannot be redrawn. */
  readonly plainMillis: number
  /** Whether a bar precedes the text on a terminal. Without a bar, the last text stays visible at the end. */
  readonly hasBar: boolean
}

const barWidth = 24
const liveMillis = 100
const eraseToEnd = "\u001b[K"

/** Formats a progress bar with a resolution of an eighth of a column. */
export const bar = (done: number, total: number, width = barWidth): string => {
  const eighths = total === 0 ? 0 : Math.floor((done / total) * width * 8)
  const rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]!
  return `${"█".repeat(Math.floor(eighths / 8))}${rest}`.padEnd(width)
}

/** Creates a progress display for an output. The final state is always shown. */
export const make = (output: Output, { hasBar, isLive, now, plainMillis }: Options): Progress => {
  let last = Number.NEGATIVE_INFINITY
  let isDrawn = false
  let untold: State | undefined
  const draw = ({ done, text, total }: State) => {
    const filled = hasBar && total !== undefined ? `▕${bar(done, total)}▏ ` : ""
    // Without a bar, the final text stays visible.
    const isKept = done === total && !hasBar
    output.write(`\r${cut(`${filled}${oneLine(text)}`, (output.columns ?? 80) - 1)}${eraseToEnd}${isKept ? "\n" : ""}`)
    isDrawn = !isKept
  }
  return {
    show: (state) => {
      const isEnd = state.done === state.total
      untold = state
      if (!isEnd && now() - last < (isLive ? liveMillis : plainMillis)) return
      last = now()
      untold = undefined
      if (!isLive) return void output.write(`${oneLine(state.text)}\n`)
      draw(state)
    },
    close: () => {
      // The last plain line shows the final progress, even if the work stopped between two lines.
      if (!isLive && untold !== undefined) output.write(`${oneLine(untold.text)}\n`)
      untold = undefined
      if (isDrawn) output.write(`\r${eraseToEnd}`)
      isDrawn = false
    }
  }
}
