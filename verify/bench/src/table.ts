/**
 * `pnpm --filter @divisi/bench table`: writes the table of results into docs/lab/performance.md, between its two marks,
 * from results.json and stress.json in this package.
 */
import { readFileSync, writeFileSync } from "node:fs"
import type { ContenderId } from "./Contender.ts"
import { cells, figure, type Report, skipped } from "./Report.ts"
import { type RowId, rowIds } from "./Row.ts"
import type { Outcome } from "./Scenario.ts"

interface Stress {
  readonly ok: boolean
  readonly scenarios: ReadonlyArray<Outcome>
}

const at = (path: string) => new URL(path, import.meta.url)

const read = <A>(path: string): A => JSON.parse(readFileSync(at(path), "utf8"))

const markdown = (lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const [heading = [], ...rest] = lines
  const line = (row: ReadonlyArray<string>) => `| ${row.join(" | ")} |`
  return [line(heading), line(heading.map((_, column) => (column === 0 ? "---" : "---:"))), ...rest.map(line)].join(
    "\n"
  )
}

/** Returns each contender's value divided by Divisi's. Values within the noise have no ratio. */
const ratios = (report: Report): ReadonlyArray<ReadonlyArray<string>> => {
  const ids = Object.keys(report.contenders).filter((id) => id !== "divisi") as ReadonlyArray<ContenderId>
  const ratio = (row: RowId, id: ContenderId): string => {
    const ours = report.rows[row]?.results.divisi?.median
    const theirs = report.rows[row]?.results[id]?.median
    return ours === undefined || theirs === undefined ? "-" : `${(theirs / ours).toPrecision(2).replace(/\.0$/, "")}x`
  }
  const lines = rowIds
    .filter((row) => row !== "kept" && row !== "keptStored" && report.rows[row] !== undefined)
    .map((row) => [report.rows[row]!.title, ...ids.map((id) => ratio(row, id))])
  return [["against Divisi", ...ids.map((id) => report.contenders[id]!.title)], ...lines]
}

/** Returns Divisi's values with their quartiles. */
const spread = (report: Report): ReadonlyArray<ReadonlyArray<string>> => {
  const lines = rowIds.flatMap((id) => {
    const row = report.rows[id]
    const ours = row?.results.divisi
    if (row === undefined || ours === undefined) return []
    const quartiles = `${figure(ours.low, row)} to ${figure(ours.high, row)}`
    return [[row.title, figure(ours.median, row), quartiles, String(ours.samples), figure(row.target, row)]]
  })
  return [["Divisi", "median", "quartiles", "samples", "target"], ...lines]
}

const stressLines = ({ scenarios }: Stress): ReadonlyArray<ReadonlyArray<string>> => [
  ["scenario", "runs", "calls", "failed calls", "interrupted calls", "ended as", "checks held"],
  ...scenarios.map(({ calls, checks, failedCalls, interruptedCalls, name, outcomes, runs }) => [
    name,
    runs.toLocaleString("en"),
    calls.toLocaleString("en"),
    failedCalls.toLocaleString("en"),
    interruptedCalls.toLocaleString("en"),
    Object.entries(outcomes)
      .map(([outcome, count]) => `${count.toLocaleString("en")} ${outcome}`)
      .join(", "),
    `${checks.filter(({ ok }) => ok).length} of ${checks.length}`
  ])
]

const begin = "<!-- measured: written by `pnpm --filter @divisi/bench table` -->"
const end = "<!-- /measured -->"

const measured = (report: Report, stress: Stress): string => {
  const { cores, cpu, memoryGiB, node, platform } = report.machine
  const versions = Object.values(report.contenders)
    .flatMap((contender) => Object.entries(contender?.versions ?? {}))
    .map(([name, version]) => `${name} ${version}`)
  return [
    `Measured on ${report.date.slice(0, 10)} with \`${report.command}\` on ${cores} cores of ${cpu}, ${memoryGiB} GiB, Node ${node}, ${platform}. Versions: ${[...new Set(versions)].join(", ")}.`,
    markdown(cells(report)),
    ...skipped(report).map((line) => `${line}.`),
    markdown(ratios(report)),
    markdown(spread(report)),
    "## Stress",
    markdown(stressLines(stress))
  ].join("\n\n")
}

const page = at("../../../docs/lab/performance.md")
const current = readFileSync(page, "utf8")
const before = current.indexOf(begin)
const after = current.indexOf(end)
if (before < 0 || after < before) throw new Error(`docs/lab/performance.md has lost its marks: ${begin} and ${end}`)
const text = measured(read("../results.json"), read("../stress.json"))
writeFileSync(page, `${current.slice(0, before)}${begin}\n\n${text}\n\n${current.slice(after)}`)
