import fs from "node:fs"
import os from "node:os"
import path from "node:path"
import { afterAll } from "@effect/vitest"

/** A folder for a file of tests, removed after them. */
export const folder = (): string => {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "divisi-files-"))
  afterAll(() => fs.rmSync(made, { recursive: true, force: true }))
  return made
}
