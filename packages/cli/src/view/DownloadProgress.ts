/**
 * Shows the progress of a download: on a terminal as a line that is redrawn, otherwise as one line every ten seconds.
 */
import path from "node:path"
import * as Progress from "./Progress.ts"
import type { Output } from "./View.ts"

/** Progress as reported by `ModelStore`. */
interface Download {
  readonly file: string
  readonly received: number
  readonly total?: number | undefined
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2)

const describe = ({ file, received, total }: Download): string => {
  const of = total === undefined ? "" : ` of ${gigabytes(total)} GB (${Math.floor((100 * received) / total)}%)`
  return `${path.basename(file)}: ${gigabytes(received)}${of === "" ? " GB" : of}`
}

/** Creates a progress display for an output. `now` returns milliseconds. */
export const make = (output: Output, now: () => number): ((download: Download) => void) => {
  const isLive = output.isTTY === true
  const progress = Progress.make(output, { isLive, now, plainMillis: 10_000, hasBar: false })
  return (download) => progress.show({ done: download.received, total: download.total, text: describe(download) })
}
