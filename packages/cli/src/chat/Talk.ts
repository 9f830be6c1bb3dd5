/** Displays a conversation: with live progress on a terminal, or only the answers on a pipe. */
import { AnswerText, type RunEvent, type Transcript } from "@divisi/core"
import * as BlockView from "../view/BlockView.ts"
import * as Format from "../view/Format.ts"
import { clean, cut, line, toAnsi, toText } from "../view/Line.ts"
import * as Totals from "../view/Totals.ts"
import type { Output } from "../view/View.ts"

/** The display of one turn. */
export interface Turn {
  readonly listen: (event: RunEvent.RunEvent) => void
  /** Shows a question to the user. Progress is hidden until the user has answered. */
  readonly ask: (lines: ReadonlyArray<string>) => void
  /** Ends the turn. Must be called once, with the finished run and its answer. */
  readonly end: (run: Transcript.Transcript | undefined, answer: string | undefined) => void
}

/** The display of a conversation. */
export interface Talk {
  readonly turn: (maxRounds: number, run: () => Transcript.Transcript | undefined) => Turn
  /** Prints a note that is not part of the conversation. */
  readonly note: (...lines: ReadonlyArray<string>) => void
  readonly plan: (run: Transcript.Transcript) => void
}

const spinner = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"]
const frameMillis = 100
const erase = "\r\u001b[K"

/** Returns a line that describes what a run is currently doing. */
const doing = (run: Transcript.Transcript | undefined, elapsed: number): string => {
  const round = run?.rounds.at(-1)
  const time = Format.duration(elapsed)
  if (round?.workflow === undefined) return `planning · ${time}`
  const running = round.steps.filter(({ state }) => state === "running").map(({ worker }) => worker)
  const done = round.steps.filter(({ state }) => state !== "waiting" && state !== "running").length
  return `${[`${done} of ${Format.count(round.steps.length, "step")}`, ...running].join(" · ")} · ${time}`
}

/** Formats the one-line summary shown in place of a finished run. */
const folded = (run: Transcript.Transcript): string => {
  const steps = run.rounds.reduce((count, round) => count + round.steps.length, 0)
  const time = Format.duration(run.durationMillis ?? 0)
  return [Format.count(steps, "step"), Totals.spent(run), time, ...Totals.failed(run), "/plan"].join(" · ")
}

/**
 * Creates a display for a terminal. `isLive` is false if the terminal cannot be redrawn or live redrawing is disabled.
 */
export const onTerminal = (output: Output, isLive: boolean): Talk => {
  const dim = (text: string) => (isLive ? toAnsi(line(text, "dim")) : toText(line(text)))
  // Some terminals report a width of 0.
  const width = () => (output.columns || 80) - 1
  return {
    note: (...lines) => void output.write(`${lines.map(dim).join("\n")}\n`),
    plan: (run) => {
      const lines = BlockView.final(run, width())
      output.write(`${lines.map((one) => (isLive ? toAnsi(one) : toText(one))).join("\n")}\n`)
    },
    turn: (maxRounds, run) => {
      let state = AnswerText.start({ maxRounds })
      let written = ""
      let frame = 0
      const since = Date.now()
      const draw = () => {
        const text = `${spinner[frame++ % spinner.length]} ${doing(run(), Date.now() - since)}`
        output.write(`${erase}${dim(cut(text, width()))}`)
      }
      let timer = isLive ? setInterval(draw, frameMillis) : undefined
      const settle = () => {
        if (timer === undefined) return
        clearInterval(timer)
        timer = undefined
        output.write(erase)
      }
      const write = (text: string) => {
        if (text === "") return
        settle()
        written += text
        output.write(clean(text))
      }
      return {
        ask: (lines) => {
          settle()
          output.write(`${lines.map(dim).join("\n")}\n`)
        },
        listen: (event) => {
          const [next, text] = AnswerText.emit(state, event)
          state = next
          write(text)
        },
        end: (ended, answer) => {
          settle()
          if (written !== "" && !written.endsWith("\n")) output.write("\n")
          if (answer !== undefined && written !== answer) {
            if (written !== "") output.write(`${dim("The answer was replaced:")}\n`)
            output.write(`${clean(answer).trimEnd()}\n`)
          }
          if (ended === undefined) return
          const lines = ended.ending === "answered" ? [folded(ended)] : Totals.lines(ended).map(({ text }) => text)
          output.write(`${lines.map(dim).join("\n")}\n`)
        }
      }
    }
  }
}

/** Creates a display for a pipe: answers are written to one stream, everything else to the other. */
export const onPipe = (answers: Output, errors: Output): Talk => ({
  note: (...lines) => void errors.write(lines.map((text) => `divisi: ${text}\n`).join("")),
  plan: () => {},
  turn: () => ({
    listen: () => {},
    ask: () => {},
    end: (run, answer) => {
      if (answer !== undefined) answers.write(`${clean(answer).trimEnd()}\n`)
      if (run === undefined) return
      const lines = run.ending === "answered" ? Totals.failed(run) : Totals.lines(run).map(({ text }) => text)
      for (const text of lines) errors.write(`divisi: ${text}\n`)
    }
  })
})
