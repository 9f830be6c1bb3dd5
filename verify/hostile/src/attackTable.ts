/**
 * Prints the rows of `pnpm attack` as one table with a row per attack: ranges over the wires, highest ratio first.
 *
 *     node verify/hostile/src/attackTable.ts FILE...
 */
import { readFileSync } from "node:fs"

const lines = process.argv.slice(2).flatMap((file) => readFileSync(file, "utf8").split("\n"))

/** Cells by attack: those of each wire. */
const attacks = Map.groupBy(
  lines
    .map((line) => line.split("|").map((cell) => cell.trim()))
    .filter((cells) => cells.length > 10 && Number.isFinite(Number.parseFloat(cells[7]!))),
  ([, attack]) => attack!
)

const range = (rows: ReadonlyArray<ReadonlyArray<string>>, cell: number, digits: number): string => {
  const values = rows.map((row) => Number.parseFloat(row[cell]!))
  const [from, to] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)]
  return from === to ? from : `${from}–${to}`
}

const highest = (rows: ReadonlyArray<ReadonlyArray<string>>): number =>
  Math.max(...rows.map((row) => Number.parseFloat(row[7]!)))

console.log("| attack | wires | quiet p99 | p99 | ratio | largest delay | CPU of one turn |")
console.log("|---|---:|---:|---:|---:|---:|---:|")
for (const [attack, rows] of [...attacks].toSorted(([, left], [, right]) => highest(right) - highest(left))) {
  const millis = [5, 6, 8, 9].map((cell) => `${range(rows, cell, 0)} ms`)
  const cells = [attack, rows.length, ...millis.slice(0, 2), range(rows, 7, 1), ...millis.slice(2)]
  console.log(`| ${cells.join(" | ")} |`)
}
