/** `pnpm real-pool --replay [--json] [--write]`: replays every policy over the committed records. */

import * as Page from "./Page.ts"
import * as Records from "./Records.ts"
import * as Replay from "./Replay.ts"

const flags = new Set(process.argv.slice(2))
const known = ["--replay", "--json", "--write"]
const unknown = [...flags].find((flag) => !known.includes(flag))
if (unknown !== undefined || !flags.has("--replay")) {
  process.stderr.write(
    `${unknown === undefined ? "" : `Unknown flag ${unknown}. `}Usage: pnpm real-pool --replay [--json] [--write]\n`
  )
  process.exitCode = 2
} else {
  const records = Records.read()
  const lines = await Replay.lines(records)
  if (flags.has("--write")) Page.write(Page.content(lines, records))
  process.stdout.write(
    flags.has("--json") ? lines.map((line) => `${JSON.stringify(line)}\n`).join("") : `${Page.table(lines)}\n`
  )
}
