/**
 * `pnpm bench`: compares core with other frameworks. Prints a JSON document to standard output and a table to standard
 * error.
 */
import { existsSync, writeFileSync } from "node:fs"
import path from "node:path"
import { parseArgs } from "node:util"
import { type ContenderId, contenderIds } from "./Contender.ts"
import * as Report from "./Report.ts"
import { measure } from "./Rounds.ts"
import { fullSettings, quickSettings, type RowId, rowIds, rows } from "./Row.ts"

const usage = `Usage: pnpm bench [--only NAMES] [--rounds N] [--quick] [--out FILE]

  --only NAMES   rows and contenders to measure, separated by commas
                 rows: ${rowIds.join(", ")}
                 contenders: ${contenderIds.join(", ")}
  --rounds N     rounds over all contenders (${fullSettings.rounds})
  --quick        a small run that checks that all of it works
  --out FILE     write the JSON to a file, too
`

const fail = (message: string): never => {
  process.stderr.write(`${message}\n\n${usage}`)
  process.exit(2)
}

const readOptions = () => {
  const options = {
    only: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean" },
    out: { type: "string" },
    help: { type: "boolean" }
  } as const
  try {
    // `pnpm bench -- --quick` passes the dashes on.
    return parseArgs({ args: process.argv.slice(2).filter((arg) => arg !== "--"), options }).values
  } catch (error) {
    return fail((error as Error).message)
  }
}

const { help, only, out, quick, rounds } = readOptions()
if (help) {
  process.stderr.write(usage)
  process.exit(0)
}

const names = only?.split(",").map((name) => name.trim()) ?? []
const isRow = (name: string): name is RowId => rowIds.some((id) => id === name)
const isContender = (name: string): name is ContenderId => contenderIds.some((id) => id === name)
const unknown = names.find((name) => !isRow(name) && !isContender(name))
if (unknown !== undefined) fail(`--only does not know "${unknown}".`)
if (rounds !== undefined && !(Number(rounds) >= 1)) fail(`--rounds takes a number from 1, not "${rounds}".`)

/**
 * Resolved relative to the folder in which the command was entered, which package managers change. Checked before the
 * measurement, which takes minutes.
 */
const file = out === undefined ? undefined : path.resolve(process.env.INIT_CWD ?? ".", out)
if (file !== undefined && !existsSync(path.dirname(file))) fail(`--out: there is no folder ${path.dirname(file)}.`)

const wantedRows = names.some(isRow) ? names.filter(isRow) : rowIds
const wantedContenders = names.some(isContender) ? names.filter(isContender) : contenderIds
const base = quick ? quickSettings : fullSettings
const settings = rounds === undefined ? base : { ...base, rounds: Math.floor(Number(rounds)) }

const results: Report.Report["rows"] = {}
for (const id of wantedRows) {
  process.stderr.write(`${rows[id].title} ...\n`)
  results[id] = Report.row(id, await measure(id, wantedContenders, settings))
}

// The output path is specific to this machine, so it is not recorded.
const command = [
  "pnpm bench",
  ...(only === undefined ? [] : ["--only", only]),
  ...(rounds === undefined ? [] : ["--rounds", rounds]),
  ...(quick ? ["--quick"] : [])
].join(" ")
const report: Report.Report = {
  version: 1,
  date: new Date().toISOString(),
  command,
  machine: Report.machine(),
  settings,
  contenders: Report.versions(wantedContenders),
  rows: results
}
const json = `${JSON.stringify(report, undefined, 2)}\n`
process.stderr.write(`\n${Report.text(report)}\n`)
process.stdout.write(json)
if (file !== undefined) writeFileSync(file, json)
