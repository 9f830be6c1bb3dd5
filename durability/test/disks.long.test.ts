import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import * as Disk from "../src/disks/Disk.ts"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

/** A condition after the other, each on another command; `pnpm durability disks` tries all of them together. */
const seeds = 6

// Each case is a few processes on a disk of its own, one after the other.
it.skipIf(!Disk.isPossible())(
  "commands on disks that are full, locked, shared or pulled say what is wrong, and come to the same end",
  { timeout: 300_000 },
  () => {
    const args = ["--conditions=@divisi/source", main, "disks", "--seeds", String(seeds)]
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
    expect([stdout, status]).toEqual([expect.stringContaining(" 0 broken"), 0])
  }
)
