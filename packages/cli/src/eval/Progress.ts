/** How far an evaluation is, with the time and the money that are left: a bar on a terminal, else a line now and then. */
import type * as Evaluation from "@divisi/evals/Evaluation"
import { bar } from "../gym/Progress.ts"
import * as Format from "../view/Format.ts"
import { cut } from "../view/Line.ts"
import type { Output } from "../view/View.ts"

/** Is told how far it is. */
export interface Progress {
  readonly show: (progress: Evaluation.Progress) => void
  /** Takes the bar away. */
  readonly close: () => void
}

const barWidth = 24
const barMillis = 100
const lineMillis = 5_000

/** The text of the progress, without the bar. */
export const describe = (progress: Evaluation.Progress): string => {
  const { done, leftMillis, missing, moneyLeftUsd, paidUsd, planned, resumed } = progress
  return [
    `${done.toLocaleString("en-US")} of ${Format.count(planned, "sample")}`,
    ...(done === resumed && resumed > 0 ? ["going on"] : []),
    ...(leftMillis === undefined || done === planned ? [] : [`${Format.duration(leftMillis)} left`]),
    `${Format.cost(paidUsd)} paid`,
    ...(moneyLeftUsd === undefined ? [] : [`${Format.cost(moneyLeftUsd)} left`]),
    ...(missing === 0 ? [] : [`${missing} missing`])
  ].join(", ")
}

/** Progress on the error output. `now` is in milliseconds. */
export const make = (output: Output, isLive: boolean, now: () => number): Progress => {
  let last = Number.NEGATIVE_INFINITY
  let hasBar = false
  return {
    show: (progress) => {
      const isLast = progress.done === progress.planned
      if (!isLast && now() - last < (isLive ? barMillis : lineMillis)) return
      last = now()
      const text = describe(progress)
      if (!isLive) return void output.write(`${text}\n`)
      hasBar = true
      const filled = bar(progress.done, progress.planned, barWidth)
      output.write(`\r${cut(`▕${filled}▏ ${text}`, (output.columns ?? 80) - 1)}\u001b[K`)
    },
    close: () => {
      if (hasBar) output.write("\r\u001b[K")
      hasBar = false
    }
  }
}
