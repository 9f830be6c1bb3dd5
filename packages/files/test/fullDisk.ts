import { spawnSync } from "node:child_process"
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterAll } from "@effect/vitest"

/** A disk of one MB for a file of tests; `undefined` where this user may not mount one. Unmounted after them. */
export const mountSmall = (): string | undefined => {
  if (process.platform !== "linux") return undefined
  const at = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-disk-"))
  const isMounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", at]).status === 0
  afterAll(() => {
    if (isMounted) spawnSync("umount", [at])
    fs.rmSync(at, { recursive: true, force: true })
  })
  return isMounted ? at : undefined
}
