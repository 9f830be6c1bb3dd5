/**
 * A block of lines at the end of the terminal that is redrawn in place.
 *
 * Lines are overwritten without being erased first, to avoid flicker. If the window becomes narrower, existing lines
 * wrap; the next frame accounts for the rows that they occupy.
 */
import { type Line, toAnsi, toText, widthOf } from "./Line.ts"

const escape = "\u001b["

/** Hides the cursor, which would jump around in a block. */
export const hideCursor = `${escape}?25l`

/** Shows the cursor. */
export const showCursor = `${escape}?25h`

/** Returns the number of rows that lines occupy in a window with the given number of columns. */
const rowsOf = (lines: ReadonlyArray<Line>, columns: number): number =>
  lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(toText(line)) / Math.max(1, columns))), 0)

/**
 * Returns the output that replaces the lines of the previous frame. Before and after it, the cursor is on the line
 * below the block.
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
