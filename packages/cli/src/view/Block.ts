/**
 * A block of lines at the end of the terminal that is redrawn in place.
 *
 * Lines are overwritten and not erased first, to avoid flicker. A narrower window breaks existing lines; the next frame
 * counts the rows that they occupy.
 */
import { type Line, toAnsi, toText, widthOf } from "./Line.ts"

const escape = "\u001b["

/** Hides the cursor, which would jump about in a block. */
export const hideCursor = `${escape}?25l`

/** Shows the cursor again. */
export const showCursor = `${escape}?25h`

/** How many rows lines take in a window of that many columns. */
const rowsOf = (lines: ReadonlyArray<Line>, columns: number): number =>
  lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(toText(line)) / Math.max(1, columns))), 0)

/**
 * Returns the output that replaces the lines of the previous frame. The cursor is on the line after the block before
 * and after.
 */
export const frame = (
  before: ReadonlyArray<Line>,
  lines: ReadonlyArray<Line>,
  window: { readonly columns: number; readonly rows: number }
): string => {
  const up = Math.min(rowsOf(before, window.columns), Math.max(0, window.rows - 1))
  return [
    up === 0 ? "" : `${escape}${up}A\r`,
    ...lines.map((line) => `${toAnsi(line)}${escape}K\n`),
    up === 0 ? "" : `${escape}J`
  ].join("")
}
