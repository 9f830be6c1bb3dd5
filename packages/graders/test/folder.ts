/** A new empty folder for a test; removed when the file's tests have run. */
import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterAll } from "vitest"

const made: Array<string> = []

afterAll(() => {
  for (const one of made) fs.rmSync(one, { recursive: true, force: true })
})

export const folder = (): string => {
  const one = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-graders-"))
  made.push(one)
  return one
}
