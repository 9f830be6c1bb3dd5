/** The report, as a JSON document and as a table. */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { availableParallelism, cpus, totalmem } from "node:os"
import { dirname, join } from "node:path"
import { type ContenderId, contenderIds, contenders } from "./Contender.ts"
import type { Measured } from "./Rounds.ts"
import { type Row, type RowId, rowIds, rows, type Settings } from "./Row.ts"

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGiB: number
  readonly node: string
  readonly platform: string
}

export interface Report {
  readonly version: 1
  readonly date: string
  readonly command: string
  readonly machine: Machine
  readonly settings: Settings
  readonly contenders: Partial<
    Record<ContenderId, { readonly title: string; readonly versions: Record<string, string> }>
  >
  readonly rows: Partial<Record<RowId, Row & Measured>>
}

export const machine = (): Machine => ({
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: availableParallelism(),
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  platform: `${process.platform} ${process.arch}`
})

/** Returns the installed version of a package, read from the package.json above its entry point. */
const versionOf = (name: string): string => {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? []
  for (const path of paths) {
    try {
      return JSON.parse(readFileSync(join(path, name, "package.json"), "utf8")).version
    } catch {
      // Not in this folder: continue in the parent, as Node does.
    }
  }
  throw new Error(`${name} is not installed: run pnpm install (looked from ${dirname(import.meta.url)}).`)
}

export const versions = (ids: ReadonlyArray<ContenderId>): Report["contenders"] =>
  Object.fromEntries(
    ids.map((id) => {
      const { packages, title } = contenders[id]
      return [id, { title, versions: Object.fromEntries(packages.map((name) => [name, versionOf(name)])) }]
    })
  )

const decimals: Readonly<Record<Row["unit"], number>> = { us: 1, ratio: 3, KB: 1, B: 0, ms: 1 }

/** Formats a value in the row's unit. Less than 10 bytes per run in either direction is noise. */
export const figure = (value: number, { unit }: Row): string => {
  if (unit === "B") return Math.abs(value) < 10 ? "0 B" : `${value.toFixed(0)} B`
  return unit === "ratio" ? value.toFixed(decimals.ratio) : `${value.toFixed(decimals[unit])} ${unit}`
}

/** Returns the table's rows, starting with the heading. */
export const cells = (report: Report): ReadonlyArray<ReadonlyArray<string>> => {
  const ids = contenderIds.filter((id) => report.contenders[id] !== undefined)
  const heading = ["", ...ids.map((id) => report.contenders[id]!.title), "target"]
  const lines = rowIds.flatMap((rowId) => {
    const row = report.rows[rowId]
    if (row === undefined) return []
    const figures = ids.map((id) => (row.results[id] === undefined ? "-" : figure(row.results[id].median, row)))
    return [[row.title, ...figures, figure(row.target, row)]]
  })
  return [heading, ...lines]
}

/** Formats the report as a table for the terminal, followed by missing values. */
export const text = (report: Report): string => {
  const lines = cells(report)
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)))
  const table = lines.map((line) =>
    line.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  ")
  )
  return [...table, ...skipped(report)].join("\n")
}

/** Returns a row with its results, as stored in the report. */
export const row = (id: RowId, measured: Measured): Row & Measured => ({ ...rows[id], ...measured })

/** Returns the reasons why contenders have no value in rows that they support. */
export const skipped = (report: Report): ReadonlyArray<string> =>
  contenderIds.flatMap((id) => {
    const why = rowIds.map((row) => report.rows[row]?.skipped?.[id]).find((why) => why !== undefined)
    return why === undefined ? [] : [`${contenders[id].title} was skipped where runs are kept on disk: ${why}`]
  })
