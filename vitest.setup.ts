/**
 * Gives a run of tests a folder of its own for temporary files, and removes it with all that tests, and what they start,
 * leave in it.
 */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"

const prefix = "divisi-tests-"

export default (): (() => void) | undefined => {
  const before = os.tmpdir()
  // Another project of the same run has been here.
  if (path.basename(before).startsWith(prefix)) return undefined
  const own = fs.mkdtempSync(path.join(before, prefix))
  // Another user may go through it to a folder of its own: Postgres refuses to be root, and is started as somebody else.
  fs.chmodSync(own, 0o711)
  process.env.TMPDIR = own
  return () => {
    process.env.TMPDIR = before
    fs.rmSync(own, { recursive: true, force: true })
  }
}
