/** Formats rows as a table with aligned columns. */
import { oneLine, widthOf } from "./Line.ts"

/**
 * Returns the rows as sanitized text, one line each, with columns three spaces apart. Columns for which `isRight`
 * returns true are right-aligned; by default, these are all except the first.
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

/** Left-aligns every column. */
export const toLeft = (): boolean => false
