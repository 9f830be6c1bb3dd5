/** Progress of a download: a line that is rewritten on a terminal, and one every ten seconds elsewhere. */
import path from "node:path"
import * as Progress from "./Progress.ts"
import type { Output } from "./View.ts"

/** As reported by `ModelStore`. */
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

/** Progress on an output. `now` is in milliseconds. */
export const make = (output: Output, now: () => number): ((download: Download) => void) => {
  const isLive = output.isTTY === true
  const progress = Progress.make(output, { isLive, now, plainMillis: 10_000, hasBar: false })
  return (download) => progress.show({ done: download.received, total: download.total, text: describe(download) })
}
