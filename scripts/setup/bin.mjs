/** The `divisi` command in this clone: a file in `node_modules/.bin`, where npx looks for it. */
import fs from "node:fs"
import path from "node:path"
import { root } from "./workspace.mjs"

/** Writes the file, with a path relative to the clone. */
export const linkCommand = (folder = root, platform = process.platform) => {
  const bin = path.join(folder, "node_modules/.bin")
  fs.mkdirSync(bin, { recursive: true })
  const target = "../../scripts/divisi.mjs"
  if (platform === "win32") {
    fs.writeFileSync(path.join(bin, "divisi.cmd"), `@node "%~dp0\\${target.replaceAll("/", "\\")}" %*\r\n`)
    return
  }
  const file = path.join(bin, "divisi")
  fs.writeFileSync(file, `#!/bin/sh\nexec node "$(dirname "$0")/${target}" "$@"\n`)
  fs.chmodSync(file, 0o755)
}
