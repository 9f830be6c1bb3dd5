/** A terminal that keeps colours: what it was sent as lines that a picture is drawn of. */
import type { Line, Style } from "../src/view/Line.ts"

interface Cell {
  readonly text: string
  readonly style: Style
}

/** The styles that the views write, by their escape sequences; every other ends them. */
const styles: Readonly<Record<string, Style>> = { 1: "bold", 2: "dim", 31: "bad", 32: "good", 33: "busy", 36: "name" }

const empty: Cell = { text: " ", style: "plain" }

/** Returns cells as spans: adjacent cells of one style are one span. */
const spansOf = (cells: ReadonlyArray<Cell>): Line => {
  const spans: Array<{ text: string; readonly style: Style }> = []
  const end = cells.findLastIndex(({ text }) => text !== " ") + 1
  for (const { style, text } of cells.slice(0, end)) {
    const last = spans.at(-1)
    if (last?.style === style) last.text += text
    else spans.push({ text, style })
  }
  return spans
}

/** Creates an empty screen. Lines that scroll off are retained. */
export const make = () => {
  const rows: Array<Array<Cell>> = [[]]
  let row = 0
  let column = 0
  let style: Style = "plain"

  const control = (sequence: string) => {
    const count = Number.parseInt(sequence, 10)
    if (sequence.endsWith("m")) style = styles[sequence.slice(0, -1)] ?? "plain"
    else if (sequence === "K") rows[row] = rows[row]!.slice(0, column)
    else if (sequence === "J") rows.splice(row, Number.POSITIVE_INFINITY, rows[row]!.slice(0, column))
    else if (sequence.endsWith("A")) row = Math.max(0, row - count)
  }

  const write = (text: string) => {
    const cells = rows[row]!
    for (const character of text) {
      while (cells.length < column) cells.push(empty)
      cells[column] = { text: character, style }
      column += 1
    }
  }

  const take = (piece: string) => {
    if (piece === "\n") {
      row += 1
      rows[row] ??= []
    } else if (piece === "\r") column = 0
    else if (piece.startsWith("\u001b[")) control(piece.slice(2))
    else write(piece)
  }

  return {
    /** Takes what a program wrote to its terminal. */
    write: (text: string) => {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
      for (const piece of text.split(/(\u001b\[\??\d*[A-Za-z]|\n|\r)/)) take(piece)
    },
    /** The lines on the screen. */
    lines: (): ReadonlyArray<Line> => {
      const lines = rows.map(spansOf)
      return lines.slice(0, lines.findLastIndex((line) => line.length > 0) + 1)
    }
  }
}
