/** How far a download has come: a line that is written anew on a terminal, and one every ten seconds elsewhere. */
import path from "node:path"

interface Output {
  readonly isTTY?: boolean | undefined
  readonly write: (text: string) => unknown
}

/** As told by `ModelStore`. */
interface Progress {
  readonly file: string
  readonly received: number
  readonly total?: number | undefined
}

const gigabytes = (bytes: number) => (bytes / 1e9).toFixed(2)

const describe = ({ file, received, total }: Progress): string => {
  const of = total === undefined ? "" : ` of ${gigabytes(total)} GB (${Math.floor((100 * received) / total)}%)`
  return `${path.basename(file)}: ${gigabytes(received)}${of === "" ? " GB" : of}`
}

/** Progress on an output. `now` is in milliseconds. */
export const make = (output: Output, now: () => number): ((progress: Progress) => void) => {
  const isLive = output.isTTY === true
  let last = 0
  return (progress) => {
    const isDone = progress.received === progress.total
    if (!isDone && now() - last < (isLive ? 100 : 10_000)) return
    last = now()
    output.write(isLive ? `\r${describe(progress)}\u001b[K${isDone ? "\n" : ""}` : `${describe(progress)}\n`)
  }
}
