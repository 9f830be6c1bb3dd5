/** Displays the progress of an evaluation, with the estimated remaining time and cost. */
import type { Evaluation } from "@divisi/evals"
import * as Effect from "effect/Effect"
import { drawing } from "../invocation/Output.ts"
import * as Format from "../view/Format.ts"
import { make as makeProgress } from "../view/Progress.ts"
import * as View from "../view/View.ts"

/** Formats the progress as text, without the bar. */
export const describe = (progress: Evaluation.Progress, isPlay = false): string => {
  const { done, leftMillis, missing, moneyLeftUsd, paidUsd, planned, resumed } = progress
  return [
    `${Format.integer(done)} of ${Format.count(planned, "sample")}`,
    ...(done === resumed && resumed > 0 ? ["resumed"] : []),
    ...(leftMillis === undefined || done === planned ? [] : [`${Format.duration(leftMillis)} left`]),
    isPlay ? Format.cost(paidUsd, isPlay) : `${Format.cost(paidUsd)} paid`,
    ...(moneyLeftUsd === undefined ? [] : [`${Format.cost(moneyLeftUsd, isPlay)} left`]),
    ...(missing === 0 ? [] : [`${missing} missing`])
  ].join(", ")
}

/** Shows a progress bar if standard error is a terminal, or prints a line every five seconds otherwise. */
export const make = (isPlay: boolean) =>
  Effect.map(View.terminal, (terminal) => {
    const isLive = View.isLive(process.stderr, terminal)
    const progress = makeProgress(drawing(process.stderr), { isLive, now: Date.now, plainMillis: 5_000, hasBar: true })
    return {
      show: (state: Evaluation.Progress): void =>
        progress.show({ done: state.done, total: state.planned, text: describe(state, isPlay) }),
      close: progress.close
    }
  })

export type Progress = Effect.Success<ReturnType<typeof make>>
