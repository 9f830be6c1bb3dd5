/** Rows with columns that line up. */
import { oneLine, widthOf } from "./Line.ts"

/**
 * The rows as clean text, each on one line, columns three spaces apart. The columns that `isRight` names are set to the right; by default all
 * but the first.
 */
export const table = (
  cells: ReadonlyArray<ReadonlyArray<string>>,
  isRight: (column: number) => boolean = (column) => column > 0
): string => {
  const rows = cells.map((row) => row.map((cell) => oneLine(cell)))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => widthOf(row[column]!))))
  const pad = (text: string, column: number) => {
    const space = " ".repeat(widths[column]! - widthOf(text))
    return isRight(column) ? space + text : text + space
  }
  return rows.map((row) => row.map(pad).join("   ").trimEnd()).join("\n")
}

/** Sets every column to the left. */
export const toLeft = (): boolean => false
