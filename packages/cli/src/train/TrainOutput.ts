/** Displays a training run: redrawn on a terminal, as plain lines, or as events for programs. */
import type { TrainingEvent } from "@divisi/trainer"
import * as Effect from "effect/Effect"
import { drawing, stdout } from "../invocation/Output.ts"
import * as Block from "../view/Block.ts"
import type { Line } from "../view/Line.ts"
import { isLive, type Output, terminal } from "../view/View.ts"
import * as TrainLines from "./TrainLines.ts"
import * as TrainView from "./TrainView.ts"

/** Receives events as they happen. */
export interface TrainOutput {
  readonly show: (event: TrainingEvent.TrainingEvent) => void
  /** Shows that the run was asked to stop. */
  readonly stopping: () => void
  /** Must be called once when the run ends, however it ends. */
  readonly close: () => void
}

/** Interval between two frames, in milliseconds. */
const frameMillis = 100

/** Prints events as JSON Lines. */
export const json = (output: Output): TrainOutput => ({
  show: (event) => void output.write(`${JSON.stringify(event)}\n`),
  stopping: () => {},
  close: () => {}
})

/** Prints plain lines. */
export const plain = (output: Output): TrainOutput => {
  let view: TrainView.TrainView | undefined
  const write = (lines: ReadonlyArray<string>) => {
    if (lines.length > 0) output.write(`${lines.join("\n")}\n`)
  }
  return {
    show: (event) => {
      view = TrainView.apply(view, event)
      if (view !== undefined) write(TrainLines.plain(view, event))
    },
    stopping: () => write(["Stopping at a checkpoint."]),
    close: () => {
      if (view !== undefined) write(TrainLines.ending(view))
    }
  }
}

/** Displays a block that is redrawn. */
export const live = (output: Output): TrainOutput => {
  let view: TrainView.TrainView | undefined
  let before: ReadonlyArray<Line> = []
  let isStopping = false
  const size = () => ({ columns: output.columns ?? 80, rows: output.rows ?? 24 })
  const draw = (lines: (view: TrainView.TrainView, width: number) => ReadonlyArray<Line>) => {
    if (view === undefined) return
    const window = size()
    // Some terminals wrap a line that is exactly as wide as the window.
    const next = lines(view, window.columns - 1).slice(0, Math.max(1, window.rows - 1))
    output.write(Block.frame(before, next, window))
    before = next
  }
  const frame = () => draw((view, width) => TrainLines.block(view, width, isStopping))
  const restoreCursor = () => void output.write(Block.showCursor)
  output.write(Block.hideCursor)
  process.once("exit", restoreCursor)
  const timer = setInterval(frame, frameMillis)
  return {
    show: (event) => {
      view = TrainView.apply(view, event)
    },
    stopping: () => {
      isStopping = true
      frame()
    },
    close: () => {
      clearInterval(timer)
      draw(TrainLines.final)
      process.removeListener("exit", restoreCursor)
      restoreCursor()
    }
  }
}

/** Creates the output that suits the terminal and the flags. */
export const make = (isJson: boolean): Effect.Effect<TrainOutput> =>
  Effect.map(terminal, (terminal) => {
    if (isJson) return json(stdout)
    return isLive(stdout, terminal) ? live(drawing(stdout)) : plain(stdout)
  })
