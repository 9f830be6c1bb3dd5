/** Displays a run: redrawn on a terminal, as plain lines, as the answer only, or as events for programs. */
import { RunEvent, type Transcript } from "@divisi/core"
import { type Environment, read } from "@divisi/recipes/Environment"
import type * as Effect from "effect/Effect"
import * as Block from "./Block.ts"
import * as BlockView from "./BlockView.ts"
import { type Line, line } from "./Line.ts"
import * as PlainView from "./PlainView.ts"
import * as Silence from "./Silence.ts"

/** Shows an active run. */
export interface View {
  /** Called with each event, after the run's transcript has been updated. */
  readonly show: (event: RunEvent.RunEvent) => void
  /**
   * Pauses the view and shows a question below it, whose last line awaits input, until the view is resumed. The
   * question's lines remain visible.
   */
  readonly hold: (lines: ReadonlyArray<string>) => void
  readonly goOn: () => void
  /** Restores the terminal. Must be called once when the run ends, however it ends. */
  readonly close: () => void
}

/** Returns the transcript of a run. `undefined` before the run has started. */
export type Source = () => Transcript.Transcript | undefined

/** The output stream of a view. Terminals report their size. */
export interface Output {
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  readonly write: (text: string) => unknown
}

/** Interval between two frames, in milliseconds: 20 frames per second. */
const frameMillis = 50

/** Prints events as JSON Lines. */
export const json = (output: Output, encode: (event: RunEvent.RunEvent) => string): View => ({
  show: (event) => void output.write(`${encode(event)}\n`),
  hold: () => {},
  goOn: () => {},
  close: () => {}
})

/** A clock, and a function that calls another function repeatedly until it is stopped. */
export interface Timing {
  readonly now: () => number
  readonly repeat: (call: () => void) => () => void
}

/** Checks once a second, which is precise enough to detect a silence of minutes. Does not keep the process alive. */
const everySecond: Timing = {
  now: Date.now,
  repeat: (call) => {
    const timer = setInterval(call, 1_000).unref()
    return () => clearInterval(timer)
  }
}

/**
 * Prints plain lines, and the run's answer on a separate output if there is one. A call without output for a minute is
 * reported.
 */
export const plain = (
  output: Output,
  run: Source,
  answers: Output = output,
  { now, repeat }: Timing = everySecond
): View => {
  const shown = new Set<string>()
  const silence = Silence.make()
  const stop = repeat(() => {
    const transcript = run()
    if (transcript === undefined) return
    for (const [label, text] of silence.due(transcript, now())) output.write(`${PlainView.label(label)}${text}\n`)
  })
  return {
    show: (event) => {
      silence.hear(event)
      // Most events are chunks of text, which are not printed.
      const transcript = RunEvent.isTransient(event) ? undefined : run()
      if (transcript === undefined) return
      for (const { key, lines } of PlainView.entries(transcript)) {
        if (shown.has(key)) continue
        shown.add(key)
        const isApart =
          answers !== output && transcript.ending === "answered" && key === PlainView.answerKey(transcript)
        if (isApart) answers.write(`${transcript.answer?.trim()}\n`)
        else output.write(`${lines.join("\n")}\n`)
      }
    },
    hold: (lines) => void output.write(lines.join("\n")),
    goOn: () => {},
    close: stop
  }
}

/**
 * Prints only the answer. A run without an answer is shown as plain lines on the other stream, which is also used for
 * prompts.
 */
export const quiet = (output: Output, run: Source, answers: Output): View => ({
  show: () => {},
  hold: (lines) => void output.write(lines.join("\n")),
  goOn: () => {},
  close: () => {
    const transcript = run()
    if (transcript === undefined) return
    if (transcript.ending === "answered") answers.write(`${transcript.answer?.trim()}\n`)
    else for (const { lines } of PlainView.entries(transcript)) output.write(`${lines.join("\n")}\n`)
  }
})

/** Displays a block that is redrawn, and the complete view at the end. `now` uses the run's clock. */
export const live = (output: Output, run: Source, now: () => number): View => {
  let before: ReadonlyArray<Line> = []
  let isClosed = false
  // Some terminals report a size of 0.
  const size = () => ({ columns: output.columns || 80, rows: output.rows || 24 })
  const draw = () => {
    const transcript = run()
    if (transcript === undefined) return
    const window = size()
    // Some terminals wrap a line that is exactly as wide as the window.
    const lines = BlockView.live(transcript, { width: window.columns - 1, height: window.rows - 1, now: now() })
    output.write(Block.frame(before, lines, window))
    before = lines
  }
  const restoreCursor = () => void output.write(Block.showCursor)
  output.write(Block.hideCursor)
  process.once("exit", restoreCursor)
  draw()
  let timer: NodeJS.Timeout | undefined = setInterval(draw, frameMillis)
  const stop = () => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    show: () => {
      if (before.length === 0 && timer !== undefined) draw()
    },
    hold: (lines) => {
      if (timer !== undefined) draw()
      stop()
      output.write(`${Block.showCursor}${lines.join("\n")}`)
      // Input ends the last line, so that the block and the question are overwritten together.
      before = [...before, ...lines.map((text) => line(text))]
    },
    goOn: () => {
      if (timer !== undefined || isClosed) return
      output.write(Block.hideCursor)
      draw()
      timer = setInterval(draw, frameMillis)
    },
    close: () => {
      if (isClosed) return
      isClosed = true
      stop()
      const transcript = run()
      if (transcript !== undefined) {
        const window = size()
        output.write(Block.frame(before, BlockView.final(transcript, window.columns - 1), window))
      }
      process.removeListener("exit", restoreCursor)
      restoreCursor()
    }
  }
}

/** Environment variables that describe the terminal. */
export const terminal: Effect.Effect<Environment> = read(["NO_COLOR", "TERM", "CI"])

/**
 * Whether a run is displayed by redrawing: only on a capable terminal, without `--plain`, and not in continuous
 * integration, where logs retain every frame.
 */
export const isLive = (output: Output, environment: Environment): boolean => {
  const isSet = (name: string) => environment[name] !== undefined && environment[name] !== ""
  return (
    output.isTTY === true &&
    !isSet("NO_COLOR") &&
    environment.TERM !== "dumb" &&
    (!isSet("CI") || environment.CI === "false" || environment.CI === "0")
  )
}
