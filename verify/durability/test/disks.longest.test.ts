import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** Applies the conditions in turn, each to a different command. `pnpm durability disks` tries all combinations. */
const seeds = 6

// Each case runs a few processes in sequence on its own disk.
it.each([
  ["disks, where they can be mounted", []],
  ["folders in their place", ["--folders"]]
])(
  "commands on %s, that are full, locked, shared or pulled, say what is wrong and come to the same end",
  { timeout: 300_000 },
  (_, flags) => {
    const args = ["--conditions=@divisi/source", main, "disks", "--seeds", String(seeds), ...flags]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
    expect([stdout, status]).toEqual([expect.stringContaining(" 0 broken"), 0])
  }
)
