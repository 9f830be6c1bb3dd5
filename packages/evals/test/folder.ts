import fs from "node:fs"
import os from "node:os"
import path from "node:path"

/** A new empty folder for a test; removed with all others when the tests have run. */
export const folder = (): string => fs.mkdtempSync(path.join(os.tmpdir(), "divisi-evals-"))
