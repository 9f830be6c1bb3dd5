/**
 * The manifest of the gym's tasks: what anyone who generates them must get. Writes `manifest.json`, or checks it.
 *
 *   node --conditions=@divisi/source scripts/manifest.ts [--check]
 */
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { question } from "@divisi/core/Task"
import * as Gym from "@divisi/gym/Gym"

const file = fileURLToPath(new URL("../manifest.json", import.meta.url))

/** How many tasks of each split, from its beginning, the manifest speaks of. */
const count = 500

const describe = (split: Gym.Split) => {
  const tasks = Gym.tasks({ split, count })
  const families = tasks.map((task) => String(task.metadata?.family))
  const lines = tasks.map((task) => `${JSON.stringify([task.id, question(task), task.reference])}\n`)
  return {
    seeds: Gym.seedRanges[split],
    families: Object.fromEntries(
      [...new Set(families)].sort().map((name) => [name, families.filter((family) => family === name).length])
    ),
    sha256: createHash("sha256").update(lines.join("")).digest("hex")
  }
}

/** Generates the manifest of this version. The hash is of one JSON line per task: id, question, reference. */
export const manifest = () => ({
  version: Gym.version,
  tasks: count,
  splits: { train: describe("train"), validation: describe("validation"), test: describe("test") }
})

/** Reads the stored manifest. */
export const written = (): unknown => JSON.parse(readFileSync(file, "utf8"))

if (import.meta.main) {
  const text = `${JSON.stringify(manifest(), null, 2)}\n`
  if (!process.argv.includes("--check")) writeFileSync(file, text)
  else if (JSON.stringify(written()) !== JSON.stringify(JSON.parse(text))) {
    console.error("manifest.json is not what the generators make: write it anew, and raise Gym.version.")
    process.exit(1)
  }
}
