/** A terminal small enough to be right: what the views write, as a person would see it, with the scrollback. */
import type { Output } from "../src/view/View.ts"

export class Terminal implements Output {
  readonly isTTY = true
  readonly columns: number
  readonly rows: number
  isCursorShown = true
  private readonly lines: Array<string> = [""]
  private row = 0
  private column = 0

  constructor(columns: number, rows: number) {
    this.columns = columns
    this.rows = rows
  }

  /** All lines, those that were scrolled off the screen included, without the empty ones at the end. */
  text(): ReadonlyArray<string> {
    const lines = this.lines.map((line) => line.trimEnd())
    return lines.slice(0, lines.findLastIndex((line) => line !== "") + 1)
  }

  write(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with one
    for (const piece of text.split(/(\u001b\[\??\d*[A-Za-z]|\n|\r)/)) this.take(piece)
  }

  private take(piece: string): void {
    if (piece === "\n") {
      this.row += 1
      this.column = 0
      this.lines[this.row] ??= ""
    } else if (piece === "\r") {
      this.column = 0
    } else if (piece.startsWith("\u001b[")) {
      this.control(piece.slice(2))
    } else {
      const line = this.lines[this.row]!
      const end = this.column + piece.length
      this.lines[this.row] = line.slice(0, this.column) + piece + line.slice(end)
      this.column = end
    }
  }

  private control(sequence: string): void {
    if (sequence === "?25l" || sequence === "?25h") this.isCursorShown = sequence === "?25h"
    if (sequence === "K") this.lines[this.row] = this.lines[this.row]!.slice(0, this.column)
    if (sequence === "J")
      this.lines.splice(this.row, Number.POSITIVE_INFINITY, this.lines[this.row]!.slice(0, this.column))
    if (/^\d+A$/.test(sequence)) {
      // Lines that have left the screen cannot be reached again.
      const top = Math.max(0, this.lines.length - this.rows)
      this.row = Math.max(top, this.row - Number(sequence.slice(0, -1)))
    }
  }
}
