/** Creates temporary files that are removed when the process exits. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Returns a path for a file on the disk with the system's temporary files. */
export const temporaryFile = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "divisi-bench-"))
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
  return join(folder, name)
}
